//! The calls of a request: which, in which order, how many at a time, and what comes of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Work;
use crate::context::{Called, Change, Outcome, Round, Stage, Turn};
use crate::event::{Call, Effect, EffectId, End};
use crate::law::{Law, Selection};
use crate::text;
use skill::NOT_APPROVED;

/// A call that was thought of and nothing has come of yet.
pub(super) fn planned(call: &Call) -> Called {
    Called {
        id: call.id.clone(),
        skill: call.skill.clone(),
        input: call.input.clone(),
        effect: None,
        outcome: None,
    }
}

/// How the law wants a skill to be used for a request.
pub(crate) fn selection(law: &Law, skill: &str, request: &str) -> Selection {
    rule(law, skill, request).unwrap_or(Selection::Allow)
}

/// What the law says of the use of a skill for a request, if it says something.
pub(crate) fn rule(law: &Law, skill: &str, request: &str) -> Option<Selection> {
    let mut never = law.frozen.never.iter();
    if never.any(|it| skill.starts_with(it.as_str())) {
        return Some(Selection::Forbid);
    }
    let fitting = law
        .skill_selection
        .iter()
        .rev()
        .find(|rule| skill.starts_with(&rule.skill) && text::has_any(request, &rule.words));
    fitting.map(|rule| rule.then)
}

impl Work<'_> {
    /// Gives out the next calls of the last round. Those that change something are made one at a time and
    /// in their order.
    pub(super) fn advance(&mut self, id: &str) {
        while let Some(turn) = self.turn(id) {
            let Some(round) = turn.rounds.last() else {
                return;
            };
            let runs = |call: &&Called| call.effect.is_some() && call.outcome.is_none();
            let running: Vec<&Called> = round.calls.iter().filter(runs).collect();
            let waits = |call: &Called| call.effect.is_none() && call.outcome.is_none();
            let Some(place) = round.calls.iter().position(waits) else {
                if running.is_empty() {
                    self.after_calls(&turn);
                }
                return;
            };
            let call = &round.calls[place];
            if let Some((code, why)) = self.unusable(&turn, call) {
                let outcome = Outcome::Failed(code.to_owned(), why);
                self.change(Change::Outcome {
                    turn: id.into(),
                    call: place,
                    outcome,
                });
                continue;
            }
            let harmless =
                |skill: &str| self.now.abilities.get(skill).is_some_and(|it| it.read_only);
            let parallel = harmless(&call.skill) && running.iter().all(|it| harmless(&it.skill));
            let most = self.law.decomposition.max_parallel as usize;
            if !running.is_empty() && (!parallel || running.len() >= most) {
                return;
            }
            let effect = self.call_skill(id, call);
            self.change(Change::Calling {
                turn: id.into(),
                call: place,
                effect,
            });
        }
    }

    fn call_skill(&mut self, id: &str, call: &Called) -> EffectId {
        let (skill, input) = (call.skill.clone(), call.input.clone());
        self.intent(Some(id), Effect::Call { skill, input })
    }

    /// Why a call is not made, if it is not.
    fn unusable(&self, turn: &Turn, call: &Called) -> Option<(&'static str, String)> {
        let made = turn.rounds.iter().flat_map(|it| &it.calls);
        let made = made.filter(|it| it.effect.is_some()).count();
        let most = self.law.decomposition.max_calls as usize;
        if made >= most {
            return Some((
                "limit",
                format!("no more than {most} calls are made for one request"),
            ));
        }
        if !self.now.abilities.contains_key(&call.skill) {
            return Some((
                "unknown-skill",
                format!("there is no skill {:?}", call.skill),
            ));
        }
        if let Some(mode) = turn.heard.mode.as_ref().filter(|it| !it.uses(&call.skill)) {
            let why = format!("the mode {:?} does not use {:?}", mode.name, call.skill);
            return Some(("mode", why));
        }
        match selection(self.law, &call.skill, &turn.heard.text) {
            Selection::Forbid => Some((
                "forbidden",
                format!("my law forbids me to use {:?} for this", call.skill),
            )),
            _ => None,
        }
    }

    /// Whether too much of an input was not said by the caller. What was recalled, what skills gave and what the agent said
    /// itself does not count: text that is found could otherwise bring about the calls that it names.
    pub(super) fn unsaid(&self, turn: &Turn, input: &Value) -> bool {
        let least = self.law.clarification.min_grounded;
        if least <= 0.0 {
            return false;
        }
        let mut said = turn.heard.text.clone();
        let lines = self.now.said_before(&turn.heard).iter();
        let lines = lines.chain(&turn.asides);
        for line in lines.filter(|it| it.by.as_ref() == Some(&turn.heard.from)) {
            said.push('\n');
            said.push_str(&line.text);
        }
        text::grounded(input, &said) < least
    }

    /// A person said whether a call is meant.
    pub(super) fn confirmed(
        &mut self,
        id: &str,
        asked: EffectId,
        agreed: bool,
        said: Option<&str>,
    ) {
        let Some((turn, place)) = self.place(id, asked) else {
            return;
        };
        let Some(call) = turn.rounds.last().and_then(|it| it.calls.get(place)) else {
            return;
        };
        match agreed {
            true => {
                let effect = self.call_skill(id, call);
                self.change(Change::Calling {
                    turn: id.into(),
                    call: place,
                    effect,
                });
            }
            false => {
                let why = said.unwrap_or("the question was declined");
                let why = format!("it was asked whether that is meant, and the answer is: {why}");
                let outcome = Outcome::Failed("not-meant".to_owned(), why);
                self.change(Change::Outcome {
                    turn: id.into(),
                    call: place,
                    outcome,
                });
                self.advance(id);
            }
        }
    }

    pub(super) fn gave(&mut self, effect: EffectId, output: &Value) {
        let bytes = text::in_words(output);
        let output = match bytes.len() > crate::limits::OUTPUT {
            true => Value::String(text::bounded(&bytes, crate::limits::OUTPUT)),
            false => output.clone(),
        };
        self.came(effect, Outcome::Gave(output));
    }

    pub(super) fn refused(&mut self, effect: EffectId, code: &str, message: &str) {
        self.came(effect, Outcome::Failed(code.to_owned(), message.to_owned()));
    }

    fn came(&mut self, effect: EffectId, outcome: Outcome) {
        let Some((turn, _)) = self.settle_for(effect) else {
            return;
        };
        let id = turn.heard.turn.clone();
        if let Some((_, call)) = self.place(&id, effect) {
            self.change(Change::Outcome {
                turn: id.clone(),
                call,
                outcome,
            });
            self.advance(&id);
        }
    }

    /// Which call of the last round has this number.
    fn place(&self, id: &str, effect: EffectId) -> Option<(Arc<Turn>, usize)> {
        let turn = self.turn(id)?;
        let calls = &turn.rounds.last()?.calls;
        let place = calls.iter().position(|it| it.effect == Some(effect))?;
        Some((turn, place))
    }

    /// Every call of the round has come to something.
    fn after_calls(&mut self, turn: &Turn) {
        let id = turn.heard.turn.as_str();
        let most = self.law.decomposition.max_rounds as usize;
        match turn.procedure {
            Some(_) => self.proceed(id),
            None if turn.rounds.len() >= most => {
                let text = format!("I stopped after {most} rounds without coming to an end.");
                self.conclude(id, text, End::Failed);
            }
            None => self.think(id),
        }
    }

    /// The steps of a procedure after the one under way that have an input already: none needs the output of a step that is
    /// not done.
    pub(super) fn further_steps(&self, id: &str) -> Vec<(String, Value)> {
        let Some(turn) = self.turn(id) else {
            return Vec::new();
        };
        let Some((name, slots)) = &turn.procedure else {
            return Vec::new();
        };
        let mut filled = slots.clone();
        let calls = turn.rounds.iter().filter_map(|it| it.calls.first());
        for (number, call) in calls.enumerate() {
            if let Some(Outcome::Gave(output)) = &call.outcome {
                filled.insert((number + 1).to_string(), text::in_words(output));
            }
        }
        let begun = turn.rounds.len();
        let procedure = self.law.procedures.iter().find(|it| &it.name == name);
        let steps = procedure.map_or(&[][..], |it| &it.steps);
        let open: Vec<String> = (begun..=steps.len())
            .map(|step| format!("{{{step}}}"))
            .collect();
        let known = |input: &Value| {
            let text = input.to_string();
            !open.iter().any(|slot| text.contains(slot))
        };
        let steps = steps.iter().skip(begun).map(|step| {
            let input = step
                .input
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()));
            (step.skill.clone(), Value::Object(input.collect()))
        });
        steps
            .filter(|(_, input)| known(input))
            .map(|(skill, input)| (skill, text::fill(&input, &filled)))
            .collect()
    }

    /// The next step of a procedure, or its end.
    pub(super) fn proceed(&mut self, id: &str) {
        let Some(turn) = self.turn(id) else {
            return;
        };
        let Some((name, slots)) = &turn.procedure else {
            return;
        };
        let done = turn
            .rounds
            .iter()
            .filter_map(|it| it.calls.first()?.outcome.as_ref());
        let mut filled: BTreeMap<String, String> = slots.clone();
        let mut last = String::new();
        for (number, outcome) in done.enumerate() {
            match outcome {
                Outcome::Gave(output) => {
                    last = text::in_words(output);
                    filled.insert((number + 1).to_string(), last.clone());
                }
                Outcome::Failed(code, why) => {
                    let text =
                        format!("The procedure {name} stopped at step {}: {why}", number + 1);
                    let end = match code.as_str() {
                        NOT_APPROVED => End::NotApproved,
                        "refused" | "forbidden" => End::Refused,
                        _ => End::Failed,
                    };
                    return self.conclude(id, text, end);
                }
            }
        }
        let procedure = self.law.procedures.iter().find(|it| &it.name == name);
        let Some(next) = procedure.and_then(|it| it.steps.get(turn.rounds.len())) else {
            return self.conclude(id, last, End::Answered);
        };
        let input = next
            .input
            .iter()
            .map(|(name, value)| (name.clone(), text::fill(value, &filled)));
        let call = Called {
            id: format!("step-{}", turn.rounds.len() + 1),
            skill: next.skill.clone(),
            input: Value::Object(input.collect()),
            effect: None,
            outcome: None,
        };
        let round = Round {
            text: String::new(),
            thoughts: Vec::new(),
            calls: vec![call],
        };
        self.change(Change::Stage {
            turn: id.into(),
            stage: Stage::Acting,
        });
        self.change(Change::Round {
            turn: id.into(),
            round: Arc::new(round),
            tokens: 0,
        });
        self.advance(id);
    }
}
