//! What is remembered of a request: what each thing perceived is worth, by the rules of updating and of memory.

use super::Work;
use super::request::source;
use crate::context::Outcome;
use crate::event::Candidate;
use crate::law::{MemoryAction, Origin, Update};
use crate::message::Body;
use crate::text;

/// Skills that give what is in memory already: their output is not remembered once more.
const OF_MEMORY: [&str; 2] = ["recall", "remember"];

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
        let claimed = match heard.letter.as_ref().map(|it| &it.body) {
            Some(Body::Claim { confidence, .. }) => *confidence,
            _ => 1.0,
        };
        let sure = match heard.origin {
            Origin::Agent => claimed * self.trust(&heard.from),
            _ => 1.0,
        };
        candidates.extend(self.weigh(heard.origin, &heard.from, &heard.text, "", sure));
        for call in turn.rounds.iter().flat_map(|it| &it.calls) {
            if let Some(Outcome::Gave(output)) = &call.outcome
                && !OF_MEMORY.contains(&call.skill.as_str())
            {
                let output = text::in_words(output);
                candidates.extend(self.weigh(Origin::Tool, &call.skill, &output, &question, 1.0));
            }
        }
        candidates
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
        let mut rules = self.law.memory.rules.iter();
        let rule = rules.find(|rule| {
            let condition = &rule.condition;
            let allowed = &condition.sources_allowed;
            confidence >= condition.min_confidence
                && relevance >= condition.min_relevance
                && (allowed.is_empty() || allowed.contains(&origin))
        })?;
        let context = if question.is_empty() {
            "what was said"
        } else {
            question
        };
        (rule.action != MemoryAction::Discard).then(|| Candidate {
            text: text::bounded(said, MOST),
            source: source(origin, from),
            confidence,
            context: context.to_owned(),
            believe: rule.action == MemoryAction::PromoteToLongTerm,
            why: format!("{confidence:.2} sure and {relevance:.2} relevant by the rules of memory"),
        })
    }
}
