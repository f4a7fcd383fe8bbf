//! Servers of this process, on a free port of 127.0.0.1, for as long as they are held.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt;
use capnweb::{Options, Server, Tasks};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::interop_target::{InteropTarget, World};

/// A server that stops listening when dropped.
pub(crate) struct Serving {
    pub(crate) address: SocketAddr,
    listening: JoinHandle<()>,
}

impl Serving {
    pub(crate) async fn start(router: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let listening = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, listening }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// A server of the interop target at `/rpc`.
pub(crate) struct InteropServer {
    serving: Serving,
    /// The handlers of all its sessions.
    pub(crate) tasks: Tasks,
}

impl InteropServer {
    pub(crate) async fn start() -> Self {
        Self::configured(|server| server).await
    }

    /// With other settings than the usual.
    pub(crate) async fn configured(configure: impl FnOnce(Server) -> Server) -> Self {
        let tasks = Tasks::new();
        let options = Options::default().tasks(tasks.clone());
        Self::with_options(options, configure).await
    }

    pub(crate) async fn with_options(
        options: Options,
        configure: impl FnOnce(Server) -> Server,
    ) -> Self {
        let world = Arc::new(World::default());
        let tasks = options.tasks.clone();
        let server =
            Server::new(move |_headers| InteropTarget::new(world.clone())).options(options);
        let router = Router::new().route("/rpc", configure(server).route());
        Self {
            serving: Serving::start(router).await,
            tasks,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.serving.address
    }

    /// Where its WebSockets are.
    pub(crate) fn url(&self) -> String {
        format!("ws://{}/rpc", self.serving.address)
    }
}
