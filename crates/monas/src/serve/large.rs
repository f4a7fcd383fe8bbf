//! Large bodies below `/api`: weighed before they are parsed, and parsed beside the threads that serve.

use a2a::binding::{beside, poll_beside, weight};
use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::json;

/// The longest body of any route below `/api`: an import of memory. Most routes have a smaller limit of their own.
const MAX_BODY: usize = 256 << 20;

/// Routes with large bodies that are read this way.
pub(super) fn beside_serving(routes: Router) -> Router {
    routes.layer(from_fn(pass))
}

async fn pass(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let size = body.size_hint();
    if size
        .upper()
        .is_some_and(|most| most <= weight::LARGE as u64)
    {
        return next.run(Request::from_parts(head, body)).await;
    }
    if size.lower() > MAX_BODY as u64 {
        return too_large(&format!("request larger than {MAX_BODY} bytes"));
    }
    let body = match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            return too_large(&format!("request larger than {MAX_BODY} bytes"));
        }
        Err(error) => {
            let why = format!("reading the request body failed: {error}");
            return refusal(StatusCode::BAD_REQUEST, "unreadable", &why);
        }
    };
    if let Err(heavy) = beside(body.len(), || weight::check(&body)).await {
        return too_large(&heavy.to_string());
    }
    let length = body.len();
    let request = Request::from_parts(head, Body::from(body));
    poll_beside(length, next.run(request)).await
}

fn too_large(why: &str) -> Response {
    refusal(StatusCode::PAYLOAD_TOO_LARGE, "too_large", why)
}

/// An error as the routes below `/api` have it.
fn refusal(status: StatusCode, code: &str, why: &str) -> Response {
    let body = json!({ "error": why, "code": code });
    let json = [(CONTENT_TYPE, "application/json")];
    (status, json, body.to_string()).into_response()
}
