//! `/api/secrets`: secrets that agents use. For administrators, who set and remove them; values are never returned.

use std::time::SystemTime;

use access::Secrets;
use access::secrets::{Error, Secret};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use axum::routing::{get, put};
use serde::Deserialize;

use super::reply::{ListedSecret, SecretList};
use super::time::shown_time;
use super::{Failure, invalid, read, respond, whole};

/// The routes of `/api/secrets`.
pub fn routes(secrets: Secrets) -> Router {
    Router::new()
        .route("/api/secrets", get(list))
        .route("/api/secrets/{name}", put(set).delete(remove))
        .with_state(secrets)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    value: String,
}

async fn list(State(secrets): State<Secrets>) -> Response<Body> {
    let secrets = secrets.list().into_iter().map(shown).collect();
    respond(Ok(SecretList { secrets }))
}

async fn set(
    State(secrets): State<Secrets>,
    Path(name): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let set = async {
        let body = whole(body)?;
        // The error of a wrong body would repeat a part of it.
        let unread = |_| invalid("value", "expected an object with the text `value`");
        let Wanted { value } = read(&body).map_err(unread)?;
        let set = secrets.set(&name, &value, SystemTime::now()).await;
        set.map(shown).map_err(failure)
    };
    respond(set.await)
}

async fn remove(State(secrets): State<Secrets>, Path(name): Path<String>) -> Response<Body> {
    respond(secrets.remove(&name).await.map(shown).map_err(failure))
}

fn shown(secret: Secret) -> ListedSecret {
    ListedSecret {
        name: secret.name,
        created: shown_time(secret.created),
        changed: shown_time(secret.changed),
    }
}

/// The status and code of an error.
#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
fn failure(error: Error) -> Failure {
    let message = format!("could not {error}");
    match &error {
        Error::Name(_) => invalid("name", message),
        Error::Value => invalid("value", message),
        Error::Unknown(_) => Failure::new(StatusCode::NOT_FOUND, "not_found", message),
        Error::TooMany => Failure::new(StatusCode::CONFLICT, "too_many", message),
        Error::NotKept => Failure::new(StatusCode::NOT_IMPLEMENTED, "not_kept", message),
        _ => Failure::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message),
    }
}
