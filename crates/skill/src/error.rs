//! Errors of skills: in their definition, in their input, and in their work.

use access::Refusal;
use serde_json::Value;

/// A skill is not defined as one. Found before anything is served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The id is legal on some wires only.
    #[error(
        "the id {0:?} is no lower-case DNS label: 1 to 63 of a-z, 0-9 and '-', no '-' at either end"
    )]
    Id(String),
    /// A list that needs an entry is empty.
    #[error("skill {id:?} has no {what}: give at least one")]
    Empty {
        id: String,
        /// What it has none of.
        what: &'static str,
    },
    /// Inputs are objects, so that they can grow.
    #[error("the input of skill {0:?} is not an object")]
    NoObject(String),
    /// The input or output schema does not follow JSON Schema.
    #[error("a schema of skill {id:?} is not a valid JSON schema: {problem}")]
    Schema {
        id: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An id means one skill.
    #[error("skill {0:?} is registered twice: give one of the two another id")]
    Duplicate(String),
    /// A registry is narrowed to a skill that it does not have.
    #[error("there is no skill {0:?}")]
    Unknown(String),
}

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", if pointer.is_empty() { String::new() } else { format!("{pointer}: ") })]
pub struct Fault {
    /// Where: a JSON pointer, empty for the value itself.
    pub pointer: String,
    pub problem: String,
}

impl Fault {
    /// This problem at this place.
    pub fn new(pointer: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            problem: problem.into(),
        }
    }
}

/// The code of a call that a person did not approve of.
pub const NOT_APPROVED: &str = "not-approved";

/// The code of a preview that finds that a call would change nothing. Such a call is made without asking a person: the bound
/// input names the state that was found, so that it fails when that has changed meanwhile.
pub const UNCHANGED: &str = "unchanged";

/// The code of a call that the caller lacks a permission for.
pub const FORBIDDEN: &str = "forbidden";

/// Why a call of a skill failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// The input is not what the skill takes; it was not run.
    #[error("invalid input: {}", all(.0))]
    InvalidInput(Vec<Fault>),
    /// The skill reports that it could not do its work, and why. The task ends FAILED.
    #[error("{message}")]
    Failed {
        /// A word that programs decide by.
        code: String,
        message: String,
        /// Further details, for programs.
        details: Option<Value>,
    },
    /// The skill will not do it. The task ends REJECTED.
    #[error("{0}")]
    Refused(String),
    /// The caller may not have it called: it lacks a permission or a scope. It was not run, and no person was asked. The task
    /// ends REJECTED.
    #[error("{id} is not allowed: {refusal}")]
    Forbidden { id: String, refusal: Refusal },
    /// A person did not approve of it, for this reason. The task ends CANCELED.
    #[error("{0}")]
    NotApproved(String),
    /// The caller refuses to answer a question.
    #[error("the question was declined")]
    Declined,
    /// It took too long.
    #[error("the call took longer than its limit of {0:?}")]
    TimedOut(std::time::Duration),
    /// The caller has cancelled the task.
    #[error("the call was cancelled")]
    Cancelled,
    /// The skill panicked. The message of the panic is in the log.
    #[error("skill {0:?} crashed")]
    Crashed(String),
    /// The output does not fit the output schema of the skill.
    #[error("the output of skill {id:?} does not fit its schema: {}", all(.faults))]
    InvalidOutput {
        id: String,
        /// What is wrong with it.
        faults: Vec<Fault>,
    },
    /// There is no such skill, or not for this caller.
    #[error("there is no skill {0:?}")]
    Unknown(String),
    /// The process ended while the skill waited, and it cannot be begun again.
    #[error(
        "the server was restarted, and skill {0:?} cannot be started again: send a new message"
    )]
    NotReplayable(String),
    /// The task has ended, or a change of it could not be stored.
    #[error("{0}")]
    Interrupted(String),
}

impl SkillError {
    /// It could not be done, for this reason.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed {
            code: "failed".to_owned(),
            message: message.into(),
            details: None,
        }
    }

    /// The same with a word that programs decide by.
    pub fn coded(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failed {
            code: code.into(),
            message: message.into(),
            details: None,
        }
    }

    /// A word that programs decide by.
    pub fn code(&self) -> &str {
        match self {
            Self::InvalidInput(_) => "invalid-input",
            Self::Failed { code, .. } => code,
            Self::Refused(_) => "refused",
            Self::Forbidden { .. } => FORBIDDEN,
            Self::NotApproved(_) => NOT_APPROVED,
            Self::Declined => "declined",
            Self::TimedOut(_) => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Crashed(_) => "crashed",
            Self::InvalidOutput { .. } => "invalid-output",
            Self::Unknown(_) => "unknown-skill",
            Self::NotReplayable(_) => "not-replayable",
            Self::Interrupted(_) => "interrupted",
        }
    }
}

/// The model gave no answer. The code is `model-` and that of its error.
impl From<model::Error> for SkillError {
    fn from(error: model::Error) -> Self {
        let code = format!("model-{}", error.code());
        Self::coded(code, format!("language model: {error}"))
    }
}

fn all(faults: &[Fault]) -> String {
    let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
    faults.join("; ")
}
