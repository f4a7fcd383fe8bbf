//! The accept loop: what holds for every connection, whatever it speaks.
//!
//! A web page must not be able to drive a local server by a name that resolves to loopback, so the
//! Host header has to be a loopback name. Origins are checked by each route, which knows whether it
//! changes anything.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{Request, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

mod counted;

use counted::Counted;

/// How long a client may take to send the head of a request.
const HEAD_LIMIT: Duration = Duration::from_secs(30);

/// How long to wait when the system refuses another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long connections may take to finish once the server stops.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// Why a server could not start. Each completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is not a loopback one, and there is no access control yet.
    #[error("listen on {0}: only loopback addresses are allowed until there is access control")]
    NotLoopback(SocketAddr),
    /// The address is taken, or not ours.
    #[error("listen on {address}: {source}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
}

/// An address taken, and how many may connect to it at once.
#[derive(Debug)]
pub struct Listener {
    inner: TcpListener,
    address: SocketAddr,
    places: Arc<Semaphore>,
}

impl Listener {
    /// Takes the address.
    pub async fn bind(address: SocketAddr, max_connections: usize) -> Result<Self, Error> {
        if !address.ip().is_loopback() {
            return Err(Error::NotLoopback(address));
        }
        let bind = |source| Error::Bind { address, source };
        let inner = TcpListener::bind(address).await.map_err(bind)?;
        let address = inner.local_addr().map_err(bind)?;
        Ok(Self {
            inner,
            address,
            places: Arc::new(Semaphore::new(max_connections)),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` ends. Requests under way may then finish; sockets that became
    /// something else than HTTP belong to whoever took them over.
    pub async fn serve(self, router: Router, shutdown: impl Future<Output = ()>) {
        let service = TowerToHyperService::new(router.layer(from_fn(check_host)));
        // Only HTTP/1: to find out about HTTP/2 would mean to wait for whoever sends nothing.
        let mut http = auto::Builder::new(TokioExecutor::new()).http1_only();
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_LIMIT);
        let graceful = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                stream = self.accept() => {
                    let connection = http.serve_connection_with_upgrades(TokioIo::new(stream), service.clone());
                    let connection = graceful.watch(connection.into_owned());
                    // A connection that breaks is its client's affair.
                    connections.spawn(async move { drop(connection.await) });
                }
                Some(_) = connections.join_next() => {}
            }
        }
        drop(self);
        // What has not finished by then is cut off.
        let _ = tokio::time::timeout(DRAIN_LIMIT, graceful.shutdown()).await;
        connections.shutdown().await;
    }

    /// The next connection, once there is a place for it.
    async fn accept(&self) -> Counted<TcpStream> {
        loop {
            let place = self
                .places
                .clone()
                .acquire_owned()
                .await
                .expect("the semaphore is never closed");
            match self.inner.accept().await {
                Ok((stream, _peer)) => {
                    // A frame is a small write that someone waits for. Without the option it is only slower.
                    let _ = stream.set_nodelay(true);
                    return Counted::new(stream, place);
                }
                // Out of file handles, usually: better in a moment.
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    }
}

/// Refuses requests for a name that is not loopback's (DNS rebinding).
async fn check_host(request: Request<Body>, next: Next) -> Response {
    let host = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    let authority = host.and_then(|host| host.parse::<Authority>().ok());
    match authority {
        Some(authority) if is_loopback(authority.host()) => next.run(request).await,
        _ => (
            StatusCode::MISDIRECTED_REQUEST,
            "this server answers to loopback names only",
        )
            .into_response(),
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}
