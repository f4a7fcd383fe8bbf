//! The windows of all correlations: bounded, and the same after a restart.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::fact::{Fact, Field};
use crate::rule::correlation::Window;
use crate::rule::{Logic, Rule, Rules};

/// How many groups are kept in all; the oldest are dropped, and counted.
pub const GROUPS: usize = 20_000;

/// The windows of all rules, by the id of the rule and the group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Windows {
    rules: BTreeMap<String, HashMap<String, Window>>,
    groups: usize,
    /// How many groups were dropped because there were too many.
    pub(crate) dropped: u64,
}

impl Windows {
    /// Takes a fact in: whether the rule matches with it.
    pub(crate) fn matches(&mut self, rules: &Rules, rule: &Rule, fact: &Fact) -> bool {
        let correlation = match &rule.logic {
            Logic::One(detection) => return detection.matches(fact),
            Logic::Several(correlation) => correlation,
        };
        let mut held = false;
        for (place, base) in correlation.bases.iter().enumerate() {
            let Some((_, detection)) = rules.bases.get(*base) else {
                continue;
            };
            let is_kind = detection.kinds.is_empty()
                || detection
                    .kinds
                    .iter()
                    .any(|it| it == fact.text(Field::Kind));
            if !is_kind || !detection.matches(fact) {
                continue;
            }
            let Some(group) = correlation.group_of(fact) else {
                continue;
            };
            let window = self.window(&rule.id, group);
            held |= correlation.take(window, place, fact);
        }
        held
    }

    /// The events that a rule has seen for the group of a fact, the oldest first.
    pub(crate) fn events(&self, rule: &Rule, fact: &Fact) -> Vec<u64> {
        let Logic::Several(correlation) = &rule.logic else {
            return vec![fact.sequence];
        };
        let group = correlation.group_of(fact).unwrap_or_default();
        let window = self.rules.get(&rule.id).and_then(|it| it.get(&group));
        let mut events: Vec<u64> = window
            .into_iter()
            .flat_map(|it| &it.seen)
            .map(|it| it.sequence)
            .collect();
        events.dedup();
        events
    }

    fn window(&mut self, rule: &str, group: String) -> &mut Window {
        let known = self
            .rules
            .get(rule)
            .is_some_and(|it| it.contains_key(&group));
        if !known {
            if self.groups >= GROUPS {
                self.drop_oldest();
            }
            self.groups += 1;
        }
        let of_rule = self.rules.entry(rule.to_owned()).or_default();
        of_rule.entry(group).or_default()
    }

    /// Drops the twentieth part of all groups, those that were quiet for longest.
    fn drop_oldest(&mut self) {
        let last = |it: &Window| it.seen.back().map_or(0, |it| it.at);
        let mut times: Vec<i64> = self
            .rules
            .values()
            .flat_map(|it| it.values().map(last))
            .collect();
        if times.is_empty() {
            return;
        }
        let place = times.len() / 20;
        let limit = *times.select_nth_unstable(place).1;
        let before = self.groups;
        let mut room = GROUPS / 20;
        for groups in self.rules.values_mut() {
            groups.retain(|_, it| {
                let goes = last(it) <= limit && room > 0;
                room -= usize::from(goes);
                !goes
            });
        }
        self.groups = self.rules.values().map(HashMap::len).sum();
        self.dropped += (before - self.groups) as u64;
    }

    /// How many groups are kept.
    pub(crate) fn len(&self) -> usize {
        self.groups
    }
}
