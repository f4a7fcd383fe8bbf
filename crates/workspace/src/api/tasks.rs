//! `/api/tasks`: the tasks of the caller, as A2A 1.0 has them.

use a2a::service::Call;
use a2a::types::wire::WireMessage as _;
use a2a::types::{CancelTaskRequest, GetTaskRequest, ListTasksRequest, Role, Task};
use access::Origin;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::{Caller, Failure, Fields, invalid, respond};
use crate::chat::Chat;
use crate::chat::sessions::titled;

/// How many messages of its history a task of a list has.
const HISTORY: usize = 1;

/// The routes of `/api/tasks`.
pub fn routes(chat: Chat) -> Router {
    Router::new()
        .route("/api/tasks", get(list))
        .route("/api/tasks/{id}", get(show))
        .route("/api/tasks/{id}/cancel", post(cancel))
        .with_state(chat)
}

/// The agent that a request names, as requests of A2A name it.
pub(crate) async fn tenant(
    chat: &Chat,
    caller: &Caller,
    named: Option<&str>,
) -> Result<String, Failure> {
    let id = chat.parts().rights.agent(caller, named)?;
    Ok(match chat.parts().rights.is_default(id) {
        true => String::new(),
        false => id.to_owned(),
    })
}

/// An error of the task server.
pub(crate) fn failure(error: &a2a::Error) -> Failure {
    if matches!(error.code().http, 404) {
        return Failure::new(StatusCode::NOT_FOUND, "not_found", error);
    }
    super::command::refused(error)
}

fn call(chat: &Chat, caller: &Caller) -> Call {
    let mut call = Call::by(chat.parts().rights.caller(caller));
    call.origin = Origin::on("api");
    call
}

/// A task, titled with its first words; with so many messages of its history, if that is said.
fn reply(mut task: Task, history: Option<usize>) -> Value {
    let first = task.history.iter().find(|it| it.role == Role::User);
    let title = first.map(|it| titled(&it.text()));
    if let Some(most) = history {
        let surplus = task.history.len().saturating_sub(most);
        task.history.drain(..surplus);
    }
    let mut reply = json!(task);
    if let Some(title) = title {
        reply["title"] = title.into();
    }
    reply
}

/// `?state=TASK_STATE_WORKING`, `?context=ID`, `?limit=N`, `?after=TOKEN`.
async fn list(State(chat): State<Chat>, caller: Caller, RawQuery(raw): RawQuery) -> Response<Body> {
    let fields = Fields::of(raw);
    let listed = async {
        let mut request = ListTasksRequest {
            tenant: tenant(&chat, &caller, fields.get("agent")).await?,
            ..ListTasksRequest::default()
        };
        for (name, field) in [
            ("state", "status"),
            ("context", "contextId"),
            ("limit", "pageSize"),
            ("after", "pageToken"),
        ] {
            if let Some(text) = fields.get(name) {
                let set = request.set_text(field, text);
                set.map_err(|error| invalid(name, error.reason))?;
            }
        }
        let page = chat
            .parts()
            .service
            .list_tasks(call(&chat, &caller), request);
        let page = page.await.map_err(|error| failure(&error))?;
        let tasks: Vec<Value> = page
            .tasks
            .into_iter()
            .map(|it| reply(it, Some(HISTORY)))
            .collect();
        Ok(json!({
            "tasks": tasks,
            "next": page.next_page_token,
            "total": page.total_size,
        }))
    };
    respond(listed.await)
}

async fn show(
    State(chat): State<Chat>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let shown = async {
        let request = GetTaskRequest {
            tenant: tenant(&chat, &caller, fields.get("agent")).await?,
            id,
            ..GetTaskRequest::default()
        };
        let task = chat.parts().service.get_task(call(&chat, &caller), request);
        let task = task.await.map_err(|error| failure(&error))?;
        Ok(reply(task, None))
    };
    respond(shown.await)
}

async fn cancel(
    State(chat): State<Chat>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let cancelled = async {
        let request = CancelTaskRequest {
            tenant: tenant(&chat, &caller, fields.get("agent")).await?,
            id,
            ..CancelTaskRequest::default()
        };
        let service = &chat.parts().service;
        let task = service.cancel_task(call(&chat, &caller), request).await;
        let task = task.map_err(|error| failure(&error))?;
        Ok(reply(task, None))
    };
    respond(cancelled.await)
}
