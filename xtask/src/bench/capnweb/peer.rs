//! The two peers under test: npm capnweb on node, and our crate's programs `bench_target` and `latency`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::scenario::{Measure, NPM};
use crate::bench::frame::{self, OURS};
use crate::bench::server::Server;
use crate::error::Result;
use crate::process;
use crate::tools::{self, Node};

type Peer = frame::Peer<Measure>;

/// The clients of both peers, each for a server of the same peer.
#[derive(Debug)]
pub(super) struct Clients {
    npm: Npm,
    ours: PathBuf,
}

/// The npm package, with node and the scripts that use it.
#[derive(Debug, Clone)]
struct Npm {
    node: Node,
    /// The `node_modules` with the reference packages.
    modules: PathBuf,
    scripts: PathBuf,
}

impl Clients {
    pub(super) fn prepare(root: &Path) -> Result<Clients> {
        let node = tools::node(root)?;
        let modules = tools::npm_packages(root, "conformance/capnweb", &node)?;
        let scripts = root.join("xtask/bench");
        Ok(Clients {
            npm: Npm {
                node,
                modules,
                scripts,
            },
            ours: process::build_measured(root, "capnweb", &["--bench"], "latency")?,
        })
    }

    /// The peer's own client, which makes one call at a time.
    pub(super) fn command(&self, peer: &str, server: &Server, seconds: f64) -> Command {
        let mut command = match peer {
            NPM => self.npm.script("npm_client.mjs"),
            _ => Command::new(&self.ours),
        };
        command.args([&server.url, "--seconds", &seconds.to_string()]);
        command
    }
}

/// Builds our server; npm's is there with its client.
pub(super) fn prepare(root: &Path, clients: &Clients) -> Result<Vec<Peer>> {
    let npm = clients.npm.clone();
    let ours = process::build_measured(root, "capnweb", &["--example"], "bench_target")?;
    Ok(vec![
        Peer {
            name: NPM,
            version: Some(npm.version()),
            start: Box::new(move |_| start(npm.script("npm_server.mjs"))),
        },
        Peer {
            name: OURS,
            version: None,
            start: Box::new(move |_| start(process::with_many_files(&ours))),
        },
    ])
}

/// Starts a server on a free port.
fn start(mut command: Command) -> Result<Server> {
    command.args(["--port", "0"]);
    Server::start_announced(command)
}

impl Npm {
    fn script(&self, name: &str) -> Command {
        let mut command = process::with_many_files(&self.node.path);
        command.arg(self.scripts.join(name));
        command.env("NODE_MODULES", &self.modules);
        command
    }

    fn version(&self) -> String {
        let packages = ["capnweb", "ws"].map(|name| {
            let file = self.modules.join(name).join("package.json");
            let manifest = fs::read_to_string(file).unwrap_or_default();
            let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
            let version = manifest["version"].as_str().unwrap_or("?");
            format!("{name} {version}")
        });
        format!("{}, node {}", packages.join(", "), self.node.version)
    }
}
