//! The data of ACP, as its JSON has it.
//!
//! Requests leave out what they like, or have `null` there; replies have what there is.

use a2a::types::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// `user`, `agent`, or `agent/` and the name of one.
    #[serde(default = "user")]
    pub role: String,
    /// What it says.
    pub parts: Vec<Part>,
    /// When it was begun. What a caller says of it is not needed.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When nothing was added any more; `null` as long as something may be.
    #[serde(default, skip_deserializing)]
    pub completed_at: Option<Timestamp>,
}

fn user() -> String {
    "user".to_owned()
}

/// A piece of a message. One that has a name is an artifact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The media type of the content; text, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The content itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// How the content is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_encoding: Option<Encoding>,
    /// Where the content is, if it is not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_url: Option<String>,
    /// A citation or a trajectory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// How content is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// As text.
    Plain,
    /// As bytes, in base64.
    Base64,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// Accepted, and not begun.
    Created,
    /// Being worked on.
    InProgress,
    /// Stopped until it is resumed.
    Awaiting,
    /// About to end, because somebody asked for it.
    Cancelling,
    /// Ended because somebody asked for it.
    Cancelled,
    /// Ended with success.
    Completed,
    /// Ended without success.
    Failed,
}

/// What an agent does about an input: a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// The id of the task.
    pub run_id: String,
    /// Who works on it.
    pub agent_name: String,
    /// The context of the task, where it is an id as ACP has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// How it stands.
    pub status: RunStatus,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub await_request: Option<Awaited>,
    /// What came of it so far.
    pub output: Vec<Message>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
    /// When it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
}

/// What a run waits for, and what it is resumed with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Awaited {
    /// A message: the only kind there is.
    Message {
        /// The question, or the answer.
        message: Message,
    },
}

/// An error, in a reply or in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// A word that programs decide by.
    pub code: Code,
    /// For people.
    pub message: String,
    /// Whatever else there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// The words that programs decide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// It is not the caller's fault, or not allowed.
    ServerError,
    /// The request is not one.
    InvalidInput,
    /// There is no such thing, or not for this caller.
    NotFound,
}

impl Code {
    /// As it stands in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ServerError => "server_error",
            Self::InvalidInput => "invalid_input",
            Self::NotFound => "not_found",
        }
    }
}

/// What happens to a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum Event {
    #[serde(rename = "run.created")]
    RunCreated { run: Box<Run> },
    #[serde(rename = "run.in-progress")]
    RunInProgress { run: Box<Run> },
    #[serde(rename = "run.awaiting")]
    RunAwaiting { run: Box<Run> },
    #[serde(rename = "run.completed")]
    RunCompleted { run: Box<Run> },
    #[serde(rename = "run.failed")]
    RunFailed { run: Box<Run> },
    #[serde(rename = "run.cancelled")]
    RunCancelled { run: Box<Run> },
    #[serde(rename = "message.created")]
    MessageCreated { message: Message },
    #[serde(rename = "message.part")]
    MessagePart { part: Part },
    #[serde(rename = "message.completed")]
    MessageCompleted { message: Message },
    #[serde(rename = "generic")]
    Generic { generic: Map<String, Value> },
    #[serde(rename = "error")]
    Error { error: Problem },
}

impl Event {
    /// The run as it was then, if the event has it.
    pub fn run(&self) -> Option<&Run> {
        match self {
            Self::RunCreated { run }
            | Self::RunInProgress { run }
            | Self::RunAwaiting { run }
            | Self::RunCompleted { run }
            | Self::RunFailed { run }
            | Self::RunCancelled { run } => Some(run),
            _ => None,
        }
    }

    /// Whether a stream ends with it: nothing more comes unless the run is resumed.
    pub fn ends_streams(&self) -> bool {
        matches!(
            self,
            Self::RunAwaiting { .. }
                | Self::RunCompleted { .. }
                | Self::RunFailed { .. }
                | Self::RunCancelled { .. }
                | Self::Error { .. }
        )
    }
}

/// What is said of an agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// A DNS label: the id of the skill.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The media types it takes.
    pub input_content_types: Vec<String>,
    /// The media types it gives.
    pub output_content_types: Vec<String>,
    /// Whatever else there is to say.
    pub metadata: Value,
}

/// A conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Session {
    /// The context of its tasks.
    pub id: String,
    /// Where its messages can be read, oldest first.
    pub history: Vec<String>,
}
