//! `/api/users`: the users of the server, their roles and their sign-in links. For administrators.

use std::sync::Arc;
use std::time::SystemTime;

use access::users::{Error, NewKey, SignInLink, User};
use access::{Role, Users};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use axum::routing::{get, post, put};
use serde::Deserialize;

use super::reply::{AddedUser, ListedUser, SavedLink, UserList};
use super::time::shown_time;
use super::{Caller, Failure, Rights, invalid, keys, read, respond, whole};

/// The note on a name that was removed and never was a user.
const NOT_LISTED: &str = "it was no user of this server: tokens and other credentials of this name are refused from now on";

#[derive(Clone, Debug)]
struct Directory {
    users: Users,
    rights: Rights,
    /// The address of the page, which redeems links.
    page: Arc<str>,
}

/// The routes of `/api/users`. `page` is the address of the page that redeems sign-in links.
pub fn routes(users: Users, rights: Rights, page: &str) -> Router {
    Router::new()
        .route("/api/users", get(list).post(add))
        .route("/api/users/{name}", put(change).delete(remove))
        .route("/api/users/{name}/link", post(link))
        .with_state(Directory {
            users,
            rights,
            page: page.trim_end_matches('/').into(),
        })
}

/// A user to be added. An unknown field is an error: a role that was misspelt would be the default one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Added {
    name: String,
    role: Option<String>,
    /// Whether it gets an API key instead of a sign-in link.
    #[serde(default)]
    key: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Changed {
    role: String,
}

async fn add(
    State(directory): State<Directory>,
    caller: Caller,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let added = async {
        let Added { name, role, key } = read(&whole(body)?)?;
        let role = role.as_deref().map_or(Ok(Role::default()), role_of)?;
        let (users, now) = (&directory.users, SystemTime::now());
        let user = shown(users.add(&name, role, now).await.map_err(failure)?);
        if key {
            let by = directory.rights.caller(&caller);
            let saved = users.create_key(&by, &name, NewKey::default(), now).await;
            return Ok(AddedUser {
                user,
                link: None,
                key: Some(keys::saved(saved.map_err(failure)?)),
            });
        }
        let link = users.link(&name, now).await.map_err(failure)?;
        Ok(AddedUser {
            user,
            link: Some(directory.shown(&link)),
            key: None,
        })
    };
    respond(added.await)
}

async fn list(State(directory): State<Directory>) -> Response<Body> {
    let users = directory.users.list().into_iter().map(shown).collect();
    respond(Ok(UserList { users }))
}

async fn change(
    State(directory): State<Directory>,
    Path(name): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let changed = async {
        let Changed { role } = read(&whole(body)?)?;
        let changed = directory.users.set_role(&name, role_of(&role)?).await;
        changed.map(shown).map_err(failure)
    };
    respond(changed.await)
}

async fn remove(State(directory): State<Directory>, Path(name): Path<String>) -> Response<Body> {
    let users = &directory.users;
    let was_listed = users.role_of(&name).is_some();
    let removed = users.remove(&name, SystemTime::now()).await;
    let removed = removed.map(|user| ListedUser {
        note: (!was_listed).then(|| NOT_LISTED.to_owned()),
        ..shown(user)
    });
    respond(removed.map_err(failure))
}

async fn link(State(directory): State<Directory>, Path(name): Path<String>) -> Response<Body> {
    let link = directory.users.link(&name, SystemTime::now()).await;
    let link = link.map(|link| directory.shown(&link));
    respond(link.map_err(failure))
}

impl Directory {
    /// The secret stands in the fragment, which is not sent to a server and so is in no log.
    fn shown(&self, link: &SignInLink) -> SavedLink {
        SavedLink {
            url: format!("{}/#link={}", self.page, link.secret()),
            user: link.user.clone(),
            expires: shown_time(link.until),
        }
    }
}

fn role_of(text: &str) -> Result<Role, Failure> {
    let roles = Role::ALL.map(Role::name).join(", ");
    let unknown = |_| invalid("role", format!("unknown role {text:?}; roles are {roles}"));
    text.parse().map_err(unknown)
}

fn shown(user: User) -> ListedUser {
    ListedUser {
        name: user.name,
        role: user.role.name().to_owned(),
        keys: user.keys,
        created: shown_time(user.created),
        note: None,
    }
}

/// The status and code of an error.
#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
pub(super) fn failure(error: Error) -> Failure {
    let message = format!("could not {error}");
    match &error {
        Error::Name(_) => invalid("name", message),
        Error::Invalid { field, .. } => invalid(field, message),
        Error::Exists(_) => Failure::new(StatusCode::CONFLICT, "exists", message),
        Error::NoUser(_) | Error::NoKey(_) => {
            Failure::new(StatusCode::NOT_FOUND, "not_found", message)
        }
        Error::Denied(_) => Failure::new(StatusCode::FORBIDDEN, "denied", message),
        Error::TooMany(..) => Failure::new(StatusCode::CONFLICT, "too_many", message),
        Error::NoLink => Failure::new(StatusCode::CONFLICT, "no_link", message),
        Error::NotKept => Failure::new(StatusCode::NOT_IMPLEMENTED, "not_kept", message),
        _ => Failure::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message),
    }
}
