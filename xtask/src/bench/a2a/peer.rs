//! Who is measured: three official implementations, and ours.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::install::{self, Js, Python, Rust};
use super::scenario::{Against, Scenario, Store};
use crate::bench::server::{Data, Server, free_port};
use crate::error::Result;
use crate::process;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    /// The official Rust crates, with `TCP_NODELAY` set.
    Rust,
    Js,
    Python,
    Ours,
}

impl Peer {
    pub(super) const ALL: [Peer; 4] = [Peer::Rust, Peer::Js, Peer::Python, Peer::Ours];

    fn takes_part(self, against: Against) -> bool {
        match against {
            Against::All => true,
            Against::Rust => matches!(self, Peer::Rust | Peer::Ours),
            Against::Nobody => self == Peer::Ours,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Peer::Rust => "Rust",
            Peer::Js => "js",
            Peer::Python => "python",
            Peer::Ours => "ours",
        })
    }
}

/// Everything that is started in a run, built and installed.
#[derive(Debug)]
pub(super) struct Programs {
    /// The load generator: this program, built for speed.
    pub(super) load: PathBuf,
    ours: PathBuf,
    rust: Option<Rust>,
    js: Option<Js>,
    python: Option<Python>,
}

impl Programs {
    /// Builds what is ours, and the peers that a folder holds.
    pub(super) fn prepare(root: &Path, peers: Option<&Path>) -> Result<Programs> {
        let (rust, js, python) = match peers {
            Some(peers) => (
                install::rust(root, peers)?,
                install::js(root, peers)?,
                install::python(root, peers)?,
            ),
            None => (None, None, None),
        };
        Ok(Programs {
            ours: process::build_measured(root, "monas", &["--bin"], "monas")?,
            load: process::build_measured(root, "xtask", &["--bin"], "xtask")?,
            rust,
            js,
            python,
        })
    }

    /// Starts everyone who takes part in a scenario.
    pub(super) fn start(&self, scenario: &Scenario) -> Result<Vec<(Peer, Server)>> {
        let mut servers = Vec::new();
        for peer in Peer::ALL {
            if peer.takes_part(scenario.against)
                && let Some(server) = self.start_one(peer, scenario.store)?
            {
                servers.push((peer, server));
            }
        }
        Ok(servers)
    }

    /// Starts one server; nothing if that peer is not there.
    fn start_one(&self, peer: Peer, store: Store) -> Result<Option<Server>> {
        let (port, grpc_port) = (free_port()?, free_port()?);
        let ports = [port, grpc_port].map(|port| port.to_string());
        let mut data = None;
        let (command, path) = match peer {
            Peer::Ours => {
                data = (store != Store::Memory)
                    .then(|| Data::new(port))
                    .transpose()?;
                (ours(&self.ours, port, store, data.as_ref()), "/a2a/jsonrpc")
            }
            Peer::Rust => {
                let Some(rust) = &self.rust else {
                    return Ok(None);
                };
                let mut command = Command::new(&rust.program);
                command.args(ports).env("NODELAY", "1");
                (command, "/")
            }
            Peer::Js => {
                let Some(js) = &self.js else {
                    return Ok(None);
                };
                let mut command = Command::new(&js.node.path);
                command.arg(&js.script).args(ports);
                (command, "/jsonrpc")
            }
            Peer::Python => {
                let Some(python) = &self.python else {
                    return Ok(None);
                };
                let [port, grpc_port] = ports;
                let mut command = Command::new(&python.program);
                command.arg(&python.script);
                command.args(["--port", &port, "--grpc-port", &grpc_port, "--v1-only"]);
                (command, "/")
            }
        };
        Server::start(command, port, path, data).map(Some)
    }

    /// One line that says which versions were measured.
    pub(super) fn versions(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(
            self.rust
                .as_ref()
                .map(|rust| format!("Rust: {}", rust.version)),
        );
        parts.extend(self.js.as_ref().map(|js| format!("js: {}", js.version)));
        let python = self.python.as_ref();
        parts.extend(python.map(|python| format!("python: {}", python.version)));
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        parts.push(format!("{cores} cores"));
        format!("{}.", parts.join("; "))
    }
}

fn ours(program: &Path, port: u16, store: Store, data: Option<&Data>) -> Command {
    let mut command = Command::new(program);
    command.args(["sut", "--listen", &format!("127.0.0.1:{port}"), "--store"]);
    match data {
        Some(data) => command.arg(&data.path),
        None => command.arg("memory"),
    };
    match store {
        Store::Memory => {}
        Store::Normal => {
            command.args(["--durability", "normal"]);
        }
        Store::Full => {
            command.args(["--durability", "full"]);
        }
        Store::FullOnSlowDisk(delay) => {
            command.args(["--durability", "full"]);
            command.args(["--commit-delay", &delay.to_string()]);
        }
    }
    command
}
