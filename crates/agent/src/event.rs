//! What an agent perceives, and what it wants done about it: events come in, effects go out.

use memory::Millis;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::Decision;
use crate::context::{Ability, Goal, Identity, Outcome};
use crate::law::{Edit, Law, Origin};
use crate::message::Letter;

/// Which request it is about: the id of the task that it is.
pub type TurnId = String;

/// Something that an agent wants and waits for, by number. An agent never uses a number twice.
pub type EffectId = u64;

/// Something perceived. Time is part of it, so that what follows from it needs no clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, in milliseconds since 1970.
    pub at: Millis,
    /// What.
    #[serde(flatten)]
    pub what: Perceived,
}

/// What can be perceived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Perceived {
    /// It begins to be: who it is, what it is for, and its law.
    Born {
        /// Who it is.
        identity: Identity,
        /// What it is for.
        goals: Vec<Goal>,
        /// What it goes by.
        law: Box<Law>,
    },
    /// What it is able to do has become this.
    Enabled {
        /// Its skills.
        abilities: Vec<Ability>,
    },
    /// Somebody wants something.
    Heard(Heard),
    /// What it remembers about a request.
    Recalled {
        /// What it wanted.
        effect: EffectId,
        /// What came to mind, the best first.
        found: Vec<Found>,
    },
    /// What it, or its model, thinks about a request.
    Thought {
        /// What it wanted.
        effect: EffectId,
        /// What is to be said.
        text: String,
        /// What is to be done first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<Call>,
        /// What only the model understands, to be shown to it again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        thoughts: Vec<String>,
        /// What it cost.
        #[serde(default)]
        tokens: u64,
    },
    /// A skill gave something.
    Done {
        /// What it wanted.
        effect: EffectId,
        /// What it gave.
        output: Value,
    },
    /// Something that it wanted could not be done.
    Failed {
        /// What it wanted.
        effect: EffectId,
        /// A word that programs decide by.
        code: String,
        /// For people.
        message: String,
    },
    /// A skill is about to be called, by itself, by another skill or by a caller: may it?
    Wanted {
        /// The task that the call is part of.
        turn: TurnId,
        /// Which call of that task.
        place: String,
        /// The conversation it belongs to.
        conversation: String,
        /// The skill.
        skill: String,
        /// With what.
        input: Value,
        /// The skill asks for approval.
        marked: bool,
        /// Whom it is for: what they agreed to before counts for them alone.
        #[serde(default)]
        by: String,
    },
    /// A skill has been called by somebody else than the agent itself, and this came of it.
    Did {
        /// The task that the call was part of.
        turn: TurnId,
        /// The skill.
        skill: String,
        /// What came of it.
        outcome: Outcome,
    },
    /// A person decided about a call.
    Decided {
        /// Which call.
        approval: EffectId,
        /// How.
        decision: Decision,
        /// Who.
        by: String,
    },
    /// A person answered a question.
    Clarified {
        /// What it wanted.
        effect: EffectId,
        /// What was said; nothing if the question was declined.
        text: Option<String>,
    },
    /// What became of what was to be remembered.
    Remembered {
        /// What it wanted.
        effect: EffectId,
        /// For each: what became of it, and what contradicts it.
        outcomes: Vec<Kept>,
    },
    /// A request waits for somebody to answer a question of a skill, or goes on.
    Waits {
        /// Which.
        turn: TurnId,
        /// Whether it waits.
        waits: bool,
    },
    /// Whoever asked does not want it any more.
    Cancelled {
        /// What they asked.
        turn: TurnId,
    },
    /// It is to stop where it is.
    Paused,
    /// It is to go on.
    Resumed,
    /// Time has passed.
    Ticked,
    /// Somebody thinks that its law should be another.
    Proposed {
        /// What should change.
        edit: Edit,
        /// Who thinks so.
        by: String,
    },
    /// Something that it wanted done for itself has been begun.
    Begun {
        /// What it wanted.
        effect: EffectId,
    },
    /// It went wrong in a way that is nobody's request.
    Broken {
        /// How.
        problem: String,
    },
}

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// The task that it is.
    pub turn: TurnId,
    /// The conversation it belongs to.
    pub conversation: String,
    /// What kind of somebody asks.
    pub origin: Origin,
    /// Who asks.
    pub from: String,
    /// What is said.
    pub text: String,
    /// What another agent says in a form that programs understand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letter: Option<Letter>,
    /// How much it matters, if whoever asks may say so: from 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How many agents have asked each other until it came here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub depth: u8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// Something remembered, with where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The record of memory.
    pub record: String,
    /// What it says.
    pub text: String,
    /// Who or what it comes from.
    pub source: String,
    /// In which layer it is.
    pub layer: String,
    /// How sure it is, if it is believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Whether something contradicts it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubted: bool,
}

/// A call that was thought of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// What whoever thought of it calls it.
    pub id: String,
    /// The skill.
    pub skill: String,
    /// With what.
    pub input: Value,
}

/// What became of something that was to be remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The record of memory.
    pub record: String,
    /// `observed`, or what memory says of a belief: `kept`, `doubted`, `corroborated`, `known`, `echo`, `refused`.
    pub outcome: String,
    /// What is held against it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
}

/// Something to be remembered, weighed already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// What it says.
    pub text: String,
    /// Who or what it comes from: `user:ada`, `tool:weather`.
    pub source: String,
    /// How sure it is.
    pub confidence: f64,
    /// The question it belongs to.
    pub context: String,
    /// Whether it is to be believed, or only logged.
    pub believe: bool,
    /// Why it is worth keeping.
    pub why: String,
}

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
    Call {
        /// Which.
        skill: String,
        /// With what.
        input: Value,
    },
    /// To ask whoever asked.
    Clarify {
        /// What.
        question: String,
    },
    /// To put into memory.
    Remember {
        /// What.
        candidates: Vec<Candidate>,
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
pub struct Wish {
    /// Its number.
    pub id: EffectId,
    /// The request it is for; none is the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// What is to be done.
    #[serde(flatten)]
    pub effect: Effect,
}

/// What follows from an event, to be done by others.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// This is to be done, and what comes of it is to be perceived.
    Do(Wish),
    /// A request is answered.
    Say {
        /// Which.
        turn: TurnId,
        /// How.
        answer: Answer,
    },
    /// A call may be made, or may not, or a person is to be asked.
    Gate {
        /// Which call, if a person decides about it.
        approval: Option<EffectId>,
        /// What is to be done.
        verdict: Verdict,
    },
    /// A task that waits for a person is to go on: nobody decided in time.
    Resume {
        /// Which.
        turn: TurnId,
    },
}

/// What a request comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// In words.
    pub text: String,
    /// Whether it was done.
    pub end: End,
}

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// It is answered.
    Answered,
    /// The agent will not do it.
    Refused,
    /// It could not be done.
    Failed,
    /// Nobody wants it any more.
    Cancelled,
}

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It may, with this input.
    Go(Value),
    /// A person is to be asked.
    Ask,
    /// It may not.
    No(String),
}
