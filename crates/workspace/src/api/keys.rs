//! `/api/keys`: API keys of users. Callers see, make and revoke their own; administrators those of all.

use std::time::SystemTime;

use access::Users;
use access::users::{ApiKey, KeyScopes, NewKey, SavedKey};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::Response;
use axum::routing::{delete, get};
use serde::Deserialize;

use super::capabilities::FindOperation;
use super::reply::{KeyList, ListedKey, NewApiKey};
use super::time::{Time, shown_time};
use super::users::failure;
use super::{Caller, Rights, read, respond, whole};

#[derive(Clone, Debug)]
struct KeyRing {
    users: Users,
    rights: Rights,
    find: FindOperation,
}

/// The routes of `/api/keys`.
pub fn routes(users: Users, rights: Rights, find: FindOperation) -> Router {
    Router::new()
        .route("/api/keys", get(list).post(create))
        .route("/api/keys/{id}", delete(revoke))
        .with_state(KeyRing {
            users,
            rights,
            find,
        })
}

/// What is wanted of a key. An unknown field is an error: a restriction that was misspelt would be none.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Wanted {
    /// The caller itself if there is none.
    user: Option<String>,
    name: String,
    scopes: Vec<String>,
    #[serde(rename = "for")]
    time: Option<Time>,
}

async fn create(
    State(ring): State<KeyRing>,
    caller: Caller,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let made = async {
        let wanted: Wanted = read(&whole(body)?)?;
        let by = ring.rights.caller(&caller);
        let user = wanted.user.as_deref().unwrap_or(by.name());
        let lasts = wanted.time.as_ref().map(|it| it.duration("for"));
        let key = NewKey {
            label: wanted.name,
            scopes: KeyScopes::read(&wanted.scopes, ring.find).map_err(failure)?,
            lasts: lasts.transpose()?,
        };
        let made = ring.users.create_key(&by, user, key, SystemTime::now());
        made.await.map(saved).map_err(failure)
    };
    respond(made.await)
}

async fn list(State(ring): State<KeyRing>, caller: Caller) -> Response<Body> {
    let caller = ring.rights.caller(&caller);
    let keys = ring.users.list_keys(&caller, SystemTime::now());
    respond(Ok(KeyList {
        keys: keys.into_iter().map(shown).collect(),
    }))
}

async fn revoke(
    State(ring): State<KeyRing>,
    caller: Caller,
    Path(id): Path<String>,
) -> Response<Body> {
    let caller = ring.rights.caller(&caller);
    let revoked = ring.users.revoke_key(&caller, &id).await;
    respond(revoked.map(shown).map_err(failure))
}

/// A key that was just made, with its secret.
pub(super) fn saved(saved: SavedKey) -> NewApiKey {
    NewApiKey {
        secret: saved.secret().to_owned(),
        key: shown(saved.key),
    }
}

fn shown(key: ApiKey) -> ListedKey {
    ListedKey {
        id: key.id,
        user: key.user,
        name: key.label,
        scopes: key.scopes.texts(),
        parent: key.parent,
        created: shown_time(key.created),
        expires: key.until.map(shown_time),
        last_used: key.used.map(shown_time),
    }
}
