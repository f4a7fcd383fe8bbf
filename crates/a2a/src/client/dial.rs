//! Connections: plain and encrypted, for requests and for sockets.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, HeaderValue};
use http::{HeaderMap, Request, Response, Uri};
use http_body::Body as HttpBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Builder, Client as Pool};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::{Error, Settings};

mod tls;

/// Makes connections, and keeps those of HTTP.
pub(crate) struct Dialer {
    tls: Arc<ClientConfig>,
    http: Pool<HttpsConnector<HttpConnector>, Full<Bytes>>,
    settings: Settings,
}

/// A connection that a WebSocket can be opened on.
pub(crate) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

impl Dialer {
    pub(crate) fn new(settings: &Settings) -> Result<Self, Error> {
        let tls = tls::config(&settings.tls, settings.identity.as_ref())?;
        let dialer = Self {
            http: pool(&tls, settings, Http::One),
            tls: Arc::new(tls),
            settings: settings.clone(),
        };
        Ok(dialer)
    }

    /// Connections of HTTP/2 alone, for bodies of a kind.
    #[cfg(feature = "grpc")]
    pub(crate) fn http2<B>(&self) -> Pool<HttpsConnector<HttpConnector>, B>
    where
        B: HttpBody + Send,
        B::Data: Send,
    {
        pool(&self.tls, &self.settings, Http::Two)
    }

    /// What every request and handshake bears.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.settings.headers
    }

    /// An address with the parameters that every one has.
    pub(crate) fn address(&self, url: &Uri) -> Result<Uri, Error> {
        if self.settings.query.is_empty() {
            return Ok(url.clone());
        }
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(&self.settings.query);
        let mut parts = url.clone().into_parts();
        let path = match url.query() {
            Some(own) => format!("{}?{own}&{}", url.path(), query.finish()),
            None => format!("{}?{}", url.path(), query.finish()),
        };
        let wrong = || Error::Settings("a parameter cannot be part of an address".to_owned());
        parts.path_and_query = Some(path.parse().map_err(|_| wrong())?);
        Uri::from_parts(parts).map_err(|_| wrong())
    }

    /// The largest reply, or event of a stream.
    pub(crate) fn max_reply(&self) -> usize {
        self.settings.max_reply
    }

    /// Sends a request; gives the response when its head is there.
    pub(crate) async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Error> {
        let address = request.uri().to_string();
        *request.uri_mut() = self.address(request.uri())?;
        let headers = request.headers_mut();
        for (name, value) in &self.settings.headers {
            headers.insert(name, value.clone());
        }
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        self.http
            .request(request)
            .await
            .map_err(|error| failed(&address, &error))
    }

    /// The whole body, if it is not too large.
    pub(crate) async fn read(&self, body: Incoming) -> Result<Bytes, Error> {
        let limit = self.settings.max_reply;
        let read = Limited::new(body, limit).collect().await;
        read.map(|body| body.to_bytes()).map_err(|error| {
            if error.is::<http_body_util::LengthLimitError>() {
                Error::unclear(format!("it is larger than {limit} bytes"))
            } else {
                Error::lost(error)
            }
        })
    }

    /// Opens a connection for a socket: to `ws`, `wss`, `http` or `https`.
    pub(crate) async fn open(&self, url: &Uri) -> Result<Box<dyn Socket>, Error> {
        let opening = timeout(self.settings.connect_time, self.dial(url));
        match opening.await {
            Ok(opened) => opened.map_err(|why| Error::unreachable(url, why)),
            Err(_) => {
                let why = format!("no connection within {:?}", self.settings.connect_time);
                Err(Error::unreachable(url, why))
            }
        }
    }

    async fn dial(&self, url: &Uri) -> Result<Box<dyn Socket>, std::io::Error> {
        let secure = matches!(url.scheme_str(), Some("wss" | "https"));
        let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
        let port = url.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let stream = TcpStream::connect((host, port)).await?;
        // A call is a small write that someone waits for.
        stream.set_nodelay(true)?;
        if !secure {
            return Ok(Box::new(stream));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(std::io::Error::other)?;
        let stream = TlsConnector::from(self.tls.clone()).connect(name, stream);
        Ok(Box::new(stream.await?))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Http {
    One,
    Two,
}

fn pool<B>(
    tls: &ClientConfig,
    settings: &Settings,
    version: Http,
) -> Pool<HttpsConnector<HttpConnector>, B>
where
    B: HttpBody + Send,
    B::Data: Send,
{
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(settings.connect_time));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls.clone())
        .https_or_http();
    let connector = match version {
        Http::One => connector.enable_http1().wrap_connector(tcp),
        Http::Two => connector.enable_http2().wrap_connector(tcp),
    };
    let mut builder: Builder = Pool::builder(TokioExecutor::new());
    builder
        .pool_timer(TokioTimer::new())
        .timer(TokioTimer::new())
        .http2_only(version == Http::Two)
        .build(connector)
}

/// What a failed request means: only when no connection was made, nothing was sent.
fn failed(address: &str, error: &hyper_util::client::legacy::Error) -> Error {
    let mut why = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        why = format!("{why}: {error}");
        cause = error.source();
    }
    if error.is_connect() {
        Error::unreachable(address, why)
    } else {
        Error::lost(why)
    }
}
