//! Lessons of an agent from its episodes: changes of its law that the journal speaks for, as proposals. They are plain
//! rules over what was recorded; the gate judges them like those of any other author.
//!
//! Layout: `form` makes a procedure of requests that were answered alike.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

mod form;

use form::procedure;

use crate::approval::ApprovalState;
use crate::context::{Change, Outcome};
use crate::event::{Candidate, Effect, EffectId, End, EventKind, MemoryOutcome, TurnId};
use crate::journal::Record;
use crate::law::{Edit, Law, MemoryAction, Origin, Selection};
use crate::portrait::Tally;
use crate::text;

/// How often something has to happen before it is a reason.
const OFTEN: usize = 3;

/// How many beliefs of one origin have to lie unused, after how many requests that recalled something, before that is a
/// reason.
const UNUSED: usize = 10;

/// The trust that is not lowered further.
const LEAST_TRUST: f64 = 0.1;

/// The most events that a proposal of this file cites.
const CITED: usize = 16;

/// A change that the journal speaks for, with the events.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Suggestion {
    pub(super) edit: Edit,
    pub(super) evidence: Vec<u64>,
}

impl Suggestion {
    /// Whether it was proposed before, in these words.
    pub(super) fn is_among(&self, earlier: &[Edit]) -> bool {
        let mut earlier = earlier.iter();
        earlier.any(|it| it.target == self.edit.target && it.change == self.edit.change)
    }

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

/// The changes that were proposed in a journal, also those that were refused.
pub(super) fn proposed(history: &[(u64, Record)]) -> Vec<Edit> {
    let changes = history.iter().flat_map(|(_, record)| &record.changes);
    let edits = changes.filter_map(|it| match it {
        Change::LawProposed { proposed } => Some(proposed.edit.clone()),
        Change::LawKept { edit, .. } => edit.clone(),
        _ => None,
    });
    edits.collect()
}

/// What the journal suggests to change in the law, the plainest reasons first.
pub(super) fn suggestions(history: &[(u64, Record)], law: &Law) -> Vec<Suggestion> {
    let seen = Seen::of(history);
    let tally = Tally::of(history);
    let mut found = distrusted(&tally, law);
    found.extend(seen.contradicted(law));
    found.extend(retired(&tally, law));
    found.extend(seen.unused(law));
    found.extend(seen.rejected(law));
    found.extend(seen.failing(law));
    found.extend(seen.procedures(law));
    found
}

/// Trust in an agent falls when its claims were contradicted again and again, and more often than not.
fn distrusted(tally: &Tally, law: &Law) -> Vec<Suggestion> {
    let mut found = Vec::new();
    for (agent, seen) in tally.contacts() {
        let wrong = seen.contradicted.len();
        let now = law.agent_choice.iter().find(|it| it.agent == agent);
        let trust = now.map_or(0.5, |it| it.trust);
        if wrong < OFTEN || wrong as u64 * 2 <= seen.claims || trust <= LEAST_TRUST {
            continue;
        }
        let less = (trust * 50.0).round() / 100.0;
        let (target, change) = match now {
            Some(_) => (format!("agent_choice[{agent}]"), format!("trust = {less}")),
            None => {
                let rule = json!({ "agent": agent, "trust": less });
                ("agent_choice".to_owned(), format!("+= {rule}"))
            }
        };
        let why = format!(
            "{wrong} of {} claims of {agent} were contradicted later",
            seen.claims
        );
        let events = seen.contradicted.iter().flat_map(|it| [it.0, it.1]);
        found.push(Suggestion::new(target, json!(change), why, events));
    }
    found
}

/// A procedure that mostly fails is given up.
fn retired(tally: &Tally, law: &Law) -> Vec<Suggestion> {
    let mut found = Vec::new();
    for procedure in &law.procedures {
        let Some(runs) = tally.runs(&procedure.name) else {
            continue;
        };
        let failed = runs.failed.len();
        if failed < OFTEN || failed as u64 * 2 <= runs.count {
            continue;
        }
        let why = format!(
            "{failed} of {} runs of the procedure {} failed",
            runs.count, procedure.name
        );
        found.push(Suggestion::new(
            format!("procedures[{}]", procedure.name),
            Value::Null,
            why,
            runs.failed.iter().copied(),
        ));
    }
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
    /// What became a belief: the record, the origin, the confidence, the event, and how often something had been recalled
    /// by then.
    believed: Vec<(String, String, f64, u64, usize)>,
    recalled: BTreeSet<String>,
    recalls: usize,
    /// Whether the skill `recall` was called: what that found is in its output alone.
    looked_up: bool,
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
            match &record.event.what {
                EventKind::Recalled { found, .. } => {
                    seen.recalls += 1;
                    seen.recalled
                        .extend(found.iter().map(|it| it.record.clone()));
                }
                EventKind::Wanted { skill, .. } | EventKind::Called { skill, .. } => {
                    seen.looked_up |= skill == "recall";
                }
                _ => {}
            }
            if let EventKind::Remembered { effect, outcomes } = &record.event.what {
                let candidates = remembered.remove(effect).unwrap_or_default();
                for (candidate, result) in candidates.iter().zip(outcomes) {
                    let against = result.against_record.as_ref();
                    if let Some((source, sure, at)) = against.and_then(|it| beliefs.get(it)) {
                        seen.contradicted.push((origin(source), *sure, *at, *event));
                    }
                    if candidate.believe && result.outcome == MemoryOutcome::Kept {
                        seen.believed.push((
                            result.record.clone(),
                            origin(&candidate.source),
                            candidate.confidence,
                            *event,
                            seen.recalls,
                        ));
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

    /// Beliefs of one origin that were never of use: less of it is promoted.
    fn unused(&self, law: &Law) -> Vec<Suggestion> {
        let mut found = Vec::new();
        for origin in [Origin::Tool, Origin::Agent, Origin::Own] {
            let of: Vec<_> = self
                .believed
                .iter()
                .filter(|it| it.1 == origin.name() && self.recalls >= it.4 + UNUSED)
                .collect();
            let is_used = of.iter().any(|it| self.recalled.contains(&it.0));
            if of.len() < UNUSED || is_used || self.looked_up {
                continue;
            }
            let surest = of.iter().map(|it| it.2).fold(0.0, f64::max);
            let why = format!(
                "{} beliefs from {} results were promoted, and none of them was recalled since; the surest had {surest:.2}",
                of.len(),
                origin.name()
            );
            let events = of.iter().map(|it| it.3);
            found.extend(stricter(law, origin.name(), surest, why, events));
        }
        found
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
            let why = format!(
                "{} beliefs from {origin} results were contradicted later; the surest had {surest:.2}",
                of.len()
            );
            let events = of.iter().flat_map(|it| [it.2, it.3]);
            found.extend(stricter(law, origin, surest, why, events));
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
            let name = unused_name(law);
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

/// What a source begins with: `tool` of `tool:weather`.
fn origin(source: &str) -> String {
    source.split(':').next().unwrap_or_default().to_owned()
}

/// From one origin only what is surer than this is believed. None if the law asks for as much already.
fn stricter(
    law: &Law,
    origin: &str,
    than: f64,
    why: String,
    events: impl IntoIterator<Item = u64>,
) -> Option<Suggestion> {
    let least = ((than + 0.05).min(1.0) * 100.0).round() / 100.0;
    let target = format!("memory_rules[{origin}]");
    let change = json!(format!("min_confidence = {least}"));
    let suggestion = Suggestion::new(target, change, why, events);
    let changed = suggestion.edit.apply(law).ok()?;
    let sum = |law: &Law| -> f64 {
        let rules = law.memory.rules.iter();
        rules.map(|it| it.condition.min_confidence).sum()
    };
    let rises = changed.memory.rules.len() > law.memory.rules.len() || sum(&changed) > sum(law);
    // The first rule about the origin must be one that promotes: another one would discard what it kept.
    let name = |it: &Origin| it.name() == origin;
    let mut rules = law.memory.rules.iter();
    let first = rules.find(|it| {
        let allowed = &it.condition.sources_allowed;
        allowed.is_empty() || allowed.iter().any(name)
    });
    let promotes = first.is_some_and(|it| it.action == MemoryAction::PromoteToLongTerm);
    (rises && promotes).then_some(suggestion)
}

/// A name that no procedure of the law has.
fn unused_name(law: &Law) -> String {
    let taken = |name: &String| law.procedures.iter().any(|it| &it.name == name);
    let mut names = (1..).map(|number| format!("learned-{number}"));
    names.find(|it| !taken(it)).unwrap_or_default()
}
