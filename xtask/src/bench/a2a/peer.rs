//! The servers that are measured: three official implementations, and ours.

use std::path::Path;
use std::process::Command;

use super::install;
use super::scenario::{JS, PYTHON, RUST, Setup, Store};
use crate::bench::frame::{self, OURS};
use crate::bench::ours::Ours;
use crate::bench::server::{Data, Server, free_port};
use crate::error::Result;

type Peer = frame::Peer<Setup>;

/// Builds ours, and installs the peers that a folder holds.
pub(super) fn prepare(root: &Path, folder: Option<&Path>) -> Result<Vec<Peer>> {
    let mut peers = Vec::new();
    if let Some(folder) = folder {
        peers.extend(rust(root, folder)?);
        peers.extend(js(root, folder)?);
        peers.extend(python(root, folder)?);
    }
    let ours = Ours::build(root)?;
    peers.push(Peer {
        name: OURS,
        version: None,
        start: Box::new(move |setup| {
            let port = free_port()?;
            let data = match setup.store {
                Store::Memory => None,
                _ => Some(Data::new(port)?),
            };
            let mut command = ours.command(port);
            store(&mut command, setup.store, data.as_ref());
            Server::start(command, port, "/a2a/jsonrpc", data)
        }),
    });
    Ok(peers)
}

fn rust(root: &Path, folder: &Path) -> Result<Option<Peer>> {
    let Some(rust) = install::rust(root, folder)? else {
        return Ok(None);
    };
    let start = move |ports: &Ports| {
        let mut command = Command::new(&rust.program);
        command.args(ports.words()).env("NODELAY", "1");
        command
    };
    Ok(Some(official(RUST, rust.version, "/", start)))
}

fn js(root: &Path, folder: &Path) -> Result<Option<Peer>> {
    let Some(js) = install::js(root, folder)? else {
        return Ok(None);
    };
    let start = move |ports: &Ports| {
        let mut command = Command::new(&js.node.path);
        command.arg(&js.script).args(ports.words());
        command
    };
    Ok(Some(official(JS, js.version, "/jsonrpc", start)))
}

fn python(root: &Path, folder: &Path) -> Result<Option<Peer>> {
    let Some(python) = install::python(root, folder)? else {
        return Ok(None);
    };
    let start = move |ports: &Ports| {
        let [port, grpc_port] = ports.words();
        let mut command = Command::new(&python.program);
        command.arg(&python.script);
        command.args(["--port", &port, "--grpc-port", &grpc_port, "--v1-only"]);
        command
    };
    Ok(Some(official(PYTHON, python.version, "/", start)))
}

/// The ports of an official server: for JSON-RPC and for gRPC.
struct Ports(u16, u16);

impl Ports {
    fn words(&self) -> [String; 2] {
        [self.0, self.1].map(|port| port.to_string())
    }
}

fn official(
    name: &'static str,
    version: String,
    path: &'static str,
    command: impl Fn(&Ports) -> Command + 'static,
) -> Peer {
    Peer {
        name,
        version: Some(version),
        start: Box::new(move |_| {
            let ports = Ports(free_port()?, free_port()?);
            Server::start(command(&ports), ports.0, path, None)
        }),
    }
}

fn store(command: &mut Command, store: Store, data: Option<&Data>) {
    command.arg("--store");
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
}
