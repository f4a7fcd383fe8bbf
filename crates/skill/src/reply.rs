//! The reply of a skill: something typed, a message, or a task in its own words.

use a2a::types::{Artifact, Message, Part, Role, TaskState};
use serde_json::Value;

use crate::error::SkillError;

/// The result of a call.
pub type Outcome = Result<Reply<Value>, SkillError>;

/// Which part of an artifact it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunk {
    Whole,
    /// The first part; more will come.
    First,
    /// A further part; more will come.
    More,
    /// The last part, appended to the others.
    Last,
}

/// What a skill gives back.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply<O> {
    /// The output that the definition promises: a completed task with it in the artifact `output`.
    Done(O),
    /// A message. If nothing was heard of the skill before, there is no task.
    Message(Message),
    /// A task that has ended, in the skill's own words.
    Task(Ending),
}

impl<O> Reply<O> {
    /// The same reply with another output.
    pub fn try_map<P, E>(self, change: impl FnOnce(O) -> Result<P, E>) -> Result<Reply<P>, E> {
        Ok(match self {
            Self::Done(output) => Reply::Done(change(output)?),
            Self::Message(message) => Reply::Message(message),
            Self::Task(ending) => Reply::Task(ending),
        })
    }
}

impl<O> From<Ending> for Reply<O> {
    fn from(ending: Ending) -> Self {
        Self::Task(ending)
    }
}

/// How a task ends: its state, what is said about it, and what it made.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The state it ends in.
    pub state: TaskState,
    /// The message of its last status.
    pub message: Option<Message>,
    /// Artifacts that are added before it ends.
    pub artifacts: Vec<Artifact>,
}

impl Ending {
    /// The error about it, in words.
    pub fn text(&self) -> String {
        self.message.as_ref().map(Message::text).unwrap_or_default()
    }

    /// Whether it is a success.
    pub fn is_success(&self) -> bool {
        self.state == TaskState::Completed
    }

    /// With something that was made.
    pub fn artifact(mut self, artifact: Artifact) -> Self {
        self.artifacts.push(artifact);
        self
    }
}

/// The task is completed, and this is said about it.
pub fn success(text: impl Into<String>) -> Ending {
    ending(TaskState::Completed, text.into())
}

/// The task could not be done, and this is why.
pub fn failure(text: impl Into<String>) -> Ending {
    ending(TaskState::Failed, text.into())
}

/// The answer is a message that informs, and no task.
pub fn info<O>(text: impl Into<String>) -> Reply<O> {
    Reply::Message(said(text.into()))
}

/// An artifact of one text.
pub fn text_artifact(name: impl Into<String>, text: impl Into<String>) -> Artifact {
    artifact(name.into(), Part::text(text))
}

/// An artifact of one JSON value.
pub fn data_artifact(name: impl Into<String>, data: impl Into<Value>) -> Artifact {
    artifact(name.into(), Part::data(data.into()))
}

/// An artifact that is a file.
pub fn file_artifact(
    name: impl Into<String>,
    media_type: impl Into<String>,
    bytes: impl Into<bytes::Bytes>,
) -> Artifact {
    let name = name.into();
    let part = Part {
        filename: name.clone(),
        media_type: media_type.into(),
        ..Part::raw(bytes)
    };
    artifact(name, part)
}

fn artifact(name: String, part: Part) -> Artifact {
    Artifact {
        artifact_id: name.clone(),
        name,
        parts: vec![part],
        ..Artifact::default()
    }
}

fn ending(state: TaskState, text: String) -> Ending {
    Ending {
        state,
        message: Some(said(text)),
        artifacts: Vec::new(),
    }
}

/// A message of the agent's. Its ids are given to it when it is sent.
pub fn said(text: String) -> Message {
    Message {
        role: Role::Agent,
        parts: vec![Part::text(text)],
        ..Message::default()
    }
}
