//! Tests of routes behind a door: with a rule, without one, and of a program.

use std::sync::Arc;

use access::{Callers, Calls, Door, Hash, Scheme};
use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::routing::{get, post};
use tower::ServiceExt as _;

use super::{behind, behind_for_all};

/// A door for the user ada and the operator olga, whose tokens are their names.
fn door() -> Arc<Door> {
    let mut callers = Callers::default();
    callers.add("ada", Hash::of("ada"), &[]).unwrap();
    let operator = ["operator".to_owned()];
    callers.add("olga", Hash::of("olga"), &operator).unwrap();
    let scheme = ("tokens".to_owned(), Scheme::Bearer(callers));
    Arc::new(Door::new(vec![scheme]).unwrap())
}

async fn status(router: &Router, caller: &str, method: &str, path: &str) -> StatusCode {
    let mut request = Request::builder().method(method).uri(path);
    if !caller.is_empty() {
        request = request.header("authorization", format!("Bearer {caller}"));
    }
    let request = request.body(Body::empty()).unwrap();
    router.clone().oneshot(request).await.unwrap().status()
}

#[tokio::test]
async fn a_route_without_a_rule_is_refused_to_everyone() {
    let routes = Router::new()
        .route("/api/agents", get(async || "known"))
        .route("/api/forgotten", get(async || "new"));
    let routes = behind(&door(), &Calls::default(), routes);
    assert_eq!(status(&routes, "ada", "GET", "/api/agents").await, 200);
    assert_eq!(status(&routes, "olga", "GET", "/api/forgotten").await, 500);
    assert_eq!(status(&routes, "", "GET", "/api/forgotten").await, 401);
}

#[tokio::test]
async fn a_route_is_for_callers_with_its_permission() {
    let path = "/operator/webhooks/replay";
    let routes = Router::new().route(path, post(async || "done"));
    let routes = behind(&door(), &Calls::default(), routes);
    assert_eq!(status(&routes, "olga", "POST", path).await, 200);
    assert_eq!(status(&routes, "ada", "POST", path).await, 403);
    assert_eq!(status(&routes, "", "POST", path).await, 401);
    // No handler takes it, so no rule is asked.
    assert_eq!(status(&routes, "ada", "GET", path).await, 405);
}

#[tokio::test]
async fn routes_of_a_program_are_for_every_caller_that_is_admitted() {
    let routes = Router::new().route("/mine", get(async || "mine"));
    let routes = behind_for_all(&door(), &Calls::default(), routes);
    assert_eq!(status(&routes, "ada", "GET", "/mine").await, 200);
    assert_eq!(status(&routes, "", "GET", "/mine").await, 401);
}
