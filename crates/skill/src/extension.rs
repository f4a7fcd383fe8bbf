//! The A2A extension by which a message names a skill, and what its tasks say in turn: the keys, in one place.
//!
//! - `message.metadata[SKILL]` names the skill; the first data part of the message is its input.
//! - `status.message.metadata` holds [`QUESTION`], [`PROGRESS`] or [`ERROR`] where there is one, and [`CALLED`] where the message of
//!   the caller asks for it with [`SHOW_CALLS`].
//! - a message that answers a question gives the answer as its first data part, or as text; one with
//!   metadata has [`DECLINED`] refuses to answer.
//! - the artifact [`OUTPUT`] holds what the skill gives.

use a2a::types::{AgentExtension, Artifact, Content, Message, Part, Role, Struct, Task};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::call::QuestionAnswer;
use crate::definition;
use crate::error::{Fault, SkillError};
use crate::input;
use crate::reply::said;

pub const URI: &str = "urn:monas:a2a:ext:skill:1";

/// Which skill is called.
pub const SKILL: &str = "urn:monas:a2a:ext:skill:1/skill";

/// What a skill asks: a [`Question`].
pub const QUESTION: &str = "urn:monas:a2a:ext:skill:1/question";

/// How far a skill is: a [`Progress`].
pub const PROGRESS: &str = "urn:monas:a2a:ext:skill:1/progress";

/// In a message: its caller wants to see which skills the agent calls for it.
pub const SHOW_CALLS: &str = "urn:monas:a2a:ext:skill:1/show-calls";

/// A call that an agent makes for a request: a [`Called`].
pub const CALLED: &str = "urn:monas:a2a:ext:skill:1/called";

/// Why a skill failed: `code`, `message`, maybe `details`.
pub const ERROR: &str = "urn:monas:a2a:ext:skill:1/error";

/// A question is not answered.
pub const DECLINED: &str = "urn:monas:a2a:ext:skill:1/declined";

/// The id of the artifact that holds what a skill gives.
pub const OUTPUT: &str = "output";

/// What a skill asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub message: String,
    /// What an answer looks like.
    pub schema: Value,
    /// Which question of the task it is, from 0 on.
    pub number: usize,
    /// It is asked before the skill has begun, so that even a skill that is not replayable can be begun after a restart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub early: bool,
    #[serde(default, skip_serializing_if = "QuestionKind::is_question")]
    pub kind: QuestionKind,
    /// The tool server that asks. None: the agent or a skill of this program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// What an answer decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionKind {
    /// What the skill that asks makes of it.
    #[default]
    Question,
    /// Whether a call is made. Only the agent asks so.
    Approval,
}

impl QuestionKind {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_question(&self) -> bool {
        *self == Self::Question
    }
}

impl Question {
    /// The answer that a message gives, or what is wrong with it.
    pub fn read(&self, message: &Message) -> Result<QuestionAnswer, Vec<Fault>> {
        if declines(message) {
            return Ok(QuestionAnswer::Declined);
        }
        let answer =
            input::from_parts(&self.schema, &message.parts).map_err(|fault| vec![fault])?;
        let answer = input::in_writing(&self.schema, answer);
        let schema = jsonschema::validator_for(&self.schema);
        let schema = schema.map_err(|error| vec![Fault::new("", error.to_string())])?;
        let faults = definition::faults(&schema, &answer);
        match faults.is_empty() {
            true => Ok(QuestionAnswer::Given(answer)),
            false => Err(faults),
        }
    }

    /// The message of the status in which the task asks this, with what was wrong with the last answer.
    pub fn message(&self, faults: &[Fault]) -> Message {
        let mut message = said(self.message.clone());
        for fault in faults {
            message
                .parts
                .push(Part::text(format!("not understood: {fault}")));
        }
        let question = serde_json::to_value(self).unwrap_or_default();
        put(&mut message, QUESTION, question);
        message
    }
}

/// How far a skill is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// So much is done.
    pub progress: f64,
    /// Of so much, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
}

/// A call that an agent makes for a request, when it begins and when it has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Called {
    pub skill: String,
    pub stage: CallStage,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallStage {
    Begins,
    Done,
    Failed,
}

/// What a card says of the extension.
pub fn declared() -> AgentExtension {
    AgentExtension {
        uri: URI.to_owned(),
        description: "A message may name the skill it is for; its first data part is the input."
            .to_owned(),
        ..AgentExtension::default()
    }
}

/// A message that calls a skill.
pub fn call(message_id: impl Into<String>, skill: &str, input: Value) -> Message {
    let mut message = Message {
        message_id: message_id.into(),
        role: Role::User,
        parts: vec![Part::data(input)],
        extensions: vec![URI.to_owned()],
        ..Message::default()
    };
    put(&mut message, SKILL, json!(skill));
    message
}

/// A message that answers the question of a task; without an answer it declines.
pub fn answer(message_id: impl Into<String>, task: &Task, answer: Option<Value>) -> Message {
    let declined = answer.is_none();
    let mut message = Message {
        message_id: message_id.into(),
        task_id: task.id.clone(),
        context_id: task.context_id.clone(),
        role: Role::User,
        parts: vec![Part::data(answer.unwrap_or(Value::Null))],
        extensions: vec![URI.to_owned()],
        ..Message::default()
    };
    if declined {
        put(&mut message, DECLINED, json!(true));
    }
    message
}

/// The skill that a message names. What is no text is the name of none.
pub fn skill(message: &Message) -> Option<&str> {
    get(message, SKILL).map(|named| named.as_str().unwrap_or_default())
}

/// What a task's skill asks now, if it asks.
pub fn question(task: &Task) -> Option<Question> {
    asked_in(task.status.as_ref()?.message.as_ref()?)
}

/// What a message asks.
pub fn asked_in(message: &Message) -> Option<Question> {
    read(message, QUESTION)
}

/// How far a message says that a skill is.
pub fn progress(message: &Message) -> Option<Progress> {
    read(message, PROGRESS)
}

/// What a message says of a call that an agent makes.
pub fn called(message: &Message) -> Option<Called> {
    read(message, CALLED)
}

/// Has a message ask for the calls that are made for it.
pub fn show_calls(message: &mut Message) {
    put(message, SHOW_CALLS, json!(true));
}

/// Whether a message asks for the calls that are made for it.
pub fn shows_calls(message: &Message) -> bool {
    get(message, SHOW_CALLS) == Some(&Value::Bool(true))
}

/// Whether a message refuses to answer.
pub(crate) fn declines(message: &Message) -> bool {
    get(message, DECLINED) == Some(&Value::Bool(true))
}

/// Why a task failed: a word that programs decide by.
pub fn failure_code(task: &Task) -> Option<String> {
    let message = task.status.as_ref()?.message.as_ref()?;
    let code = get(message, ERROR)?.get("code")?;
    code.as_str().map(str::to_owned)
}

/// What a task's skill gave.
pub fn output(task: &Task) -> Option<Value> {
    let mut made = task.artifacts.iter();
    let output = made.find(|artifact| artifact.artifact_id == OUTPUT)?;
    match &output.parts.first()?.content {
        Content::Data(data) => Some(data.0.clone()),
        Content::Text(text) => Some(json!(text)),
        _ => None,
    }
}

/// The artifact that holds what a skill gives.
pub fn output_artifact(name: &str, output: Value) -> Artifact {
    let part = match output {
        Value::String(text) => Part::text(text),
        other => Part::data(other),
    };
    Artifact {
        artifact_id: OUTPUT.to_owned(),
        name: name.to_owned(),
        parts: vec![part],
        ..Artifact::default()
    }
}

/// What a task says when it failed.
pub fn failed(error: &SkillError) -> Message {
    let mut said = said(error.to_string());
    let mut about = json!({ "code": error.code(), "message": error.to_string() });
    if let SkillError::Failed {
        details: Some(details),
        ..
    } = error
    {
        about["details"] = details.clone();
    }
    put(&mut said, ERROR, about);
    said
}

pub(crate) fn put(message: &mut Message, key: &str, value: Value) {
    let metadata = message.metadata.get_or_insert_with(Struct::default);
    metadata.insert(key.to_owned(), value);
}

fn get<'a>(message: &'a Message, key: &str) -> Option<&'a Value> {
    message.metadata.as_ref()?.get(key)
}

fn read<T: serde::de::DeserializeOwned>(message: &Message, key: &str) -> Option<T> {
    serde_json::from_value(get(message, key)?.clone()).ok()
}
