//! `/api/agent`: the status of agents, their law and how it changes, and explanations of what they did.
//!
//! `agent` names the agent in every request; without it the default agent is meant.

use access::{Permission, Principal};
use agent::{AgentHandle, Edit, Error, Population, Refused, Status, Version};
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

mod proposals;

use super::approvals::is_for;
use super::reply::{Because, Explained, LawDiff, LawHistory, LawText, LawVersion};
use super::{Caller, Failure, Fields, Guarded, Part, Rights, by_query, read, respond, whole};

/// The routes of `/api/agent`.
pub fn routes(population: Population, rights: Rights) -> Router {
    Router::new()
        .route("/api/agent/status", get(status_of))
        .route("/api/agent/law", by_query(law).put(set))
        .route("/api/agent/law/accept", post(accept))
        .merge(proposals::routes())
        .route("/api/agent/laws", by_query(laws))
        .route("/api/agent/diff", by_query(diff))
        .route("/api/agent/why", by_query(why))
        .route("/api/agent/self", by_query(portrait))
        .route("/api/agent/pause", switch(Switch::Pause))
        .route("/api/agent/resume", switch(Switch::Resume))
        .with_state(Guarded {
            part: population,
            rights,
        })
}

impl Part for Population {
    type Subject = AgentHandle;

    async fn find(&self, id: &str, _: Principal) -> Result<AgentHandle, Failure> {
        Population::find(self, id).await.map_err(failure)
    }
}

async fn status_of(
    State(guarded): State<Guarded<Population>>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let found = async {
        let agent = guarded.subject(&caller, fields.get("agent")).await?;
        status(agent, &guarded.rights.caller(&caller)).await
    };
    respond(found.await)
}

async fn status(agent: AgentHandle, caller: &Principal) -> Result<AgentStatus, Failure> {
    let offered = agent.offered().await.map_err(failure)?;
    let status = agent.status().await.map_err(failure)?;
    let mut tasks = status.tasks.iter();
    let current = tasks.find(|(_, by)| is_for(caller, by));
    Ok(AgentStatus {
        current_task: current.map(|(task, _)| task.to_string()),
        queue_length: status.queue.len(),
        status: shown_to(caller, status),
        accept: (!offered.is_empty()).then(|| accept_command(agent.id())),
        offered,
    })
}

/// What a caller may see of a status: the calls, questions and grants of others, and what they have planned, are for
/// callers that operate the server.
fn shown_to(caller: &Principal, mut status: Status) -> Status {
    if caller.may(Permission::Operate) {
        return status;
    }
    status.approvals.retain(|it| is_for(caller, &it.by));
    status.questions.retain(|it| is_for(caller, &it.by));
    status.grants.retain(|it| is_for(caller, &it.by));
    status.queue.clear();
    status.plans.clear();
    status
}

/// The reply to `GET /api/agent/status`.
#[derive(Serialize)]
struct AgentStatus {
    #[serde(flatten)]
    status: Status,
    /// The first request of the caller that it works on.
    current_task: Option<String>,
    /// How many requests wait for their turn, of all callers.
    queue_length: usize,
    /// What the edited manifest or law file would change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    offered: Vec<String>,
    /// The command that accepts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    accept: Option<String>,
}

/// The reply to `POST /api/agent/pause` and `resume`.
#[derive(Serialize)]
struct Switched {
    success: bool,
    /// The state before the pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_state: Option<agent::State>,
    /// The state that it goes on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_state: Option<agent::State>,
    #[serde(flatten)]
    status: AgentStatus,
}

fn accept_command(agent: &str) -> String {
    format!("monas law accept --for {agent} --why REASON")
}

/// The current law, or that of `?version=N`.
async fn law(agent: AgentHandle, fields: Fields) -> Result<LawText, Failure> {
    let versions = agent.laws().await.map_err(failure)?;
    let wanted = number(&fields, "version")?;
    let (place, version) = pick(&versions, wanted)?;
    Ok(LawText {
        agent: agent.id().to_owned(),
        version: listed(&agent, place, version).await?,
        text: version.law.show(),
        law: json!(version.law),
    })
}

async fn laws(agent: AgentHandle, _: Fields) -> Result<LawHistory, Failure> {
    let versions = agent.laws().await.map_err(failure)?;
    let mut listing = Vec::with_capacity(versions.len());
    for (place, version) in (1..).zip(&versions) {
        listing.push(listed(&agent, place, version).await?);
    }
    Ok(LawHistory {
        agent: agent.id().to_owned(),
        versions: listing,
    })
}

async fn listed(
    agent: &AgentHandle,
    place: usize,
    version: &Version,
) -> Result<LawVersion, Failure> {
    let before = version.event.saturating_sub(1);
    let became = agent.records(before, 1).await.map_err(failure)?;
    let became = became
        .into_iter()
        .find(|(event, _)| *event == version.event);
    Ok(LawVersion {
        at: became.map(|(_, record)| ::memory::format_time(record.event.at)),
        version: place,
        hash: version.hash.clone(),
        by: version.by.clone(),
        why: version.why.clone(),
        event: version.event,
    })
}

/// A change of the law: `{"path", "value", "why"}`, or `{"target", "change", "justification"}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LawChange {
    agent: Option<String>,
    #[serde(alias = "target")]
    path: String,
    #[serde(alias = "change")]
    value: Value,
    #[serde(alias = "justification")]
    why: String,
}

/// The reason to accept what the manifest says now.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Acceptance {
    agent: Option<String>,
    why: String,
}

async fn set(
    State(guarded): State<Guarded<Population>>,
    caller: Caller,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let changed = async {
        let LawChange {
            agent,
            path,
            value,
            why,
        } = read(&whole(body)?)?;
        let named = agent.as_deref().or_else(|| fields.get("agent"));
        let agent = guarded.subject(&caller, named).await?;
        let edit = Edit {
            target: path,
            change: value,
            justification: why,
        };
        let proposed = agent.amend(edit, &author(&caller)).await;
        proposed.map_err(failure)?;
        diff(agent, Fields::default()).await
    };
    respond(changed.await)
}

async fn accept(
    State(guarded): State<Guarded<Population>>,
    caller: Caller,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let accepted = async {
        let Acceptance { agent, why } = read(&whole(body)?)?;
        let named = agent.as_deref().or_else(|| fields.get("agent"));
        let agent = guarded.subject(&caller, named).await?;
        let accepted = agent.accept(&why, &author(&caller)).await;
        accepted.map_err(failure)?;
        diff(agent, Fields::default()).await
    };
    respond(accepted.await)
}

/// The name of the caller in the history of a law. Where callers have no names they are operators.
fn author(caller: &Caller) -> String {
    match caller {
        Some(Extension(caller)) if !caller.is_anonymous() => caller.name().to_owned(),
        _ => "operator".to_owned(),
    }
}

/// What changed between `?from=N` and `?to=N`; without them, what the last change changed.
async fn diff(agent: AgentHandle, fields: Fields) -> Result<LawDiff, Failure> {
    let versions = agent.laws().await.map_err(failure)?;
    let (to, after) = pick(&versions, number(&fields, "to")?)?;
    let before = number(&fields, "from")?.unwrap_or(to.saturating_sub(1).max(1));
    let (from, before) = pick(&versions, Some(before))?;
    let offered = agent.offered().await.map_err(failure)?;
    Ok(LawDiff {
        agent: agent.id().to_owned(),
        from,
        to,
        by: after.by.clone(),
        why: after.why.clone(),
        lines: before.law.diff(&after.law),
        accept: (!offered.is_empty()).then(|| accept_command(agent.id())),
        offered,
    })
}

async fn why(agent: AgentHandle, fields: Fields) -> Result<Explained, Failure> {
    let question = fields.get("question").ok_or_else(|| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Failure::new(status, "invalid", "question is missing").with("field", "question".into())
    })?;
    let explanation = agent.why(question).await.map_err(failure)?;
    let text = explanation.text();
    let because = explanation.because.into_iter();
    Ok(Explained {
        agent: agent.id().to_owned(),
        known: explanation.known,
        because: because
            .map(|it| Because {
                says: it.says,
                event: it.event,
            })
            .collect(),
        text,
    })
}

async fn portrait(agent: AgentHandle, _: Fields) -> Result<agent::Portrait, Failure> {
    agent.portrait().await.map_err(failure)
}

/// The agent that a body names.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Named {
    agent: Option<String>,
}

#[derive(Clone, Copy)]
enum Switch {
    Pause,
    Resume,
}

/// A route that pauses an agent, or resumes it. The body may be empty; then the query may name the agent.
fn switch(switch: Switch) -> MethodRouter<Guarded<Population>> {
    post(
        async move |State(guarded): State<Guarded<Population>>,
                    caller: Caller,
                    RawQuery(raw): RawQuery,
                    body: Result<Bytes, BytesRejection>| {
            let fields = Fields::of(raw);
            let switched = async {
                let body = whole(body)?;
                let named: Named = match body.is_empty() {
                    true => Named::default(),
                    false => read(&body)?,
                };
                let named = named.agent.as_deref().or_else(|| fields.get("agent"));
                let agent = guarded.subject(&caller, named).await?;
                let before = agent.status().await.map_err(failure)?.state;
                let done = match switch {
                    Switch::Pause => agent.pause().await,
                    Switch::Resume => agent.resume().await,
                };
                done.map_err(failure)?;
                let status = status(agent, &guarded.rights.caller(&caller)).await?;
                let (previous_state, current_state) = match switch {
                    Switch::Pause => (Some(before), None),
                    Switch::Resume => (None, Some(status.status.state)),
                };
                Ok(Switched {
                    success: true,
                    previous_state,
                    current_state,
                    status,
                })
            };
            respond(switched.await)
        },
    )
}

fn number(fields: &Fields, name: &str) -> Result<Option<usize>, Failure> {
    let given = fields.get(name).map(str::parse).transpose();
    given.map_err(|_| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Failure::new(status, "invalid", "expected a number").with("field", name.into())
    })
}

/// A version by its number, which counts from one; the last one without a number.
fn pick(versions: &[Version], wanted: Option<usize>) -> Result<(usize, &Version), Failure> {
    let place = wanted.unwrap_or(versions.len());
    let found = place.checked_sub(1).and_then(|it| versions.get(it));
    let missing = || {
        let why = format!("the law has no version {place}; it has {}", versions.len());
        Failure::new(StatusCode::NOT_FOUND, "not_found", why)
    };
    Ok((place, found.ok_or_else(missing)?))
}

/// The status and code of an error that passes, or is ours.
pub(super) fn unavailable(error: &Error) -> (StatusCode, &'static str) {
    match error {
        Error::Full => (StatusCode::SERVICE_UNAVAILABLE, "full"),
        Error::Stopped => (StatusCode::SERVICE_UNAVAILABLE, "stopped"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
    }
}

/// The status and code of an error of an agent.
#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
pub(crate) fn failure(error: Error) -> Failure {
    let (status, code) = match &error {
        Error::Unknown(_) => (StatusCode::NOT_FOUND, "not_found"),
        Error::Proposal(_) => (StatusCode::CONFLICT, "proposal"),
        Error::Law(Refused::Frozen(_) | Refused::Twin(_) | Refused::Authority(_)) => {
            (StatusCode::CONFLICT, "refused")
        }
        Error::NoOffer => (StatusCode::CONFLICT, "nothing_offered"),
        Error::Id(_) | Error::Twin { .. } | Error::Law(_) => {
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid")
        }
        error => unavailable(error),
    };
    Failure::new(status, code, &error)
}
