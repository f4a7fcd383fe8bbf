//! Requests over HTTP/1, with a pool of connections.

use std::fmt;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, HeaderValue, PROXY_AUTHORIZATION};
use http::{Request, Response};
use http_body_util::Full;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::body::Body;
use crate::connect::{Connector, Dialer, Use, failed};
use crate::error::{Error, error_chain};
use crate::redirect::{self, Redirects};
use crate::trace::{self, Kind, Span};

/// Sends requests and keeps connections for the next ones. Clones share them.
///
/// It owns a pool: a connection is used again once its response was read to the end, an idle one is closed after 90
/// seconds, and all are closed when the last clone is dropped. Each connection is made by the [`Dialer`], so trust,
/// proxies and checks of addresses hold for every request and for every hop of a redirect.
///
/// A request that found its idle connection closed before anything was written is sent again on a new one, by
/// hyper-util; nothing else is repeated here. How often to try, and when, is the caller's decision ([`Backoff`]).
/// Nothing is decompressed: a small body that unfolds into a large one would pass the limit of
/// [`Body::read`], so servers are asked for the plain form.
///
/// There is no time limit for a response. Some answers take minutes (a model), some must take seconds (a webhook), so
/// callers put one around the call; dropping the future closes the connection.
///
/// Why not reqwest: it would bring its own TLS set-up and `url` with its Unicode tables for what stands here in a few
/// files, and resolving, checking and dialing could not be bound together as they are in `connect`.
///
/// [`Backoff`]: crate::Backoff
#[derive(Clone)]
pub struct HttpClient {
    pool: Pool<Connector, Full<Bytes>>,
    dialer: Dialer,
}

impl HttpClient {
    pub(crate) fn new(dialer: &Dialer) -> Self {
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .build(dialer.connector(Use::Http1));
        Self {
            pool,
            dialer: dialer.clone(),
        }
    }

    /// Sends a request to the whole address in it. Gives the response when its head is there.
    pub async fn send(
        &self,
        request: Request<Bytes>,
        redirects: Redirects,
    ) -> Result<Response<Body>, Error> {
        let mut span = Span::start(Kind::Client, request.method().to_string());
        describe(&mut span, &request);
        let sent = span.within(self.send_all(request, redirects)).await;
        match &sent {
            Ok(response) => {
                let status = response.status().as_u16();
                span.set("http.response.status_code", u64::from(status));
                if status >= 400 {
                    span.fail(&response.status());
                }
            }
            Err(error) => span.fail(error),
        }
        sent
    }

    async fn send_all(
        &self,
        request: Request<Bytes>,
        redirects: Redirects,
    ) -> Result<Response<Body>, Error> {
        let mut request = request;
        for _ in 0..=redirect::MAX {
            let response = self.send_once(&request).await?;
            match redirects.next(&request, &response)? {
                Some(next) => request = next,
                None => return Ok(response.map(Body)),
            }
        }
        Err(Error::Redirect(format!(
            "more than {} redirects in a row",
            redirect::MAX
        )))
    }

    async fn send_once(
        &self,
        request: &Request<Bytes>,
    ) -> Result<Response<hyper::body::Incoming>, Error> {
        let address = request.uri().clone();
        if !matches!(address.scheme_str(), Some("http" | "https")) || address.host().is_none() {
            return Err(Error::Address(address.to_string()));
        }
        let mut request = request.clone().map(Full::new);
        let headers = request.headers_mut();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.remove(PROXY_AUTHORIZATION);
        if !headers.contains_key(trace::HEADER)
            && let Some(context) = trace::current()
            && let Ok(context) = HeaderValue::from_str(&context.to_string())
        {
            headers.insert(trace::HEADER, context);
        }
        if let Some(credentials) = self.proxy_credentials(&address) {
            headers.insert(PROXY_AUTHORIZATION, credentials);
        }
        let sent = self.pool.request(request).await;
        sent.map_err(|error| {
            let cause = std::error::Error::source(&error).unwrap_or(&error);
            match error.is_connect() {
                true => failed(&address, cause),
                false => Error::Interrupted(error_chain(cause)),
            }
        })
    }

    /// What a proxy wants to be shown with each plain request. For encrypted ones the tunnel shows it.
    fn proxy_credentials(&self, address: &http::Uri) -> Option<HeaderValue> {
        if address.scheme_str() != Some("http") || self.dialer.is_guarded() {
            return None;
        }
        let proxy = self.dialer.shared.proxies.of(address)?;
        proxy.basic_auth().cloned()
    }
}

/// What a span says of a request: where it goes. Paths and queries of some servers hold secrets.
fn describe(span: &mut Span, request: &Request<Bytes>) {
    if !span.is_recorded() {
        return;
    }
    let address = request.uri();
    span.set("http.request.method", request.method().to_string());
    span.set(
        "server.address",
        address.host().unwrap_or_default().to_owned(),
    );
    if let Some(port) = address.port_u16() {
        span.set("server.port", u64::from(port));
    }
}

/// A pool of HTTP/2 connections for bodies of one kind.
#[cfg(feature = "http2")]
pub type Http2Pool<B> = Pool<Connector, B>;

#[cfg(feature = "http2")]
impl Dialer {
    /// A pool that speaks HTTP/2 alone, also without TLS: for gRPC, where bodies are streams.
    pub fn http2<B>(&self) -> Http2Pool<B>
    where
        B: hyper::body::Body + Send,
        B::Data: Send,
    {
        Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .http2_only(true)
            .build(self.connector(Use::Http2))
    }
}

/// Whether an error of an [`Http2Pool`] means that there was no connection, so that nothing was sent.
#[cfg(feature = "http2")]
pub fn is_connect_error(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<hyper_util::client::legacy::Error>();
    error.is_some_and(hyper_util::client::legacy::Error::is_connect)
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}
