//! The law of an agent: what it goes by, as data. Typed and constrained; never prose that is treated as code.
//!
//! There are three floors. The fixed rules are compiled in ([`meta`]): they say what a law may be and how it may
//! change. The law is the floor below: every kind of rule in it is consulted by [`step`](crate::step). The state, which
//! is what the law governs, is the [`Context`](crate::Context). Nothing below can change what is above it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub mod meta;
pub mod rules;
mod show;

#[cfg(test)]
#[path = "law_tests.rs"]
mod tests;

pub use meta::{Edit, Refused};
pub use rules::*;

/// The rules of one agent. What a file does not say is as in the default, which is a file, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Law {
    /// What the agent cannot change: axioms and safety.
    pub frozen: Frozen,
    /// What is made of what was perceived. The first rule that fits counts.
    #[serde(alias = "update_rules")]
    pub update: Vec<UpdateRule>,
    /// What happens when two beliefs cannot both be true.
    pub belief_conflict: BeliefConflict,
    /// What is remembered, and how firmly.
    pub memory: MemoryLaw,
    /// What comes first. The first rule that fits counts.
    pub goal_priority: Vec<PriorityRule>,
    /// What is done about a request that goes against a goal. The first rule that fits counts.
    pub goal_conflict: Vec<ConflictRule>,
    /// Which skills are used, and how. The last rule that fits counts.
    #[serde(alias = "tool_selection_rules", alias = "tool_selection")]
    pub skill_selection: Vec<SkillRule>,
    /// Which other agents are asked, and how far they are believed. The first rule that fits counts.
    pub agent_choice: Vec<AgentRule>,
    /// When it asks rather than acts.
    pub clarification: Clarification,
    /// How far a request is taken apart.
    pub decomposition: Decomposition,
    /// How much it attends to.
    pub attention: Attention,
    /// What it does by the clock.
    pub timers: Vec<Timer>,
    /// What it does when nobody wants anything.
    pub idle: Option<Idle>,
    /// What it knows how to do, step by step. The first that fits counts.
    pub procedures: Vec<Procedure>,
}

/// The default, as it is shipped.
const DEFAULT: &str = include_str!("law/default.toml");

impl Law {
    /// The law of a plain agent of skills, which has no rules: a person is asked about skills that are marked so, and
    /// nothing else is decided.
    pub fn empty() -> Self {
        Self {
            update: Vec::new(),
            goal_priority: Vec::new(),
            ..Self::default()
        }
    }
}

impl Default for Law {
    fn default() -> Self {
        Self {
            frozen: Frozen::default(),
            update: rules::default_update(),
            belief_conflict: BeliefConflict::default(),
            memory: MemoryLaw::default(),
            goal_priority: rules::default_priority(),
            goal_conflict: Vec::new(),
            skill_selection: Vec::new(),
            agent_choice: Vec::new(),
            clarification: Clarification::default(),
            decomposition: Decomposition::default(),
            attention: Attention::default(),
            timers: Vec::new(),
            idle: None,
            procedures: Vec::new(),
        }
    }
}

impl Law {
    /// The law as a file says it: TOML, or JSON if it begins with a brace. What is wrong with it is said.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let law: Self = match text.trim_start().starts_with('{') {
            true => serde_json::from_str(text).map_err(|error| Refused::form(error.to_string()))?,
            false => toml::from_str(text).map_err(|error| Refused::form(error.to_string()))?,
        };
        meta::check(&law)?;
        Ok(law)
    }

    /// The file with the default law, for people to begin from.
    pub fn default_file() -> &'static str {
        DEFAULT
    }

    /// What a law looks like, for programs.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).into()
    }

    /// What it is known by: the same rules have the same hash, whoever wrote them down.
    pub fn hash(&self) -> String {
        // Members of objects come out in a fixed order: structs have one, and maps are ordered.
        let canonical = serde_json::to_vec(self).unwrap_or_default();
        let mut text = String::with_capacity(64);
        for byte in Sha256::digest(canonical) {
            text.push_str(&format!("{byte:02x}"));
        }
        text
    }

    /// Whether it says that something is done by the clock.
    pub(crate) fn minds_time(&self) -> bool {
        !self.timers.is_empty() || self.idle.is_some()
    }

    /// The rules by which records move in the agent's own space.
    pub fn layers(&self) -> memory::Rules {
        memory::Rules {
            contradiction: self.belief_conflict.contradiction,
            newer_prevails: self.belief_conflict.newer_prevails,
            ..self.memory.layers.clone()
        }
    }
}

/// The agent that is asked about something when nobody says whom to ask: the first whose words fit.
pub fn choose(law: &Law, request: &str) -> Option<String> {
    let mut rules = law
        .agent_choice
        .iter()
        .filter(|rule| !rule.words.is_empty());
    let rule = rules.find(|rule| crate::text::has_any(request, &rule.words))?;
    Some(rule.agent.clone())
}
