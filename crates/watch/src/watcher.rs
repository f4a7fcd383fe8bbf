//! The watcher: records of journals in, notices out. It performs no I/O and reads no clock; the time is that of the events,
//! and of the caller where time passes without events.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::alert::{Alert, AlertState, Judgement, Notice};
use crate::fact::{Fact, Field};
use crate::flatten::{Flattener, Senses};
use crate::rule::{Logic, Rules};
use crate::window::Windows;
use crate::{Error, packs};

mod state;

/// A match within this time of the last message about the alert is no news.
const SUPPRESSED: i64 = 10 * 60_000;
/// An alert without a match for this long is resolved.
const QUIET: i64 = 30 * 60_000;
/// How many messages below `critical` an agent may cause in an hour; the rest is a digest.
const HOURLY: usize = 6;
const HOUR: i64 = 3_600_000;
/// How often it is looked for what is quiet or due, in milliseconds of event time.
const LOOK: i64 = 5_000;
/// How many alerts are kept; of those that are over the oldest goes first.
const ALERTS: usize = 2_000;
/// How many journals are followed.
const STREAMS: usize = 20_000;
/// From how many judged alerts on a rule is proposed for silence, if more than half of them were false.
const JUDGED: u64 = 10;

/// Follows journals and tells alerts.
///
/// It owns rules, which do not change, and a [`State`], which is all that a restart needs: what is known of each journal, the
/// windows of correlations, the alerts, and the counts of each rule. [`event`](Self::event) is a function of that state and of
/// its arguments, so that a replay tells the same. The owner commits the state together with the cursor of the journal and
/// with the alerts; then nothing is lost and nothing is told twice: an event at or before the cursor is passed over.
///
/// An alert is identified by the agent, its type and the fields of `monas.key`. So several rules that see the same trouble make
/// one alert, and the rule with the highest severity names it.
#[derive(Clone, Debug)]
pub struct Watcher {
    rules: Rules,
    senses: Senses,
    /// The rules for each kind of fact, by number.
    by_kind: BTreeMap<String, Vec<usize>>,
    /// The rules that look at every kind.
    of_all: Vec<usize>,
    state: State,
}

/// All that a watcher knows besides its rules.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    streams: BTreeMap<String, Stream>,
    windows: Windows,
    alerts: BTreeMap<String, Alert>,
    /// The live alert of each key.
    live: BTreeMap<String, String>,
    counts: BTreeMap<String, RuleCounts>,
    /// When each agent caused messages, within the last hour.
    told: BTreeMap<String, VecDeque<i64>>,
    /// What waits for the digest of an agent.
    held: BTreeMap<String, Vec<String>>,
    /// Mutes of whole rules: until when, by the id of the rule.
    muted: BTreeMap<String, i64>,
    /// When it was last looked for what is quiet or due.
    passed: i64,
}

/// A journal that is followed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Stream {
    /// The last event that was taken in.
    cursor: u64,
    flattener: Flattener,
}

/// How often a rule matched, and what people said of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleCounts {
    pub matches: u64,
    pub alerts: u64,
    pub acknowledged: u64,
    pub false_alarms: u64,
    /// When it matched last, in milliseconds since 1970; 0 if it never did.
    pub last: i64,
    /// How many false alarms were of each agent and skill.
    #[serde(default)]
    pub false_of: BTreeMap<String, u64>,
}

impl Watcher {
    /// A watcher with the shipped rules.
    pub fn shipped() -> Result<Self, Error> {
        Self::new(packs::rules()?)
    }

    /// A watcher with these rules.
    pub fn new(rules: Rules) -> Result<Self, Error> {
        let mut by_kind: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut of_all = Vec::new();
        for (number, rule) in rules.rules.iter().enumerate() {
            let mut kinds: Vec<&String> = Vec::new();
            let mut every = false;
            let detections: Vec<_> = match &rule.logic {
                Logic::One(detection) => vec![detection],
                Logic::Several(correlation) => correlation
                    .bases
                    .iter()
                    .filter_map(|it| Some(&rules.bases.get(*it)?.1))
                    .collect(),
            };
            for detection in detections {
                every |= detection.kinds.is_empty();
                kinds.extend(&detection.kinds);
            }
            if every {
                of_all.push(number);
                continue;
            }
            for kind in kinds {
                let numbers = by_kind.entry(kind.clone()).or_default();
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
        }
        Ok(Self {
            rules,
            senses: Senses::shipped()?,
            by_kind,
            of_all,
            state: State::default(),
        })
    }

    /// The same with a state that was written down.
    #[must_use]
    pub fn with_state(mut self, state: State) -> Self {
        self.state = state;
        self
    }

    /// All that has to be written down.
    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The last event of a journal that was taken in.
    pub fn cursor(&self, stream: &str) -> u64 {
        self.state.streams.get(stream).map_or(0, |it| it.cursor)
    }

    /// All alerts, the last one first.
    pub fn alerts(&self) -> Vec<&Alert> {
        let mut alerts: Vec<&Alert> = self.state.alerts.values().collect();
        alerts.sort_by(|a, b| {
            b.last
                .cmp(&a.last)
                .then_with(|| b.alert_id.cmp(&a.alert_id))
        });
        alerts
    }

    pub fn alert(&self, id: &str) -> Option<&Alert> {
        self.state.alerts.get(id)
    }

    /// The counts of a rule.
    pub fn counts(&self, rule: &str) -> RuleCounts {
        self.state.counts.get(rule).cloned().unwrap_or_default()
    }

    /// How many groups of correlations are kept, and how many were dropped.
    pub fn groups(&self) -> (usize, u64) {
        (self.state.windows.len(), self.state.windows.dropped)
    }

    /// Takes the record of an event of an agent's journal in, as it is stored. An event that was taken in before changes
    /// nothing; one that cannot be read is passed over, with the error.
    pub fn event(
        &mut self,
        stream: &str,
        sequence: u64,
        record: &[u8],
    ) -> Result<Vec<Notice>, Error> {
        let facts = {
            if !self.state.streams.contains_key(stream) && self.state.streams.len() >= STREAMS {
                self.state.streams.pop_first();
            }
            let known = self
                .state
                .streams
                .entry(stream.to_owned())
                .or_insert_with(|| Stream {
                    cursor: 0,
                    flattener: Flattener::new(stream.rsplit('/').next().unwrap_or(stream)),
                });
            if sequence <= known.cursor {
                return Ok(Vec::new());
            }
            known.cursor = sequence;
            known
                .flattener
                .take(&self.senses, stream, sequence, record)?
        };
        let mut notices = Vec::new();
        for fact in &facts {
            notices.extend(self.fact(fact));
        }
        Ok(notices)
    }

    /// Takes a fact in.
    pub fn fact(&mut self, fact: &Fact) -> Vec<Notice> {
        let mut notices = match fact.at >= self.state.passed + LOOK {
            true => self.pass(fact.at),
            false => Vec::new(),
        };
        let numbers: Vec<usize> = {
            let of_kind = self
                .by_kind
                .get(fact.text(Field::Kind))
                .into_iter()
                .flatten();
            of_kind.chain(&self.of_all).copied().collect()
        };
        for number in numbers {
            let Some(rule) = self.rules.rules.get(number) else {
                continue;
            };
            if self.state.windows.matches(&self.rules, rule, fact) {
                let events = self.state.windows.events(rule, fact);
                notices.extend(self.state.matched(&self.senses, rule, fact, &events));
            }
        }
        notices
    }

    /// Time has passed: alerts that were quiet are resolved, and digests that are due are told.
    pub fn pass(&mut self, now: i64) -> Vec<Notice> {
        self.state.pass(now)
    }

    /// Takes the word of a person about an alert in.
    pub fn judge(&mut self, id: &str, judgement: &Judgement, by: &str) -> Option<&Alert> {
        let alert = self.state.alerts.get_mut(id)?;
        alert.by = by.to_owned();
        let counts = self.state.counts.entry(alert.rule.clone()).or_default();
        match judgement {
            Judgement::Acknowledge => {
                alert.state = AlertState::Acknowledged;
                counts.acknowledged += 1;
            }
            Judgement::Mute { until } => {
                alert.state = AlertState::Muted;
                alert.until = *until;
            }
            Judgement::FalseAlarm => {
                if alert.state != AlertState::FalseAlarm {
                    counts.false_alarms += 1;
                    for node in alert
                        .related_nodes
                        .iter()
                        .filter(|it| it.starts_with("skill:"))
                    {
                        *counts.false_of.entry(node.clone()).or_default() += 1;
                    }
                }
                alert.state = AlertState::FalseAlarm;
            }
        }
        self.state.alerts.get(id)
    }

    /// Mutes a whole rule until a time, in milliseconds since 1970.
    pub fn mute_rule(&mut self, rule: &str, until: i64) {
        self.state.muted.insert(rule.to_owned(), until);
    }

    /// A draft of a filter for a rule of which most alerts were false, as Sigma: it is proposed to a person, never put in force.
    pub fn silence(&self, rule: &str) -> Option<String> {
        let counts = self.state.counts.get(rule)?;
        let judged = counts.false_alarms + counts.acknowledged;
        if judged < JUDGED || counts.false_alarms * 2 <= judged {
            return None;
        }
        let most = counts.false_of.iter().max_by_key(|it| it.1);
        let skill = most.and_then(|it| it.0.strip_prefix("skill:"));
        let selection = skill.map_or_else(
            || "kind|exists: true".to_owned(),
            |it| format!("skill: {it}"),
        );
        Some(format!(
            "title: Not {rule}\nfilter:\n  rules: [{rule}]\n  selection:\n    {selection}\n  condition: not selection\n"
        ))
    }
}
