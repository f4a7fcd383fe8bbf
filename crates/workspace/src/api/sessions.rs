//! `/api/sessions`: the conversations of a caller with agents: listed, searched, read, renamed, archived, deleted, exported.
//!
//! The history is read from the journals of agents; only title, archived and the time of last use are kept for a
//! session. A deleted session is hidden; the journal keeps its events.

use agent::{AgentHandle, Owner};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};

use super::agent::failure;
use super::one_session::covers;
use super::{Caller, Failure, Fields, read, respond, response, whole};
use crate::chat::incoming::check_session;
use crate::chat::sessions::Session;
use crate::chat::{Chat, Cursor, Envelope, MessageType};

/// How many messages a reply has by default, and at most.
const PAGE: (usize, usize) = (200, 1_000);

/// The most messages of an export, and of a session that is searched.
pub(super) const WHOLE: usize = 100_000;

/// The longest title, in letters.
const TITLE: usize = 200;

/// The routes of `/api/sessions`.
pub fn routes(chat: Chat) -> Router {
    Router::new()
        .route("/api/sessions", get(list))
        .route("/api/sessions/{id}", get(show).patch(change).delete(delete))
        .route("/api/sessions/{id}/messages", get(messages))
        .route("/api/sessions/{id}/export", get(export))
        .with_state(chat)
}

/// A session that a request is about.
struct FoundSession {
    agent: AgentHandle,
    owner: Owner,
    session: Session,
}

async fn find(
    chat: &Chat,
    caller: &Caller,
    id: &str,
    fields: &Fields,
) -> Result<FoundSession, Failure> {
    let agent = chat.agent(caller, fields.get("agent")).await?;
    let owner = Owner {
        caller: chat.parts().rights.caller(caller).to_string(),
        conversation: id.to_owned(),
    };
    let missing = || {
        let why = format!("there is no session {id:?} with agent {:?}", agent.id());
        Failure::new(StatusCode::NOT_FOUND, "not_found", why)
    };
    check_session("id", id).map_err(|_| missing())?;
    let session = chat.sessions().find(&owner, agent.id()).await;
    let session = session.map_err(stored)?.ok_or_else(missing)?;
    Ok(FoundSession {
        agent,
        owner,
        session,
    })
}

/// `?query=WORDS` gives those that have the words in their title or in what was said; `?archived=true` those that are
/// archived, `all` both.
async fn list(State(chat): State<Chat>, caller: Caller, RawQuery(raw): RawQuery) -> Response<Body> {
    let fields = Fields::of(raw);
    let listed = async {
        let person = chat.parts().rights.caller(&caller);
        let name = person.to_string();
        let archived = match fields.get("archived") {
            None | Some("false") => Some(false),
            Some("true") => Some(true),
            Some("all") => None,
            Some(other) => {
                let why = format!("archived is {other:?}; expected true, false or all");
                return Err(invalid("archived", &why));
            }
        };
        let query = fields.get("query").map(str::to_lowercase);
        let mut sessions = Vec::new();
        for session in chat.sessions().list(&name).await.map_err(stored)? {
            let wanted = archived.is_none_or(|it| it == session.archived);
            if !wanted || !covers(&person, &session.id) {
                continue;
            }
            let mut shown = listed_session(&session);
            if let Some(query) = &query {
                let found = search(&chat, &caller, &name, &session, query).await?;
                let Some(found) = found else { continue };
                shown["found"] = found;
            }
            sessions.push(shown);
        }
        Ok(json!({ "sessions": sessions }))
    };
    respond(listed.await)
}

/// Where a session says something, if it does: its title, or the first message.
async fn search(
    chat: &Chat,
    caller: &Caller,
    name: &str,
    session: &Session,
    query: &str,
) -> Result<Option<Value>, Failure> {
    if session.title.to_lowercase().contains(query) {
        return Ok(Some(json!({ "title": session.title })));
    }
    // The agent was removed, or does not admit this caller now: no match.
    let Ok(agent) = chat.agent(caller, Some(&session.agent)).await else {
        return Ok(None);
    };
    let owner = Owner {
        caller: name.to_owned(),
        conversation: session.id.clone(),
    };
    let history = chat.history(&agent, &owner, Cursor::default(), WHOLE).await;
    let history = history.map_err(failure)?;
    let mut messages = history.messages.iter();
    let found = messages.find_map(|message| {
        let (_, text) = said(message)?;
        text.to_lowercase().contains(query).then(
            || json!({ "message": message.id, "cursor": message.metadata.cursor, "text": text }),
        )
    });
    Ok(found)
}

async fn show(
    State(chat): State<Chat>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let shown = async {
        let found = find(&chat, &caller, &id, &fields).await?;
        let mut shown = listed_session(&found.session);
        let history = chat
            .history(&found.agent, &found.owner, Cursor::default(), 0)
            .await;
        let history = history.map_err(failure)?;
        shown["agent_state"] = json!(history.state);
        shown["waiting"] = json!(history.waiting);
        Ok(shown)
    };
    respond(shown.await)
}

/// The messages after `?after=CURSOR`, at most `?limit=N`.
async fn messages(
    State(chat): State<Chat>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let read = async {
        let after = match fields.get("after") {
            None => Cursor::default(),
            Some(text) => Cursor::read(text).ok_or_else(|| {
                let why = format!("after is {text:?}; expected a cursor, such as 12.0");
                invalid("after", &why)
            })?,
        };
        let limit = match fields.get("limit").map(str::parse::<usize>) {
            None => PAGE.0,
            Some(Ok(limit)) if (1..=PAGE.1).contains(&limit) => limit,
            Some(_) => {
                let why = format!("expected a number from 1 to {}", PAGE.1);
                return Err(invalid("limit", &why));
            }
        };
        let found = find(&chat, &caller, &id, &fields).await?;
        let history = chat.history(&found.agent, &found.owner, after, limit).await;
        let history = history.map_err(failure)?;
        Ok(json!({
            "session_id": id,
            "messages": history.messages,
            "agent_state": history.state,
            "waiting": history.waiting,
            "more": history.more,
        }))
    };
    respond(read.await)
}

/// What may be changed of a session.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    title: Option<String>,
    archived: Option<bool>,
}

async fn change(
    State(chat): State<Chat>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let changed = async {
        let Changes { title, archived } = read(&whole(body)?)?;
        let found = find(&chat, &caller, &id, &fields).await?;
        let mut session = found.session;
        if let Some(title) = title {
            let title = title.trim();
            if title.is_empty() || title.chars().count() > TITLE {
                let why = format!("a title has 1 to {TITLE} letters");
                return Err(invalid("title", &why));
            }
            title.clone_into(&mut session.title);
        }
        session.archived = archived.unwrap_or(session.archived);
        chat.sessions().put(&session).await.map_err(stored)?;
        Ok(listed_session(&session))
    };
    respond(changed.await)
}

async fn delete(
    State(chat): State<Chat>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let deleted = async {
        let found = find(&chat, &caller, &id, &fields).await?;
        let session = Session {
            deleted: true,
            ..found.session
        };
        chat.sessions().put(&session).await.map_err(stored)?;
        Ok(json!({ "success": true, "session_id": id }))
    };
    respond(deleted.await)
}

/// The whole session as one file, `?format=json` or `markdown`.
async fn export(
    State(chat): State<Chat>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let exported = async {
        let found = find(&chat, &caller, &id, &fields).await?;
        let history = chat.history(&found.agent, &found.owner, Cursor::default(), WHOLE);
        let history = history.await.map_err(failure)?;
        match fields.get("format") {
            None | Some("json") => {
                let mut whole = listed_session(&found.session);
                whole["messages"] = json!(history.messages);
                Ok(("application/json", whole.to_string()))
            }
            Some("markdown" | "md") => {
                let text = markdown(&found.session, &history.messages);
                Ok(("text/markdown; charset=utf-8", text))
            }
            Some(other) => {
                let why = format!("format is {other:?}; expected json or markdown");
                Err(invalid("format", &why))
            }
        }
    };
    match exported.await {
        Ok((kind, text)) => response(StatusCode::OK, kind, text),
        Err(failure) => respond::<()>(Err(failure)),
    }
}

fn listed_session(session: &Session) -> Value {
    json!({
        "session_id": session.id,
        "agent": session.agent,
        "title": session.title,
        "archived": session.archived,
        "created": memory::format_time(session.created),
        "updated": memory::format_time(session.updated),
    })
}

/// The author of a message and its words, if it has words.
pub(super) fn said(message: &Envelope) -> Option<(&'static str, String)> {
    let payload = &message.payload;
    let text = |name: &str| payload[name].as_str().map(str::to_owned);
    let (by, text) = match (message.kind, payload["action_type"].as_str()) {
        (MessageType::UserCommand, _) => ("You", text("command")),
        (MessageType::AgentAction, Some("response")) => ("Agent", text("content")),
        (MessageType::AgentAction, Some("reasoning")) => ("Agent (reasoning)", text("content")),
        (MessageType::ApprovalRequest, _) => ("Agent asks", text("description")),
        (MessageType::ToolResult, _) => ("Tool", text("output")),
        _ => return None,
    };
    text.filter(|it| !it.is_empty()).map(|text| (by, text))
}

fn markdown(session: &Session, messages: &[Envelope]) -> String {
    let mut text = format!(
        "# {}\n\nSession {} with agent {}, begun {}.\n",
        session.title,
        session.id,
        session.agent,
        memory::format_time(session.created)
    );
    for message in messages {
        let Some((by, words)) = said(message) else {
            continue;
        };
        text.push_str(&format!("\n## {by}, {}\n\n", message.timestamp));
        match message.kind {
            MessageType::ToolResult => {
                let fence = fence(&words);
                let tool = message.payload["command"].as_str().unwrap_or_default();
                text.push_str(&format!("{tool}\n\n{fence}\n{words}\n{fence}\n"));
            }
            _ => text.push_str(&format!("{words}\n")),
        }
    }
    text
}

/// A fence that the words do not contain.
fn fence(words: &str) -> String {
    let mut fence = "```".to_owned();
    while words.contains(&fence) {
        fence.push('`');
    }
    fence
}

fn invalid(field: &str, problem: &str) -> Failure {
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", problem).with("field", field.into())
}

/// The failure of the store.
pub(super) fn stored(error: store::Error) -> Failure {
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", error)
}
