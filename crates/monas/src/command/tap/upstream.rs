//! The server that is tapped, and how to reach it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, COOKIE, ORIGIN};
use axum::http::{HeaderMap, Uri};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::session::config;

/// How long a connection may take to be made.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The address of a server: `ws://` or `wss://`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Upstream {
    uri: Uri,
    host: String,
    port: u16,
    secure: bool,
}

/// It is no address of a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an address that begins with ws:// or wss://, such as ws://127.0.0.1:8080/rpc")]
pub(crate) struct NotAnAddress;

impl FromStr for Upstream {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        let uri: Uri = text.parse().map_err(|_| NotAnAddress)?;
        let secure = match uri.scheme_str() {
            Some("ws") => false,
            Some("wss") => true,
            _ => return Err(NotAnAddress),
        };
        let host = uri.host().filter(|host| !host.is_empty());
        let host = host
            .ok_or(NotAnAddress)?
            .trim_matches(['[', ']'])
            .to_owned();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        Ok(Self {
            uri,
            host,
            port,
            secure,
        })
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

/// A connection, with TLS or without.
pub(super) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

impl Upstream {
    /// Opens a WebSocket on behalf of a client, with what identifies that client; gives why it could not.
    pub(super) async fn connect(
        &self,
        client: &HeaderMap,
    ) -> Result<WebSocketStream<Box<dyn Wire>>, String> {
        match tokio::time::timeout(CONNECT_LIMIT, self.open(client)).await {
            Ok(opened) => opened,
            Err(_) => Err(format!("nothing after {CONNECT_LIMIT:?}")),
        }
    }

    async fn open(&self, client: &HeaderMap) -> Result<WebSocketStream<Box<dyn Wire>>, String> {
        let mut request = self
            .uri
            .clone()
            .into_client_request()
            .map_err(|error| error.to_string())?;
        // The server judges the page, not the tap: without its origin any page could come in by this door.
        for name in [ORIGIN, COOKIE, AUTHORIZATION] {
            if let Some(value) = client.get(&name) {
                request.headers_mut().insert(name, value.clone());
            }
        }
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|error| error.to_string())?;
        stream
            .set_nodelay(true)
            .map_err(|error| error.to_string())?;
        let stream: Box<dyn Wire> = if self.secure {
            let name =
                ServerName::try_from(self.host.clone()).map_err(|error| error.to_string())?;
            let stream = tls().connect(name, stream).await;
            Box::new(stream.map_err(|error| error.to_string())?)
        } else {
            Box::new(stream)
        };
        let opened =
            tokio_tungstenite::client_async_with_config(request, stream, Some(config())).await;
        let (socket, _response) = opened.map_err(|error| error.to_string())?;
        Ok(socket)
    }
}

/// Trusts those whom browsers trust.
pub(crate) fn tls() -> TlsConnector {
    let roots = rustls::RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has what the default versions need")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config).into()
}
