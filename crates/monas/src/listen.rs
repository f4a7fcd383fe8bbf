//! One port: what holds for every connection and every request, whatever they are for.
//!
//! HTTP/1.1 and HTTP/2 are spoken on the same port, over TLS or without it.
//!
//! Layout:
//! - [`limits`]: every time limit and size, with defaults
//! - `connection`: one connection: TLS, the version of HTTP, the end
//! - `sniff`, `tls`, `counted`: the streams under it
//! - `gate`: one request: judged by [`Guard`], its `body` timed, its answer completed and `paced`

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

mod body;
mod connection;
mod counted;
mod gate;
mod guard;
pub mod limits;
mod origin;
mod paced;
mod sniff;
mod tls;

pub use guard::Guard;
pub use limits::Limits;
pub use origin::{NotAnOrigin, Origin};
pub use tls::{Tls, TlsError};

use connection::Common;
use gate::Gate;

/// How long to wait when the system refuses another connection.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why an address could not be taken. Each completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is not a loopback one, and those who reach it from elsewhere would not be asked who they are.
    #[error("listen on {0}: only loopback addresses are allowed{needs}", needs = needs(.1))]
    NotLoopback(SocketAddr, Beyond),
    /// The address is taken, or not ours.
    #[error("listen on {address}: {source}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Whether others than this machine may be listened to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beyond {
    /// Never.
    #[default]
    Never,
    /// Not as this server is configured.
    NotSo,
    /// They may: whoever calls has to prove who they are.
    Allowed,
}

fn needs(beyond: &Beyond) -> &'static str {
    match beyond {
        Beyond::NotSo => " without [access] that asks everybody and a public_url of https",
        _ => "",
    }
}

/// How a request is told that it was refused before it came to a route: at this path, with this status, for this
/// reason.
pub type Words = fn(&str, StatusCode, &'static str) -> Response;

/// As plain text.
pub(crate) fn plainly(_path: &str, status: StatusCode, why: &'static str) -> Response {
    (status, format!("{why}\n")).into_response()
}

/// What a listener needs besides its address.
#[derive(Clone, Debug)]
pub struct Options {
    /// TLS on every connection, or on none.
    pub tls: Option<Tls>,
    /// Who may ask.
    pub guard: Guard,
    /// How much, and for how long.
    pub limits: Limits,
    /// Whether others than this machine may be listened to.
    pub beyond: Beyond,
    /// How a request is refused that comes to no route.
    pub words: Words,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tls: None,
            guard: Guard::default(),
            limits: Limits::default(),
            beyond: Beyond::default(),
            words: plainly,
        }
    }
}

/// An address taken. Clients can connect from now on; they are served once it serves.
#[derive(Debug)]
pub struct Listener {
    inner: TcpListener,
    address: SocketAddr,
    options: Options,
}

impl Listener {
    /// Takes the address.
    pub async fn bind(address: SocketAddr, options: Options) -> Result<Self, Error> {
        if !address.ip().is_loopback() && options.beyond != Beyond::Allowed {
            return Err(Error::NotLoopback(address, options.beyond));
        }
        let bind = |source| Error::Bind { address, source };
        let inner = TcpListener::bind(address).await.map_err(bind)?;
        let address = inner.local_addr().map_err(bind)?;
        Ok(Self {
            inner,
            address,
            options,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.options.tls.is_some() {
            "https"
        } else {
            "http"
        }
    }

    /// Serves until `shutdown` ends. Requests under way then have [`Limits::drain`] to finish. When this
    /// returns no task of it is left; sockets that became something else than HTTP belong to whoever
    /// took them over.
    pub async fn serve(self, router: Router, shutdown: impl Future<Output = ()>) {
        let scheme = self.scheme();
        let Options {
            tls,
            guard,
            limits,
            words,
            ..
        } = self.options;
        let places = Arc::new(Semaphore::new(limits.connections));
        let common = Arc::new(Common {
            gate: Arc::new(Gate::new(router, guard, words, scheme, limits.clone())),
            tls: tls.map(|tls| TlsAcceptor::from(tls.0)),
            limits,
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            cut: CancellationToken::new(),
        });
        tokio::select! {
            biased;
            () = shutdown => {}
            () = accept(&self.inner, &places, &common) => {}
        }
        drop(self.inner);
        common.stop.cancel();
        common.tasks.close();
        if tokio::time::timeout(common.limits.drain, common.tasks.wait())
            .await
            .is_err()
        {
            common.cut.cancel();
            common.tasks.wait().await;
        }
    }
}

/// Takes one connection after the other, each once there is a place for it. Never ends.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>, common: &Arc<Common>) {
    loop {
        let place = places
            .clone()
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        match listener.accept().await {
            Ok((stream, _peer)) => {
                // An event is a small write that someone waits for. Without the option it is only slower.
                let _ = stream.set_nodelay(true);
                common.spawn(stream, place);
            }
            // Out of file handles, usually: better in a moment.
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
