//! The servers that are measured: a minimal one on the official Rust crate, the reference server of npm, and ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::scenario::{EVERYTHING, RMCP, Setup, Work};
use crate::bench::frame::{self, OURS};
use crate::bench::ours::Ours;
use crate::bench::server::{Server, free_port};
use crate::error::{Doing, Error, Result};
use crate::tools::{self, Node};
use crate::{process, workspace};

type Peer = frame::Peer<Setup>;

/// The server on `rmcp`, which is no part of our workspace.
const RMCP_MANIFEST: &str = "conformance/mcp/peer/Cargo.toml";

/// The reference server, from npm.
const EVERYTHING_PACKAGE: &str = "@modelcontextprotocol/server-everything";
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

/// Builds and installs all servers.
pub(super) fn prepare(root: &Path) -> Result<Vec<Peer>> {
    let folder = workspace::target(root)?.join("peers/mcp");
    fs::create_dir_all(&folder).doing(|| format!("create {}", folder.display()))?;
    let (rmcp, rmcp_version) = rmcp(root, &folder)?;
    let node = tools::node(root)?;
    everything(&folder, &node)?;
    let everything_version = format!("{EVERYTHING_VERSION}, node {}", node.version);
    let ours = Ours::build(root)?;
    Ok(vec![
        peer(
            RMCP,
            Some(format!("{rmcp_version} with TCP_NODELAY")),
            move |port| {
                let mut command = Command::new(&rmcp);
                command.arg(port.to_string());
                command
            },
        ),
        peer(EVERYTHING, Some(everything_version), move |port| {
            let mut command = Command::new(&node.path);
            let script = format!("node_modules/{EVERYTHING_PACKAGE}/dist/index.js");
            command.arg("--require").arg(folder.join("loopback.cjs"));
            command.arg(folder.join(script)).arg("streamableHttp");
            command.env("PORT", port.to_string());
            // It prints a line for every request.
            command.stderr(std::process::Stdio::null());
            command
        }),
        peer(OURS, None, move |port| {
            let mut command = ours.command(port);
            command.args(["--store", "memory"]);
            command
        }),
    ])
}

fn peer(
    name: &'static str,
    version: Option<String>,
    command: impl Fn(u16) -> Command + 'static,
) -> Peer {
    Peer {
        name,
        version,
        start: Box::new(move |setup| {
            let path = match setup.work {
                Work::Call | Work::SessionCall => "/mcp",
                Work::Task => "/a2a/jsonrpc",
                Work::Run => "/acp/runs",
            };
            let port = free_port()?;
            Server::start(command(port), port, path, None)
        }),
    }
}

/// Builds the server on `rmcp` as ours is built, and finds out its version.
fn rmcp(root: &Path, folder: &Path) -> Result<(PathBuf, String)> {
    let target = folder.join("rust");
    let target = target.to_string_lossy();
    let options = ["--release", "--locked", "--manifest-path", RMCP_MANIFEST];
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
    let manifest = folder.join(format!("node_modules/{EVERYTHING_PACKAGE}/package.json"));
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
        .arg(format!("{EVERYTHING_PACKAGE}@{EVERYTHING_VERSION}"));
    node.offer_to(&mut npm);
    process::run(&mut npm)
}
