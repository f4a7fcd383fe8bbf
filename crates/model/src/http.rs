//! Requests over HTTP, plain and encrypted, with the one TLS that we have.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, HeaderValue, LOCATION, RANGE};
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::error::Error;
use crate::limits::quote;

/// How long it may take until a connection is there.
const CONNECT: Duration = Duration::from_secs(10);
/// How often one is sent elsewhere.
const REDIRECTS: usize = 5;

/// Makes requests, and keeps connections for the next ones. Clones share them.
#[derive(Clone)]
pub struct Client(Pool<HttpsConnector<HttpConnector>, Full<Bytes>>);

impl Client {
    /// A client that believes those whom everybody believes.
    pub fn new() -> Result<Self, Error> {
        let roots = rustls::RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Unsupported(format!("TLS: {error}")))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        Ok(Self(Pool::builder(TokioExecutor::new()).build(connector)))
    }

    /// Sends a request; gives the response when its head is there. Nothing is followed elsewhere, so a key goes
    /// where it was sent.
    pub async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Error> {
        let identity = HeaderValue::from_static("identity");
        request.headers_mut().insert(ACCEPT_ENCODING, identity);
        let sent = self.0.request(request).await;
        sent.map_err(|error| match error.is_connect() {
            true => Error::Unreachable(cause(&error)),
            false => Error::Cut(cause(&error)),
        })
    }

    /// Asks for what is at an address, from this byte on. It is followed to where it really is.
    pub async fn get(&self, url: &Uri, from: u64) -> Result<Response<Incoming>, Error> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            let mut request = Request::new(Full::default());
            *request.uri_mut() = url.clone();
            let range = HeaderValue::try_from(format!("bytes={from}-"));
            let range = range.map_err(|error| Error::Refused(error.to_string()))?;
            request.headers_mut().insert(RANGE, range);
            let response = self.send(request).await?;
            match response.headers().get(LOCATION) {
                Some(to) if response.status().is_redirection() => url = elsewhere(&url, to)?,
                _ => return Ok(response),
            }
        }
        Err(Error::Refused(format!(
            "sent elsewhere more than {REDIRECTS} times"
        )))
    }
}

/// Where one is sent: an address, or a path at the same one. From what is encrypted nobody is sent to what is not.
fn elsewhere(from: &Uri, to: &HeaderValue) -> Result<Uri, Error> {
    let wrong = || Error::Refused("sent to no address".to_owned());
    let to: Uri = to
        .to_str()
        .ok()
        .and_then(|to| to.parse().ok())
        .ok_or_else(wrong)?;
    if to.scheme().is_none() {
        let mut parts = from.clone().into_parts();
        parts.path_and_query = to.into_parts().path_and_query;
        return Uri::from_parts(parts).map_err(|_| wrong());
    }
    match (from.scheme_str(), to.scheme_str()) {
        (Some("https"), Some("https")) | (Some("http"), Some("http" | "https")) => Ok(to),
        _ => Err(wrong()),
    }
}

/// What happened, which is at the end of the chain; before it is only that something did.
pub(crate) fn cause(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    quote(&cause.to_string())
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}
