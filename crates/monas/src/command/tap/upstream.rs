//! The server that is tapped, and how to reach it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, COOKIE, ORIGIN};
use axum::http::{HeaderMap, Uri};
use dial::{Dialer, Socket};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::session::config;

/// How long a connection may take to be made.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The address of a server: `ws://` or `wss://`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Upstream {
    uri: Uri,
}

/// It is no address of a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an address that begins with ws:// or wss://, such as ws://127.0.0.1:8080/rpc")]
pub(crate) struct NotAnAddress;

impl FromStr for Upstream {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        let uri: Uri = text.parse().map_err(|_| NotAnAddress)?;
        let known = matches!(uri.scheme_str(), Some("ws" | "wss"));
        let has_host = uri.host().is_some_and(|host| !host.is_empty());
        match known && has_host {
            true => Ok(Self { uri }),
            false => Err(NotAnAddress),
        }
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uri.fmt(f)
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upstream({})", self.uri)
    }
}

impl Upstream {
    /// Opens a WebSocket on behalf of a client, with what identifies that client; gives why it could not.
    pub(super) async fn connect(
        &self,
        dialer: &Dialer,
        client: &HeaderMap,
    ) -> Result<WebSocketStream<Box<dyn Socket>>, String> {
        match tokio::time::timeout(CONNECT_LIMIT, self.open(dialer, client)).await {
            Ok(opened) => opened,
            Err(_) => Err(format!("no reply within {CONNECT_LIMIT:?}")),
        }
    }

    async fn open(
        &self,
        dialer: &Dialer,
        client: &HeaderMap,
    ) -> Result<WebSocketStream<Box<dyn Socket>>, String> {
        let mut request = self
            .uri
            .clone()
            .into_client_request()
            .map_err(|error| error.to_string())?;
        // The server judges the page, not the tap: without the client's Origin header every page could connect through the tap.
        for name in [ORIGIN, COOKIE, AUTHORIZATION] {
            if let Some(value) = client.get(&name) {
                request.headers_mut().insert(name, value.clone());
            }
        }
        let stream = dialer.open(&self.uri).await;
        let stream = stream.map_err(|error| match error {
            dial::Error::Unreachable { problem, .. } => problem,
            error => error.to_string(),
        })?;
        let opened =
            tokio_tungstenite::client_async_with_config(request, stream, Some(config())).await;
        let (socket, _response) = opened.map_err(|error| error.to_string())?;
        Ok(socket)
    }
}
