//! The memory of a request: what each thing perceived is worth, by the rules of updating and of memory.

use memory::Utterance;
use serde_json::Value;

use super::request::source;
use super::{AgentState, Work};
use crate::context::{Outcome, Turn};
use crate::event::{Candidate, Request};
use crate::law::{MemoryAction, MemoryRule, Origin, Update, default_memory, first_memory};
use crate::message::{self, Body};
use crate::text;

/// Skills that give what the agent holds already, or has just forgotten: their output is not remembered once more.
const OF_MEMORY: [&str; 6] = [
    "recall",
    "remember",
    "forget",
    "about",
    "remind",
    "reminders",
];

/// The skill by which another agent is asked.
const ASK_AGENT: &str = "ask-agent";

/// What another agent answered: its id, its words, and how sure it is. They count as that agent's.
fn answer_of<'a>(skill: &str, output: &'a Value) -> Option<(&'a str, &'a str, f64)> {
    let text = |name: &str| output.get(name).and_then(Value::as_str);
    let confidence = output.get("confidence").and_then(Value::as_f64);
    (skill == ASK_AGENT).then_some(())?;
    Some((
        text("agent")?,
        text("says")?,
        confidence.unwrap_or(message::UNSAID),
    ))
}

/// Whether a request asked to remember or to forget something, and that was done or declined. What is remembered is a record
/// of its own: the request would be a copy of its words, which stays when the record is forgotten.
fn is_about_memory(turn: &Turn) -> bool {
    let asks = text::asks_to_remember(&turn.heard.text);
    let mut calls = turn.rounds.iter().flat_map(|it| &it.calls);
    calls.any(|call| match &call.outcome {
        Some(Outcome::Gave(output)) => match call.skill.as_str() {
            "forget" => true,
            "remember" => asks || output.get("outcome") == Some(&Value::from("declined")),
            _ => false,
        },
        _ => false,
    })
}

/// The longest thing that is remembered as it is, in bytes.
const MOST: usize = 2_000;

impl Work<'_> {
    pub(super) fn candidates(&self, id: &str) -> Vec<Candidate> {
        let Some(turn) = self.turn(id) else {
            return Vec::new();
        };
        let heard = &turn.heard;
        let question = text::bounded(&heard.text, 500);
        let mut candidates = Vec::new();
        let said = self.weigh_said(heard);
        candidates.extend(said.filter(|_| !is_about_memory(&turn)));
        for call in turn.rounds.iter().flat_map(|it| &it.calls) {
            if let Some(Outcome::Gave(output)) = &call.outcome
                && !OF_MEMORY.contains(&call.skill.as_str())
            {
                candidates.extend(match answer_of(&call.skill, output) {
                    Some((agent, said, confidence)) => {
                        let sure = confidence * self.trust(agent);
                        self.weigh(Origin::Agent, agent, said, &question, sure)
                    }
                    None => {
                        let output = text::in_words(output);
                        self.weigh(Origin::Tool, &call.skill, &output, &question, 1.0)
                    }
                });
            }
        }
        candidates
    }

    /// What a request itself is worth. None: the law discards it.
    pub(super) fn weigh_said(&self, heard: &Request) -> Option<Candidate> {
        let claimed = match heard.letter.as_ref().map(|it| &it.body) {
            Some(Body::Claim { confidence, .. }) => *confidence,
            Some(Body::Answer { confidence, .. }) => confidence.unwrap_or(message::UNSAID),
            _ => 1.0,
        };
        let sure = match heard.origin {
            Origin::Agent => claimed * self.trust(&heard.from),
            _ => 1.0,
        };
        let public = matches!(
            heard.letter.as_ref().map(|it| &it.body),
            Some(Body::Claim { public: true, .. })
        );
        let said = self.weigh(heard.origin, &heard.from, &heard.text, "", sure);
        said.map(|it| Candidate { public, ..it })
    }

    /// What one thing is worth: nothing, to be logged, or to be believed.
    fn weigh(
        &self,
        origin: Origin,
        from: &str,
        said: &str,
        question: &str,
        sure: f64,
    ) -> Option<Candidate> {
        let mut updates = self.law.update.iter();
        let update = updates.find(|rule| {
            rule.on == origin && from.starts_with(&rule.from) && text::has_any(said, &rule.words)
        })?;
        if update.then == Update::Ignore || said.trim().is_empty() {
            return None;
        }
        let confidence = (update.confidence * sure).clamp(0.0, 1.0);
        let goals = self.now.goals.iter().map(|goal| goal.text.as_str());
        let relevance = text::relevance(said, goals.chain([question]));
        let action = action(&self.law.memory.rules, origin, confidence, relevance)?;
        // Questions, commands and greetings are logged and not believed.
        let knowledge = Utterance::of(said).tells();
        let context = if question.is_empty() {
            "what was said"
        } else {
            question
        };
        (action != MemoryAction::Discard).then(|| Candidate {
            text: text::bounded(said, MOST),
            source: source(origin, from),
            confidence,
            context: context.to_owned(),
            believe: action == MemoryAction::PromoteToLongTerm && knowledge,
            why: format!("{confidence:.2} sure and {relevance:.2} relevant by the rules of memory"),
            public: false,
        })
    }
}

/// What the rules of memory say to something that a caller wants remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It may be a lasting record.
    Believe,
    /// It may be logged.
    Log,
    Discard,
}

/// Judges a text by the law. Without a confidence of its own it has that which the law gives to its origin.
pub(crate) fn judge(
    state: &AgentState,
    origin: Origin,
    from: &str,
    said: &str,
    confidence: Option<f64>,
) -> Judgement {
    let law = state.law();
    let confidence = match confidence {
        Some(confidence) => confidence,
        None => {
            let mut updates = law.update.iter();
            let update = updates.find(|rule| {
                rule.on == origin
                    && from.starts_with(&rule.from)
                    && text::has_any(said, &rule.words)
            });
            match update {
                Some(update) if update.then == Update::Ignore => return Judgement::Discard,
                Some(update) => update.confidence,
                None => 1.0,
            }
        }
    };
    let goals = state
        .context()
        .goals()
        .iter()
        .map(|goal| goal.text.as_str());
    let relevance = text::relevance(said, goals);
    // The first default rules had no rule for lasting records of callers; agents with them use the present defaults.
    let rules = match law.memory.rules == first_memory() {
        true => default_memory(),
        false => law.memory.rules.clone(),
    };
    match action(&rules, origin, confidence, relevance) {
        Some(MemoryAction::PromoteToLongTerm) => Judgement::Believe,
        Some(MemoryAction::KeepEphemeral) => Judgement::Log,
        Some(MemoryAction::Discard) | None => Judgement::Discard,
    }
}

/// What the first rule that fits says. None if no rule fits.
fn action(
    rules: &[MemoryRule],
    origin: Origin,
    confidence: f64,
    relevance: f64,
) -> Option<MemoryAction> {
    let rule = rules.iter().find(|rule| {
        let condition = &rule.condition;
        let allowed = &condition.sources_allowed;
        confidence >= condition.min_confidence
            && relevance >= condition.min_relevance
            && (allowed.is_empty() || allowed.contains(&origin))
    });
    rule.map(|rule| rule.action)
}
