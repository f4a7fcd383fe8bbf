//! Over what is measured: five bindings, plain and encrypted, each on a server of its own.

use std::fmt;

use super::load::Programs;
use crate::bench::server::{Data, Server, free_port};
use crate::error::Result;
use crate::process;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    JsonRpc,
    Rest,
    Grpc,
    WebSocket,
    CapnWeb,
}

impl Binding {
    pub(crate) const ALL: [Binding; 5] = [
        Binding::JsonRpc,
        Binding::Rest,
        Binding::Grpc,
        Binding::WebSocket,
        Binding::CapnWeb,
    ];

    /// What the server's card and its clients call it.
    pub(super) fn key(self) -> &'static str {
        match self {
            Binding::JsonRpc => "jsonrpc",
            Binding::Rest => "rest",
            Binding::Grpc => "grpc",
            Binding::WebSocket => "websocket",
            Binding::CapnWeb => "capnweb",
        }
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Binding::JsonRpc => "JSON-RPC",
            Binding::Rest => "REST",
            Binding::Grpc => "gRPC",
            Binding::WebSocket => "WebSocket",
            Binding::CapnWeb => "Cap'n Web",
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wire {
    pub(super) binding: Binding,
    pub(super) encrypted: bool,
}

impl Wire {
    pub(super) fn all() -> impl Iterator<Item = Wire> {
        let wire = |encrypted| move |binding| Wire { binding, encrypted };
        let plain = Binding::ALL.into_iter().map(wire(false));
        plain.chain(Binding::ALL.into_iter().map(wire(true)))
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tls = if self.encrypted { ", TLS" } else { "" };
        write!(f, "{}{tls}", self.binding)
    }
}

/// A wire, and the server that is reached over it.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) wire: Wire,
    pub(super) server: Server,
    pub(super) url: String,
}

/// A token that the servers know; callers without one are let in as well.
const TOKEN: &str = "token-of-bench";

/// Starts a server for each wire.
pub(super) fn start_all(programs: &Programs) -> Result<Vec<Served>> {
    Wire::all().map(|wire| start(programs, wire)).collect()
}

fn start(programs: &Programs, wire: Wire) -> Result<Served> {
    let port = free_port()?;
    let mut command = process::with_many_files(&programs.server);
    command.args(["--listen", &format!("127.0.0.1:{port}")]);
    command.args(["--bearer", TOKEN]);
    let mut identity = None;
    if wire.encrypted {
        let folder = Data::new(port)?;
        programs.make_certificate(&folder.path)?;
        command.arg("--tls-cert").arg(folder.path.join("cert.pem"));
        command.arg("--tls-key").arg(folder.path.join("key.pem"));
        identity = Some(folder);
    }
    let scheme = if wire.encrypted { "https" } else { "http" };
    Ok(Served {
        wire,
        server: Server::start(command, port, "", identity)?,
        url: format!("{scheme}://127.0.0.1:{port}"),
    })
}
