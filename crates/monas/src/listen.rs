//! One port for every protocol: HTTP/1.1 and HTTP/2, over TLS or in the clear, with limits and checks for every request.
//!
//! Layout, in the order that a request takes:
//! - [`Listener`]: accepts connections, and stops gracefully
//! - [`limits`]: every time limit and size, with defaults
//! - `places`: how many connections there may be, from one address too, and some kept for known callers
//! - `connection`: one connection: TLS (`tls`), the version of HTTP (`sniff`), its end; `counted` is the socket
//! - `gate`: one request: its signature, if callers sign, is checked (`signed`); Host and Origin are checked by [`Guard`], the `body` has a time limit, the response gets headers
//!   and, over HTTP/2, is `paced`

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use tokio::net::TcpListener;
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
mod places;
mod signed;
mod sniff;
mod tls;

pub use guard::Guard;
pub use limits::Limits;
pub use origin::{NotAnOrigin, Origin, PublicUrl};
pub use signed::SignedRequests;
pub use tls::{Tls, TlsError, TlsSource, TlsVersion};

use connection::Common;
use gate::Gate;
use places::Places;

/// How long to wait when the system refuses another connection.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why an address could not be taken. Each completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is not a loopback one, and the configuration does not make every remote caller authenticate.
    #[error("listen on {0}: only loopback addresses are allowed{needs}", needs = needs(.1))]
    NotLoopback(SocketAddr, RemoteAccess),
    /// Another process has the address, or this machine does not.
    #[error("listen on {address}: {source}")]
    Bind {
        address: SocketAddr,
        source: std::io::Error,
    },
}

/// Whether a listener may take an address that other machines can reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RemoteAccess {
    /// This kind of server is for its own machine only.
    #[default]
    Forbidden,
    /// The configuration lacks what it needs: every caller has to authenticate, and the public URL is one of https.
    NotConfigured,
    /// Every caller has to authenticate, over an encrypted connection.
    Allowed,
}

fn needs(remote: &RemoteAccess) -> &'static str {
    match remote {
        RemoteAccess::NotConfigured => "; others need open = false and a public_url of https",
        _ => "",
    }
}

/// Writes the response to a request that is refused before it reaches a route: for this path, with this status and this
/// reason. Protocols have their own forms of an error.
pub type RefusalFormat = fn(&str, StatusCode, &'static str) -> Response;

/// Refuses in plain text, where the path belongs to no protocol with a form of its own.
pub(crate) fn as_text(_path: &str, status: StatusCode, why: &'static str) -> Response {
    (status, format!("{why}\n")).into_response()
}

/// Whether the caller of a request is known: it shows credentials, and they are valid.
#[derive(Clone)]
pub struct CallerCheck(Arc<dyn Fn(&Parts) -> bool + Send + Sync>);

impl CallerCheck {
    pub fn new(knows: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(knows))
    }

    fn knows(&self, request: &Parts) -> bool {
        (self.0)(request)
    }
}

impl Default for CallerCheck {
    /// No caller is known.
    fn default() -> Self {
        Self::new(|_| false)
    }
}

impl std::fmt::Debug for CallerCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallerCheck").finish_non_exhaustive()
    }
}

/// What a listener needs besides its address.
#[derive(Clone, Debug)]
pub struct Options {
    /// TLS on every connection, or on none.
    pub tls: Option<Tls>,
    pub guard: Guard,
    /// Which callers may have the places that are kept for known ones.
    pub known: CallerCheck,
    /// How signatures of requests are checked; without it they are not read.
    pub signed: Option<SignedRequests>,
    /// The path of the server's URL, which requests may have in front of their own: empty, or it begins with a slash.
    pub base_path: String,
    /// Whether any web page may read the answer at a path.
    pub is_public: fn(&str) -> bool,
    pub limits: Limits,
    pub remote: RemoteAccess,
    pub refusal: RefusalFormat,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tls: None,
            guard: Guard::default(),
            known: CallerCheck::default(),
            signed: None,
            base_path: String::new(),
            is_public: |_| false,
            limits: Limits::default(),
            remote: RemoteAccess::default(),
            refusal: as_text,
        }
    }
}

/// A bound address: clients can connect from now on, and are served once [`Listener::serve`] runs.
///
/// Every connection has one of the `places` before it is accepted, so at [`Limits::connections`] further clients wait in
/// the system's queue instead of costing memory. The place lives in the socket (`counted`), not in the task of the
/// connection: a WebSocket that leaves HTTP behind still counts. The last [`Limits::kept`] places are for requests of
/// known callers, and an address has [`Limits::per_address`] at most.
///
/// Each connection is a task, and so is each HTTP/2 request; one `TaskTracker` owns all of them. Two tokens end them. `stop`
/// asks: no new requests, those under way may finish. `cut` drops: it follows after [`Limits::drain`]. In the other order
/// clients would lose responses that were ready. `serve` returns when the tracker is empty, so nothing of the listener is
/// left then and the store can be closed.
///
/// The version of HTTP is read from the first bytes (`sniff`) rather than by `hyper_util`'s automatic connection, which
/// waits for them without a limit: a client that connects and stays silent would hold its place for ever.
#[derive(Debug)]
pub struct Listener {
    inner: TcpListener,
    address: SocketAddr,
    options: Options,
}

impl Listener {
    pub async fn bind(address: SocketAddr, options: Options) -> Result<Self, Error> {
        if !address.ip().is_loopback() && options.remote != RemoteAccess::Allowed {
            return Err(Error::NotLoopback(address, options.remote));
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

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its TLS configuration, which can be told to read its files again.
    pub fn tls(&self) -> Option<&Tls> {
        self.options.tls.as_ref()
    }

    /// The scheme of its URLs: `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.options.tls.is_some() {
            "https"
        } else {
            "http"
        }
    }

    /// Serves until `shutdown` ends. Requests under way then have [`Limits::drain`] to finish. No task of the listener is
    /// left when this returns; upgraded sockets belong to the protocol that took them over.
    pub async fn serve(self, router: Router, shutdown: impl Future<Output = ()>) {
        let scheme = self.scheme();
        let mut options = self.options;
        let (tls, limits) = (options.tls.take(), options.limits.clone());
        let places = Places::new(&limits);
        let common = Arc::new(Common {
            gate: Arc::new(Gate::new(router, options, scheme)),
            tls: tls.clone(),
            limits,
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            cut: CancellationToken::new(),
        });
        tokio::select! {
            biased;
            () = shutdown => {}
            () = accept(&self.inner, &places, &common) => {}
            () = watch(tls.as_ref()) => {}
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

/// Keeps the TLS files under watch, if there are any. Never ends.
async fn watch(tls: Option<&Tls>) {
    match tls {
        Some(tls) => tls.watch().await,
        None => std::future::pending().await,
    }
}

/// Takes one connection after the other, each once there is a place for it. Never ends.
async fn accept(listener: &TcpListener, places: &Places, common: &Arc<Common>) {
    loop {
        let vacancy = places.vacancy().await;
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Some(place) = places.take(vacancy, peer.ip()) else {
                    tracing::debug!(%peer, "address has too many connections");
                    continue;
                };
                // Events are small writes that must not wait for more. Without the option they are only slower.
                let _ = stream.set_nodelay(true);
                common.spawn(stream, place);
            }
            // Usually the process is out of file handles; some are freed when connections end.
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
