//! The two peers under test: npm capnweb on node, and our crate's example programs.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::error::{Doing, Error, Result};
use crate::process;
use crate::tools::{self, Node};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    Npm,
    Ours,
}

impl Peer {
    pub(super) const ALL: [Peer; 2] = [Peer::Npm, Peer::Ours];
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Peer::Npm => "npm",
            Peer::Ours => "ours",
        })
    }
}

/// Everything that is started in a run, built and installed.
#[derive(Debug)]
pub(super) struct Programs {
    node: Node,
    /// The `node_modules` with the reference packages.
    modules: PathBuf,
    scripts: PathBuf,
    /// The load generator: this program, built for speed.
    load: PathBuf,
    /// Our server and client; absent when only npm is measured.
    ours: Option<Ours>,
}

#[derive(Debug)]
struct Ours {
    server: PathBuf,
    client: PathBuf,
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    /// Kept open, so that a server that prints more does not fail by it.
    stdout: BufReader<ChildStdout>,
    pub(super) url: String,
}

impl Programs {
    pub(super) fn prepare(root: &Path, peers: &[Peer]) -> Result<Programs> {
        let node = tools::node(root)?;
        let modules = tools::npm_packages(root, "conformance/capnweb", &node)?;
        let ours = if peers.contains(&Peer::Ours) {
            Some(Ours {
                server: process::build_measured(root, "capnweb", &["--example"], "bench_target")?,
                client: process::build_measured(root, "capnweb", &["--example"], "bench_client")?,
            })
        } else {
            None
        };
        Ok(Programs {
            node,
            modules,
            scripts: root.join("xtask/bench"),
            load: process::build_measured(root, "xtask", &["--bin"], "xtask")?,
            ours,
        })
    }

    /// Starts a server on a free port and waits until it says its address.
    pub(super) fn start_server(&self, peer: Peer) -> Result<Server> {
        let mut command = match peer {
            Peer::Npm => self.script("npm_server.mjs"),
            Peer::Ours => process::with_many_files(&self.ours().server),
        };
        command.args(["--port", "0"]).stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .doing(|| format!("start {}", process::line(&command)))?;
        let stdout = child.stdout.take().expect("stdout is piped");
        let mut server = Server {
            child,
            stdout: BufReader::new(stdout),
            url: String::new(),
        };
        let mut line = String::new();
        server
            .stdout
            .read_line(&mut line)
            .doing(|| format!("read from the {peer} server"))?;
        let ready: Option<Value> = serde_json::from_str(&line).ok();
        let url = ready.as_ref().and_then(|ready| ready["url"].as_str());
        url.ok_or_else(|| Error::Answer(format!("the {peer} server said {line:?}")))?
            .clone_into(&mut server.url);
        Ok(server)
    }

    /// The peer's own client, calling a server of the same peer one call at a time.
    pub(super) fn client(&self, peer: Peer, server: &Server, seconds: f64) -> Command {
        let mut command = match peer {
            Peer::Npm => self.script("npm_client.mjs"),
            Peer::Ours => Command::new(&self.ours().client),
        };
        command.args([&server.url, "--seconds", &seconds.to_string()]);
        command
    }

    pub(super) fn load(&self) -> &Path {
        &self.load
    }

    /// One line that says which versions were measured.
    pub(super) fn versions(&self) -> String {
        let Node { version, .. } = &self.node;
        let packages = ["capnweb", "ws"].map(|name| {
            let file = self.modules.join(name).join("package.json");
            let manifest = fs::read_to_string(file).unwrap_or_default();
            let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
            let version = manifest["version"].as_str().unwrap_or("?");
            format!("{name} {version}")
        });
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        format!(
            "npm: {}, node {version}; {cores} cores.",
            packages.join(", ")
        )
    }

    fn script(&self, name: &str) -> Command {
        let mut command = process::with_many_files(&self.node.path);
        command.arg(self.scripts.join(name));
        command.env("NODE_MODULES", &self.modules);
        command
    }

    fn ours(&self) -> &Ours {
        let ours = self.ours.as_ref();
        ours.expect("our programs are built when our peer is measured")
    }
}

impl Server {
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing left to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
