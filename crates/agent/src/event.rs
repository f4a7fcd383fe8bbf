//! Events that an agent perceives. Events come in, effects go out (`effect`).

use memory::Millis;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skill::QuestionAnswer;
use skill::extension::Question;

use crate::approval::Decision;
use crate::context::{Ability, Goal, Identity, Outcome};
pub use crate::effect::{Asking, Effect, End, Intent, Outgoing, TurnAnswer, Verdict};
pub use crate::id::{EffectId, TurnId};
use crate::law::{Edit, Law, Origin};
use crate::message::Letter;
use crate::mode::ChosenMode;
use crate::revision::Test;

/// Something perceived. Time is part of it, so that what follows from it needs no clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, in milliseconds since 1970.
    pub at: Millis,
    #[serde(flatten)]
    pub what: EventKind,
}

/// An event that an agent can perceive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EventKind {
    /// The agent is created, with its identity, goals and law.
    Born {
        identity: Identity,
        /// The purpose of the agent.
        goals: Vec<Goal>,
        /// The first version of the law.
        law: Box<Law>,
    },
    /// The skills of the agent have become these.
    Enabled {
        abilities: Vec<Ability>,
    },
    /// A request has arrived.
    Heard(Request),
    /// The records that memory found for a request.
    Recalled {
        effect: EffectId,
        /// The recalled records, most relevant first.
        found: Vec<Recollection>,
    },
    /// A thought of the agent, or of its model, about a request.
    Thought {
        effect: EffectId,
        /// The answer to say.
        text: String,
        /// Calls to make first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<Call>,
        /// What only the model understands, to be shown to it again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        thoughts: Vec<String>,
        #[serde(default)]
        tokens: u64,
        /// The request was not understood or cannot be done, and the text says so.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        declined: bool,
        /// How the model came to it, in its own words, for people; it is cut at a limit.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
    },
    /// A skill gave something.
    Done {
        effect: EffectId,
        output: Value,
    },
    /// Something that it wanted could not be done.
    Failed {
        effect: EffectId,
        /// A word that programs decide by.
        code: String,
        message: String,
    },
    /// A skill is about to be called, by itself, by another skill or by a caller: may it?
    Wanted {
        /// The task that the call is part of.
        turn: TurnId,
        /// The call of that task.
        place: String,
        /// The conversation it belongs to.
        conversation: String,
        skill: String,
        input: Value,
        /// The skill asks for approval.
        marked: bool,
        /// The caller it is for: grants of this caller count for this caller alone.
        #[serde(default)]
        by: String,
        /// The question as it is shown, with the preview of the call.
        #[serde(default)]
        shown: String,
        #[serde(default, skip_serializing_if = "CallFacts::is_empty")]
        facts: CallFacts,
    },
    /// A caller called a skill by its name, and the call has ended.
    #[serde(alias = "did")]
    Called {
        /// The task that the call was.
        turn: TurnId,
        /// The id of the skill.
        skill: String,
        /// The input it was called with.
        #[serde(default)]
        input: Value,
        #[serde(default)]
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        conversation: String,
        outcome: Outcome,
    },
    /// A skill asks the caller of its task something. This is the only record of the question; the status of the task
    /// shows it.
    Asked {
        turn: TurnId,
        /// The question's place among those of the task: its scope and its number in that.
        place: String,
        question: Question,
        /// The caller who is asked, and the conversation it belongs to.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        of: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        conversation: String,
    },
    /// A message answers the question of a skill.
    Answered {
        turn: TurnId,
        /// The place of the question.
        place: String,
        answer: QuestionAnswer,
        /// The caller who sent the message.
        by: String,
        /// The id of the message.
        message: String,
    },
    /// A task that asked something has ended: its answers are not needed again.
    Closed {
        turn: TurnId,
    },
    /// A person decided about a call.
    Decided {
        approval: EffectId,
        decision: Decision,
        by: String,
        /// The id of the message that says so.
        #[serde(default)]
        message: String,
        /// The permission by which the person decided: `approve` for a call of its own, `operate` for one of another caller.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        permission: String,
    },
    /// A grant is to count no more.
    Revoked {
        /// The id by which it is known outside of the agent.
        grant: String,
        by: String,
    },
    /// A person answered a question.
    Clarified {
        effect: EffectId,
        /// The answer; nothing if the question was declined.
        text: Option<String>,
        /// The id of the message that says so.
        #[serde(default)]
        message: String,
    },
    /// What became of what was to be remembered.
    Remembered {
        effect: EffectId,
        /// For each: what became of it, and what contradicts it.
        outcomes: Vec<MemoryResult>,
    },
    /// A caller is about to have it remember something, outside of its own turns. It is recorded before memory is written,
    /// so that no record is there of which the journal knows nothing.
    Storing {
        by: String,
        /// The SHA-256 of the text.
        hash: String,
        source: String,
    },
    /// A caller had it remember something, outside of its own turns.
    Stored {
        by: String,
        items: Vec<StoredItem>,
    },
    /// A caller had it forget a record.
    Forgot {
        by: String,
        record: String,
        why: String,
    },
    /// The caller has cancelled a request.
    Cancelled {
        turn: TurnId,
    },
    /// It is to stop where it is.
    Paused,
    /// It is to go on.
    Resumed,
    Ticked,
    /// A change of its law is proposed.
    Proposed {
        edit: Edit,
        by: String,
        /// The letter that proposes it, as the effect that waits for the outcome.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<EffectId>,
        /// Why it is refused, for reasons that the agent itself cannot know: another agent would be the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<String>,
        /// The operator who orders it: no other person has to agree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ordered_by: Option<String>,
        /// Events of this journal that speak for it, by number.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<u64>,
    },
    /// The proposal under way was tested on recorded episodes.
    Tested {
        proposal: u64,
        /// Whether on episodes that its author has not seen.
        held_out: bool,
        test: Box<Test>,
    },
    /// A letter that proposed something can be answered.
    Weighed {
        effect: EffectId,
    },
    /// A proposal that waits for a person is to be tested once more.
    Retested {
        proposal: u64,
    },
    /// It looks through its journal for changes of its law to propose.
    Reflected,
    /// A person decided about a proposal.
    Ruled {
        proposal: u64,
        by: String,
        approve: bool,
        /// Why it is rejected.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// A person puts an older version of its law in force again.
    RolledBack {
        /// The number of that version, from 1.
        to: u64,
        law: Box<Law>,
        by: String,
        why: String,
    },
    /// An operator accepts what the manifest and the law file say now.
    Accepted {
        goals: Vec<Goal>,
        law: Box<Law>,
        why: String,
        by: String,
    },
    /// Its manifest has another name or description for it.
    Described {
        identity: Identity,
    },
    /// Something that it wanted done for itself has been begun.
    Begun {
        effect: EffectId,
    },
    /// The agent itself has a fault, outside of any request.
    Broken {
        problem: String,
    },
}

impl EventKind {
    /// Whether it is recorded even if it changes nothing. A tick, a call that may be made and a question that was asked
    /// before are not: there are many of them, and the state that follows is the same without them.
    pub(crate) fn is_news(&self) -> bool {
        !matches!(
            self,
            Self::Ticked | Self::Wanted { .. } | Self::Asked { .. } | Self::Closed { .. }
        )
    }

    /// Whether the sender is told that it is recorded, so that it must be durable before the reply.
    pub(crate) fn is_acknowledged(&self) -> bool {
        matches!(
            self,
            Self::Asked { .. }
                | Self::Storing { .. }
                | Self::Forgot { .. }
                | Self::Cancelled { .. }
                | Self::Paused
                | Self::Resumed
                | Self::Proposed { .. }
                | Self::Tested { .. }
                | Self::Retested { .. }
                | Self::Ruled { .. }
                | Self::RolledBack { .. }
                | Self::Accepted { .. }
                | Self::Described { .. }
                | Self::Revoked { .. }
                | Self::Broken { .. }
        )
    }
}

/// What an approval depends on besides the law: of the skill, of the manifest, and of the state that the call finds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallFacts {
    /// The skill changes something besides what the agent itself keeps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changes: bool,
    /// What is said of the skill is the word of another server.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub claimed: bool,
    /// The manifest lets it be called without an approval.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unasked: bool,
    /// No earlier decision counts for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub each_time: bool,
    /// The hash of the definition, if another server defines the skill.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The person for whom an agent calls it; empty where the caller acts for itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub person: String,
    /// The id that an approval of this call gets.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub approval: String,
    /// The input bound to the state it depends on (`Skill::bind`), if that is another value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Value>,
    /// Later steps of the same procedure that are shown in the same question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FurtherCall>,
}

/// A later step of a procedure that was shown with an earlier one: a yes covers it as it was shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FurtherCall {
    pub skill: String,
    pub input: Value,
    /// The input bound to the state that was shown; none is the input itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Value>,
    /// The hash of the skill's definition, if another server defines it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
}

impl CallFacts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A message that opened a task, as the agent perceives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The task that it is.
    pub turn: TurnId,
    /// The conversation it belongs to.
    pub conversation: String,
    /// The caller that sent the request and owns its conversation. Older journals have no such field: there it is
    /// `from`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub caller: String,
    /// The person for whom it was sent, if an agent sent it for one: what is said and found belongs to that person, and the
    /// request takes a place of that person's share. Empty where the caller acts for itself, and in older journals.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub person: String,
    /// The kind of caller.
    pub origin: Origin,
    pub from: String,
    pub text: String,
    /// The id of the message, by which its sender knows it. Older journals have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// What the sender wants to be shown of the message again ([`NOTE`](crate::NOTE)). The agent itself reads nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Value>,
    /// What another agent says in a form that programs understand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letter: Option<Letter>,
    /// The priority that the caller gave it, from 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// The caller is an operator or an agent: the priority that it gives counts against requests of other callers, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_raise: bool,
    /// How many agents have asked each other until it came here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub depth: u8,
    /// Whether the caller is an operator: the proposals of operators change the law.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operator: bool,
    /// The mode in which it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Box<ChosenMode>>,
}

impl Request {
    /// The caller that owns its conversation.
    pub(crate) fn caller(&self) -> &str {
        match self.caller.as_str() {
            "" => &self.from,
            caller => caller,
        }
    }

    /// The person at the start of a chain of agents: the caller itself, unless that is an agent that asks for a person.
    pub(crate) fn person(&self) -> &str {
        match self.person.as_str() {
            "" => self.caller(),
            person => person,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// Something remembered, with where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recollection {
    /// The record of memory.
    pub record: String,
    pub text: String,
    /// The source of the claim.
    pub source: String,
    /// The layer of memory it is in.
    pub layer: memory::Layer,
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
    /// The id that the model gave it.
    pub id: String,
    pub skill: String,
    pub input: Value,
}

/// What became of something that was to be remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryResult {
    /// The record of memory.
    pub record: String,
    /// The decision of memory about it.
    pub outcome: MemoryOutcome,
    /// Why memory refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The text of the record that contradicts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The record that is held against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_record: Option<String>,
}

/// A record that a caller had the agent remember. Its text is in memory alone, so that forgetting it there is enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredItem {
    /// The id of the record; empty if it was refused.
    pub record: String,
    /// The SHA-256 of the text.
    pub hash: String,
    pub source: String,
    pub outcome: MemoryOutcome,
}

/// A decision of memory about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryOutcome {
    /// It was logged as an observation.
    Observed,
    /// It is a belief now.
    Kept,
    /// It is a speculation, and no belief until it is confirmed.
    Supposed,
    /// It is a belief in doubt: something surer contradicts it.
    Doubted,
    /// It was believed; another source has confirmed it.
    Corroborated,
    /// It was believed, and from the same source.
    Known,
    /// It was recalled before and said again by the agent.
    Echo,
    /// Memory did not take it.
    Refused,
}

impl MemoryOutcome {
    /// Its name on every wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Kept => "kept",
            Self::Supposed => "supposed",
            Self::Doubted => "doubted",
            Self::Corroborated => "corroborated",
            Self::Known => "known",
            Self::Echo => "echo",
            Self::Refused => "refused",
        }
    }
}

impl From<&memory::Outcome> for MemoryOutcome {
    fn from(outcome: &memory::Outcome) -> Self {
        match outcome {
            memory::Outcome::Kept(_) | memory::Outcome::Prevailed(..) => Self::Kept,
            memory::Outcome::Supposed(_) => Self::Supposed,
            memory::Outcome::Doubted(_) => Self::Doubted,
            memory::Outcome::Corroborated(_) => Self::Corroborated,
            memory::Outcome::Known(_) => Self::Known,
            memory::Outcome::Echo(_) => Self::Echo,
        }
    }
}

/// Something to be remembered, weighed already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
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
    /// Whether every caller of the agent may see it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub public: bool,
}
