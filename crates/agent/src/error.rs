//! The errors of an agent, as one enum.

use crate::law::Refused;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No call waits for an approval of this id.
    #[error("no approval {0:?} waits")]
    NoApproval(String),
    /// The approval is asked through another agent.
    #[error("the agent {0:?} passes this question on: answer the task of that agent")]
    AskedThrough(String),
    /// The answer does not fit the approval.
    #[error("{0}")]
    Answer(String),
    #[error("there is no grant {0:?}")]
    NoGrant(String),
    /// There is no agent of this id.
    #[error("there is no agent {0:?}")]
    Unknown(String),
    /// The id cannot be one.
    #[error(
        "{0:?} cannot be the id of an agent: an id has at most 63 lower-case letters, digits and inner hyphens"
    )]
    Id(String),
    /// Another agent is the same in everything that counts.
    #[error(
        "{id:?} would be {twin:?} again: both have the same rules, skills, objectives and view of memory. \
         Give it another objective, law or set of skills, or make it a mode of {twin:?}: [modes.{mode}] with its \
         instructions in the manifest of {twin:?}, which a caller names with --mode {mode}"
    )]
    Twin {
        /// The id of the refused agent.
        id: String,
        twin: String,
        /// What the mode of the other agent would be called.
        mode: String,
    },
    /// The manifest and the law file say what the law says.
    #[error(
        "nothing is offered: the manifest and the law file were not edited since they were last accepted"
    )]
    NoOffer,
    /// A proposal to change the law is not there, or waits for something else.
    #[error("{0}")]
    Proposal(String),
    /// The law is invalid, or the change is not allowed.
    #[error(transparent)]
    Law(#[from] Refused),
    /// What is recorded cannot be read or written.
    #[error("read or write a journal record: {0}")]
    Record(String),
    /// The store failed.
    #[error("use the journal: {0}")]
    Store(String),
    /// No event can be recorded: the disk is full, or the store has reached its size limit.
    #[error("record this: no space is left on the disk or below store.max_data")]
    Full,
    /// The agents are not behind a task server yet.
    #[error("the agents are not served yet")]
    NotServed,
    /// The task server refused something that an agent asked of it.
    #[error("{0}")]
    Task(String),
    /// The agent has stopped, or everything is closed.
    #[error("the agent has stopped")]
    Stopped,
}

/// Why an agent did not remember or forget something for a caller.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    #[error("remember this: the agent has no memory")]
    NoMemory,
    #[error("remember this: a question, a command or a greeting is not knowledge")]
    NotKnowledge,
    /// The first rule that fits discards it, or none fits.
    #[error("remember this: the law of the agent (memory.rules) discards it")]
    Discarded,
    #[error(transparent)]
    Memory(#[from] memory::Error),
    #[error("remember this: {0}")]
    Agent(#[from] Error),
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Full => Self::Full,
            error => Self::Store(error.to_string()),
        }
    }
}

/// When the agent has stopped, its tasks cannot go on.
impl From<Error> for skill::SkillError {
    fn from(error: Error) -> Self {
        Self::Interrupted(error.to_string())
    }
}
