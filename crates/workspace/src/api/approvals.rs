//! `/api/approvals` and `/api/grants`: the calls that wait for a person, their answers, and the decisions that count for
//! later calls.
//!
//! A caller sees and answers what was asked for this caller; an overseer sees and answers everything. `agent` names the
//! agent in the query; without it the default agent is meant.

use std::sync::Arc;

use access::Principal;
use agent::{AgentHandle, Approval, Error, Grant, Population};
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{delete, get, post};
use axum::{Extension, Router};
use serde_json::{Value, json};

use super::reply::{Answered, GrantList, ListedGrant, Revoked, WaitingApproval, WaitingApprovals};
use super::{Caller, Failure, Fields, Guarded, Rights, name_of, read, respond, whole};

/// Whether a caller sees and answers what was asked for others.
pub type Oversees = dyn Fn(&Principal) -> bool + Send + Sync;

/// The routes of `/api/approvals` and `/api/grants`.
pub fn routes(
    population: Population,
    rights: Rights,
    oversees: impl Fn(&Principal) -> bool + Send + Sync + 'static,
) -> Router {
    let guarded = Guarded {
        part: population,
        rights,
    };
    let state = Waiting {
        guarded,
        oversees: Arc::new(oversees),
    };
    Router::new()
        .route("/api/approvals", get(list))
        .route("/api/approvals/{id}", post(answer))
        .route("/api/grants", get(grants))
        .route("/api/grants/{id}", delete(revoke))
        .with_state(state)
}

#[derive(Clone)]
struct Waiting {
    guarded: Guarded<Population>,
    oversees: Arc<Oversees>,
}

impl Waiting {
    async fn agent(&self, caller: &Caller, fields: &Fields) -> Result<AgentHandle, Failure> {
        self.guarded.subject(caller, fields.get("agent")).await
    }

    /// Whether what was asked for one caller is for another to see.
    fn may_see(&self, caller: &Caller, owner: &str) -> bool {
        let anonymous = Principal::anonymous();
        let principal = caller.as_ref().map_or(&anonymous, |Extension(it)| it);
        (self.oversees)(principal) || principal.to_string() == owner
    }
}

async fn list(
    State(waiting): State<Waiting>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let listed = async {
        let agent = waiting.agent(&caller, &Fields::of(raw)).await?;
        let approvals = agent.status().await.map_err(failure)?.approvals;
        let approvals = approvals
            .iter()
            .filter(|it| waiting.may_see(&caller, &it.by));
        Ok(WaitingApprovals {
            agent: agent.id().to_owned(),
            approvals: approvals.map(shown).collect(),
        })
    };
    respond(listed.await)
}

fn shown(approval: &Approval) -> WaitingApproval {
    WaitingApproval {
        id: approval.uuid.clone(),
        skill: approval.skill.clone(),
        by: approval.by.clone(),
        task: approval.turn.clone(),
        conversation: approval.conversation.clone(),
        input: approval.input.clone(),
        notes: approval.notes.clone(),
        at: approval.at,
        until: approval.until,
    }
}

/// The answer is an object with `decision`, or one with `answer` in words.
async fn answer(
    State(waiting): State<Waiting>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let answered = async {
        let given: Value = read(&whole(body)?)?;
        let given = match given.get("answer") {
            Some(Value::String(words)) => json!(words),
            _ if given.is_object() => given,
            _ => return Err(invalid("expected an object with decision or answer")),
        };
        let agent = waiting.agent(&caller, &Fields::of(raw)).await?;
        let approvals = agent.status().await.map_err(failure)?.approvals;
        // What belongs to others does not exist for this caller.
        let known = approvals.iter().find(|it| it.uuid == id);
        if !known.is_some_and(|it| waiting.may_see(&caller, &it.by)) {
            return Err(failure(Error::NoApproval(id)));
        }
        let by = name_of(&caller);
        let task = agent.answer_approval(&id, given, &by).await;
        let task = task.map_err(failure)?.to_string();
        Ok(Answered { id, task })
    };
    respond(answered.await)
}

async fn grants(
    State(waiting): State<Waiting>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let listed = async {
        let agent = waiting.agent(&caller, &Fields::of(raw)).await?;
        let grants = agent.status().await.map_err(failure)?.grants;
        let grants = grants.iter().filter(|it| waiting.may_see(&caller, &it.by));
        Ok(GrantList {
            agent: agent.id().to_owned(),
            grants: grants.map(granted).collect(),
        })
    };
    respond(listed.await)
}

fn granted(grant: &Grant) -> ListedGrant {
    let (field, prefix) = grant.prefix.clone().unzip();
    ListedGrant {
        id: grant.key(),
        skill: grant.skill.clone(),
        by: grant.by.clone(),
        conversation: grant.conversation.clone(),
        field,
        prefix,
        until: grant.until,
    }
}

async fn revoke(
    State(waiting): State<Waiting>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let revoked = async {
        let agent = waiting.agent(&caller, &Fields::of(raw)).await?;
        let grants = agent.status().await.map_err(failure)?.grants;
        let known = grants.iter().find(|it| it.key() == id);
        if !known.is_some_and(|it| waiting.may_see(&caller, &it.by)) {
            return Err(failure(Error::NoGrant(id)));
        }
        let by = name_of(&caller);
        agent.revoke(&id, &by).await.map_err(failure)?;
        Ok(Revoked { id })
    };
    respond(revoked.await)
}

fn invalid(problem: &str) -> Failure {
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", problem)
}

/// The status and code of an error of an agent.
#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
fn failure(error: Error) -> Failure {
    let (status, code) = match &error {
        Error::Unknown(_) | Error::NoApproval(_) | Error::NoGrant(_) => {
            (StatusCode::NOT_FOUND, "not_found")
        }
        Error::Answer(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        Error::AskedThrough(_) | Error::NotServed => (StatusCode::CONFLICT, "conflict"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
    };
    Failure::new(status, code, &error)
}
