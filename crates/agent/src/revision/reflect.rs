//! Lessons of an agent from its episodes: changes of its law that the journal speaks for, as proposals. They are plain
//! rules over what was recorded; the gate judges them like those of any other author.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::approval::ApprovalState;
use crate::context::{Change, Outcome};
use crate::event::{Candidate, Effect, EffectId, End, EventKind, TurnId};
use crate::journal::Record;
use crate::law::{Edit, Law, ProcedureStep, Selection};
use crate::text;

/// How often something has to happen before it is a reason.
const OFTEN: usize = 3;

/// The most events that a proposal of this file cites.
const CITED: usize = 16;

/// A change that the journal speaks for, with the events.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Suggestion {
    pub(super) edit: Edit,
    pub(super) evidence: Vec<u64>,
}

impl Suggestion {
    fn new(
        target: String,
        change: Value,
        why: String,
        events: impl IntoIterator<Item = u64>,
    ) -> Self {
        let events: BTreeSet<u64> = events.into_iter().collect();
        Self {
            edit: Edit {
                target,
                change,
                justification: why,
            },
            evidence: events.into_iter().take(CITED).collect(),
        }
    }
}

/// What the journal suggests to change in the law, the plainest reasons first.
pub(super) fn suggestions(history: &[(u64, Record)], law: &Law) -> Vec<Suggestion> {
    let seen = Seen::of(history);
    let mut found = seen.contradicted(law);
    found.extend(seen.rejected(law));
    found.extend(seen.failing(law));
    found.extend(seen.procedures(law));
    found
}

/// A request that was answered by calls of skills.
#[derive(Debug)]
struct Episode {
    event: u64,
    request: String,
    calls: Vec<(String, Value, Value)>,
}

/// What is of interest in a journal.
#[derive(Debug, Default)]
struct Seen {
    /// Beliefs that were contradicted: the origin, the confidence, and the events.
    contradicted: Vec<(String, f64, u64, u64)>,
    /// Decisions of people about calls: the skill, whether it was approved, and the event.
    decided: Vec<(String, bool, u64)>,
    /// Calls that ended: the skill, whether it gave something, and the event.
    called: Vec<(String, bool, u64)>,
    episodes: Vec<Episode>,
}

impl Seen {
    fn of(history: &[(u64, Record)]) -> Self {
        let mut seen = Self::default();
        let mut remembered: BTreeMap<EffectId, Vec<Candidate>> = BTreeMap::new();
        let mut beliefs: BTreeMap<String, (String, f64, u64)> = BTreeMap::new();
        let mut asked: BTreeMap<EffectId, String> = BTreeMap::new();
        let mut turns: BTreeMap<TurnId, Episode> = BTreeMap::new();
        let mut by_procedure: BTreeSet<TurnId> = BTreeSet::new();
        for (event, record) in history {
            for change in &record.changes {
                match change {
                    Change::Intended { pending } => {
                        if let Effect::Remember { candidates } = &pending.intent.effect {
                            remembered.insert(pending.intent.id, candidates.clone());
                        }
                    }
                    Change::Asked { approval } => {
                        asked.insert(approval.id, approval.skill.clone());
                    }
                    Change::Decided {
                        approval,
                        standing,
                        by,
                    } if by != "cancelled" => {
                        let skill = asked.get(approval).cloned().unwrap_or_default();
                        let approved = match standing {
                            ApprovalState::Approved(_) => true,
                            ApprovalState::Rejected(_) => false,
                            ApprovalState::Pending | ApprovalState::Expired => continue,
                        };
                        seen.decided.push((skill, approved, *event));
                    }
                    Change::Opened { turn } => {
                        let heard = &turn.heard;
                        turns.insert(
                            heard.turn.clone(),
                            Episode {
                                event: *event,
                                request: heard.text.clone(),
                                calls: Vec::new(),
                            },
                        );
                    }
                    Change::Procedure { turn, .. } => drop(by_procedure.insert(turn.clone())),
                    Change::Round { turn, round, .. } => {
                        if let Some(episode) = turns.get_mut(turn) {
                            let calls = round.calls.iter();
                            let calls =
                                calls.map(|it| (it.skill.clone(), it.input.clone(), Value::Null));
                            episode.calls.extend(calls);
                        }
                    }
                    Change::Outcome { turn, outcome, .. } => {
                        let Some(episode) = turns.get_mut(turn) else {
                            continue;
                        };
                        let mut open = episode.calls.iter_mut();
                        let Some(call) = open.find(|it| it.2.is_null()) else {
                            continue;
                        };
                        match outcome {
                            Outcome::Gave(output) => {
                                seen.called.push((call.0.clone(), true, *event));
                                call.2 = json!(text::in_words(output));
                            }
                            Outcome::Failed(..) => {
                                seen.called.push((call.0.clone(), false, *event));
                                // An episode with a failed call is no example of how something is done.
                                turns.remove(turn);
                            }
                        }
                    }
                    Change::Ended { turn, answer } => {
                        let episode = turns.remove(turn);
                        let by_rule = by_procedure.remove(turn);
                        if let Some(episode) = episode
                            && answer.end == End::Answered
                            && !by_rule
                            && episode.calls.len() > 1
                        {
                            seen.episodes.push(episode);
                        }
                    }
                    _ => {}
                }
            }
            if let EventKind::Remembered { effect, outcomes } = &record.event.what {
                let candidates = remembered.remove(effect).unwrap_or_default();
                for (candidate, result) in candidates.iter().zip(outcomes) {
                    let against = result.against_record.as_ref();
                    if let Some((source, sure, at)) = against.and_then(|it| beliefs.get(it)) {
                        let origin = source.split(':').next().unwrap_or_default().to_owned();
                        seen.contradicted.push((origin, *sure, *at, *event));
                    }
                    if candidate.believe {
                        let belief = (candidate.source.clone(), candidate.confidence, *event);
                        beliefs.insert(result.record.clone(), belief);
                    }
                }
            }
        }
        seen
    }

    /// Beliefs of one origin that were contradicted again and again: from when on it is believed rises.
    fn contradicted(&self, law: &Law) -> Vec<Suggestion> {
        let mut found = Vec::new();
        for origin in ["tool", "agent"] {
            let of = self.contradicted.iter().filter(|it| it.0 == origin);
            let of: Vec<_> = of.collect();
            if of.len() < OFTEN {
                continue;
            }
            let surest = of.iter().map(|it| it.1).fold(0.0, f64::max);
            let least = ((surest + 0.05).min(1.0) * 100.0).round() / 100.0;
            let target = format!("memory_rules[{origin}]");
            let change = json!(format!("min_confidence = {least}"));
            let why = format!(
                "{} beliefs from {origin} results were contradicted later; the surest had {surest:.2}",
                of.len()
            );
            let events = of.iter().flat_map(|it| [it.2, it.3]);
            let suggestion = Suggestion::new(target, change, why, events);
            // The rule may ask for more already.
            let rises = suggestion.edit.apply(law).is_ok_and(|changed| {
                let sum = |law: &Law| -> f64 {
                    let rules = law.memory.rules.iter();
                    rules.map(|it| it.condition.min_confidence).sum()
                };
                changed.memory.rules.len() > law.memory.rules.len() || sum(&changed) > sum(law)
            });
            if rises {
                found.push(suggestion);
            }
        }
        found
    }

    /// A skill that people have rejected every time is not used.
    fn rejected(&self, law: &Law) -> Vec<Suggestion> {
        let skills: BTreeSet<&str> = self.decided.iter().map(|it| it.0.as_str()).collect();
        let mut found = Vec::new();
        for skill in skills {
            let of: Vec<_> = self.decided.iter().filter(|it| it.0 == skill).collect();
            let forbidden = crate::step::rule(law, skill, "") == Some(Selection::Forbid);
            if of.len() < OFTEN || of.iter().any(|it| it.1) || forbidden {
                continue;
            }
            let rule = json!({ "skill": skill, "then": "forbid" });
            let why = format!("people rejected {skill} every time, {} times", of.len());
            found.push(Suggestion::new(
                "skill_selection".to_owned(),
                json!(format!("+= {rule}")),
                why,
                of.iter().map(|it| it.2),
            ));
        }
        found
    }

    /// A skill that is preferred and mostly fails is not preferred.
    fn failing(&self, law: &Law) -> Vec<Suggestion> {
        let mut found = Vec::new();
        for (place, rule) in law.skill_selection.iter().enumerate() {
            let of = self
                .called
                .iter()
                .rev()
                .filter(|it| it.0.starts_with(&rule.skill));
            let of: Vec<_> = of.take(10).collect();
            let failed: Vec<_> = of.iter().filter(|it| !it.1).collect();
            if rule.then != Selection::Prefer || of.len() < 5 || failed.len() * 2 <= of.len() {
                continue;
            }
            let why = format!(
                "{} of the last {} calls of {} failed",
                failed.len(),
                of.len(),
                rule.skill
            );
            found.push(Suggestion::new(
                format!("skill_selection[{place}]"),
                Value::Null,
                why,
                failed.iter().map(|it| it.2),
            ));
        }
        found
    }

    /// The same calls for requests of one form become a procedure.
    fn procedures(&self, law: &Law) -> Vec<Suggestion> {
        let mut groups: BTreeMap<Vec<&str>, Vec<&Episode>> = BTreeMap::new();
        for episode in &self.episodes {
            let skills = episode.calls.iter().map(|it| it.0.as_str()).collect();
            groups.entry(skills).or_default().push(episode);
        }
        let mut found = Vec::new();
        for (skills, episodes) in groups {
            if episodes.len() < OFTEN {
                continue;
            }
            let last = &episodes[episodes.len() - OFTEN..];
            let Some((when, steps)) = procedure(last) else {
                continue;
            };
            if law.procedures.iter().any(|it| it.when == when) {
                continue;
            }
            let name = format!("learned-{}", law.procedures.len() + 1);
            let rule = json!({ "name": name, "when": when, "steps": steps });
            let why = format!(
                "{} requests of this form were answered by the same calls: {}",
                episodes.len(),
                skills.join(", then ")
            );
            let events = episodes.iter().map(|it| it.event);
            found.push(Suggestion::new(
                "procedures".to_owned(),
                json!(format!("+= {rule}")),
                why,
                events,
            ));
        }
        found
    }
}

/// The form of some requests with one slot, and their calls with it.
fn procedure(episodes: &[&Episode]) -> Option<(String, Vec<ProcedureStep>)> {
    let words: Vec<Vec<&str>> = episodes
        .iter()
        .map(|it| it.request.split_whitespace().collect())
        .collect();
    let shortest = words.iter().map(Vec::len).min()?;
    let same = |at: &dyn Fn(&[&str]) -> String| {
        let first = at(&words[0]);
        words.iter().all(|it| at(it) == first)
    };
    let mut before = 0;
    while before < shortest && same(&|it| it[before].to_owned()) {
        before += 1;
    }
    let mut after = 0;
    while before + after + 1 < shortest && same(&|it| it[it.len() - 1 - after].to_owned()) {
        after += 1;
    }
    // A form without a word of its own would fit everything; one without a slot repeats one request.
    if before == 0 || before == shortest {
        return None;
    }
    let values: Vec<String> = words
        .iter()
        .map(|it| it[before..it.len() - after].join(" "))
        .collect();
    let first = &words[0];
    let mut form: Vec<&str> = first[..before].to_vec();
    form.push("{it}");
    form.extend(&first[first.len() - after..]);
    let mut steps = Vec::new();
    for place in 0..episodes[0].calls.len() {
        let mut input = BTreeMap::new();
        for (name, value) in episodes[0].calls[place].1.as_object()? {
            let slot = general(episodes, &values, place, name, value)?;
            input.insert(name.clone(), slot);
        }
        steps.push(ProcedureStep {
            skill: episodes[0].calls[place].0.clone(),
            input,
        });
    }
    Some((form.join(" "), steps))
}

/// The value of one field in all episodes: the same, the slot of the request, or what an earlier call gave.
fn general(
    episodes: &[&Episode],
    values: &[String],
    place: usize,
    name: &str,
    value: &Value,
) -> Option<Value> {
    let at = |episode: &Episode| episode.calls[place].1.get(name).cloned();
    if episodes.iter().all(|it| at(it).as_ref() == Some(value)) {
        return Some(value.clone());
    }
    let mut pairs = episodes.iter().zip(values);
    if pairs.all(|(it, slot)| at(it) == Some(json!(slot))) {
        return Some(json!("{it}"));
    }
    let gave = |before: usize| {
        let mut all = episodes.iter();
        all.all(|it| at(it).as_ref() == Some(&it.calls[before].2))
    };
    let before = (0..place).find(|before| gave(*before))?;
    Some(json!(format!("{{{}}}", before + 1)))
}
