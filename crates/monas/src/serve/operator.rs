//! `/operator`: webhooks that were given up, and how to start them again.
//!
//! Callers need the permission `operate` (`serve/rules.rs`).

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::routing::{get, post};
use serde_json::{Value, json};
use workspace::api::refusal;

/// Lists the webhooks that were given up.
pub(crate) const DEAD: &str = "/operator/webhooks/dead";
/// Starts given-up webhooks again.
pub(crate) const REPLAY: &str = "/operator/webhooks/replay";

/// How many webhooks one reply lists.
const PAGE: usize = 100;

pub(crate) fn routes(tasks: a2a::Server) -> Router {
    Router::new()
        .route(DEAD, get(dead))
        .route(REPLAY, post(replay))
        .with_state(tasks)
}

/// `{"webhooks": [...], "next": ID}`: `?after=ID` gives those that follow; `next` is empty at the end.
async fn dead(State(tasks): State<a2a::Server>, RawQuery(query): RawQuery) -> Response<Body> {
    let query = query.unwrap_or_default();
    let mut fields = form_urlencoded::parse(query.as_bytes());
    let after = fields.find(|(name, _)| name == "after");
    let after = after.map(|(_, value)| value.into_owned());
    match page(&tasks, &after.unwrap_or_default()).await {
        Ok((webhooks, next)) => answer(
            StatusCode::OK,
            &json!({ "webhooks": webhooks, "next": next }),
        ),
        Err(error) => failed(&error),
    }
}

async fn page(tasks: &a2a::Server, after: &str) -> Result<(Vec<Value>, String), a2a::Error> {
    let dead = tasks.dead_webhooks(after, PAGE).await?;
    let last = dead.last().filter(|_| dead.len() == PAGE);
    let next = last.map(|webhook| webhook.id.clone()).unwrap_or_default();
    let webhooks = dead.iter().map(|webhook| {
        json!({
            "id": webhook.id,
            "taskId": webhook.task,
            "url": webhook.url,
            "delivered": webhook.delivered,
            "reason": webhook.reason,
            "at": webhook.at,
        })
    });
    Ok((webhooks.collect(), next))
}

/// `{"id": ID}` for one, `{"all": true}` for all; gives `{"replayed": [ID, ...]}`.
async fn replay(State(tasks): State<a2a::Server>, body: Bytes) -> Response<Body> {
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let replayed = match (asked["id"].as_str(), asked["all"].as_bool()) {
        (Some(id), None) => match tasks.replay_webhook(id).await {
            Ok(true) => Ok(vec![id.to_owned()]),
            Ok(false) => {
                let error = format!("webhook {id:?} is not among those given up");
                return refusal(StatusCode::NOT_FOUND, "not_found", &error);
            }
            Err(error) => Err(error),
        },
        (None, Some(true)) => replay_all(&tasks).await,
        _ => {
            let error = r#"expected {"id": ID} or {"all": true}"#;
            return refusal(StatusCode::BAD_REQUEST, "invalid", error);
        }
    };
    match replayed {
        Ok(replayed) => answer(StatusCode::OK, &json!({ "replayed": replayed })),
        Err(error) => failed(&error),
    }
}

async fn replay_all(tasks: &a2a::Server) -> Result<Vec<String>, a2a::Error> {
    let mut replayed = Vec::new();
    let mut after = String::new();
    loop {
        let dead = tasks.dead_webhooks(&after, PAGE).await?;
        let Some(last) = dead.last() else {
            return Ok(replayed);
        };
        after.clone_from(&last.id);
        for webhook in dead {
            if tasks.replay_webhook(&webhook.id).await? {
                replayed.push(webhook.id);
            }
        }
    }
}

fn failed(error: &a2a::Error) -> Response<Body> {
    let status = StatusCode::from_u16(error.code().http);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    refusal(status, "failed", &error.to_string())
}

pub(super) fn answer(status: StatusCode, body: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
