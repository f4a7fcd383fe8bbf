//! Rules: Sigma's detections and correlations over facts, with what we add under the key `monas`.
//!
//! Layout: `form` reads YAML; `detection` is fields and modifiers; `condition` is how selections are combined; `correlation` is
//! several facts within a time; `examples` runs the examples of a rule when it is loaded.

pub(crate) mod condition;
pub(crate) mod correlation;
pub(crate) mod detection;
pub(crate) mod examples;
pub(crate) mod form;

use serde::{Deserialize, Serialize};

use crate::fact::Field;
use correlation::Correlation;
use detection::Detection;

/// How much an alert matters: Sigma's level of its rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    #[default]
    Info,
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    /// The word for it on every wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "informational" | "info" => Self::Info,
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "critical" => Self::Critical,
            _ => return None,
        })
    }
}

/// What the watchdog may do besides telling people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Response {
    /// Nothing: people are told.
    #[default]
    Note,
    /// The agent hears of it, and its law decides.
    Nudge,
    /// The next call of the task that changes something waits for a person.
    Ask,
    /// The agent is told to stop where it is. Only rules of the operator may.
    Pause,
}

/// The author of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Author {
    /// It is part of the program.
    Shipped,
    /// It is in the operator's folder.
    Operator,
}

/// A rule that tells alerts.
#[derive(Clone, Debug)]
pub struct Rule {
    pub id: String,
    pub title: String,
    pub description: String,
    /// The name of its file without the ending.
    pub pack: String,
    pub author: Author,
    pub severity: Severity,
    pub alert_type: String,
    pub response: Response,
    /// The action that a person has to take, if the rule names one.
    pub action: Option<String>,
    /// Templates of the nodes that an alert is about: `skill:{skill}`.
    pub(crate) nodes: Vec<String>,
    /// Alerts of one agent that are equal in these fields are one alert.
    pub(crate) key: Vec<Field>,
    pub(crate) logic: Logic,
}

/// When a rule matches.
#[derive(Clone, Debug)]
pub(crate) enum Logic {
    One(Detection),
    Several(Correlation),
}

/// All rules that are loaded, with the detections that only correlations use.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub(crate) rules: Vec<Rule>,
    /// Detections that correlations refer to.
    pub(crate) bases: Vec<(String, Detection)>,
}

impl Rules {
    /// The rules that tell alerts.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    pub fn len(&self) -> usize {
        self.rules.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rule of an id.
    pub fn get(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|it| it.id == id)
    }

    /// Adds other rules. One with an id that is there already takes the place of the earlier one.
    pub fn add(&mut self, more: Rules) {
        let offset = self.bases.len();
        self.bases.extend(more.bases);
        for mut rule in more.rules {
            if let Logic::Several(correlation) = &mut rule.logic {
                correlation.bases.iter_mut().for_each(|it| *it += offset);
            }
            match self.rules.iter_mut().find(|it| it.id == rule.id) {
                Some(place) => *place = rule,
                None => self.rules.push(rule),
            }
        }
    }

    /// Leaves rules out.
    pub fn retain(&mut self, keep: impl Fn(&Rule) -> bool) {
        self.rules.retain(keep);
    }
}
