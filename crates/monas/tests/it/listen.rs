//! The listener on real sockets, with routes made for it.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::{get, post};
use monas::listen::{Limits, Listener, Options};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

mod guard;
mod stop;
mod timeouts;
mod tls;

/// A running listener, and the way to stop it.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

impl Running {
    async fn start(options: Options) -> Self {
        Self::serve(options, routes()).await
    }

    async fn serve(options: Options, routes: Router) -> Self {
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options)
            .await
            .unwrap();
        let address = listener.address();
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(listener.serve(routes, async { drop(stopped.await) }));
        Self {
            address,
            stop,
            ended,
        }
    }

    /// How it is called in a request.
    fn authority(&self) -> String {
        self.address.to_string()
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.ended.await.unwrap();
    }
}

/// Something to read, something that takes a body, and something that never ends.
fn routes() -> Router {
    Router::new()
        .route("/", get(async || "hello"))
        .route("/echo", post(async |body: Bytes| body))
        .route("/endless", get(async || endless()))
}

/// A body that says one thing and stays open.
fn endless() -> Body {
    let first = Ok::<_, std::convert::Infallible>(Bytes::from_static(b"first"));
    let stream = futures_util::stream::StreamExt::chain(
        futures_util::stream::iter([first]),
        futures_util::stream::pending(),
    );
    Body::from_stream(stream)
}

/// Limits so short that a test can wait for them to pass.
fn hasty() -> Limits {
    let moment = Duration::from_millis(300);
    Limits {
        handshake: moment,
        head: moment,
        body: moment,
        write: moment,
        drain: moment,
        ..Limits::default()
    }
}

fn limited(limits: Limits) -> Options {
    Options {
        limits,
        ..Options::default()
    }
}
