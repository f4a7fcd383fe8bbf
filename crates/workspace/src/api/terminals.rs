//! `/api/terminals`: the terminals of a project: listed, opened and closed. What they show and what is typed goes over the
//! door.

use agent::AgentHandle;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{delete, get};
use serde::Deserialize;
use serde_json::{Value, json};
use tools::sandbox::Network;
use tools::terminal::{Size, Terminal};

use super::files::{Projects, project_of};
use super::{Caller, Failure, Fields, invalid, read, respond, whole};
use crate::chat::Chat;

pub use tools::terminal::Terminals;

/// The largest terminal, in letters each way.
const MOST: u64 = 1_000;

#[derive(Clone)]
struct Shared {
    chat: Chat,
    projects: Projects,
}

/// The routes of `/api/terminals`.
pub fn routes(chat: Chat, projects: Projects) -> Router {
    Router::new()
        .route("/api/terminals", get(list).post(open))
        .route("/api/terminals/{id}", delete(close))
        .with_state(Shared { chat, projects })
}

/// The terminals of the project of an agent.
pub(crate) async fn find(
    chat: &Chat,
    projects: &Projects,
    caller: &Caller,
    named: Option<&str>,
) -> Result<(AgentHandle, Terminals), Failure> {
    let agent = chat.agent(caller, named).await?;
    let terminals = project_of(projects, &agent)?.terminals;
    let terminals = terminals.ok_or_else(|| {
        let why = format!(
            "agent {:?} runs no commands, and has no terminals",
            agent.id()
        );
        Failure::new(StatusCode::NOT_FOUND, "no_terminals", why)
    })?;
    Ok((agent, terminals))
}

/// A size in letters, from a number of columns and of rows.
pub(crate) fn size(columns: Option<u64>, rows: Option<u64>) -> Result<Size, Failure> {
    let usual = Size::default();
    let within = |name: &str, given: Option<u64>, usual: u16| match given {
        None => Ok(usual),
        Some(given @ 1..=MOST) => Ok(u16::try_from(given).unwrap_or(usual)),
        Some(_) => Err(invalid(name, format!("expected a number from 1 to {MOST}"))),
    };
    Ok(Size {
        columns: within("columns", columns, usual.columns)?,
        rows: within("rows", rows, usual.rows)?,
    })
}

/// A terminal as it is listed.
pub(crate) fn shown(agent: &AgentHandle, terminal: &Terminal) -> Value {
    let (by, at) = terminal.opened();
    json!({
        "id": terminal.id(),
        "agent": agent.id(),
        "holder": terminal.holder(),
        "opened": memory::format_time(at),
        "by": by,
        "sandbox": terminal.sandbox().to_string(),
        "ended": terminal.has_ended(),
    })
}

/// A failure of a terminal.
pub(crate) fn refused(error: &tools::Error) -> Failure {
    Failure::new(StatusCode::CONFLICT, "terminal", error)
}

pub(crate) fn missing(id: &str) -> Failure {
    let why = format!("there is no terminal {id:?}");
    Failure::new(StatusCode::NOT_FOUND, "not_found", why)
}

async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let listed = async {
        let named = fields.get("agent");
        let (agent, terminals) = find(&shared.chat, &shared.projects, &caller, named).await?;
        let terminals = terminals.list();
        let terminals: Vec<Value> = terminals.iter().map(|it| shown(&agent, it)).collect();
        Ok(json!({ "terminals": terminals }))
    };
    respond(listed.await)
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Wanted {
    columns: Option<u64>,
    rows: Option<u64>,
    agent: Option<String>,
}

async fn open(
    State(shared): State<Shared>,
    caller: Caller,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let opened = async {
        let body = whole(body)?;
        let wanted: Wanted = match body.is_empty() {
            true => Wanted::default(),
            false => read(&body)?,
        };
        let size = size(wanted.columns, wanted.rows)?;
        let named = wanted.agent.as_deref().or_else(|| fields.get("agent"));
        let (agent, terminals) = find(&shared.chat, &shared.projects, &caller, named).await?;
        let by = shared.chat.parts().rights.caller(&caller).to_string();
        let opened = terminals.open(&by, size, Network::default()).await;
        let terminal = opened.map_err(|error| refused(&error))?;
        Ok(shown(&agent, &terminal))
    };
    respond(opened.await)
}

async fn close(
    State(shared): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let closed = async {
        let named = fields.get("agent");
        let (_, terminals) = find(&shared.chat, &shared.projects, &caller, named).await?;
        match terminals.close(&id) {
            true => Ok(json!({ "success": true, "id": id })),
            false => Err(missing(&id)),
        }
    };
    respond(closed.await)
}
