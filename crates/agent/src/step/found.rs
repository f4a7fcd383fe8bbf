//! Found text: what a model has seen that is not its caller's word, and whether a call follows from the caller's words.
//!
//! Memory of others, output of tools, files and letters may hold text that reads like an instruction. A call that may
//! follow from such text is covered by no grant for the session: a person sees it and decides. So that this cannot be
//! reached by a detour, an answer that was given after found text is found text for the rest of its conversation.

use serde_json::Value;

use super::request::source;
use crate::context::{Called, Context, Turn};
use crate::law::Origin;
use crate::text;
use crate::turn::is_principal;

/// Skills with an output that says no more than their input does.
const ECHOES: [&str; 2] = ["file-write", "remember"];

impl Turn {
    /// Whether its model has seen found text, apart from what was said before it. The results of the last round were
    /// not seen when that round was thought of.
    pub(crate) fn saw_found(&self, rounds_seen: usize) -> bool {
        let heard = &self.heard;
        let own = source(Origin::User, heard.caller());
        let called = |call: &Called| {
            call.effect.is_some()
                && call.outcome.is_some()
                && !ECHOES.contains(&call.skill.as_str())
        };
        let mut rounds = self.rounds.iter().take(rounds_seen);
        heard.origin == Origin::Agent
            || is_principal(heard.caller())
            || self.found.iter().any(|it| it.source != own)
            || rounds.any(|round| round.calls.iter().any(called))
    }
}

impl Context {
    /// Whether a call of a request may follow from found text: its model has seen such text, and the caller has not said
    /// all of the input and something of the name of the skill.
    pub(crate) fn follows_from_found(&self, turn: &Turn, skill: &str, input: &Value) -> bool {
        let rounds_seen = turn.rounds.len().saturating_sub(1);
        let before = self.said_before(&turn.heard);
        let saw = turn.saw_found(rounds_seen) || before.iter().any(|it| it.found);
        saw && !self.is_said(turn, skill, input)
    }

    fn is_said(&self, turn: &Turn, skill: &str, input: &Value) -> bool {
        let lines = self.said_before(&turn.heard).iter().chain(&turn.asides);
        let lines = lines.filter(|it| it.by.is_some());
        let mut said = turn.heard.text.clone();
        for line in lines {
            said.push('\n');
            said.push_str(&line.text);
        }
        let name: Vec<String> = skill.split(['-', '_', '.']).map(str::to_owned).collect();
        text::has_any(&said, &name) && text::says_all(&said, input)
    }
}
