//! What an agent knows of itself and of its peers, from its journal alone: what it can do and did, which procedures work,
//! what it has learned and got wrong, and how far other agents were of use. Each statement has the event that it rests on.
//!
//! Layout: `tally` counts what a journal has; the rest of this file makes a portrait of it.

use serde::{Deserialize, Serialize};

use crate::context::{Ability, Goal};
use crate::error::Error;
use crate::handle::AgentHandle;
use crate::law::Law;

mod tally;

#[cfg(test)]
#[path = "portrait_tests.rs"]
mod tests;

pub(crate) use tally::Tally;

/// How many mistakes, and how many things it has learned, are told of; the newest ones.
const TOLD: usize = 20;

/// What an agent says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Portrait {
    pub agent: String,
    pub name: String,
    pub description: String,
    pub objectives: Vec<String>,
    /// The version of its law.
    pub law: u64,
    pub requests: Endings,
    pub skills: Vec<SkillUse>,
    pub procedures: Vec<ProcedureUse>,
    pub learned: Vec<Noted>,
    pub mistakes: Vec<Noted>,
    pub peers: Vec<Peer>,
    /// The same as one text, with the numbers of events in brackets.
    #[serde(default)]
    pub text: String,
}

/// How requests ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endings {
    pub answered: u64,
    /// Refused by the agent or not approved by a person.
    pub refused: u64,
    pub failed: u64,
    pub cancelled: u64,
}

impl Endings {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.answered + self.refused + self.failed + self.cancelled
    }
}

/// A statement, and the event that it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    pub says: String,
    pub event: u64,
}

/// How a skill was used, by the agent itself and by callers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillUse {
    pub skill: String,
    pub calls: u64,
    pub failed: u64,
    /// The last call; 0 if there was none.
    pub event: u64,
}

/// How a procedure of the law has done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcedureUse {
    pub name: String,
    /// The form of the requests that it is for.
    pub when: String,
    /// Its skills, in order.
    pub steps: Vec<String>,
    pub runs: u64,
    pub answered: u64,
    /// The step that failed last, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_step: Option<usize>,
    /// How long a run took on average that no person had to agree to, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<i64>,
    /// The last run; 0 if there was none.
    pub event: u64,
}

/// What an agent has seen of another one: learned from messages alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Peer {
    pub agent: String,
    /// Requests that it was sent, and those that it did.
    pub asked: u64,
    pub answered: u64,
    /// The part of requests that it is expected to do, from 0 to 1. Without any it is one half.
    pub reliability: f64,
    /// How long it took on average, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<i64>,
    /// How far the law has its claims believed, from 0 to 1.
    pub trust: f64,
    /// Its claims that were believed, and those of them that were contradicted later.
    pub claims: u64,
    pub contradicted: u64,
    /// The last event about it.
    pub event: u64,
}

impl AgentHandle {
    /// What it knows of itself and of its peers.
    pub async fn portrait(&self) -> Result<Portrait, Error> {
        let history = self.history().await?;
        let (identity, goals, abilities, version) = self
            .look(|state, _| {
                let context = state.context();
                let abilities: Vec<Ability> = context.abilities.values().cloned().collect();
                (
                    context.identity().clone(),
                    context.goals.clone(),
                    abilities,
                    context.law_version,
                )
            })
            .await?;
        let law = self.law().await?;
        let tally = Tally::of(&history);
        let mut portrait = Portrait {
            agent: self.id().to_owned(),
            name: identity.name,
            description: identity.description,
            objectives: goals.iter().map(|it: &Goal| it.text.clone()).collect(),
            law: version,
            requests: tally.requests,
            skills: tally.skills(&abilities),
            procedures: tally.procedures(&law),
            learned: newest(&tally.learned),
            mistakes: newest(&tally.mistakes),
            peers: tally.peers(&law),
            text: String::new(),
        };
        portrait.text = portrait.words().join("\n");
        Ok(portrait)
    }
}

fn newest(notes: &[Noted]) -> Vec<Noted> {
    notes.iter().rev().take(TOLD).cloned().collect()
}

/// The trust of the law in an agent: the first rule about it, or one half.
fn trust(law: &Law, agent: &str) -> f64 {
    let mut rules = law.agent_choice.iter();
    rules
        .find(|it| it.agent == agent)
        .map_or(0.5, |it| it.trust)
}

impl Portrait {
    fn words(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "I am {}, version {} of my law.",
            self.name, self.law
        )];
        if !self.description.trim().is_empty() {
            lines.push(self.description.trim().to_owned());
        }
        lines.extend(self.objectives.iter().map(|it| format!("I am for: {it}")));
        let it = &self.requests;
        lines.push(format!(
            "Of {} requests I answered {}; I or a person refused {}, {} failed, {} were cancelled.",
            it.all(),
            it.answered,
            it.refused,
            it.failed,
            it.cancelled
        ));
        let used = self.skills.iter().filter(|it| it.calls > 0);
        let used: Vec<String> = used.map(SkillUse::says).collect();
        let unused = self.skills.len() - used.len();
        lines.push(format!(
            "I can do {} things; {unused} of them I have not done yet.",
            self.skills.len()
        ));
        lines.extend(used.into_iter().map(|it| format!("  {it}")));
        section(
            &mut lines,
            "Procedures of my law:",
            &self.procedures,
            ProcedureUse::says,
        );
        section(
            &mut lines,
            "What I have learned:",
            &self.learned,
            Noted::cited,
        );
        section(
            &mut lines,
            "What I got wrong:",
            &self.mistakes,
            Noted::cited,
        );
        section(&mut lines, "Agents that I know:", &self.peers, Peer::says);
        lines
    }
}

fn section<T>(lines: &mut Vec<String>, title: &str, items: &[T], says: impl Fn(&T) -> String) {
    if !items.is_empty() {
        lines.push(title.to_owned());
        lines.extend(items.iter().map(|it| format!("  {}", says(it))));
    }
}

impl Noted {
    fn cited(&self) -> String {
        format!("{} [{}]", self.says, self.event)
    }
}

impl SkillUse {
    fn says(&self) -> String {
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", {failed} of them failed"),
        };
        let calls = times(self.calls);
        format!("{}: called {calls}{failed} [{}]", self.skill, self.event)
    }
}

impl ProcedureUse {
    fn says(&self) -> String {
        let name = format!(
            "{}: \u{201c}{}\u{201d} is {}",
            self.name,
            self.when,
            self.steps.join(", then ")
        );
        if self.runs == 0 {
            return format!("{name}; never used");
        }
        let failed = match self.failed_step {
            Some(step) => format!("; step {step} failed last"),
            None => String::new(),
        };
        let took = match self.milliseconds {
            Some(took) => format!("; {took} ms on average"),
            None => String::new(),
        };
        format!(
            "{name}; used {}, {} with success{failed}{took} [{}]",
            times(self.runs),
            self.answered,
            self.event
        )
    }
}

impl Peer {
    fn says(&self) -> String {
        let mut says = format!(
            "{}: did {} of {} requests; of {} claims {} were contradicted; my law trusts it {:.2}",
            self.agent, self.answered, self.asked, self.claims, self.contradicted, self.trust
        );
        if let Some(took) = self.milliseconds {
            says.push_str(&format!("; {took} ms on average"));
        }
        format!("{says} [{}]", self.event)
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}
