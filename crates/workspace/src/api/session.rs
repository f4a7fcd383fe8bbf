//! `/api/session`: what a caller is, and how a sign-in link becomes a token.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use access::users::NewKey;
use access::{Permission, Principal, Users};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use axum::routing::get;

use super::one_session::only_session;
use super::reply::{IssuedToken, Session};
use super::time::shown_time;
use super::users::failure;
use super::{Caller, Failure, Rights, respond};

/// Signs a token for a user; gives the token and when it expires, in seconds since 1970.
pub type IssueToken = Arc<dyn Fn(&str) -> Result<(String, u64), access::Error> + Send + Sync>;

#[derive(Clone)]
struct Sessions {
    users: Users,
    rights: Rights,
    issue: Option<IssueToken>,
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}

/// How long a session lasts that is an API key.
const TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The routes of `/api/session`. Where the server signs no tokens, a link becomes an API key that lasts a day.
pub fn routes(users: Users, rights: Rights, issue: Option<IssueToken>) -> Router {
    Router::new()
        .route("/api/session", get(show).post(sign_in))
        .with_state(Sessions {
            users,
            rights,
            issue,
        })
}

/// Who the caller is, and what it may do.
async fn show(State(sessions): State<Sessions>, caller: Caller) -> Response<Body> {
    let caller = sessions.rights.caller(&caller);
    let until = caller.until();
    let until = until.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    let permissions = caller.permissions().iter().map(Permission::name);
    respond(Ok(Session {
        user: caller.to_string(),
        scheme: caller.scheme().to_owned(),
        role: sessions
            .users
            .role_of(caller.name())
            .map(|it| it.to_string()),
        permissions: permissions.map(str::to_owned).collect(),
        expires: until.map(|it| shown_time(it.as_secs())),
        read_only: caller.bounds().read_only,
        session: only_session(&caller).map(str::to_owned),
    }))
}

/// Redeems the sign-in link that the request shows as its bearer token.
async fn sign_in(State(sessions): State<Sessions>, caller: Caller) -> Response<Body> {
    let signed = async {
        let caller = sessions.rights.caller(&caller);
        let user = sessions.users.redeem(&caller).await.map_err(failure)?;
        let (token, until) = match &sessions.issue {
            Some(issue) => issue(&user).map_err(|problem| {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Failure::new(status, "unavailable", format!("could not {problem}"))
            })?,
            None => sessions.key(&user).await?,
        };
        Ok(IssuedToken {
            token,
            user,
            expires: shown_time(until),
        })
    };
    respond(signed.await)
}

impl Sessions {
    /// A key of a user in place of a token, and when it expires.
    async fn key(&self, user: &str) -> Result<(String, u64), Failure> {
        let role = self.users.role_of(user).unwrap_or_default();
        let by = Principal::named(user).permitted(role.permissions());
        let key = NewKey {
            label: "signed in by a link".to_owned(),
            lasts: Some(TIME),
            ..NewKey::default()
        };
        let made = self.users.create_key(&by, user, key, SystemTime::now());
        let made = made.await.map_err(failure)?;
        let until = made.key.until.unwrap_or_default();
        Ok((made.secret().to_owned(), until))
    }
}
