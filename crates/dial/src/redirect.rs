//! Redirects: which are followed, where they lead, and what is not sent along.

use http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HeaderValue, LOCATION, PROXY_AUTHORIZATION,
};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};

use crate::error::Error;

/// How many redirects are followed for one request.
pub(crate) const MAX: usize = 5;

/// Which redirects are followed. Never one from https to http.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirects {
    /// None: the response is given as it is. For requests with credentials that are meant for one server.
    None,
    /// Those to the same scheme, host and port; others are given as they are.
    SameOrigin,
    /// All. To another origin, the request goes without its credentials.
    Any,
}

impl Redirects {
    /// The request that a response leads to; `None` when the response is the answer.
    pub(crate) fn next<B: Clone + Default>(
        self,
        request: &Request<B>,
        response: &Response<impl Sized>,
    ) -> Result<Option<Request<B>>, Error> {
        let keeps_body = match response.status() {
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER
                if matches!(*request.method(), Method::GET | Method::HEAD) =>
            {
                false
            }
            // The other redirects of a POST turn it into a GET, which is not what the caller asked for.
            _ => return Ok(None),
        };
        let (Some(location), false) = (response.headers().get(LOCATION), self == Self::None) else {
            return Ok(None);
        };
        let from = request.uri();
        let to = target(from, location)?;
        let is_same = origin(from) == origin(&to);
        if !is_same && self == Self::SameOrigin {
            return Ok(None);
        }
        let mut next = Request::new(match keeps_body {
            true => request.body().clone(),
            false => B::default(),
        });
        *next.method_mut() = request.method().clone();
        *next.uri_mut() = to;
        *next.headers_mut() = request.headers().clone();
        if !keeps_body {
            next.headers_mut().remove(CONTENT_TYPE);
            next.headers_mut().remove(CONTENT_LENGTH);
        }
        if !is_same {
            strip(next.headers_mut());
        }
        Ok(Some(next))
    }
}

/// Removes credentials: the headers that hold them by name, and each that was marked as sensitive.
fn strip(headers: &mut HeaderMap) {
    let secret: Vec<_> = headers
        .iter()
        .filter(|(name, value)| {
            value.is_sensitive() || [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION].contains(name)
        })
        .map(|(name, _)| name.clone())
        .collect();
    for name in secret {
        headers.remove(name);
    }
}

/// Scheme, host and port.
fn origin(address: &Uri) -> (Option<&str>, Option<String>, Option<u16>) {
    let default = match address.scheme_str() {
        Some("https") => Some(443),
        Some("http") => Some(80),
        _ => None,
    };
    let host = address.host().map(str::to_ascii_lowercase);
    (address.scheme_str(), host, address.port_u16().or(default))
}

/// Where a redirect leads: an address, or a path at the same host.
fn target(from: &Uri, location: &HeaderValue) -> Result<Uri, Error> {
    let wrong = || Error::Redirect("its location is not an address".to_owned());
    let text = location.to_str().map_err(|_| wrong())?;
    // A fragment is for the reader of a page, not for the server.
    let text = text.split('#').next().unwrap_or_default();
    let scheme = from.scheme_str().unwrap_or("http");
    let whole = if has_scheme(text) {
        text.to_owned()
    } else if text.starts_with("//") {
        format!("{scheme}:{text}")
    } else {
        let authority = from.authority().ok_or_else(wrong)?;
        let path = match text.chars().next() {
            Some('/') => text.to_owned(),
            Some('?') => format!("{}{text}", from.path()),
            _ => {
                let folder = from
                    .path()
                    .rsplit_once('/')
                    .map_or("", |(folder, _)| folder);
                format!("{folder}/{text}")
            }
        };
        format!("{scheme}://{authority}{path}")
    };
    let to: Uri = whole.parse().map_err(|_| wrong())?;
    match (scheme, to.scheme_str()) {
        ("https", Some("http")) => Err(Error::Redirect(
            "it leads from https to http, which is not encrypted".to_owned(),
        )),
        (_, Some("http" | "https")) if to.host().is_some() => Ok(to),
        _ => Err(wrong()),
    }
}

/// Whether a location begins with a scheme (RFC 3986 3.1), as a whole address does.
fn has_scheme(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    text.split_once(':')
        .is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.chars().all(plain))
}
