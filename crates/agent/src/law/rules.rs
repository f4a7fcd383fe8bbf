//! The kinds of rules that a law is made of. Each kind is written here once.
//!
//! A kind that exists once, such as `attention`, is declared with `table!`: each of its fields has a default. An item of
//! a list, such as a timer, is declared with `rule!`. A declaration holds all there is to know about a field: its help
//! (the doc comment), type, default and bounds (`#[schemars(range(..))]`); `says` is the line that `law show` prints.
//! Everything else follows from it: the file format (serde), the JSON schema (schemars), the check of the bounds
//! ([`meta::check`](super::meta::check)), the page of `law show`, and, kept equal by tests, `default.toml` and the table in
//! `docs/agent.md`.
//!
//! A new field is declared here and consulted in `step`; `UPDATE_EXPECT=1 cargo test -p agent law` writes the file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A rule as a line of `law show`.
pub(super) trait Says {
    fn says(&self) -> Vec<String>;
}

impl<T: Says> Says for Vec<T> {
    fn says(&self) -> Vec<String> {
        self.iter().flat_map(Says::says).collect()
    }
}

impl<T: Says> Says for Option<T> {
    fn says(&self) -> Vec<String> {
        self.iter().flat_map(Says::says).collect()
    }
}

/// Declares a kind that exists once: a struct, its `Default`, and its line.
macro_rules! table {
    ($(#[$meta:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $type:ty = $default:expr;)+ } $(says $line:expr;)?) => {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        #[schemars(extend("propertyOrdering" = [$(stringify!($field)),+]))]
        $(#[$meta])*
        pub struct $name {
            $($(#[$about])* pub $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        $crate::law::rules::says!($name { $($field),+ } $($line)?);
    };
}
pub(super) use table;

/// Declares an item of a list: a struct without a default, and its line.
macro_rules! rule {
    ($(#[$meta:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $type:ty;)+ } $(says $line:expr;)?) => {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(extend("propertyOrdering" = [$(stringify!($field)),+]))]
        $(#[$meta])*
        pub struct $name {
            $($(#[$about])* pub $field: $type,)+
        }

        $crate::law::rules::says!($name { $($field),+ } $($line)?);
    };
}

/// Implements [`Says`] with an expression that sees every field by its name.
macro_rules! says {
    ($name:ident { $($field:ident),+ }) => {};
    ($name:ident { $($field:ident),+ } $line:expr) => {
        impl Says for $name {
            fn says(&self) -> Vec<String> {
                let Self { $($field),+ } = self;
                let _ = ($($field),+);
                vec![$line]
            }
        }
    };
}

pub(super) use says;

/// Declares a choice: its words in the file follow from the variants' names, and each has words for `law show`.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $words:literal,)+ }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        $(#[$meta])*
        pub enum $name {
            $($(#[$about])* $variant,)+
        }

        impl $name {
            fn words(self) -> &'static str {
                match self {
                    $(Self::$variant => $words,)+
                }
            }
        }
    };
}

/// Where something that the agent perceives comes from.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A person, or a program that speaks for one.
    User,
    /// The output of a skill.
    Tool,
    /// An agent other than this one.
    Agent,
    /// The agent itself: a timer, or an idle pursuit.
    Own,
}

impl Origin {
    /// The word for it in the file, and before the colon of a source in memory.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Tool => "tool",
            Self::Agent => "agent",
            Self::Own => "own",
        }
    }
}

table! {
    /// What the agent can never change itself.
    Frozen {
        /// Statements that the agent holds to be true or right in any case. The model is shown all of them, whole: at most
        /// 64, of 1000 bytes each and 8000 together.
        #[schemars(length(max = 64), inner(length(max = 1000)))]
        axioms: Vec<String> = Vec::new();
        /// Skills that are never called, by the beginning of their id.
        never: Vec<String> = Vec::new();
        /// Skills that need an approval each time, also when they were granted, by the beginning of their id.
        always_ask: Vec<String> = Vec::new();
        /// A proposed change of the law is tested on this many of the last episodes.
        #[schemars(range(min = 5, max = 1000))]
        tested_episodes: u32 = 200;
        /// One proposed change is adopted in this many episodes at most.
        #[schemars(range(min = 1, max = 10_000))]
        change_every: u32 = 20;
        /// A change is rolled back if the score falls during this many episodes after its adoption.
        #[schemars(range(min = 1, max = 100))]
        canary_episodes: u32 = 10;
        /// After this many episodes it looks through its journal for changes of its law to propose; 0 is never by itself.
        #[schemars(range(min = 0, max = 10_000))]
        reflect_every: u32 = 20;
        /// How far the mean score may fall during these episodes.
        #[schemars(range(min = 0, max = 1))]
        canary_tolerance: f64 = 0.05;
        /// What a contradiction of the agent's beliefs takes from the score of an episode, which is 1 if it was answered.
        #[schemars(range(min = 0, max = 1))]
        contradiction_cost: f64 = 0.3;
        /// What a call that a person rejected takes from it.
        #[schemars(range(min = 0, max = 1))]
        rejection_cost: f64 = 0.3;
        /// What a call that a person corrected takes from it.
        #[schemars(range(min = 0, max = 1))]
        correction_cost: f64 = 0.2;
        /// What 200,000 tokens of a model take from it.
        #[schemars(range(min = 0, max = 1))]
        token_cost: f64 = 0.1;
        /// What ten minutes of work take from it; the time that people take to answer does not count.
        #[schemars(range(min = 0, max = 1))]
        time_cost: f64 = 0.05;
    }
}

impl Frozen {
    /// How fast the law may change.
    pub(crate) fn limits(&self) -> revise::Limits {
        revise::Limits {
            every: self.change_every.into(),
            canary: self.canary_episodes as usize,
            tolerance: self.canary_tolerance,
        }
    }

    /// The lines about skills that are `offered`, by the beginning of their ids; without the axioms.
    pub(super) fn safety(&self, offered: impl Fn(&str) -> bool) -> Vec<String> {
        let never = self.never.iter().filter(|it| offered(it.as_str()));
        let never = never.map(|it| format!("never calls skills that begin with {it}"));
        let always = self.always_ask.iter().filter(|it| offered(it.as_str()));
        let always =
            always.map(|it| format!("asks before every call of skills that begin with {it}"));
        never.chain(always).collect()
    }
}

impl Says for Frozen {
    fn says(&self) -> Vec<String> {
        let change = format!(
            "a proposed change of this law is tested on the last {} episodes; one in {} episodes is adopted, and rolled back \
             if the score falls by more than {} in the {} after it",
            self.tested_episodes, self.change_every, self.canary_tolerance, self.canary_episodes
        );
        [self.axioms.clone(), self.safety(|_| true), vec![change]].concat()
    }
}

rule! {
    /// How a perception becomes a candidate for memory, and with which confidence.
    UpdateRule {
        /// The origin that the rule is about.
        on: Origin;
        /// Only from skills or agents with a name that begins like this.
        #[serde(default)]
        from: String;
        /// Only text that contains one of these words; an empty list is any text.
        #[serde(default)]
        words: Vec<String>;
        /// What is done with it.
        then: Update;
        /// The confidence of the candidate. A claim of another agent is also multiplied by the trust in that agent.
        #[serde(default = "half")]
        #[schemars(range(min = 0, max = 1))]
        confidence: f64;
    }
    says {
        let from = match from.as_str() {
            "" => String::new(),
            from => format!(" from {from}*"),
        };
        let words = about(" with ", words);
        match then {
            Update::Consider => {
                let trust = match on {
                    Origin::Agent => ", times the trust in that agent",
                    _ => "",
                };
                format!("input of {}{from}{words} has confidence {confidence}{trust}", on.name())
            }
            Update::Ignore => format!("input of {}{from}{words} {}", on.name(), then.words()),
        }
    };
}

choice! {
    /// What is done with a perception.
    Update {
        /// The rules of memory decide.
        Consider = "is considered",
        /// It is not remembered.
        Ignore = "is ignored",
    }
}

table! {
    /// What happens when two beliefs contradict each other.
    BeliefConflict {
        /// Factor for the confidence of the belief that yields.
        #[schemars(range(min = 0, max = 1))]
        contradiction: f64 = 0.5;
        /// A newer belief prevails over an older one with a confidence that is higher by at most this much.
        #[schemars(range(min = 0, max = 1))]
        newer_prevails: f64 = 0.2;
        /// Whether the source of the belief is told about the contradiction.
        tell: bool = true;
    }
    says {
        let told = if *tell { "" } else { " not" };
        format!(
            "the belief that yields keeps {contradiction} of its confidence; a newer one prevails with up to \
             {newer_prevails} less confidence; its source is{told} told"
        )
    };
}

table! {
    /// What is remembered, and how firmly.
    MemoryLaw {
        /// What becomes of a candidate. The first rule that fits counts; a candidate without one is discarded.
        #[serde(alias = "memory_rules")]
        #[schemars(length(max = 200))]
        rules: Vec<MemoryRule> = default_memory();
        /// How records move between the layers of memory (docs/memory.md).
        #[schemars(with = "BTreeMap<String, Value>")]
        layers: memory::Rules = memory::Rules::default();
    }
}

impl Says for MemoryLaw {
    fn says(&self) -> Vec<String> {
        self.rules.says()
    }
}

rule! {
    /// What becomes of a candidate for memory.
    MemoryRule {
        /// The candidates that the rule is about.
        condition: MemoryCondition;
        /// What becomes of them.
        action: MemoryAction;
    }
    says {
        let (sure, relevant) = (condition.min_confidence, condition.min_relevance);
        let from = names(&condition.sources_allowed);
        let action = action.words();
        format!("a candidate from {from} with confidence {sure} and relevance {relevant} or more {action}")
    };
}

table! {
    /// The candidates that a rule of memory is about.
    MemoryCondition {
        /// The least confidence of the candidate.
        #[serde(alias = "minConfidence")]
        #[schemars(range(min = 0, max = 1))]
        min_confidence: f64 = 0.0;
        /// The least relevance for the request and for the agent's goals.
        #[serde(alias = "minRelevance")]
        #[schemars(range(min = 0, max = 1))]
        min_relevance: f64 = 0.0;
        /// The origins; an empty list is any origin.
        #[serde(alias = "sourcesAllowed")]
        sources_allowed: Vec<Origin> = Vec::new();
    }
}

choice! {
    /// What becomes of a candidate.
    MemoryAction {
        /// It becomes a belief.
        #[serde(alias = "PROMOTE_TO_LONG_TERM")]
        PromoteToLongTerm = "becomes a belief",
        /// It is kept as an observation.
        #[serde(alias = "KEEP_EPHEMERAL")]
        KeepEphemeral = "is kept as an observation",
        /// It is not remembered.
        #[serde(alias = "DISCARD")]
        Discard = "is not remembered",
    }
}

rule! {
    /// The priority of a request.
    PriorityRule {
        /// Requests from one of these; an empty list is any origin.
        #[serde(default)]
        from: Vec<Origin>;
        /// Requests that contain one of these words; an empty list is any request.
        #[serde(default)]
        words: Vec<String>;
        /// Requests with a higher priority come first.
        #[schemars(range(min = 0, max = 100))]
        priority: u8;
    }
    says format!("requests from {}{} have priority {priority}", names(from), about(" with ", words));
}

rule! {
    /// What is done about a request that goes against a goal.
    #[schemars(example = Self { goal: texts(&["keep", "preserve"]), request: texts(&["delete", "remove"]), then: OnConflict::Ask })]
    ConflictRule {
        /// A goal that contains one of these words conflicts with ...
        goal: Vec<String>;
        /// ... a request that contains one of these.
        request: Vec<String>;
        /// What is done with the request.
        then: OnConflict;
    }
    says format!("{} against a goal of {} {}", request.join(" or "), goal.join(" or "), then.words());
}

choice! {
    /// What is done about a request that goes against a goal.
    OnConflict {
        /// It is refused, and the goal is named.
        Refuse = "is refused",
        /// The caller is asked whether it is meant.
        Ask = "is asked about",
        /// The request is done all the same.
        Allow = "is allowed",
    }
}

rule! {
    /// How a skill is used.
    #[schemars(example = Self { skill: "terminal".to_owned(), words: Vec::new(), then: Selection::Ask })]
    SkillRule {
        /// Skills with an id that begins like this.
        skill: String;
        /// Only for requests that contain one of these words; an empty list is any request.
        #[serde(default)]
        words: Vec<String>;
        /// How they are used.
        then: Selection;
    }
    says format!("{} {skill}*{}", then.words(), about(" for requests with ", words));
}

choice! {
    /// How a skill is used.
    Selection {
        /// It is offered before others.
        Prefer = "prefers",
        /// It may be used without an approval, even if it changes something or is marked for approval.
        Allow = "may use without asking",
        /// It needs an approval, even if it only reads.
        Ask = "asks before",
        /// It is not used.
        Forbid = "does not use",
    }
}

rule! {
    /// Which agent is asked, and how far its claims are believed.
    #[schemars(example = Self { agent: "scout".to_owned(), words: texts(&["search", "find"]), trust: 0.8, amends: false })]
    AgentRule {
        /// The name of the agent.
        agent: String;
        /// A request to another agent that names none goes to this agent if it contains one of these words.
        #[serde(default)]
        words: Vec<String>;
        /// Factor for the confidence of its claims.
        #[serde(default = "half")]
        #[schemars(range(min = 0, max = 1))]
        trust: f64;
        /// Whether its proposals change this law, within the bounds.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        amends: bool;
    }
    says {
        let amends = if *amends { "; its proposals change this law" } else { "" };
        format!("claims of {agent} have their confidence times {trust}{}{amends}", about("; it is asked about ", words))
    };
}

table! {
    /// When it asks rather than acts.
    Clarification {
        /// A call that the agent proposes is asked about, even if it is allowed or granted, when the caller said less than
        /// this part of its input. What was recalled and what skills gave does not count as said.
        #[schemars(range(min = 0, max = 1))]
        min_grounded: f64 = 0.25;
        /// A claim of another agent with less confidence than this is answered with a question.
        #[schemars(range(min = 0, max = 1))]
        min_claim: f64 = 0.3;
    }
    says format!(
        "asks before a call that the agent proposes if the caller said less than {min_grounded} of the words in its input; \
         asks what a claim with a confidence below {min_claim} is based on"
    );
}

table! {
    /// How far a request is taken apart.
    Decomposition {
        /// Most calls of the model for one request.
        #[schemars(range(min = 1, max = 100))]
        max_rounds: u32 = 8;
        /// Most calls of skills for one request.
        #[schemars(range(min = 0, max = 1000))]
        max_calls: u32 = 24;
        /// Most calls of read-only skills at a time.
        #[schemars(range(min = 1, max = 32))]
        max_parallel: u32 = 4;
    }
    says format!("{max_rounds} rounds and {max_calls} calls for a request, {max_parallel} at a time");
}

table! {
    /// How much it works on, recalls and spends.
    Attention {
        /// Most requests worked on at a time; those that wait for a person are not counted.
        #[schemars(range(min = 1, max = 64))]
        turns: u32 = 4;
        /// Most requests in the queue.
        #[schemars(range(min = 0, max = 10_000))]
        queue: u32 = 64;
        /// Memories recalled for a request; 0 turns recall off.
        #[schemars(range(min = 0, max = 50))]
        recall: u32 = 6;
        /// Lines of the conversation that the model sees.
        #[schemars(range(min = 0, max = 100))]
        conversation: u32 = 12;
        /// Most tokens of a model for one request; 0 is no limit.
        tokens: u64 = 200_000;
        /// How long a question to a person stays open, in seconds.
        #[schemars(range(min = 1, max = 31_622_400))]
        approval_seconds: u64 = 7 * 24 * 3600;
        /// How long an approval for a conversation or a prefix counts, in seconds.
        #[schemars(range(min = 1, max = 31_622_400))]
        grant_seconds: u64 = 30 * 24 * 3600;
    }
    says format!(
        "{} at a time, {queue} more in the queue; {recall} memories, {conversation} lines of conversation and \
         {tokens} tokens for each; {approval_seconds} s for a person to answer; grants count {grant_seconds} s",
        counted(*turns, "request")
    );
}

rule! {
    /// A request that the agent makes to itself at intervals.
    #[schemars(example = Self { name: "morning".to_owned(), every: 86_400, request: "recall what is due today".to_owned() })]
    Timer {
        /// The name of the timer.
        name: String;
        /// The interval in seconds.
        #[schemars(range(min = 1))]
        every: u64;
        /// The request that it makes each time.
        request: String;
    }
    says format!("{name}: every {every} s: {request}");
}

rule! {
    /// A request that the agent makes to itself, once, when it has had nothing to do for a while.
    #[schemars(example = Self { after: 3600, request: "recall what is unfinished".to_owned() })]
    Idle {
        /// After how many seconds without work.
        after: u64;
        /// The request that it makes then.
        request: String;
    }
    says format!("after {after} s: {request}");
}

rule! {
    /// A sequence of calls for requests of one form.
    #[schemars(example = Self::example())]
    Procedure {
        /// The name of the procedure.
        name: String;
        /// The form of the request, with slots: `summarise {path}`.
        when: String;
        /// The calls, in order.
        steps: Vec<ProcedureStep>;
    }
    says {
        let steps: Vec<&str> = steps.iter().map(|step| step.skill.as_str()).collect();
        format!("{name}: \u{201c}{when}\u{201d} is {}", steps.join(", then "))
    };
}

rule! {
    /// A call of a procedure.
    ProcedureStep {
        /// The id of the skill.
        skill: String;
        /// The input, in which `{slot}` stands for a part of the request and `{1}` for the output of the first step.
        #[serde(default)]
        input: BTreeMap<String, Value>;
    }
}

impl Procedure {
    fn example() -> Self {
        let input = [("path", "{path}"), ("content", "{text}")];
        let input = input.map(|(name, slot)| (name.to_owned(), Value::from(slot)));
        Self {
            name: "note".to_owned(),
            when: "note {text} in {path}".to_owned(),
            steps: vec![ProcedureStep {
                skill: "file-write".to_owned(),
                input: BTreeMap::from(input),
            }],
        }
    }
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

/// The default rules of memory.
pub(crate) fn default_memory() -> Vec<MemoryRule> {
    use Origin::{Agent, Own, Tool, User};
    memory_rules(&[User, Tool, Agent, Own])
}

/// The default rules of version 0.1.0: only claims of agents became beliefs by them.
pub(crate) fn first_memory() -> Vec<MemoryRule> {
    memory_rules(&[Origin::Agent])
}

/// Rules that promote what is from these origins and 0.7 sure, and log the rest.
fn memory_rules(promoted: &[Origin]) -> Vec<MemoryRule> {
    use Origin::{Agent, Own, Tool, User};
    let rule = |min_confidence, sources: &[Origin], action| MemoryRule {
        condition: MemoryCondition {
            min_confidence,
            min_relevance: 0.0,
            sources_allowed: sources.to_vec(),
        },
        action,
    };
    vec![
        rule(0.7, promoted, MemoryAction::PromoteToLongTerm),
        rule(0.1, &[User, Tool, Agent, Own], MemoryAction::KeepEphemeral),
    ]
}

pub(super) fn default_priority() -> Vec<PriorityRule> {
    let rule = |from, words: &[&str], priority| PriorityRule {
        from: vec![from],
        words: texts(words),
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

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// `before` and the words of a rule; empty if the rule has none.
fn about(before: &str, words: &[String]) -> String {
    match words.is_empty() {
        true => String::new(),
        false => format!("{before}{}", words.join(" or ")),
    }
}

/// So many of something, in words.
fn counted(count: u32, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

fn names(origins: &[Origin]) -> String {
    let names: Vec<&str> = origins.iter().map(|it| it.name()).collect();
    match names.is_empty() {
        true => "any origin".to_owned(),
        false => names.join(", "),
    }
}
