//! The kinds of rules that a law is made of.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where something comes from.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A person, or a program that speaks for one.
    User,
    /// What a skill gave.
    Tool,
    /// Another agent.
    Agent,
    /// The agent itself: a timer, or something it pursues.
    Own,
}

impl Origin {
    /// As a source of memory begins.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Tool => "tool",
            Self::Agent => "agent",
            Self::Own => "own",
        }
    }
}

/// What the agent cannot change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Frozen {
    /// What it holds to be true or right, whatever it is told.
    pub axioms: Vec<String>,
    /// Skills that it never calls, by the beginning of their id.
    pub never: Vec<String>,
    /// Skills that a person agrees to each time, by the beginning of their id, whatever is granted.
    pub always_ask: Vec<String>,
}

/// What is made of something perceived: what it is worth as a candidate for memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateRule {
    /// What it comes from.
    pub on: Origin,
    /// Only from skills or agents whose name begins so.
    #[serde(default)]
    pub from: String,
    /// Only what has one of these words in it; none is everything.
    #[serde(default)]
    pub words: Vec<String>,
    /// What becomes of it.
    pub then: Update,
    /// How sure it is, from 0 to 1, if it becomes anything.
    #[serde(default = "half")]
    pub confidence: f64,
}

/// What becomes of something perceived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Update {
    /// It is weighed by the rules of memory.
    Consider,
    /// Nothing.
    Ignore,
}

/// What happens when two beliefs cannot both be true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BeliefConflict {
    /// What the confidence of the one that does not prevail is multiplied by.
    pub contradiction: f64,
    /// A new one prevails over an older one that is surer by no more than this.
    pub newer_prevails: f64,
    /// Whether whoever said it is told.
    pub tell: bool,
}

impl Default for BeliefConflict {
    fn default() -> Self {
        Self {
            contradiction: 0.5,
            newer_prevails: 0.2,
            tell: true,
        }
    }
}

/// What is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryLaw {
    /// What becomes of a candidate. The first rule that fits counts; what fits none is discarded.
    #[serde(alias = "memory_rules")]
    pub rules: Vec<MemoryRule>,
    /// How records rise and fade.
    #[schemars(with = "BTreeMap<String, Value>")]
    pub layers: memory::Rules,
}

impl Default for MemoryLaw {
    fn default() -> Self {
        let rule = |min_confidence, sources: &[Origin], action| MemoryRule {
            condition: MemoryCondition {
                min_confidence,
                min_relevance: 0.0,
                sources_allowed: sources.to_vec(),
            },
            action,
        };
        Self {
            rules: vec![
                rule(0.7, &[Origin::Agent], MemoryAction::PromoteToLongTerm),
                rule(
                    0.1,
                    &[Origin::User, Origin::Tool, Origin::Agent, Origin::Own],
                    MemoryAction::KeepEphemeral,
                ),
            ],
            layers: memory::Rules::default(),
        }
    }
}

/// What becomes of a candidate for memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRule {
    /// Which candidates it is about.
    pub condition: MemoryCondition,
    /// What becomes of them.
    pub action: MemoryAction,
}

/// Which candidates a rule of memory is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryCondition {
    /// Those that are at least so sure.
    #[serde(alias = "minConfidence")]
    pub min_confidence: f64,
    /// Those that have at least so much to do with what was asked and with the agent's goals, from 0 to 1.
    #[serde(alias = "minRelevance")]
    pub min_relevance: f64,
    /// Those that come from one of these; none is all.
    #[serde(alias = "sourcesAllowed")]
    pub sources_allowed: Vec<Origin>,
}

/// What becomes of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryAction {
    /// It becomes a belief.
    #[serde(alias = "PROMOTE_TO_LONG_TERM")]
    PromoteToLongTerm,
    /// It is logged as an observation.
    #[serde(alias = "KEEP_EPHEMERAL")]
    KeepEphemeral,
    /// It is not remembered.
    #[serde(alias = "DISCARD")]
    Discard,
}

/// What comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityRule {
    /// Requests from one of these; none is all.
    #[serde(default)]
    pub from: Vec<Origin>,
    /// Requests that have one of these words in them; none is all.
    #[serde(default)]
    pub words: Vec<String>,
    /// From 0, last, to 100, first.
    pub priority: u8,
}

/// What is done about a request that goes against a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConflictRule {
    /// A goal with one of these words in it...
    pub goal: Vec<String>,
    /// ...goes against a request with one of these.
    pub request: Vec<String>,
    /// What is done then.
    pub then: OnConflict,
}

/// What is done about a request that goes against a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnConflict {
    /// It is refused, and the goal is named.
    Refuse,
    /// Whoever asks is asked whether it is meant.
    Ask,
    /// The request goes first.
    Allow,
}

/// How a skill is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillRule {
    /// Skills whose id begins so.
    pub skill: String,
    /// Only for requests that have one of these words in them; none is all.
    #[serde(default)]
    pub words: Vec<String>,
    /// How.
    pub then: Selection,
}

/// How a skill is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// It is offered before others.
    Prefer,
    /// As it is.
    Allow,
    /// A person agrees first, though the skill does not say so.
    Ask,
    /// It is not used.
    Forbid,
}

/// Which agent is asked, and how far it is believed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentRule {
    /// The agent.
    pub agent: String,
    /// What it is asked about when nobody says whom to ask: requests with one of these words in them.
    #[serde(default)]
    pub words: Vec<String>,
    /// What the confidence of what it claims is multiplied by, from 0 to 1.
    #[serde(default = "half")]
    pub trust: f64,
}

/// When it asks rather than acts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Clarification {
    /// A call that changes something is asked about when less than this part of what it says was said before, from 0
    /// to 1: a model that makes up a name is not to act on it.
    pub min_grounded: f64,
    /// A claim of another agent that is less sure than this is answered with a question.
    pub min_claim: f64,
}

impl Default for Clarification {
    fn default() -> Self {
        Self {
            min_grounded: 0.25,
            min_claim: 0.3,
        }
    }
}

/// How far a request is taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Decomposition {
    /// How often it thinks about one request.
    pub max_rounds: u32,
    /// How many skills it calls for one request.
    pub max_calls: u32,
    /// How many skills that change nothing it calls at a time.
    pub max_parallel: u32,
}

impl Default for Decomposition {
    fn default() -> Self {
        Self {
            max_rounds: 8,
            max_calls: 24,
            max_parallel: 4,
        }
    }
}

/// How much it attends to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Attention {
    /// How many requests it works on at a time; those that wait for a person are not counted.
    pub turns: u32,
    /// How many requests may wait for their turn.
    pub queue: u32,
    /// How many memories it calls to mind for a request; none is not to look.
    pub recall: u32,
    /// How many lines of a conversation it keeps in mind.
    pub conversation: u32,
    /// How many tokens of a model one request may cost; none is no end.
    pub tokens: u64,
    /// How long a question to a person stays open, in seconds.
    pub approval_seconds: u64,
}

impl Default for Attention {
    fn default() -> Self {
        Self {
            turns: 4,
            queue: 64,
            recall: 6,
            conversation: 12,
            tokens: 200_000,
            approval_seconds: 7 * 24 * 3600,
        }
    }
}

/// Something done by the clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timer {
    /// What it is called.
    pub name: String,
    /// How often, in seconds.
    pub every: u64,
    /// What it then asks of itself.
    pub request: String,
}

/// What is done when nobody wants anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// After how many seconds.
    pub after: u64,
    /// What it then asks of itself, once.
    pub request: String,
}

/// Something it knows how to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Procedure {
    /// What it is called.
    pub name: String,
    /// The request it is for, with slots: `summarise {path}`.
    pub when: String,
    /// What is done, in this order.
    pub steps: Vec<ProcedureStep>,
}

/// A step of a procedure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcedureStep {
    /// The skill that is called.
    pub skill: String,
    /// With what: texts in which `{slot}` stands for what the request says, and `{1}` for what the first step gave.
    #[serde(default)]
    pub input: BTreeMap<String, Value>,
}

pub(super) fn default_update() -> Vec<UpdateRule> {
    let rule = |on, confidence| UpdateRule {
        on,
        from: String::new(),
        words: Vec::new(),
        then: Update::Consider,
        confidence,
    };
    vec![
        rule(Origin::User, 0.6),
        rule(Origin::Tool, 0.5),
        rule(Origin::Agent, 1.0),
        rule(Origin::Own, 0.3),
    ]
}

pub(super) fn default_priority() -> Vec<PriorityRule> {
    let rule = |from, words: &[&str], priority| PriorityRule {
        from: vec![from],
        words: words.iter().map(|&word| word.to_owned()).collect(),
        priority,
    };
    vec![
        rule(Origin::User, &["urgent", "immediately"], 90),
        rule(Origin::User, &[], 60),
        rule(Origin::Agent, &[], 40),
        rule(Origin::Own, &[], 20),
    ]
}

fn half() -> f64 {
    0.5
}
