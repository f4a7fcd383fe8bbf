//! Our client, against the npm server and against ours: one scenario, both hosts.
//!
//! Every test runs in [`with_peer`], which asserts at its end that nothing is left in the tables.

use std::sync::atomic::{AtomicU32, Ordering};

use capnweb::transport::websocket;
use capnweb::{Capability, Connection, Options, Stub};

use crate::interop_target::InteropTarget;
use crate::support::eventually::{assert_at_rest, eventually, soon};
use crate::support::http;
use crate::support::node::NpmServer;
use crate::support::serving::InteropServer;

mod batch;
mod callbacks;
mod calls;
mod endings;
mod errors;
mod fetch;
mod lifetimes;
mod map;
mod parties;
mod streams_in;
mod streams_out;
mod values;

/// Who hosts the interop target.
#[derive(Clone, Copy)]
enum Host<'a> {
    Npm(&'a NpmServer),
    Ours(&'a InteropServer),
}

impl Host<'_> {
    /// Where its WebSockets are.
    fn url(self) -> String {
        match self {
            Self::Npm(server) => server.url().to_owned(),
            Self::Ours(server) => server.url(),
        }
    }

    /// Where it takes batches.
    fn http_url(self) -> String {
        self.url().replacen("ws", "http", 1)
    }
}

/// A session of ours with a host.
struct Peer<'a> {
    host: Host<'a>,
    /// Under which the npm server knows the session.
    name: String,
    connection: Connection,
    api: Stub<InteropTarget>,
}

/// Runs a test on a fresh session with each host. At its end the tables must be at rest.
async fn with_peer(test: impl AsyncFn(&Peer<'_>)) {
    with_peer_of(Host::Npm(NpmServer::shared()), &test).await;
    with_peer_of(Host::Ours(&InteropServer::start().await), &test).await;
}

/// As [`with_peer`], with hosts that no other test uses.
async fn with_lonely_peer(test: impl AsyncFn(&Peer<'_>)) {
    with_peer_of(Host::Npm(&NpmServer::start()), &test).await;
    with_peer_of(Host::Ours(&InteropServer::start().await), &test).await;
}

async fn with_peer_of(host: Host<'_>, test: impl AsyncFn(&Peer<'_>)) {
    let peer = Peer::open(host).await;
    soon("the test", test(&peer)).await;
    peer.finish().await;
}

impl<'a> Peer<'a> {
    async fn open(host: Host<'a>) -> Self {
        Self::open_with(host, &Options::default()).await
    }

    async fn open_with(host: Host<'a>, options: &Options) -> Self {
        static NAMES: AtomicU32 = AtomicU32::new(0);
        let name = NAMES.fetch_add(1, Ordering::Relaxed).to_string();
        let url = format!("{}?session={name}", host.url());
        let connection = websocket::connect(&url, Capability::nothing(), options)
            .await
            .unwrap();
        let api = connection.remote();
        Self {
            host,
            name,
            connection,
            api,
        }
    }

    /// Another session with the same host, to be ended with [`Peer::finish`].
    async fn another(&self) -> Self {
        Self::open(self.host).await
    }

    /// Asserts that the tables of both sides are empty.
    async fn finish(self) {
        assert_at_rest(&self.connection).await;
        if let Host::Npm(server) = self.host {
            let path = format!("/stats?session={}", self.name);
            let at_rest = r#"{"imports":1,"exports":1}"#.to_owned();
            let read = async || http::get(server.address(), &path, "").await.body;
            eventually("the tables of npm", at_rest, read).await;
        }
    }
}
