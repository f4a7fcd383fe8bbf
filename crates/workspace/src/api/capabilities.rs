//! `/api/capabilities`: what a caller has lent to other programs, as tokens or in Cap'n Web sessions.

use std::sync::Arc;
use std::time::SystemTime;

use access::capability::{Capability, Error, Kind};
use access::{Attenuation, Bounds, Capabilities, Permissions};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use axum::routing::{delete, get};
use serde::Deserialize;

use super::one_session;
use super::reply::{CapabilityList, ListedCapability, SavedCapability};
use super::time::{Time, shown_time};
use super::{Caller, Failure, Rights, invalid, read, respond, whole};
use crate::chat::incoming::check_session;

/// Finds an operation by one of its names; gives its name in the tables.
pub type FindOperation = fn(&str) -> Option<String>;

#[derive(Clone, Debug)]
struct Lending {
    capabilities: Capabilities,
    rights: Rights,
    find: FindOperation,
}

/// The routes of `/api/capabilities`.
pub fn routes(capabilities: Capabilities, rights: Rights, find: FindOperation) -> Router {
    Router::new()
        .route("/api/capabilities", get(list).post(create))
        .route("/api/capabilities/{id}", delete(revoke))
        .with_state(Lending {
            capabilities,
            rights,
            find,
        })
}

/// What is wanted of a capability. An unknown field is an error: a restriction that was misspelt would be none.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Wanted {
    methods: Option<Vec<String>>,
    read_only: bool,
    task: Option<String>,
    /// The only session, in place of a task.
    session: Option<String>,
    permissions: Option<Vec<String>>,
    /// How long it lasts: a number of seconds, or a text such as `10m`.
    #[serde(rename = "for")]
    time: Option<Time>,
    note: String,
}

impl Wanted {
    fn attenuation(self, find: FindOperation, now: SystemTime) -> Result<Attenuation, Failure> {
        let mut wanted = Attenuation::none();
        if let Some(time) = &self.time {
            let until = now.checked_add(time.duration("for")?);
            wanted = wanted.until(until.ok_or_else(|| invalid("for", Time::EXPECTED))?);
        }
        if let Some(names) = self.permissions {
            let mut permissions = Permissions::NONE;
            for name in names {
                let named = name.parse();
                let problem = |it: access::UnknownName| invalid("permissions", it);
                permissions = permissions.with(named.map_err(problem)?);
            }
            wanted.permissions = Some(permissions);
        }
        let mut methods = None;
        if let Some(names) = self.methods {
            let mut found = Vec::with_capacity(names.len());
            for name in names {
                let unknown = || invalid("methods", format!("there is no operation {name:?}"));
                found.push(find(&name).ok_or_else(unknown)?);
            }
            methods = Some(Arc::from(found));
        }
        let task = match (self.task, self.session) {
            (Some(_), Some(_)) => {
                let why = "give task or session: a capability is for one of them";
                return Err(invalid("session", why));
            }
            (None, Some(session)) => {
                check_session("session", &session)
                    .map_err(|fault| invalid("session", fault.message))?;
                Some(one_session::bound(&session))
            }
            (Some(task), None) if one_session::in_bound(&task).is_some() => {
                return Err(invalid("task", "is no id of a task"));
            }
            (task, None) => task,
        };
        wanted.bounds = Bounds {
            methods,
            read_only: self.read_only,
            task,
        };
        wanted.note = self.note;
        Ok(wanted)
    }
}

async fn create(
    State(lending): State<Lending>,
    caller: Caller,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let saved = async {
        let wanted: Wanted = read(&whole(body)?)?;
        let now = SystemTime::now();
        let wanted = wanted.attenuation(lending.find, now)?;
        let caller = lending.rights.caller(&caller);
        let saved = lending.capabilities.save(&caller, &wanted, now).await;
        let saved = saved.map_err(failure)?;
        Ok(SavedCapability {
            token: saved.token().to_owned(),
            capability: shown(saved.capability),
        })
    };
    respond(saved.await)
}

async fn list(State(lending): State<Lending>, caller: Caller) -> Response<Body> {
    let caller = lending.rights.caller(&caller);
    let all = lending.capabilities.list(&caller, SystemTime::now());
    respond(Ok(CapabilityList {
        capabilities: all.into_iter().map(shown).collect(),
    }))
}

async fn revoke(
    State(lending): State<Lending>,
    caller: Caller,
    Path(id): Path<String>,
) -> Response<Body> {
    let caller = lending.rights.caller(&caller);
    let revoked = lending.capabilities.revoke(&caller, &id).await;
    respond(revoked.map(shown).map_err(failure))
}

fn shown(capability: Capability) -> ListedCapability {
    let task = capability.bounds.task;
    let session = task.as_deref().and_then(one_session::in_bound);
    let session = session.map(str::to_owned);
    ListedCapability {
        id: capability.id,
        kind: match capability.kind {
            Kind::Sturdy => "token",
            Kind::Session => "session",
        }
        .to_owned(),
        by: match &*capability.maker {
            "" => "anonymous".to_owned(),
            name => name.to_owned(),
        },
        parent: capability.parent,
        methods: capability.bounds.methods.map(|it| it.to_vec()),
        read_only: capability.bounds.read_only,
        task: task.filter(|_| session.is_none()),
        session,
        permissions: capability
            .permissions
            .iter()
            .map(|it| it.name().to_owned())
            .collect(),
        note: capability.note,
        created: shown_time(capability.created),
        expires: capability.until.map(shown_time),
        last_used: capability.used.map(shown_time),
    }
}

/// The status and code of an error.
#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
fn failure(error: Error) -> Failure {
    let message = format!("could not {error}");
    match &error {
        Error::Invalid {
            field: "expires", ..
        } => invalid("for", message),
        Error::Invalid { field, .. } => invalid(field, message),
        Error::Unknown(_) => Failure::new(StatusCode::NOT_FOUND, "not_found", message),
        Error::TooMany(_) => Failure::new(StatusCode::CONFLICT, "too_many", message),
        Error::LenderIsOver => Failure::new(StatusCode::UNAUTHORIZED, "unauthorized", message),
        Error::NotKept => Failure::new(StatusCode::NOT_IMPLEMENTED, "not_kept", message),
        _ => Failure::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message),
    }
}
