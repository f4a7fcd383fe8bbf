//! Who is measured: a minimal server on the official Rust crate, the reference server of npm, and ours.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::scenario::{Scenario, Work};
use crate::bench::server::{Server, free_port};
use crate::error::{Doing, Error, Result};
use crate::tools::{self, Node};
use crate::{process, workspace};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    /// One tool on `rmcp`, with `TCP_NODELAY` set.
    Rmcp,
    /// `@modelcontextprotocol/server-everything`, which speaks the older revision.
    Everything,
    Ours,
}

impl Peer {
    pub(super) const ALL: [Peer; 3] = [Peer::Rmcp, Peer::Everything, Peer::Ours];
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Peer::Rmcp => "rmcp",
            Peer::Everything => "server-everything",
            Peer::Ours => "ours",
        })
    }
}

/// The server on `rmcp`, which is no part of our workspace.
const RMCP: &str = "conformance/mcp/peer/Cargo.toml";

/// The reference server, from npm.
const EVERYTHING: &str = "@modelcontextprotocol/server-everything";
const EVERYTHING_VERSION: &str = "2026.8.31";

/// Has a server that would listen on all interfaces listen on this machine's own.
const LOOPBACK: &str = "\
const net = require('node:net');
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  const done = rest.find((it) => typeof it === 'function');
  return typeof port === 'object' ? listen.call(this, port, ...rest) : listen.call(this, port, '127.0.0.1', done);
};
";

/// Everything that is started in a run, built and installed.
#[derive(Debug)]
pub(super) struct Programs {
    /// The load generator: this program, built for speed.
    pub(super) load: PathBuf,
    ours: PathBuf,
    rmcp: PathBuf,
    rmcp_version: String,
    node: Node,
    /// The folder that has the reference server among its `node_modules`.
    npm: PathBuf,
}

impl Programs {
    pub(super) fn prepare(root: &Path) -> Result<Programs> {
        let folder = workspace::target(root)?.join("peers/mcp");
        fs::create_dir_all(&folder).doing(|| format!("create {}", folder.display()))?;
        let (rmcp, rmcp_version) = rmcp(root, &folder)?;
        let node = tools::node(root)?;
        everything(&folder, &node)?;
        Ok(Programs {
            load: process::build_measured(root, "xtask", &["--bin"], "xtask")?,
            ours: process::build_measured(root, "monas", &["--bin"], "monas")?,
            rmcp,
            rmcp_version,
            node,
            npm: folder,
        })
    }

    /// Starts everyone who takes part in a scenario.
    pub(super) fn start(&self, scenario: &Scenario) -> Result<Vec<(Peer, Server)>> {
        let path = match scenario.work {
            Work::Call | Work::SessionCall => "/mcp",
            Work::Task => "/a2a/jsonrpc",
            Work::Run => "/acp/runs",
        };
        let start = |peer: &Peer| {
            let port = free_port()?;
            let server = Server::start(self.command(*peer, port), port, path, None)?;
            Ok((*peer, server))
        };
        scenario.peers.iter().map(start).collect()
    }

    fn command(&self, peer: Peer, port: u16) -> Command {
        match peer {
            Peer::Ours => {
                let mut command = Command::new(&self.ours);
                let listen = format!("127.0.0.1:{port}");
                command.args(["sut", "--listen", &listen, "--store", "memory"]);
                command
            }
            Peer::Rmcp => {
                let mut command = Command::new(&self.rmcp);
                command.arg(port.to_string());
                command
            }
            Peer::Everything => {
                let mut command = Command::new(&self.node.path);
                let script = format!("node_modules/{EVERYTHING}/dist/index.js");
                command.arg("--require").arg(self.npm.join("loopback.cjs"));
                command.arg(self.npm.join(script)).arg("streamableHttp");
                command.env("PORT", port.to_string());
                // It tells of every request.
                command.stderr(std::process::Stdio::null());
                command
            }
        }
    }

    /// One line that says which versions were measured.
    pub(super) fn versions(&self) -> String {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        format!(
            "rmcp {} with TCP_NODELAY; server-everything {EVERYTHING_VERSION}, node {}; {cores} cores.",
            self.rmcp_version, self.node.version
        )
    }
}

/// Builds the server on `rmcp` for speed, and finds out its version.
fn rmcp(root: &Path, folder: &Path) -> Result<(PathBuf, String)> {
    let target = folder.join("rust");
    let target = target.to_string_lossy();
    let options = ["--release", "--locked", "--manifest-path", RMCP];
    let built = process::build(root, &[&options[..], &["--target-dir", &target]].concat())?;
    let program = built.into_iter().find(|built| built.name == "mcp-peer");
    let program = program.ok_or_else(|| Error::Answer("cargo built no mcp-peer".to_owned()))?;
    let lock = root.join("conformance/mcp/peer/Cargo.lock");
    let lock = fs::read_to_string(&lock).doing(|| format!("read {}", lock.display()))?;
    let version = workspace::locked_version(&lock, "rmcp").unwrap_or("?");
    Ok((program.path, version.to_owned()))
}

/// Installs the reference server, unless that very version was installed before.
fn everything(folder: &Path, node: &Node) -> Result<()> {
    let loopback = folder.join("loopback.cjs");
    fs::write(&loopback, LOOPBACK).doing(|| format!("write {}", loopback.display()))?;
    let manifest = folder.join(format!("node_modules/{EVERYTHING}/package.json"));
    let wanted = format!("\"version\": \"{EVERYTHING_VERSION}\"");
    if fs::read_to_string(&manifest).is_ok_and(|manifest| manifest.contains(&wanted)) {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--no-save",
        "--prefix",
    ]);
    npm.arg(folder)
        .arg(format!("{EVERYTHING}@{EVERYTHING_VERSION}"));
    node.offer_to(&mut npm);
    process::run(&mut npm)
}
