//! One POST to a webhook: the address is resolved, checked and connected to here, in this order and
//! once, so that what was checked is what is called. Redirects are not followed.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Uri, header};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::guard::{Targets, literal};

/// Why a webhook did not take an event. Each completes "could not deliver: ...".
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error("{0:?} is not a URL to call")]
    Url(String),
    #[error("{0} is not a public address")]
    Forbidden(String),
    #[error("connect: {0}")]
    Connect(#[from] io::Error),
    #[error("{0}")]
    Http(#[from] hyper::Error),
    #[error("it answered {0}")]
    Refused(http::StatusCode),
    #[error("it took too long")]
    Late,
}

pub(super) struct Client {
    targets: Targets,
    time: Duration,
    tls: TlsConnector,
}

impl Client {
    pub(super) fn new(targets: Targets, time: Duration) -> Self {
        let roots = rustls::RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has the default versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self {
            targets,
            time,
            tls: Arc::new(config).into(),
        }
    }

    /// Posts, and waits for an answer that says it was taken.
    pub(super) async fn post(
        &self,
        url: &str,
        headers: http::HeaderMap,
        body: Bytes,
    ) -> Result<(), Failed> {
        timeout(self.time, self.attempt(url, headers, body))
            .await
            .map_err(|_| Failed::Late)?
    }

    async fn attempt(
        &self,
        url: &str,
        headers: http::HeaderMap,
        body: Bytes,
    ) -> Result<(), Failed> {
        let malformed = || Failed::Url(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| malformed())?;
        let host = uri.host().ok_or_else(malformed)?;
        let encrypted = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if encrypted { 443 } else { 80 });
        let stream = self.connect(host, port).await?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let authority = uri.authority().ok_or_else(malformed)?;
        let mut request = Request::post(path)
            .body(Full::new(body))
            .map_err(|_| malformed())?;
        *request.headers_mut() = headers;
        let value = header::HeaderValue::from_str(authority.as_str()).map_err(|_| malformed())?;
        request.headers_mut().insert(header::HOST, value);
        if encrypted {
            let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
                .map_err(|_| malformed())?;
            exchange(self.tls.connect(name, stream).await?, request).await
        } else {
            exchange(stream, request).await
        }
    }

    /// Connects to the first address of a host that is allowed.
    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, Failed> {
        let addresses: Vec<SocketAddr> = match literal(host) {
            Some(address) => vec![(address, port).into()],
            None => lookup_host((host, port)).await?.collect(),
        };
        let mut failed = Failed::Forbidden(host.to_owned());
        for address in addresses
            .into_iter()
            .filter(|address| self.targets.allow(address.ip()))
        {
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failed = error.into(),
            }
        }
        Err(failed)
    }
}

/// One request over one connection. Only the head of the answer is read.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<Full<Bytes>>,
) -> Result<(), Failed> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let sending = async {
        let response = sender.send_request(request).await?;
        match response.status() {
            status if status.is_success() => Ok(()),
            status => Err(Failed::Refused(status)),
        }
    };
    tokio::pin!(sending);
    tokio::select! {
        sent = &mut sending => sent,
        // The connection ends first when the peer hangs up; what was sent is known then.
        _ = connection => sending.await,
    }
}
