//! The server's end of a WebSocket: an HTTP request that becomes one.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::{Served, Settings};
use crate::connection::Connection;
use crate::error::Error;

/// A request to become a WebSocket, found by axum in a handler's arguments.
///
/// The handler must check the request's origin, since browsers let every page make such a request; see
/// [`OriginPolicy`](crate::OriginPolicy).
#[derive(Debug)]
pub struct Upgrade {
    accept: HeaderValue,
    upgrading: OnUpgrade,
}

impl Upgrade {
    /// The answer to the request. After it, the session is served until it ends. It counts among
    /// [`Options::tasks`](crate::Options), and says good-bye when those are drained or stopped;
    /// [`Connection::closed`] tells when it is over.
    pub fn serve(self, connection: Connection, settings: impl Into<Arc<Settings>>) -> Response {
        let (upgrading, settings) = (self.upgrading, settings.into());
        let tasks = connection.shared().tasks().clone();
        tasks.spawn(async move {
            let stream = match upgrading.await {
                Ok(upgraded) => Box::new(TokioIo::new(upgraded)),
                Err(error) => {
                    return connection.end(Error::new(format!("become a WebSocket: {error}")));
                }
            };
            let session = connection.shared().clone();
            let (read, held) = (Vec::new(), Some(connection));
            // A task of its own: the one that waits for the upgrade is larger, for as long as it lasts.
            Served::new(stream, read, &session, held, settings, Role::Server).spawn();
        });
        let headers = [
            (CONNECTION, HeaderValue::from_static("upgrade")),
            (UPGRADE, HeaderValue::from_static("websocket")),
            (SEC_WEBSOCKET_ACCEPT, self.accept),
        ];
        (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
    }
}

impl<S: Sync> FromRequestParts<S> for Upgrade {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        let accept = accept(&parts.method, &parts.headers)?;
        let upgrading = parts.extensions.remove::<OnUpgrade>();
        let upgrading = upgrading.ok_or(Refused::Connection)?;
        Ok(Self { accept, upgrading })
    }
}

/// Why a request cannot become a WebSocket. As a response it tells the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not a GET that asks for one.
    #[error("not a request for a WebSocket")]
    Request,
    /// It is one of another version than 13, the only one there is.
    #[error("unsupported WebSocket version; this server speaks 13")]
    Version,
    /// It has no key, or one that is not 16 bytes in base64.
    #[error("Sec-WebSocket-Key is missing or malformed")]
    Key,
    /// The connection cannot be anything else, as those of HTTP/1.0 and HTTP/2.
    #[error("this connection cannot become a WebSocket")]
    Connection,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let text = self.to_string();
        match self {
            // RFC 6455 4.2.2: says which version it would take.
            Self::Version => {
                let version = [(SEC_WEBSOCKET_VERSION, "13")];
                (StatusCode::UPGRADE_REQUIRED, version, text).into_response()
            }
            Self::Connection => (StatusCode::UPGRADE_REQUIRED, text).into_response(),
            Self::Request | Self::Key => (StatusCode::BAD_REQUEST, text).into_response(),
        }
    }
}

/// The answer to the client's key. RFC 6455 4.2.1.
fn accept(method: &Method, headers: &HeaderMap) -> Result<HeaderValue, Refused> {
    if method != Method::GET
        || !lists(headers, &CONNECTION, "upgrade")
        || !lists(headers, &UPGRADE, "websocket")
    {
        return Err(Refused::Request);
    }
    if headers
        .get(SEC_WEBSOCKET_VERSION)
        .map(HeaderValue::as_bytes)
        != Some(b"13")
    {
        return Err(Refused::Version);
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).ok_or(Refused::Key)?;
    if key.len() != 24 {
        return Err(Refused::Key);
    }
    HeaderValue::try_from(derive_accept_key(key.as_bytes())).map_err(|_| Refused::Key)
}

/// Whether a word is in a header that is a list, however it is written.
fn lists(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    let mut words = texts.flat_map(|text| text.split(','));
    words.any(|listed| listed.trim().eq_ignore_ascii_case(word))
}
