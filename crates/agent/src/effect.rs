//! The wishes of an agent: effects, the instructions of a step to its actor, and verdicts about calls. What comes of an
//! effect comes back as an event.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::Candidate;
use crate::id::{EffectId, TurnId};
use crate::law::Edit;

/// Something that an agent wants done. What comes of it comes back as an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "kebab-case")]
pub enum Effect {
    /// To remember what has to do with a request.
    Recall {
        /// What it is to answer.
        question: String,
        /// At most so many.
        limit: u32,
    },
    /// To think about a request, as it stands.
    Think,
    /// To call a skill.
    Call { skill: String, input: Value },
    /// To ask the caller of the request.
    Clarify { question: String },
    /// To put into memory.
    Remember { candidates: Vec<Candidate> },
    /// To change its law, as a letter proposes.
    Amend {
        edit: Edit,
        by: String,
        /// Whether the letter is of an operator.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ordered: bool,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<u64>,
    },
    /// To test the change of its law that a letter proposed.
    Test {
        proposal: u64,
        /// What it would change, in words.
        lines: String,
    },
    /// To begin something of its own.
    Begin {
        /// The timer or pursuit it is for.
        name: String,
        /// What it asks of itself.
        request: String,
    },
}

/// An effect, with what it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    pub id: EffectId,
    /// The request it is for; none is the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// What is to be done.
    #[serde(flatten)]
    pub effect: Effect,
}

/// An instruction of a step to the actor.
#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing {
    /// Carry out this effect; its result comes back as an event.
    Do(Intent),
    /// A request is answered.
    Say { turn: TurnId, answer: TurnAnswer },
    /// A call may be made, or may not, or a person is to be asked.
    Gate {
        /// Which call, if a person decides about it.
        approval: Option<EffectId>,
        /// What is to be done.
        verdict: Verdict,
    },
    /// A task that waits for a person is to go on: the time for an answer is over.
    Resume { turn: TurnId },
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnAnswer {
    pub text: String,
    /// Whether it was done.
    pub end: End,
}

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    Answered,
    /// The agent will not do it.
    Refused,
    /// It could not be done.
    Failed,
    /// A person did not approve of what it takes.
    #[serde(rename = "not-approved")]
    NotApproved,
    /// The caller cancelled it.
    Cancelled,
}

/// How a person is asked about a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    /// What the person is told besides the call.
    pub notes: Vec<String>,
    /// Whether the answer may count for the rest of the conversation, or for a prefix.
    pub grants: bool,
    /// Later steps of the same procedure with inputs that are known already: skills and inputs.
    pub further: Vec<(String, Value)>,
}

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It may, with this input.
    Go(Value),
    /// A person is to be asked.
    Ask(Asking),
    No(String),
    /// A person did not approve of it.
    Rejected(String),
}
