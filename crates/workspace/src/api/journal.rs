//! `/api/journal`: the journal of an agent for people: by page, one event with its reasons, the state at an event, and what a
//! model was shown. Everything is read: nothing is done again.

use std::collections::BTreeSet;

use agent::{AgentHandle, Record};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::get;
use serde_json::{Value, json};

use super::agent::failure;
use super::{Caller, Failure, Fields, invalid, respond};
use crate::chat::Chat;

/// How many events a reply has by default, and at most.
const PAGE: (usize, usize) = (100, 500);

/// How many records are read at once, and how many pages of them for one reply: a filter may pass few of them.
const READ: u64 = 512;
const PAGES: usize = 40;

/// The routes of `/api/journal`.
pub fn routes(chat: Chat) -> Router {
    Router::new()
        .route("/api/journal", get(page))
        .route("/api/journal/{event}", get(one))
        .route("/api/journal/{event}/state", get(state))
        .route("/api/journal/{event}/prompt", get(prompt))
        .with_state(chat)
}

/// A record as one of many.
pub(crate) fn shown(number: u64, record: &Record) -> Value {
    written(number, record, false)
}

fn written(number: u64, record: &Record, whole: bool) -> Value {
    let mut shown = json!({
        "event": number,
        "at": memory::format_time(record.event.at),
        "kind": record.kind(),
        "text": record.sentence(),
        "data": record.data(whole),
    });
    if let Some(turn) = record.turn() {
        shown["turn"] = turn.into();
    }
    shown
}

fn number(fields: &Fields, name: &str) -> Result<Option<u64>, Failure> {
    let given = fields.get(name).map(str::parse).transpose();
    given.map_err(|_| invalid(name, "expected the number of an event"))
}

/// Which events are asked for.
struct Question {
    before: Option<u64>,
    after: Option<u64>,
    limit: usize,
    kinds: BTreeSet<String>,
}

impl Question {
    fn read(fields: &Fields) -> Result<Self, Failure> {
        let limit = match fields.get("limit").map(str::parse::<usize>) {
            None => PAGE.0,
            Some(Ok(limit)) if (1..=PAGE.1).contains(&limit) => limit,
            Some(_) => {
                let why = format!("expected a number from 1 to {}", PAGE.1);
                return Err(invalid("limit", why));
            }
        };
        let kinds = fields.get("kinds").unwrap_or_default().split(',');
        let kinds = kinds.map(str::trim).filter(|it| !it.is_empty());
        Ok(Self {
            before: number(fields, "before")?,
            after: number(fields, "after")?,
            limit,
            kinds: kinds.map(str::to_owned).collect(),
        })
    }

    fn wants(&self, record: &Record) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&record.kind())
    }

    /// The events, and the number to go on with if there may be more.
    async fn answer(
        &self,
        agent: &AgentHandle,
        last: u64,
    ) -> Result<(Vec<Value>, Option<u64>), Failure> {
        match self.after {
            Some(after) => self.forwards(agent, after).await,
            None => self.backwards(agent, last).await,
        }
    }

    async fn forwards(
        &self,
        agent: &AgentHandle,
        mut after: u64,
    ) -> Result<(Vec<Value>, Option<u64>), Failure> {
        let end = self.before.unwrap_or(u64::MAX);
        let mut events = Vec::new();
        for _ in 0..PAGES {
            let page = agent.records(after, READ as usize).await.map_err(failure)?;
            if page.is_empty() {
                return Ok((events, None));
            }
            for (number, record) in page {
                if number >= end {
                    return Ok((events, None));
                }
                if events.len() == self.limit {
                    return Ok((events, Some(after)));
                }
                after = number;
                if self.wants(&record) {
                    events.push(shown(number, &record));
                }
            }
        }
        Ok((events, Some(after)))
    }

    async fn backwards(
        &self,
        agent: &AgentHandle,
        last: u64,
    ) -> Result<(Vec<Value>, Option<u64>), Failure> {
        let mut before = self.before.unwrap_or(u64::MAX).min(last + 1);
        let mut events = Vec::new();
        for _ in 0..PAGES {
            if before <= 1 {
                return Ok((events, None));
            }
            let after = (before - 1).saturating_sub(READ);
            let count = usize::try_from(before - 1 - after).unwrap_or_default();
            let page = agent.records(after, count).await.map_err(failure)?;
            for (number, record) in page.into_iter().rev() {
                if events.len() == self.limit {
                    return Ok((events, Some(before)));
                }
                before = number;
                if self.wants(&record) {
                    events.push(shown(number, &record));
                }
            }
            before = before.min(after + 1);
        }
        Ok((events, Some(before)))
    }
}

/// `?before=N` or `?after=N`, `?limit=N`, `?kinds=heard,thought`.
async fn page(State(chat): State<Chat>, caller: Caller, RawQuery(raw): RawQuery) -> Response<Body> {
    let fields = Fields::of(raw);
    let read = async {
        let question = Question::read(&fields)?;
        let agent = chat.agent(&caller, fields.get("agent")).await?;
        agent.settle().await.map_err(failure)?;
        let last = agent.last_event().await.map_err(failure)?;
        let (events, next) = question.answer(&agent, last).await?;
        let mut page = json!({ "agent": agent.id(), "events": events, "last": last });
        if let Some(next) = next {
            page["next"] = next.into();
        }
        Ok(page)
    };
    respond(read.await)
}

/// The agent and the event that a request names, with its record.
async fn find(
    chat: &Chat,
    caller: &Caller,
    event: &str,
    fields: &Fields,
) -> Result<(AgentHandle, u64, Record), Failure> {
    let number: u64 = event
        .parse()
        .map_err(|_| invalid("event", "expected the number of an event"))?;
    let agent = chat.agent(caller, fields.get("agent")).await?;
    let record = agent.record(number).await.map_err(failure)?;
    let record = record.ok_or_else(|| {
        let why = format!("the journal of {:?} has no event {number}", agent.id());
        Failure::new(StatusCode::NOT_FOUND, "not_found", why)
    })?;
    Ok((agent, number, record))
}

async fn one(
    State(chat): State<Chat>,
    caller: Caller,
    Path(event): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let read = async {
        let (agent, number, record) = find(&chat, &caller, &event, &fields).await?;
        let mut event = written(number, &record, true);
        event["agent"] = agent.id().into();
        event["why"] = json!(agent.why_event(number).await.map_err(failure)?);
        event["changes"] = json!(record.changes);
        Ok(event)
    };
    respond(read.await)
}

async fn state(
    State(chat): State<Chat>,
    caller: Caller,
    Path(event): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let read = async {
        let (agent, number, record) = find(&chat, &caller, &event, &fields).await?;
        let life = agent.state_at(number).await.map_err(failure)?;
        let context = life.context();
        let (queue, working) = life.queue();
        let goals = context.goals().iter().map(|it| it.text.clone());
        let approvals: Vec<_> = context
            .pending()
            .into_iter()
            .map(super::approvals::shown)
            .collect();
        let questions = context.waiting_questions();
        let grants = context.grants().iter().map(super::approvals::granted);
        Ok(json!({
            "agent": agent.id(),
            "event": number,
            "at": memory::format_time(record.event.at),
            "state": context.state(),
            "paused": context.is_paused(),
            "working": working,
            "queue": queue,
            "approvals": approvals,
            "questions": questions.iter().map(super::approvals::asked).collect::<Vec<_>>(),
            "grants": grants.collect::<Vec<_>>(),
            "plans": life.plans(),
            "goals": goals.collect::<Vec<_>>(),
            "law_version": life.law_version(),
            "law_hash": life.own_law().hash(),
            "law": life.own_law().show(),
        }))
    };
    respond(read.await)
}

async fn prompt(
    State(chat): State<Chat>,
    caller: Caller,
    Path(event): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let read = async {
        let (agent, number, _) = find(&chat, &caller, &event, &fields).await?;
        let skills = (chat.parts().skills)(agent.id());
        let request = agent.prompt_at(number, &skills).await.map_err(failure)?;
        let request = request.ok_or_else(|| {
            let why = format!("event {number} is no thought: nothing was shown to a model for it");
            Failure::new(StatusCode::NOT_FOUND, "no_thought", why)
        })?;
        let mut shown = json!(request);
        shown["agent"] = agent.id().into();
        shown["event"] = number.into();
        Ok(shown)
    };
    respond(read.await)
}
