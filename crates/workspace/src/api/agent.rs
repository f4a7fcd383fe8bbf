//! `/api/agent`: what agents do, what they go by, and why they did something.
//!
//! `agent` names which one, everywhere; without it, the default agent.

use agent::{Error, Household, Resident, Version};
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::routing::{MethodRouter, get, post};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Caller, Failure, Fields, Rights, read, respond, whole};

/// What the routes know.
#[derive(Clone, Debug)]
struct Site {
    household: Household,
    rights: Rights,
}

/// The routes.
pub fn routes(household: Household, rights: Rights) -> Router {
    let site = Site { household, rights };
    Router::new()
        .route("/api/agent/status", looked(status))
        .route("/api/agent/law", looked(law))
        .route("/api/agent/laws", looked(laws))
        .route("/api/agent/diff", looked(diff))
        .route("/api/agent/why", looked(why))
        .route("/api/agent/pause", told(true))
        .route("/api/agent/resume", told(false))
        .with_state(site)
}

impl Site {
    async fn agent(&self, caller: &Caller, named: Option<&str>) -> Result<Resident, Failure> {
        let id = self.rights.agent(caller, named)?;
        self.household.find(id).await.map_err(failure)
    }
}

/// A route whose request is its address.
fn looked<F, T>(look: F) -> MethodRouter<Site>
where
    F: Fn(Resident, Fields) -> T + Clone + Send + Sync + 'static,
    T: Future<Output = Answer> + Send + 'static,
{
    get(
        async move |State(site): State<Site>, caller: Caller, RawQuery(raw): RawQuery| {
            let fields = Fields::of(raw);
            let answer = match site.agent(&caller, fields.get("agent")).await {
                Ok(agent) => look(agent, fields).await,
                Err(failure) => Err(failure),
            };
            respond(answer)
        },
    )
}

async fn status(agent: Resident, _: Fields) -> Answer {
    let status = agent.status().await.map_err(failure)?;
    Ok(json!(status))
}

/// The law as it is, or as it was in `?version=N`.
async fn law(agent: Resident, fields: Fields) -> Answer {
    let versions = agent.laws().await.map_err(failure)?;
    let wanted = number(&fields, "version")?;
    let (place, version) = pick(&versions, wanted)?;
    Ok(json!({
        "agent": agent.id(),
        "version": place,
        "hash": version.hash,
        "by": version.by,
        "why": version.why,
        "event": version.event,
        "text": version.law.show(),
        "law": version.law,
    }))
}

async fn laws(agent: Resident, _: Fields) -> Answer {
    let versions = agent.laws().await.map_err(failure)?;
    let listed = (1..).zip(&versions).map(|(place, version)| {
        json!({
            "version": place, "hash": version.hash, "by": version.by, "why": version.why, "event": version.event,
        })
    });
    let listed: Vec<Value> = listed.collect();
    Ok(json!({ "agent": agent.id(), "versions": listed }))
}

/// What changed between `?from=N` and `?to=N`; without them, by the last change.
async fn diff(agent: Resident, fields: Fields) -> Answer {
    let versions = agent.laws().await.map_err(failure)?;
    let (to, after) = pick(&versions, number(&fields, "to")?)?;
    let before = number(&fields, "from")?.unwrap_or(to.saturating_sub(1).max(1));
    let (from, before) = pick(&versions, Some(before))?;
    Ok(json!({
        "agent": agent.id(), "from": from, "to": to, "lines": before.law.diff(&after.law),
    }))
}

async fn why(agent: Resident, fields: Fields) -> Answer {
    let question = fields.get("question").ok_or_else(|| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Failure::new(status, "invalid", "a question is missing").with("field", "question".into())
    })?;
    let explanation = agent.why(question).await.map_err(failure)?;
    Ok(json!({
        "agent": agent.id(),
        "known": explanation.known,
        "because": explanation.because,
        "text": explanation.text(),
    }))
}

/// Which agent a body is about.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Whose {
    agent: Option<String>,
}

/// A route that stops an agent where it is, or has it go on.
fn told(pause: bool) -> MethodRouter<Site> {
    post(
        async move |State(site): State<Site>,
                    caller: Caller,
                    RawQuery(raw): RawQuery,
                    body: Result<Bytes, BytesRejection>| {
            respond(tell(&site, &caller, &Fields::of(raw), body, pause).await)
        },
    )
}

async fn tell(
    site: &Site,
    caller: &Caller,
    fields: &Fields,
    body: Result<Bytes, BytesRejection>,
    pause: bool,
) -> Answer {
    let body = whole(body)?;
    let whose: Whose = match body.is_empty() {
        true => Whose::default(),
        false => read(&body)?,
    };
    let named = whose.agent.as_deref().or_else(|| fields.get("agent"));
    let agent = site.agent(caller, named).await?;
    let done = if pause {
        agent.pause().await
    } else {
        agent.resume().await
    };
    done.map_err(failure)?;
    status(agent, Fields::default()).await
}

fn number(fields: &Fields, name: &str) -> Result<Option<usize>, Failure> {
    let given = fields.get(name).map(str::parse).transpose();
    given.map_err(|_| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Failure::new(status, "invalid", "expected a number").with("field", name.into())
    })
}

/// A version by its place, which counts from one; the last, if none is wanted.
fn pick(versions: &[Version], wanted: Option<usize>) -> Result<(usize, &Version), Failure> {
    let place = wanted.unwrap_or(versions.len());
    let found = place.checked_sub(1).and_then(|it| versions.get(it));
    let missing = || {
        let why = format!("there is no version {place} of the law");
        Failure::new(StatusCode::NOT_FOUND, "not_found", why)
    };
    Ok((place, found.ok_or_else(missing)?))
}

/// What an error of an agent is to its caller.
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
