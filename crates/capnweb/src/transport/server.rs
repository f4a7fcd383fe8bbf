//! A target served on one HTTP path: WebSockets by GET, batches by POST.

use std::fmt;
use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use http::header::{ALLOW, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, StatusCode};

use super::origin::OriginPolicy;
use super::{batch, websocket};
use crate::connection::{Connection, Options};
use crate::peer::Peer;
use crate::stub::Capability;

/// Serves a target to every client that connects.
///
/// [`Server::route`] is a route for any axum router. Handlers that are still running belong to
/// [`Options::tasks`]; stop those when the server stops.
#[derive(Clone)]
pub struct Server {
    main: Arc<MakeMain>,
    options: Options,
    origins: OriginPolicy,
    websocket: Arc<websocket::Settings>,
    batch: batch::server::Settings,
}

/// Makes the object for a new session.
type MakeMain = dyn Fn(&Parts, &Peer) -> Capability + Send + Sync;

impl Server {
    /// Serves the object that `main` makes, a new one for each session; it may look at the request's headers.
    pub fn new<M: Into<Capability>>(
        main: impl Fn(&HeaderMap) -> M + Send + Sync + 'static,
    ) -> Self {
        Self::for_peers(move |headers, _peer| main(headers))
    }

    /// As [`Server::new`], with the peer: `main` can attach what it finds in the headers to the peer, for
    /// [layers](Options::layer) to read; the object it makes can do so later, for example after a log-in.
    pub fn for_peers<M: Into<Capability>>(
        main: impl Fn(&HeaderMap, &Peer) -> M + Send + Sync + 'static,
    ) -> Self {
        Self::for_requests(move |request, peer| main(&request.headers, peer))
    }

    /// As [`Server::for_peers`], with the whole head of the request: its URL, and the extensions that middleware
    /// has added.
    pub fn for_requests<M: Into<Capability>>(
        main: impl Fn(&Parts, &Peer) -> M + Send + Sync + 'static,
    ) -> Self {
        Self {
            main: Arc::new(move |request, peer| main(request, peer).into()),
            options: Options::default(),
            origins: OriginPolicy::default(),
            websocket: Arc::default(),
            batch: batch::server::Settings::default(),
        }
    }

    /// With these limits, layers, redaction and owner of running handlers.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// For these web pages.
    pub fn origins(mut self, origins: OriginPolicy) -> Self {
        self.origins = origins;
        self
    }

    /// With these settings for WebSockets.
    pub fn websocket(mut self, settings: websocket::Settings) -> Self {
        self.websocket = settings.into();
        self
    }

    /// With these settings for batches.
    pub fn batch(mut self, settings: batch::server::Settings) -> Self {
        self.batch = settings;
        self
    }

    pub fn route<S: Clone + Send + Sync + 'static>(self) -> MethodRouter<S> {
        let server = Arc::new(self);
        let for_post = server.clone();
        get(
            move |request: Parts,
                  upgrade: Result<websocket::Upgrade, websocket::Refused>| async move {
                server.upgrade(&request, upgrade)
            },
        )
        .post(move |request: Parts, body: Body| async move {
            for_post.answer(&request, body).await
        })
    }

    fn upgrade(
        &self,
        request: &Parts,
        upgrade: Result<websocket::Upgrade, websocket::Refused>,
    ) -> Response {
        let upgrade = match upgrade {
            Ok(upgrade) => upgrade,
            Err(refused) if request.headers.contains_key(UPGRADE) => {
                return refused.into_response();
            }
            Err(_) => {
                let hint = "send a POST, or open a WebSocket";
                return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")], hint).into_response();
            }
        };
        if !self.origins.allows(&request.headers) {
            return forbidden();
        }
        let connection = Connection::for_peer(|peer| (self.main)(request, peer), &self.options);
        upgrade.serve(connection, self.websocket.clone())
    }

    async fn answer(&self, request: &Parts, body: Body) -> Response {
        if !self.origins.allows(&request.headers) {
            return forbidden();
        }
        let main = |peer: &Peer| (self.main)(request, peer);
        batch::server::answer_peer(body, main, &self.options, &self.batch).await
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("options", &self.options)
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
}

fn forbidden() -> Response {
    (StatusCode::FORBIDDEN, "this page's origin is not allowed").into_response()
}
