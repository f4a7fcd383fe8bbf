//! The law of an agent: the rules it goes by, as typed data and never as prose that is treated as code.
//!
//! Layout: [`rules`] declares every kind of rule once; [`meta`] has the fixed rules above the law, its bounds; `edit`
//! changes a law; `forms` reads the forms of the source document; `show` prints a law and compares two; `default.toml` is
//! the default law as a file, which a test keeps equal to the declarations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

mod edit;
mod forms;
pub mod meta;
pub mod rules;
mod show;

#[cfg(test)]
#[path = "law_tests.rs"]
mod tests;

pub use edit::Edit;
pub use meta::Refused;
pub use rules::*;

/// Declares [`Law`]: a line is a kind of rule, with its title on the page of `law show`.
macro_rules! law {
    ($(#[$meta:meta])* Law { $($(#[$about:meta])* $kind:ident: $type:ty = $default:expr, $title:literal;)+ }) => {
        rules::table! { $(#[$meta])* Law { $($(#[$about])* $kind: $type = $default;)+ } }

        impl Law {
            /// Each kind of rule as the page of `law show` has it: a title and the lines below it.
            fn sections(&self) -> Vec<(&'static str, Vec<String>)> {
                vec![$(($title, rules::Says::says(&self.$kind))),+]
            }
        }
    };
}

law! {
    /// The rules of one agent.
    ///
    /// There are three levels. The fixed rules ([`meta`]) are compiled in: they bound every value and say how a law may
    /// change. The law is data: each agent has its own, every version of it is an event in the agent's journal, and
    /// [`step`](crate::step) consults every kind of rule in it. The state ([`Context`](crate::Context)) is what the law
    /// governs. No level can change the one above: a step cannot edit the law except by an event that carries an
    /// [`Edit`] with a justification, and an edit cannot change `frozen` or leave the bounds.
    ///
    /// A law enters in three ways, and each one passes [`meta::check`]: [`Law::parse`] reads a file, a profile brings one
    /// when an agent is admitted, and [`Edit::apply`] changes one. A journal holds checked laws only. Code that consults
    /// a rule may therefore rely on the bounds, for example that `attention.turns` is not zero, which would block the
    /// agent for ever.
    ///
    /// A file names what differs from the default; kinds and fields that it leaves out have their default. An unknown
    /// name is an error, because a misspelt rule that is silently skipped would be a rule that does not govern.
    ///
    /// The law is not part of the prompt: a model that is told a rule may forget it, or be talked out of it by the
    /// text of a web page. `step` is a pure function outside of the model, so a forbidden skill is not called even if
    /// the model asks for it. The model is told the rules that are active for a request, so that it does not plan in vain.
    ///
    /// The [`hash`](Law::hash) identifies a version. It is computed over the JSON with the fields in the order of their
    /// declaration; reordering the fields would change the hash of every stored law.
    Law {
        /// What the agent can never change itself: axioms and safety.
        frozen: Frozen = Frozen::default(), "Axioms and safety (frozen: only an accepted manifest changes them)";
        /// What becomes of a perception. The first rule that fits counts.
        #[serde(alias = "update_rules")]
        #[schemars(length(max = 200))]
        update: Vec<UpdateRule> = rules::default_update(), "Perceptions";
        /// What happens when two beliefs contradict each other.
        belief_conflict: BeliefConflict = BeliefConflict::default(), "Contradicting beliefs";
        /// What is remembered, and how firmly.
        memory: MemoryLaw = MemoryLaw::default(), "Memory";
        /// Which requests come first. The first rule that fits counts.
        #[schemars(length(max = 200))]
        goal_priority: Vec<PriorityRule> = rules::default_priority(), "Priorities";
        /// What is done about a request that goes against a goal. The first rule that fits counts.
        #[schemars(length(max = 200))]
        goal_conflict: Vec<ConflictRule> = Vec::new(), "Requests against goals";
        /// Which skills are used, and how. The last rule that fits counts.
        #[serde(alias = "tool_selection_rules", alias = "tool_selection")]
        #[schemars(length(max = 200))]
        skill_selection: Vec<SkillRule> = Vec::new(), "Skills";
        /// Which other agents are asked, and how far their claims are believed. The first rule that fits counts.
        #[schemars(length(max = 200))]
        agent_choice: Vec<AgentRule> = Vec::new(), "Other agents";
        /// When it asks rather than acts.
        clarification: Clarification = Clarification::default(), "Questions";
        /// How far a request is taken apart.
        decomposition: Decomposition = Decomposition::default(), "Limits of a request";
        /// How much it works on, recalls and spends.
        attention: Attention = Attention::default(), "Limits of the agent";
        /// What it does at intervals.
        #[schemars(length(max = 200))]
        timers: Vec<Timer> = Vec::new(), "Timers";
        /// What it does when it has nothing to do.
        idle: Option<Idle> = None, "When idle";
        /// How requests of a form are done, step by step. The first that fits counts.
        #[schemars(length(max = 200))]
        procedures: Vec<Procedure> = Vec::new(), "Procedures";
    }
}

/// The default law as a file, with comments. A test keeps it equal to the declarations.
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

    /// Reads a law from TOML, or from JSON if the text begins with a brace. The kinds of rules may have the names of the
    /// source document (`memory_rules`), also below `policy`.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let json = text.trim_start().starts_with('{');
        let tree: Option<serde_json::Value> = match json {
            true => serde_json::from_str(text).ok(),
            false => toml::from_str(text).ok(),
        };
        let law: Self = match tree.filter(forms::is_foreign) {
            Some(tree) => {
                let tree = forms::own(tree).map_err(Refused::form)?;
                serde_json::from_value(tree).map_err(|error| Refused::form(error.to_string()))?
            }
            // An error of the text itself has its line.
            None if json => {
                serde_json::from_str(text).map_err(|error| Refused::form(error.to_string()))?
            }
            None => toml::from_str(text).map_err(|error| Refused::form(error.to_string()))?,
        };
        meta::check(&law)?;
        Ok(law)
    }

    /// The default law as a commented file, for people to begin from.
    pub fn default_file() -> &'static str {
        DEFAULT
    }

    /// The JSON schema of a law, with help, defaults and bounds.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).into()
    }

    /// SHA-256 over the canonical JSON: equal rules have equal hashes, also when their files differ.
    pub fn hash(&self) -> String {
        // The order of members is fixed: structs have the order of their declaration, and maps are sorted.
        let canonical = serde_json::to_vec(self).unwrap_or_default();
        let mut text = String::with_capacity(64);
        for byte in Sha256::digest(canonical) {
            text.push_str(&format!("{byte:02x}"));
        }
        text
    }

    /// Whether a timer or an idle pursuit needs the clock.
    pub(crate) fn minds_time(&self) -> bool {
        !self.timers.is_empty() || self.idle.is_some()
    }

    /// The rules of the agent's memory space: `memory.layers` with the values of `belief_conflict`.
    pub fn layers(&self) -> memory::Rules {
        memory::Rules {
            contradiction: self.belief_conflict.contradiction,
            newer_prevails: self.belief_conflict.newer_prevails,
            ..self.memory.layers.clone()
        }
    }
}

/// The agent that a request without a named agent goes to: the first rule with fitting words.
pub fn choose(law: &Law, request: &str) -> Option<String> {
    let mut rules = law
        .agent_choice
        .iter()
        .filter(|rule| !rule.words.is_empty());
    let rule = rules.find(|rule| crate::text::has_any(request, &rule.words))?;
    Some(rule.agent.clone())
}
