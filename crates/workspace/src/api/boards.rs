//! `/api/boards`: boards that agents and their callers share. A letter that was added stays as it is.

use access::{Permission, Principal};
use agent::message::Body as LetterBody;
use agent::{AgentHandle, Board, Boards, InvalidLetter};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};

use super::reply::{BoardLetter, BoardList, BoardPage, Posted};
use super::{Caller, Failure, Fields, Rights, read, respond, whole};

/// How many letters a page has by default, and at most.
const PAGE: (usize, usize) = (50, 500);

#[derive(Clone, Debug)]
struct Shared {
    boards: Boards,
    rights: Rights,
}

/// The routes of `/api/boards`. A caller without the permission `operate` writes in its own name.
pub fn routes(boards: Boards, rights: Rights) -> Router {
    Router::new()
        .route("/api/boards", get(list))
        .route("/api/boards/{name}", get(page).post(post))
        .with_state(Shared { boards, rights })
}

async fn list(State(shared): State<Shared>) -> Response<Body> {
    let names = shared.boards.names().await.map_err(|error| failed(&error));
    respond(names.map(|boards| BoardList { boards }))
}

async fn page(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let found = async {
        let board = board(&shared, &name)?;
        let known = board.exists().await.map_err(|error| failed(&error))?;
        if !known {
            let why = format!("there is no board {name:?}");
            return Err(Failure::new(StatusCode::NOT_FOUND, "not_found", why));
        }
        let after = number(&fields, "after")?.unwrap_or_default();
        let limit = number(&fields, "limit")?.map_or(PAGE.0, |it| it as usize);
        let letters = board.read(after, limit.clamp(1, PAGE.1)).await;
        let letters = letters.map_err(|error| failed(&error))?;
        let letters = letters.into_iter().map(|(place, letter)| BoardLetter {
            place,
            letter: json!(letter),
        });
        Ok(BoardPage {
            board: name.clone(),
            letters: letters.collect(),
        })
    };
    respond(found.await)
}

/// What a caller adds: a body of a letter, and the agent that wrote it if that is not the caller.
#[derive(Debug, Deserialize)]
struct Post {
    #[serde(flatten)]
    body: LetterBody,
    #[serde(default)]
    agent: Option<String>,
}

async fn post(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    caller: Caller,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let posted = async {
        let board = board(&shared, &name)?;
        let Post { body, agent } = read(&whole(body)?)?;
        let caller = shared.rights.caller(&caller);
        let own = writer(&caller);
        let agent = agent.unwrap_or_else(|| own.clone());
        if agent != own && !caller.may(Permission::Operate) {
            let why = format!("{caller} writes as {own:?}, not as {agent:?}");
            return Err(Failure::new(StatusCode::FORBIDDEN, "forged_source", why));
        }
        let letter = board
            .letter(&agent, None, body)
            .map_err(|it| invalid(&it))?;
        let place = board.post(&letter).await.map_err(|error| failed(&error))?;
        Ok(Posted {
            success: true,
            board: name.clone(),
            place,
            id: letter.provenance.id,
        })
    };
    respond(posted.await)
}

/// The name under which a caller writes: `user:ada`, or the id of an agent.
fn writer(caller: &Principal) -> String {
    let source = AgentHandle::source_of(caller);
    source.strip_prefix("agent:").unwrap_or(&source).to_owned()
}

fn board(shared: &Shared, name: &str) -> Result<Board, Failure> {
    shared.boards.board(name).map_err(|error| {
        Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", error)
            .with("field", Value::from("board"))
    })
}

fn number(fields: &Fields, name: &str) -> Result<Option<u64>, Failure> {
    let given = fields.get(name).map(str::parse).transpose();
    given.map_err(|_| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Failure::new(status, "invalid", "expected a number").with("field", name.into())
    })
}

fn invalid(error: &InvalidLetter) -> Failure {
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", error)
}

fn failed(error: &agent::BoardError) -> Failure {
    let status = match error {
        agent::BoardError::Full => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Failure::new(status, "failed", error)
}
