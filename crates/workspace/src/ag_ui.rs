//! `POST /ag-ui`: a run of the Agent User Interaction protocol, as events of a streaming response.
//!
//! A thread is a session of the chat, and a run is what a window of that session shows of one command, in the words of AG-UI. What
//! waits for a person ends the run with an interrupt; the run that resumes it carries the answer. So a front end for
//! AG-UI, a window of `/ws/chat` and the page can look at the same session.
//!
//! Layout:
//! - `input`: the request, with an exact error for each fault
//! - `translate`: messages of the chat as events of AG-UI
//! - `stream`: the response, until the run is over

use std::time::Duration;

use a2a::binding::{beside, weight};
use access::{Origin, Principal};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::post;
use serde_json::Value;
use tokio::time::timeout;

use crate::api::{Caller, Failure, Fields, approvals, respond};
use crate::chat::connection::Connection;
use crate::chat::incoming::{Attached, Attachment, Fault};
use crate::chat::{AskedCommand, Chat};
use input::{Asked, Resumed, RunInput};
use translate::Translator;

mod input;
mod stream;
mod translate;

/// Where runs are asked for.
pub(crate) const PATH: &str = "/ag-ui";

/// How long the session may take to be read before the run is refused.
const READY: Duration = Duration::from_secs(30);

/// The route. It is to be put behind an access check.
pub fn routes(chat: Chat) -> Router {
    Router::new().route(PATH, post(run)).with_state(chat)
}

/// A run that was begun.
struct Run {
    input: RunInput,
    caller: Principal,
    connection: Connection,
    translator: Translator,
}

async fn run(State(chat): State<Chat>, caller: Caller, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let begun = begin(&chat, &caller, &head, body).await;
    match begun.and_then(|run| stream::response(&chat, run)) {
        Ok(response) => response,
        Err(failure) => respond::<()>(Err(failure)),
    }
}

async fn begin(chat: &Chat, caller: &Caller, head: &Parts, body: Body) -> Result<Run, Failure> {
    check_accept(&head.headers)?;
    let input = read(body, chat.parts().max_frame).await?;
    let fields = Fields::of(head.uri.query().map(str::to_owned));
    let agent = chat.thinking_agent(caller, fields.get("agent")).await?;
    let origin = Origin::of("ag-ui", head);
    let caller = chat.parts().rights.caller(caller);
    let connection = Connection::new(chat.clone(), caller.clone(), origin.clone(), agent.clone());
    let mut run = Run {
        translator: Translator::new(agent.id(), &input.thread),
        caller: caller.clone(),
        connection,
        input,
    };
    run.recall().await?;
    match &run.input.asked {
        Asked::Command { id, command } => {
            let mut command = command.clone();
            if (chat.parts().about)(agent.id()).model.is_none() {
                // Rules would take the text of a context for a request.
                let is_text = |it: &Attachment| matches!(it.content, Attached::Text(_));
                command.attachments.retain(|it| !is_text(it));
            }
            let sent = chat.command(AskedCommand {
                caller,
                origin,
                agent,
                session: run.input.thread.clone(),
                id: id.clone(),
                command,
            });
            let task = sent
                .await
                .map_err(|error| crate::api::command::refused(&error))?;
            if run.translator.knows(&task) {
                // The same run was asked for before: it is told from its beginning.
                run.translator = Translator::new(run.translator.agent(), &run.input.thread);
                let restored = run.connection.restore(&run.input.thread);
                restored.map_err(|fault| refused(&fault))?;
            }
            run.translator.follow(&task);
        }
        Asked::Resume(answers) => {
            let checked = run.connection.check("POST", "/api/approvals/{id}");
            checked.map_err(|fault| refused(&fault))?;
            for Resumed { interrupt, given } in answers {
                let answered = approvals::give(&agent, &caller, interrupt, given.clone()).await?;
                run.translator.answered(interrupt);
                run.translator.follow(&answered.task);
            }
        }
    }
    Ok(run)
}

impl Run {
    /// Reads the session up to now. What happened before is not told again.
    async fn recall(&mut self) -> Result<(), Failure> {
        let restored = self.connection.restore(&self.input.thread);
        restored.map_err(|fault| refused(&fault))?;
        let (connection, translator) = (&mut self.connection, &mut self.translator);
        let reading = async {
            loop {
                let message = connection.next().await;
                if message.payload["event"] == "session_restored" {
                    return;
                }
                translator.recall(&message);
            }
        };
        timeout(READY, reading).await.map_err(|_| {
            let why = "the session could not be read in time; run again";
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", why)
        })
    }
}

/// Refuses a request for anything but an event stream, which is all that is written here.
fn check_accept(headers: &HeaderMap) -> Result<(), Failure> {
    let mut given = headers.get_all(ACCEPT).iter().peekable();
    if given.peek().is_none() {
        return Ok(());
    }
    let taken = given
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
        .filter_map(|it| {
            let mut parameters = it.split(';').map(str::trim);
            let kind = parameters.next()?;
            let refused = |it: &str| it.strip_prefix("q=").is_some_and(is_zero);
            (!parameters.any(refused)).then_some(kind)
        })
        .any(|it| ["text/event-stream", "text/*", "*/*"].contains(&it));
    match taken {
        true => Ok(()),
        false => {
            let why = "the events of a run are written as text/event-stream alone: accept it";
            let status = StatusCode::NOT_ACCEPTABLE;
            Err(Failure::new(status, "not_acceptable", why))
        }
    }
}

fn is_zero(quality: &str) -> bool {
    quality.parse::<f64>().is_ok_and(|it| it <= 0.0)
}

/// Reads the body: weighed before it is parsed, and parsed beside the threads that serve if it is large.
async fn read(body: Body, limit: usize) -> Result<RunInput, Failure> {
    let body = axum::body::to_bytes(body, limit).await;
    let body =
        body.map_err(|error| Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", error))?;
    beside(body.len(), || {
        weight::check(&body)
            .map_err(|error| Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", error))?;
        let value: Value = serde_json::from_slice(&body)
            .map_err(|error| Failure::new(StatusCode::BAD_REQUEST, "not_json", error))?;
        RunInput::read(&value).map_err(|fault| refused(&fault))
    })
    .await
}

/// A fault as a reply.
fn refused(fault: &Fault) -> Failure {
    let status = match fault.code {
        "denied" => StatusCode::FORBIDDEN,
        "failed" => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    let code = match fault.code {
        code @ ("denied" | "not_json") => code,
        "failed" => "unavailable",
        _ => "invalid",
    };
    let failure = Failure::new(status, code, &fault.message);
    match fault.field.is_empty() {
        true => failure,
        false => failure.with("field", fault.field.as_str().into()),
    }
}
