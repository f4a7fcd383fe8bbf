//! The data types of ACP, in the form of its JSON. In requests, a field that is `null` counts as missing.

use a2a::types::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A message of a user or an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// `user`, `agent`, or `agent/NAME`.
    #[serde(default = "user")]
    pub role: String,
    pub parts: Vec<Part>,
    /// When it was begun. Ignored in requests.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When its last part was added; `null` while parts may follow. Ignored in requests.
    #[serde(default, skip_deserializing)]
    pub completed_at: Option<Timestamp>,
}

fn user() -> String {
    "user".to_owned()
}

/// A part of a message. A part with a name is an artifact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The media type of the content; `text/plain` if it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_encoding: Option<Encoding>,
    /// The address of the content, instead of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_url: Option<String>,
    /// A citation or a trajectory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// The encoding of a content string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    Plain,
    Base64,
}

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// Accepted; work has not begun.
    Created,
    InProgress,
    /// Waits for input: `resumeRun` gives it.
    Awaiting,
    /// A cancellation was requested and has not finished.
    Cancelling,
    Cancelled,
    Completed,
    /// Ended without success, which includes runs that the agent rejected.
    Failed,
}

/// The work of an agent on an input. It is a task of A2A.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// The id of the task.
    pub run_id: String,
    pub agent_name: String,
    /// The context of the task, if its id is a UUID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub status: RunStatus,
    /// The question, while it waits for input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub await_request: Option<Awaited>,
    /// The messages so far.
    pub output: Vec<Message>,
    /// Only of a run that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
}

/// The question of a run, and the input that resumes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Awaited {
    /// The only kind that ACP defines.
    Message { message: Message },
}

/// The error object of replies and failed runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    pub code: Code,
    /// The text for people; programs decide by `code`.
    pub message: String,
    /// Details, such as the faulty fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// The error codes of ACP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// A fault of the server, or an operation that is not allowed: ACP has no code for the second.
    ServerError,
    /// The request is not valid.
    InvalidInput,
    /// It does not exist, or belongs to another caller.
    NotFound,
}

impl Code {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ServerError => "server_error",
            Self::InvalidInput => "invalid_input",
            Self::NotFound => "not_found",
        }
    }
}

/// An event of a run.
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
    /// The run in the event, as it was at that time.
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

    /// Whether it is the last event of a stream: the run ended, failed, or waits for input.
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

/// The description of an agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// A DNS label: the id of the skill.
    pub name: String,
    pub description: String,
    pub input_content_types: Vec<String>,
    pub output_content_types: Vec<String>,
    /// Annotations, capabilities and tags.
    pub metadata: Value,
}

/// A session: the runs of one conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Session {
    /// The context id of its tasks.
    pub id: String,
    /// Links to its messages, oldest first.
    pub history: Vec<String>,
}
