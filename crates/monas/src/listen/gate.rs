//! One request: checks before the routes, headers after them.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use super::body::Timed;
use super::guard::{Caller, Guard, Refusal};
use super::limits::Limits;
use super::paced::keep_pace;
use super::signed::SignedRequests;
use super::{CallerCheck, Options, RefusalFormat};

/// What stands between a connection and the routes.
///
/// For each request, in this order: its signature, if callers sign, is checked against the request as it arrived ([`SignedRequests`]); its address is brought into the form that routes have ([`routed`]), once for all
/// protocols; [`Guard`] checks Host and Origin, and a request that fails is refused in the format of
/// its path, without a look at its body; a CORS preflight of an allowed page is answered here, since no route has OPTIONS;
/// the body gets its time limits ([`Timed`]); the router answers; if the body came too late and the route did not say so,
/// the response is replaced with 408; headers for browsers are added to every response, refusals included; failures are
/// logged, without the query, which may hold secrets; and the response is bound to the pace of its client.
///
/// It works on hyper's requests instead of being an axum layer, because the checks must also hold for routes that
/// protocols add later, for fallbacks and for upgrades.
pub(super) struct Gate {
    router: Router,
    guard: Guard,
    known: CallerCheck,
    signed: Option<SignedRequests>,
    refusal: RefusalFormat,
    scheme: &'static str,
    base_path: String,
    is_public: fn(&str) -> bool,
    limits: Limits,
}

impl Gate {
    pub(super) fn new(router: Router, options: Options, scheme: &'static str) -> Self {
        Self {
            router,
            guard: options.guard,
            known: options.known,
            signed: options.signed,
            refusal: options.refusal,
            scheme,
            base_path: options.base_path,
            is_public: options.is_public,
            limits: options.limits,
        }
    }

    /// Answers a request. `leave` is there where only known callers are answered, and ends the connection of others.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        leave: Option<CancellationToken>,
    ) -> Result<Response, Infallible> {
        let (mut request, body) = request.into_parts();
        if let Some(signed) = &self.signed {
            signed.check(self.scheme, &mut request);
        }
        if let Some(uri) = routed(&self.base_path, &request.uri) {
            request.uri = uri;
        }
        let (method, uri) = (request.method.clone(), request.uri.clone());
        let leave = leave.filter(|_| !self.known.knows(&request));
        let mut response = match self.guard.check(self.scheme, &request) {
            Ok(_) if leave.is_some() => {
                if let Some(leave) = leave {
                    leave.cancel();
                }
                let why =
                    "all connections are in use; callers with valid credentials are still served";
                (self.refusal)(uri.path(), StatusCode::SERVICE_UNAVAILABLE, why)
            }
            Ok(Caller::Ordinary) if (self.is_public)(uri.path()) => {
                let mut response = if is_preflight(&request) {
                    preflight()
                } else {
                    self.pass(request, body).await
                };
                show_to(HeaderValue::from_static("*"), response.headers_mut());
                response
            }
            Ok(Caller::Ordinary) => self.pass(request, body).await,
            Ok(Caller::Page(origin)) => {
                let mut response = if is_preflight(&request) {
                    preflight()
                } else {
                    self.pass(request, body).await
                };
                show_to(origin, response.headers_mut());
                response
            }
            Err(refusal) => {
                let (status, why) = refused(refusal);
                (self.refusal)(uri.path(), status, why)
            }
        };
        // A page of an allowed origin may also load what it may read.
        let shown = response.headers().contains_key(ACCESS_CONTROL_ALLOW_ORIGIN);
        let headers = response.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        if !shown {
            let policy = HeaderName::from_static("cross-origin-resource-policy");
            headers.insert(policy, HeaderValue::from_static("same-origin"));
        }

        // The query is left out: it may hold secrets.
        let (path, status) = (uri.path(), response.status().as_u16());
        if response.status().is_server_error() {
            tracing::warn!(%method, path, status, "request failed");
        } else if response.status().is_client_error() {
            tracing::debug!(%method, path, status, "request refused");
        }
        Ok(keep_pace(response))
    }

    async fn pass(&self, mut request: Parts, body: Incoming) -> Response {
        // Clones share the routes. A router is always ready.
        let mut router = self.router.clone();
        if body.is_end_stream() {
            if let Some(signed) = &self.signed {
                signed.check_empty(&mut request);
            }
            let request = Request::from_parts(request, Body::empty());
            let Ok(response) = router.call(request).await;
            return response;
        }
        let (body, late) = Timed::new(body, &self.limits);
        let uri = request.uri.clone();
        let body = match &self.signed {
            Some(signed) => signed.hold(&mut request, body).await,
            None => Ok(Body::new(body)),
        };
        let body = match body {
            Ok(body) => body,
            // The time limit of a body has an answer of its own.
            Err(_) if late.is_late() => return self.late(&uri),
            Err((status, why)) => return (self.refusal)(uri.path(), status, why),
        };
        let request = Request::from_parts(request, body);
        let Ok(response) = router.call(request).await;
        // The route may have reported it already, in the form of its protocol.
        if late.is_late() && response.status() != StatusCode::REQUEST_TIMEOUT {
            return self.late(&uri);
        }
        response
    }

    /// The refusal of a request with a body that came too late.
    fn late(&self, uri: &Uri) -> Response {
        let why = "request body took too long to arrive";
        (self.refusal)(uri.path(), StatusCode::REQUEST_TIMEOUT, why)
    }
}

/// The URI that the routes are asked for, if it is another one than the request has: without the path in front, which a
/// proxy may leave in place or take away, and without a slash at the end, which clients add when they join addresses.
fn routed(base: &str, uri: &Uri) -> Option<Uri> {
    let below = below(base, uri.path()).unwrap_or(uri.path());
    let path = match below.strip_suffix('/') {
        Some("") | None => below,
        Some(path) => path,
    };
    if path == uri.path() {
        return None;
    }
    let query = uri.query().map(|query| format!("?{query}"));
    let mut parts = uri.clone().into_parts();
    let path = format!("{path}{}", query.unwrap_or_default());
    parts.path_and_query = Some(path.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// The rest of a path that begins with the base.
fn below<'a>(base: &str, path: &'a str) -> Option<&'a str> {
    match path.strip_prefix(base)? {
        "" => Some("/"),
        rest if rest.starts_with('/') => Some(rest),
        _ => None,
    }
}

fn refused(refusal: Refusal) -> (StatusCode, &'static str) {
    match refusal {
        Refusal::Host => (
            StatusCode::MISDIRECTED_REQUEST,
            "unknown host; this server answers to localhost, loopback addresses and the host of its public URL",
        ),
        Refusal::Origin => (
            StatusCode::FORBIDDEN,
            "origin not allowed; --allow-origin adds it",
        ),
    }
}

/// Whether it is a CORS preflight: a browser asks if a page may send another request.
fn is_preflight(request: &Parts) -> bool {
    request.method == Method::OPTIONS && request.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight() -> Response {
    let headers = [
        (
            ACCESS_CONTROL_ALLOW_METHODS,
            "GET, POST, PUT, PATCH, DELETE",
        ),
        // `*` does not include `authorization`.
        (ACCESS_CONTROL_ALLOW_HEADERS, "*, authorization"),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Lets pages of this origin read the response. Cookies are never allowed, which `*` requires, too.
fn show_to(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    headers.append(VARY, HeaderValue::from_static("origin"));
}
