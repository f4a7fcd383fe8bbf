//! The connections of a client, with the headers and parameters that every request has.

use ::dial::{Body, HttpClient, Redirects};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, Uri};

use super::{Error, Settings};

pub(crate) use ::dial::Socket;

/// Sends requests and opens sockets as the [`Settings`] of a client say.
pub(crate) struct Dialer {
    dialer: ::dial::Dialer,
    http: HttpClient,
    settings: Settings,
}

impl Dialer {
    pub(crate) fn new(settings: &Settings) -> Result<Self, Error> {
        let dialer = ::dial::Dialer::new(&settings.dial);
        let dialer = dialer.map_err(|error| Error::Settings(error.to_string()))?;
        Ok(Self {
            http: dialer.http(),
            dialer,
            settings: settings.clone(),
        })
    }

    /// A pool of HTTP/2 connections, for bodies of one kind.
    #[cfg(feature = "grpc")]
    pub(crate) fn http2<B>(&self) -> ::dial::Http2Pool<B>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        self.dialer.http2()
    }

    /// The headers of every request and handshake.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.settings.headers
    }

    /// An address with the parameters that every address has.
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

    /// The largest reply, or event of a stream, in bytes.
    pub(crate) fn max_reply(&self) -> usize {
        self.settings.max_reply
    }

    /// Sends a request; gives the response when its head is there. Redirects are not followed, so credentials go to no
    /// other server.
    pub(crate) async fn send(&self, mut request: Request<Bytes>) -> Result<Response<Body>, Error> {
        let address = request.uri().clone();
        *request.uri_mut() = self.address(&address)?;
        let headers = request.headers_mut();
        for (name, value) in &self.settings.headers {
            headers.insert(name, value.clone());
        }
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let body = request.body().clone();
        self.sign(&method, &uri, request.headers_mut(), &body)?;
        let sent = self.http.send(request, Redirects::None).await;
        sent.map_err(|error| failed(&address, error))
    }

    /// Adds a signature to the headers of a request, if the settings have a signer.
    pub(crate) fn sign(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &mut HeaderMap,
        body: &[u8],
    ) -> Result<(), Error> {
        self.settings.sign(method, uri, headers, body)
    }

    /// The same for the handshake of a socket.
    pub(crate) fn sign_handshake(&self, request: &mut Request<()>) -> Result<(), Error> {
        let uri = request.uri().clone();
        self.sign(&Method::GET, &uri, request.headers_mut(), b"")
    }

    /// The whole body, if it is not larger than [`max_reply`](Self::max_reply).
    pub(crate) async fn read(&self, body: Body) -> Result<Bytes, Error> {
        let read = body.read(self.settings.max_reply).await;
        read.map_err(|error| match error {
            ::dial::Error::TooLarge(limit) => {
                Error::unclear(format!("it is larger than {limit} bytes"))
            }
            error => Error::lost(error),
        })
    }

    /// Opens a connection for a socket: to `ws`, `wss`, `http` or `https`.
    pub(crate) async fn open(&self, url: &Uri) -> Result<Box<dyn Socket>, Error> {
        let opened = self.dialer.open(url).await;
        opened.map_err(|error| failed(url, error))
    }
}

/// The error of a failed request: whether it was sent decides whether it may be repeated.
fn failed(address: &Uri, error: ::dial::Error) -> Error {
    match error {
        ::dial::Error::Unreachable { problem, .. } => Error::unreachable(address, problem),
        ::dial::Error::Late { time, .. } => {
            Error::unreachable(address, format!("no connection within {time:?}"))
        }
        error if error.is_unsent() => Error::unreachable(address, error),
        error => Error::lost(error),
    }
}
