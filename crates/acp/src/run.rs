//! Translates a task into a run.

use a2a::types::{Message as A2aMessage, Role, Task, TaskState, Timestamp};
use serde_json::{Value, json};
use skill::extension;
use uuid::Uuid;

use crate::content;
use crate::types::{Awaited, Code, Message, Problem, Run, RunStatus};

/// A task as a run. `whole` is the name of the agent as a whole, which works on tasks that name no skill.
pub(crate) fn of(task: &Task, whole: &str) -> Run {
    let agent_name = agent_name(task, whole).to_owned();
    let status = status(task);
    let said = said(task);
    let question = said.filter(|_| status == RunStatus::Awaiting);
    Run {
        run_id: task.id.clone(),
        session_id: session_id(&task.context_id),
        status,
        await_request: (status == RunStatus::Awaiting).then(|| Awaited::Message {
            message: content::message(
                role(&agent_name),
                question.map_or(&[], |message| &message.parts),
                stamp(task),
            ),
        }),
        output: output(task, &agent_name),
        error: (status == RunStatus::Failed).then(|| problem(task)),
        created_at: created_at(task),
        finished_at: stamp(task).filter(|_| task.state().is_terminal()),
        agent_name,
    }
}

/// The ACP agent that works on a task: the skill that its first message names, or the agent as a whole.
pub(crate) fn agent_name<'a>(task: &'a Task, whole: &'a str) -> &'a str {
    input(task).and_then(extension::skill).unwrap_or(whole)
}

/// The first message of the user.
pub(crate) fn input(task: &Task) -> Option<&A2aMessage> {
    let mut history = task.history.iter();
    history.find(|message| message.role == Role::User)
}

/// The role of messages by an agent.
pub(crate) fn role(agent_name: &str) -> String {
    format!("agent/{agent_name}")
}

/// The message of the current status.
pub(crate) fn said(task: &Task) -> Option<&A2aMessage> {
    task.status.as_ref()?.message.as_ref()
}

/// When the current status began.
pub(crate) fn stamp(task: &Task) -> Option<Timestamp> {
    task.status.as_ref()?.timestamp
}

/// When a task was created: the time in its id (UUID version 7), else the time of its status.
pub(crate) fn created_at(task: &Task) -> Option<Timestamp> {
    let id = Uuid::try_parse(&task.id).ok();
    let made = id.and_then(|id| id.get_timestamp());
    let made = made.map(|made| made.to_unix());
    let made = made.and_then(|(seconds, nanos)| {
        Timestamp::new(seconds.try_into().ok()?, nanos.try_into().ok()?)
    });
    made.or_else(|| stamp(task))
}

/// The output so far: a message for each artifact, then the final message.
pub(crate) fn output(task: &Task, agent_name: &str) -> Vec<Message> {
    let role = || role(agent_name);
    let at = stamp(task);
    let made = task.artifacts.iter().map(|artifact| Message {
        role: role(),
        parts: content::artifact_parts(artifact).collect(),
        created_at: at,
        completed_at: at,
    });
    let said = said(task).filter(|_| task.state() == TaskState::Completed);
    let said = said.map(|message| content::message(role(), &message.parts, at));
    made.chain(said).collect()
}

/// The context id as a session id. ACP requires a UUID; a context with another id has no session.
fn session_id(context: &str) -> Option<String> {
    Uuid::try_parse(context).is_ok().then(|| context.to_owned())
}

fn status(task: &Task) -> RunStatus {
    match task.state() {
        TaskState::Unspecified | TaskState::Submitted => RunStatus::Created,
        // A state of a newer A2A version: the task is not known to have ended.
        TaskState::Working | TaskState::Other(_) => RunStatus::InProgress,
        TaskState::InputRequired | TaskState::AuthRequired => RunStatus::Awaiting,
        TaskState::Completed => RunStatus::Completed,
        TaskState::Canceled => RunStatus::Cancelled,
        TaskState::Failed | TaskState::Rejected => RunStatus::Failed,
    }
}

/// The error of a failed task.
fn problem(task: &Task) -> Problem {
    let said = said(task);
    let code = extension::failure_code(task);
    let message = match said.map(A2aMessage::text).unwrap_or_default() {
        text if text.is_empty() => "the run failed".to_owned(),
        text => text,
    };
    let metadata = said.and_then(|message| message.metadata.as_ref());
    let details = metadata.and_then(|all| all.get(extension::ERROR)?.get("details"));
    Problem {
        message,
        data: code.as_ref().map(|code| match details {
            Some(details) => json!({ "reason": code, "details": details }),
            None => json!({ "reason": code }),
        }),
        code: match code.as_deref() {
            Some("invalid-input") => Code::InvalidInput,
            Some("unknown-skill") => Code::NotFound,
            _ => Code::ServerError,
        },
    }
}

/// The `generic` event for a message that an agent sends while it works: its text, and its progress if it has any.
pub(crate) fn progress(message: &A2aMessage) -> serde_json::Map<String, Value> {
    let mut generic = serde_json::Map::new();
    if let Some(progress) = extension::progress(message) {
        generic.insert("progress".to_owned(), json!(progress.progress));
        if let Some(total) = progress.total {
            generic.insert("total".to_owned(), json!(total));
        }
    }
    generic.insert("message".to_owned(), json!(message.text()));
    generic
}
