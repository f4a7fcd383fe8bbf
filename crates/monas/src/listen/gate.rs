//! What happens to every request, whatever it is for: it is judged, its body is timed, and its answer
//! gets the headers that all answers have.

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
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body::Body as _;
use hyper::body::Incoming;
use tower_service::Service as _;

use super::Words;
use super::body::Timed;
use super::guard::{Caller, Guard, Refusal};
use super::limits::Limits;
use super::paced::keep_pace;

/// What stands before the routes.
pub(super) struct Gate {
    router: Router,
    guard: Guard,
    words: Words,
    scheme: &'static str,
    limits: Limits,
}

impl Gate {
    pub(super) fn new(
        router: Router,
        guard: Guard,
        words: Words,
        scheme: &'static str,
        limits: Limits,
    ) -> Self {
        Self {
            router,
            guard,
            words,
            scheme,
            limits,
        }
    }

    /// Answers a request.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response, Infallible> {
        let (request, body) = request.into_parts();
        let (method, uri) = (request.method.clone(), request.uri.clone());
        let mut response = match self.guard.judge(self.scheme, &request) {
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
                (self.words)(uri.path(), status, why)
            }
        };
        let headers = response.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));

        // The query is left out: it may hold what is not for a log.
        let (path, status) = (uri.path(), response.status().as_u16());
        if response.status().is_server_error() {
            tracing::warn!(%method, path, status, "a request failed");
        } else if response.status().is_client_error() {
            tracing::debug!(%method, path, status, "a request was refused");
        }
        Ok(keep_pace(response))
    }

    async fn pass(&self, request: Parts, body: Incoming) -> Response {
        // Clones share the routes. A router is always ready.
        let mut router = self.router.clone();
        if body.is_end_stream() {
            let request = Request::from_parts(request, Body::empty());
            let Ok(response) = router.call(request).await;
            return response;
        }
        let (body, late) = Timed::new(body, &self.limits);
        let uri = request.uri.clone();
        let request = Request::from_parts(request, Body::new(body));
        let Ok(response) = router.call(request).await;
        // Who read the body may have said so already, in its own protocol's form.
        if late.is_late() && response.status() != StatusCode::REQUEST_TIMEOUT {
            let why = "the rest of the request took too long to arrive";
            return (self.words)(uri.path(), StatusCode::REQUEST_TIMEOUT, why);
        }
        response
    }
}

fn refused(refusal: Refusal) -> (StatusCode, &'static str) {
    match refusal {
        Refusal::Host => (
            StatusCode::MISDIRECTED_REQUEST,
            "this server answers to its own names only: those of loopback, and that of its public URL",
        ),
        Refusal::Origin => (
            StatusCode::FORBIDDEN,
            "pages of this origin may not call this server; --allow-origin lets them",
        ),
    }
}

/// Whether a browser asks if a page may send another request.
fn is_preflight(request: &Parts) -> bool {
    request.method == Method::OPTIONS && request.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight() -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        // The star does not include it.
        (ACCESS_CONTROL_ALLOW_HEADERS, "*, authorization"),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Lets pages of this origin see the answer. Credentials that a browser adds by itself are never
/// allowed, which is also what the star asks for.
fn show_to(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    headers.append(VARY, HeaderValue::from_static("origin"));
}
