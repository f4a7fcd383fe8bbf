//! `/api/approvals` and `/api/grants`: the calls and questions that wait for a person, their answers, and the decisions that count for
//! later calls.
//!
//! A caller sees and answers what was asked for this caller; one with the permission `operate` sees and answers
//! everything. `agent` names the agent in the query; without it the default agent is meant.

use std::collections::{BTreeMap, BTreeSet};

use access::{Permission, Principal};
use agent::{
    AgentHandle, Approval, Change, EffectId, Error, EventKind, Grant, Population, Record, Status,
};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{delete, get, post};
use serde_json::{Map, Value};

use super::super::chat::incoming::read_decision;
use super::one_session::covers;
use super::reply::{
    Answered, GrantList, ListedGrant, Revoked, WaitingApproval, WaitingApprovals, WaitingQuestion,
};
use super::{Caller, Failure, Fields, Guarded, Rights, read, respond, whole};

/// The routes of `/api/approvals` and `/api/grants`.
pub fn routes(population: Population, rights: Rights) -> Router {
    let guarded = Guarded {
        part: population,
        rights,
    };
    Router::new()
        .route("/api/approvals", get(list))
        .route("/api/approvals/{id}", post(answer))
        .route("/api/grants", get(grants))
        .route("/api/grants/{id}", delete(revoke))
        .with_state(Waiting { guarded })
}

#[derive(Clone)]
struct Waiting {
    guarded: Guarded<Population>,
}

impl Waiting {
    /// The agent that the query names, and its status.
    async fn agent(
        &self,
        caller: &Caller,
        query: Option<String>,
    ) -> Result<(AgentHandle, Status), Failure> {
        let fields = Fields::of(query);
        let agent = self.guarded.subject(caller, fields.get("agent")).await?;
        let status = agent.status().await.map_err(failure)?;
        Ok((agent, status))
    }

    fn may_see(&self, caller: &Caller, owner: &str) -> bool {
        is_for(&self.guarded.rights.caller(caller), owner)
    }

    fn may_see_in(&self, caller: &Caller, owner: &str, session: &str) -> bool {
        is_for_in(&self.guarded.rights.caller(caller), owner, session)
    }

    /// The caller, with what its answer is recorded by.
    fn caller(&self, caller: &Caller) -> Principal {
        self.guarded.rights.caller(caller)
    }
}

/// Whether what was asked for one caller is for another to see.
pub(crate) fn is_for(caller: &Principal, owner: &str) -> bool {
    caller.may(Permission::Operate) || caller.to_string() == owner
}

/// The same of what was asked in a session.
pub(crate) fn is_for_in(caller: &Principal, owner: &str, session: &str) -> bool {
    is_for(caller, owner) && covers(caller, session)
}

async fn list(
    State(waiting): State<Waiting>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let listed = async {
        let (agent, status) = waiting.agent(&caller, raw).await?;
        let approvals = status.approvals.iter();
        let approvals =
            approvals.filter(|it| waiting.may_see_in(&caller, &it.by, &it.conversation));
        let questions = status.questions.iter();
        let questions =
            questions.filter(|it| waiting.may_see_in(&caller, &it.by, &it.conversation));
        let approvals: Vec<&Approval> = approvals.collect();
        let ids = approvals.iter().map(|it| it.id).collect();
        let previews = previews(&agent, &ids).await.map_err(failure)?;
        let approvals = approvals.into_iter().map(|it| {
            let mut approval = shown(it);
            if let Some((preview, event)) = previews.get(&it.id) {
                approval.preview = Some(preview.clone());
                approval.event = Some(*event);
            }
            approval
        });
        let approvals = approvals.collect();
        Ok(WaitingApprovals {
            agent: agent.id().to_owned(),
            approvals,
            questions: questions.map(asked).collect(),
        })
    };
    respond(listed.await)
}

/// How many records are looked at for one preview, and how many at once. What waits was asked not long ago.
const LOOK: (u64, u64) = (20_480, 512);

/// What a person was shown last of these approvals, each with the event by which it was asked, or asked again because
/// it would do something else. It is read from the journal, backwards.
pub(crate) async fn previews(
    agent: &AgentHandle,
    ids: &BTreeSet<EffectId>,
) -> Result<BTreeMap<EffectId, (String, u64)>, Error> {
    let mut found = BTreeMap::new();
    if ids.is_empty() {
        return Ok(found);
    }
    agent.settle().await?;
    let last = agent.last_event().await?;
    let mut before = last + 1;
    while found.len() < ids.len() && before > 1 && last.saturating_sub(before) < LOOK.0 {
        let after = (before - 1).saturating_sub(LOOK.1);
        let count = usize::try_from(before - 1 - after).unwrap_or_default();
        for (number, record) in agent.records(after, count).await?.iter().rev() {
            for (id, shown) in asked_by(record) {
                if ids.contains(&id) {
                    found
                        .entry(id)
                        .or_insert_with(|| (shown.to_owned(), *number));
                }
            }
        }
        before = after + 1;
    }
    Ok(found)
}

/// The approvals that a record asks for, or asks for again, each with what the person is shown.
pub(crate) fn asked_by(record: &Record) -> impl Iterator<Item = (EffectId, &str)> {
    let shown = match &record.event.what {
        EventKind::Wanted { shown, .. } => Some(shown.as_str()),
        _ => None,
    };
    let asked = record.changes.iter().filter_map(|change| match change {
        Change::Asked { approval } => Some(approval.id),
        Change::Shown { approval, .. } => Some(*approval),
        _ => None,
    });
    asked.filter_map(move |id| Some((id, shown?)))
}

pub(super) fn shown(approval: &Approval) -> WaitingApproval {
    WaitingApproval {
        id: approval.uuid.clone(),
        skill: approval.skill.clone(),
        by: approval.by.clone(),
        task: approval.turn.to_string(),
        conversation: approval.conversation.clone(),
        input: approval.input.clone(),
        notes: approval.notes.clone(),
        at: approval.at,
        until: approval.until,
        preview: (!approval.shown.is_empty()).then(|| approval.shown.clone()),
        event: None,
    }
}

pub(super) fn asked(question: &agent::WaitingQuestion) -> WaitingQuestion {
    WaitingQuestion {
        id: question.id.clone(),
        by: question.by.clone(),
        task: question.task.to_string(),
        conversation: question.conversation.clone(),
        question: question.question.clone(),
        at: question.at,
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
        let given: Map<String, Value> = read(&whole(body)?)?;
        let given = read_decision(&given, "").map_err(|fault| {
            let failure = Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", fault.message);
            failure.with("field", fault.field.into())
        })?;
        let fields = Fields::of(raw);
        let agent = waiting
            .guarded
            .subject(&caller, fields.get("agent"))
            .await?;
        give(&agent, &waiting.caller(&caller), &id, given).await
    };
    respond(answered.await)
}

/// Delivers an answer to what waits under an id. What belongs to others does not exist for this caller.
pub(crate) async fn give(
    agent: &AgentHandle,
    caller: &Principal,
    id: &str,
    given: Value,
) -> Result<Answered, Failure> {
    let status = agent.status().await.map_err(failure)?;
    let approvals = status.approvals.iter();
    let approvals = approvals.map(|it| (&it.uuid, &it.by, &it.conversation));
    let questions = status.questions.iter();
    let questions = questions.map(|it| (&it.id, &it.by, &it.conversation));
    let mut known = approvals.chain(questions).filter(|(it, ..)| *it == id);
    let known = known.next();
    if !known.is_some_and(|(_, by, session)| is_for_in(caller, by, session)) {
        return Err(failure(Error::NoApproval(id.to_owned())));
    }
    let task = agent.answer_waiting(id, given, &caller.to_string()).await;
    let task = task.map_err(failure)?.to_string();
    Ok(Answered {
        id: id.to_owned(),
        task,
    })
}

async fn grants(
    State(waiting): State<Waiting>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let listed = async {
        let (agent, status) = waiting.agent(&caller, raw).await?;
        let grants = status
            .grants
            .iter()
            .filter(|it| waiting.may_see(&caller, &it.by));
        let mut grants: Vec<ListedGrant> = grants.map(granted).collect();
        count_uses(&agent, &mut grants).await.map_err(failure)?;
        Ok(GrantList {
            agent: agent.id().to_owned(),
            grants,
        })
    };
    respond(listed.await)
}

/// Counts how often grants were used, and finds the events that they came from. The journal is read backwards, as far as one
/// looks for previews.
async fn count_uses(agent: &AgentHandle, grants: &mut [ListedGrant]) -> Result<(), Error> {
    let mut missing = grants.len();
    grants.iter_mut().for_each(|it| it.uses = Some(0));
    let last = agent.last_event().await?;
    let mut before = last + 1;
    while missing > 0 && before > 1 && last.saturating_sub(before) < LOOK.0 {
        let after = (before - 1).saturating_sub(LOOK.1);
        let count = usize::try_from(before - 1 - after).unwrap_or_default();
        for (number, record) in agent.records(after, count).await? {
            for change in &record.changes {
                let (key, given) = match change {
                    Change::Passed { grant, .. } => (grant.clone(), false),
                    Change::Granted { grant } => (grant.key(), true),
                    _ => continue,
                };
                let Some(grant) = grants.iter_mut().find(|it| it.id == key) else {
                    continue;
                };
                match given {
                    true => {
                        grant.event = Some(number);
                        missing = missing.saturating_sub(1);
                    }
                    false => *grant.uses.get_or_insert(0) += 1,
                }
            }
        }
        before = after + 1;
    }
    Ok(())
}

pub(super) fn granted(grant: &Grant) -> ListedGrant {
    let (field, prefix) = grant.prefix.clone().unzip();
    ListedGrant {
        id: grant.key(),
        skill: grant.skill.clone(),
        by: grant.by.clone(),
        agreed: grant.agreed_by().to_owned(),
        conversation: grant.conversation.clone(),
        field,
        prefix,
        until: grant.until,
        uses: None,
        event: None,
    }
}

async fn revoke(
    State(waiting): State<Waiting>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let revoked = async {
        let (agent, status) = waiting.agent(&caller, raw).await?;
        let known = status.grants.iter().find(|it| it.key() == id);
        if !known.is_some_and(|it| waiting.may_see(&caller, &it.by)) {
            return Err(failure(Error::NoGrant(id)));
        }
        let by = waiting.caller(&caller).to_string();
        agent.revoke(&id, &by).await.map_err(failure)?;
        Ok(Revoked { id })
    };
    respond(revoked.await)
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
        error => super::agent::unavailable(error),
    };
    Failure::new(status, code, &error)
}
