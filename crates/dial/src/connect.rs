//! One connection: resolved, checked, dialed, tunnelled and encrypted, in this order.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower_service::Service;

use crate::client::HttpClient;
use crate::error::{Error, error_chain};
use crate::guard::{Reach, ip_literal, is_public};
use crate::proxy::Proxies;
use crate::resolve::{BoxError, Forbidden, Guarded, Resolve, System};
use crate::settings::Settings;
use crate::tls;

#[cfg(test)]
#[path = "connect_tests.rs"]
mod tests;

/// A stream of bytes to another machine, such as a WebSocket is opened on.
pub trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// Makes connections as its [`Settings`] say. Clones share the configuration; the connections of HTTP are kept by the
/// [`HttpClient`]s that are made from it.
///
/// A program has one dialer for all it does outbound, so that an authority or a proxy which is configured once holds
/// everywhere. A part with other needs (only public addresses, the caller's certificate) changes a copy of the
/// settings and makes a dialer of its own.
///
/// Each connection goes through these steps, and the time for them is counted once for all:
///
/// 1. A literal address in the URL is checked ([`Reach`]).
/// 2. The proxy for the address is looked up ([`Proxies`]).
/// 3. Without a proxy, the name is resolved, the addresses are checked, and those that passed are dialed (both
///    families in parallel: "happy eyeballs", by hyper-util).
/// 4. With a proxy, the proxy is dialed (its own address is the operator's choice and not checked), with TLS where
///    its address says https. Encrypted targets, sockets and HTTP/2 get a tunnel (CONNECT); plain HTTP/1 is sent to
///    the proxy with the whole URL in its first line. Where addresses are checked, the name is resolved here and
///    the tunnel leads to the address that passed, since the proxy would resolve the name a second time.
/// 5. For https and wss, TLS with the name of the URL, also inside a tunnel.
#[derive(Clone)]
pub struct Dialer {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Clone)]
pub(crate) struct Shared {
    http1: Arc<ClientConfig>,
    #[cfg(feature = "http2")]
    http2: Arc<ClientConfig>,
    pub(crate) proxies: Proxies,
    resolver: Arc<dyn Resolve>,
    /// The addresses that may be dialed; `None` when all may.
    allows: Option<fn(IpAddr) -> bool>,
    connect_time: Duration,
}

impl Dialer {
    /// Fails when a certificate or a key cannot be used.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let http1 = tls::config(&settings.trust, settings.identity.as_ref())?;
        #[cfg(feature = "http2")]
        let http2 = {
            let mut http2 = http1.clone();
            http2.alpn_protocols = vec![b"h2".to_vec()];
            http2
        };
        let resolver = settings.resolver.clone();
        let shared = Shared {
            http1: Arc::new(http1),
            #[cfg(feature = "http2")]
            http2: Arc::new(http2),
            proxies: settings.proxies.clone(),
            resolver: resolver.unwrap_or_else(|| Arc::new(System)),
            allows: rule(settings.reach),
            connect_time: settings.connect_time,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// A dialer with the same settings that may reach only these addresses.
    #[must_use]
    pub fn reaching(&self, reach: Reach) -> Self {
        let shared = Shared {
            allows: rule(reach),
            ..(*self.shared).clone()
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// A dialer with the same settings that gives a connection this time.
    #[must_use]
    pub fn connecting_within(&self, connect_time: Duration) -> Self {
        let shared = Shared {
            connect_time,
            ..(*self.shared).clone()
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// A client for HTTP/1 with a pool of its own.
    pub fn http(&self) -> HttpClient {
        HttpClient::new(self)
    }

    /// A bare connection to an `http`, `https`, `ws` or `wss` address, through a tunnel where there is a proxy.
    pub async fn open(&self, address: &Uri) -> Result<Box<dyn Socket>, Error> {
        let opening = self.connector(Use::Stream).connect(address.clone());
        let stream = opening.await.map_err(|error| failed(address, &*error))?;
        Ok(stream.io.into_inner())
    }

    /// Whether addresses are checked, so that a proxy is told addresses instead of names.
    pub(crate) fn is_guarded(&self) -> bool {
        self.shared.allows.is_some()
    }

    pub(crate) fn connector(&self, purpose: Use) -> Connector {
        Connector {
            shared: self.shared.clone(),
            purpose,
        }
    }
}

impl Default for Dialer {
    /// With the default settings.
    fn default() -> Self {
        Self::new(&Settings::default()).expect("the default settings hold nothing to refuse")
    }
}

/// The addresses that may be dialed; `None` when all may.
fn rule(reach: Reach) -> Option<fn(IpAddr) -> bool> {
    match reach {
        Reach::Any => None,
        Reach::Public => Some(is_public),
    }
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Http1,
    #[cfg(feature = "http2")]
    Http2,
    Stream,
}

/// The connector that pools of hyper-util use.
#[derive(Clone)]
pub struct Connector {
    shared: Arc<Shared>,
    purpose: Use,
}

impl Connector {
    async fn connect(self, address: Uri) -> Result<Stream, BoxError> {
        let time = self.shared.connect_time;
        match timeout(time, self.connect_untimed(&address)).await {
            Ok(connected) => connected,
            Err(_) => Err(Late(time).into()),
        }
    }

    async fn connect_untimed(&self, address: &Uri) -> Result<Stream, BoxError> {
        let host = address.host().ok_or("the address names no host")?;
        let is_secure = match address.scheme_str() {
            Some("https" | "wss") => true,
            Some("http" | "ws") => false,
            _ => return Err("not an http or https address".into()),
        };
        if let (Some(allows), Some(literal)) = (self.shared.allows, ip_literal(host))
            && !allows(literal)
        {
            return Err(Forbidden(host.to_owned()).into());
        }
        let port = address.port_u16().unwrap_or(default_port(is_secure));
        let (io, is_proxied) = match self.shared.proxies.of(address) {
            None => (boxed(self.dial(address).await?), false),
            Some(proxy)
                if is_secure || self.purpose != Use::Http1 || self.shared.allows.is_some() =>
            {
                (self.tunnel(&proxy, host, port).await?, false)
            }
            Some(proxy) => (self.shared.dial_proxy(proxy.uri()).await?, true),
        };
        if !is_secure {
            return Ok(Stream {
                io: TokioIo::new(io),
                is_proxied,
                is_http2: false,
            });
        }
        let config = match self.purpose {
            #[cfg(feature = "http2")]
            Use::Http2 => &self.shared.http2,
            _ => &self.shared.http1,
        };
        let stream = encrypt(config, host, io).await?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok(Stream {
            io: TokioIo::new(boxed(stream)),
            is_proxied,
            is_http2,
        })
    }

    /// Dials the address itself, within the addresses that may be reached.
    async fn dial(&self, address: &Uri) -> Result<tokio::net::TcpStream, BoxError> {
        let allows = self.shared.allows.unwrap_or(|_| true);
        let mut tcp = self.shared.tcp(allows);
        Ok(tcp.call(dialable(address)?).await?.into_inner())
    }

    /// A tunnel through a proxy.
    async fn tunnel(
        &self,
        proxy: &Intercept,
        host: &str,
        port: u16,
    ) -> Result<Box<dyn Socket>, BoxError> {
        let to = match self.shared.allows {
            Some(allows) if ip_literal(host).is_none() => {
                let resolver = self.shared.resolver.clone();
                let resolved = Guarded { resolver, allows }
                    .resolve(host.to_owned())
                    .await?;
                let first = resolved.first().ok_or("the name has no address")?;
                SocketAddr::new(first.ip(), port).to_string()
            }
            _ => format!("{host}:{port}"),
        };
        let to = Uri::builder()
            .scheme("https")
            .authority(to)
            .path_and_query("/");
        let mut tunnel = Tunnel::new(proxy.uri().clone(), ToProxy(self.shared.clone()));
        if let Some(credentials) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(credentials.clone());
        }
        Ok(tunnel.call(to.build()?).await?.into_inner())
    }
}

impl Shared {
    fn tcp(&self, allows: fn(IpAddr) -> bool) -> HttpConnector<Guarded> {
        let resolver = self.resolver.clone();
        let mut tcp = HttpConnector::new_with_resolver(Guarded { resolver, allows });
        tcp.enforce_http(false);
        // A request is a small write that is waited for.
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(self.connect_time));
        tcp
    }

    async fn dial_proxy(&self, proxy: &Uri) -> Result<Box<dyn Socket>, BoxError> {
        let mut tcp = self.tcp(|_| true);
        let stream = tcp.call(proxy.clone()).await?.into_inner();
        if proxy.scheme_str() != Some("https") {
            return Ok(Box::new(stream));
        }
        let host = proxy.host().unwrap_or_default();
        Ok(Box::new(
            encrypt(&self.http1, host, Box::new(stream)).await?,
        ))
    }
}

/// Dials a proxy, for the tunnel of hyper-util.
#[derive(Clone)]
struct ToProxy(Arc<Shared>);

impl Service<Uri> for ToProxy {
    type Response = TokioIo<Box<dyn Socket>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, proxy: Uri) -> Self::Future {
        let shared = self.0.clone();
        Box::pin(async move { Ok(TokioIo::new(shared.dial_proxy(&proxy).await?)) })
    }
}

async fn encrypt(
    config: &Arc<ClientConfig>,
    host: &str,
    io: Box<dyn Socket>,
) -> Result<tokio_rustls::client::TlsStream<Box<dyn Socket>>, BoxError> {
    let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())?;
    Ok(TlsConnector::from(config.clone()).connect(name, io).await?)
}

/// The address with a scheme that hyper-util knows the port of.
fn dialable(address: &Uri) -> Result<Uri, BoxError> {
    let scheme = match address.scheme_str() {
        Some("ws") => "http",
        Some("wss") => "https",
        _ => return Ok(address.clone()),
    };
    let mut parts = address.clone().into_parts();
    parts.scheme = Some(scheme.parse()?);
    Ok(Uri::from_parts(parts)?)
}

fn boxed(stream: impl Socket + 'static) -> Box<dyn Socket> {
    Box::new(stream)
}

fn default_port(is_secure: bool) -> u16 {
    if is_secure { 443 } else { 80 }
}

/// There was no connection in time.
#[derive(Debug, thiserror::Error)]
#[error("no connection within {0:?}")]
struct Late(Duration);

/// What a failed connection means.
pub(crate) fn failed(address: &Uri, error: &(dyn std::error::Error + 'static)) -> Error {
    let host = match (address.host(), address.port_u16()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => address.to_string(),
    };
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<Forbidden>() {
            return Error::Forbidden(host);
        }
        if let Some(Late(time)) = error.downcast_ref() {
            return Error::Late {
                address: host,
                time: *time,
            };
        }
        cause = error.source();
    }
    let problem = error_chain(error);
    // hyper-util names TCP before each of its errors, which adds nothing for a reader.
    let short = problem.strip_prefix("tcp connect error: ");
    Error::Unreachable {
        address: host,
        problem: short.unwrap_or(&problem).to_owned(),
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        Box::pin(self.clone().connect(address))
    }
}

/// A connection as hyper-util's pools want it.
pub struct Stream {
    io: TokioIo<Box<dyn Socket>>,
    /// Requests go to a proxy, so their first line has the whole URL.
    is_proxied: bool,
    is_http2: bool,
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.is_proxied);
        match self.is_http2 {
            true => connected.negotiated_h2(),
            false => connected,
        }
    }
}

impl hyper::rt::Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl hyper::rt::Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, parts)
    }
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").finish_non_exhaustive()
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}
