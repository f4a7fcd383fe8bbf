//! `/api/agent`: the status of agents, their law, and explanations of what they did.
//!
//! `agent` names the agent in every request; without it the default agent is meant.

use agent::{AgentHandle, Error, Population, Version};
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::routing::{MethodRouter, post};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::reply::{Because, Explained, LawDiff, LawHistory, LawText, LawVersion};
use super::{Caller, Failure, Fields, Guarded, Part, Rights, by_query, read, respond, whole};

/// The routes of `/api/agent`.
pub fn routes(population: Population, rights: Rights) -> Router {
    Router::new()
        .route("/api/agent/status", by_query(status))
        .route("/api/agent/law", by_query(law))
        .route("/api/agent/laws", by_query(laws))
        .route("/api/agent/diff", by_query(diff))
        .route("/api/agent/why", by_query(why))
        .route("/api/agent/pause", switch(Switch::Pause))
        .route("/api/agent/resume", switch(Switch::Resume))
        .with_state(Guarded {
            part: population,
            rights,
        })
}

impl Part for Population {
    type Subject = AgentHandle;

    async fn find(&self, id: &str) -> Result<AgentHandle, Failure> {
        Population::find(self, id).await.map_err(failure)
    }
}

async fn status(agent: AgentHandle, _: Fields) -> Result<impl Serialize, Failure> {
    agent.status().await.map_err(failure)
}

/// The current law, or that of `?version=N`.
async fn law(agent: AgentHandle, fields: Fields) -> Result<LawText, Failure> {
    let versions = agent.laws().await.map_err(failure)?;
    let wanted = number(&fields, "version")?;
    let (place, version) = pick(&versions, wanted)?;
    Ok(LawText {
        agent: agent.id().to_owned(),
        version: listed(place, version),
        text: version.law.show(),
        law: json!(version.law),
    })
}

async fn laws(agent: AgentHandle, _: Fields) -> Result<LawHistory, Failure> {
    let versions = agent.laws().await.map_err(failure)?;
    let versions = (1..).zip(&versions);
    Ok(LawHistory {
        agent: agent.id().to_owned(),
        versions: versions
            .map(|(place, version)| listed(place, version))
            .collect(),
    })
}

fn listed(place: usize, version: &Version) -> LawVersion {
    LawVersion {
        version: place,
        hash: version.hash.clone(),
        by: version.by.clone(),
        why: version.why.clone(),
        event: version.event,
    }
}

/// What changed between `?from=N` and `?to=N`; without them, what the last change changed.
async fn diff(agent: AgentHandle, fields: Fields) -> Result<LawDiff, Failure> {
    let versions = agent.laws().await.map_err(failure)?;
    let (to, after) = pick(&versions, number(&fields, "to")?)?;
    let before = number(&fields, "from")?.unwrap_or(to.saturating_sub(1).max(1));
    let (from, before) = pick(&versions, Some(before))?;
    Ok(LawDiff {
        agent: agent.id().to_owned(),
        from,
        to,
        lines: before.law.diff(&after.law),
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
                let done = match switch {
                    Switch::Pause => agent.pause().await,
                    Switch::Resume => agent.resume().await,
                };
                done.map_err(failure)?;
                status(agent, Fields::default()).await
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

/// The status and code of an error of an agent.
#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
fn failure(error: Error) -> Failure {
    let (status, code) = match &error {
        Error::Unknown(_) => (StatusCode::NOT_FOUND, "not_found"),
        Error::Id(_) | Error::Twin { .. } | Error::Law(_) => {
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid")
        }
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
    };
    Failure::new(status, code, &error)
}
