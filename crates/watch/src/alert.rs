//! Alerts have a life: open, repeated, resolved, acknowledged, muted, false alarm. People are told of changes of it, not of
//! each match.

use serde::{Deserialize, Serialize};

use crate::rule::{Response, Severity};

/// How many events an alert cites: the first ones and the last ones.
pub const EVENTS: usize = 16;

/// Where an alert stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertState {
    Open,
    /// It matched again while it was open.
    Repeated,
    /// It was quiet for long enough.
    Resolved,
    /// A person has seen it: no further messages.
    Acknowledged,
    /// A person does not want to hear of it until a time.
    Muted,
    /// A person says that it is none; it counts against its rule.
    FalseAlarm,
}

impl AlertState {
    /// The word for it on every wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Repeated => "repeated",
            Self::Resolved => "resolved",
            Self::Acknowledged => "acknowledged",
            Self::Muted => "muted",
            Self::FalseAlarm => "false_alarm",
        }
    }
}

/// Something that people should know, with the events that show it. It holds no text of a journal but names of skills, files and
/// the like, cut and without credentials: an alert must not carry what it warns of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    pub alert_id: String,
    /// The id of the rule that opened it; a rule that raised its severity takes the place.
    pub rule: String,
    pub alert_type: String,
    pub severity: Severity,
    pub title: String,
    pub description: String,
    /// Nodes of the memory graph: `skill:file-write`. The owner of the graph leaves out those that it does not have.
    pub related_nodes: Vec<String>,
    /// What a person has to do; none if nothing.
    pub action: Option<String>,
    pub response: Response,
    pub state: AlertState,
    /// How often it matched.
    pub count: u64,
    /// When it matched first and last, in milliseconds since 1970.
    pub first: i64,
    pub last: i64,
    /// Events that show it: `agent/scout#17`.
    pub events: Vec<String>,
    pub agent: String,
    pub task: String,
    pub conversation: String,
    pub caller: String,
    /// What it is compared by with later matches.
    pub key: String,
    /// Until when it is muted.
    #[serde(default)]
    pub until: i64,
    /// The person who acknowledged or muted it, or called it a false alarm.
    #[serde(default)]
    pub by: String,
    /// How many messages there were about it.
    #[serde(default)]
    pub told: u32,
}

impl Alert {
    /// Whether a person has to do something.
    pub fn action_required(&self) -> bool {
        self.action.is_some()
    }

    /// Whether later matches belong to it.
    pub(crate) fn is_live(&self) -> bool {
        !matches!(self.state, AlertState::Resolved)
    }

    /// Takes the events of a further match in.
    pub(crate) fn cite(&mut self, events: impl Iterator<Item = String>) {
        for event in events {
            if self.events.contains(&event) {
                continue;
            }
            if self.events.len() >= EVENTS {
                // The first half stays: it shows how it began.
                self.events.remove(EVENTS / 2);
            }
            self.events.push(event);
        }
    }
}

/// What people are told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum Notice {
    /// An alert was opened, repeated, raised or resolved.
    Alert {
        alert: Box<Alert>,
        change: Change,
        /// False for what is only listed: `info`, and what a digest will tell.
        interrupts: bool,
    },
    /// Alerts for which there were too many messages, in one.
    Digest {
        agent: String,
        at: i64,
        alerts: Vec<DigestLine>,
    },
}

/// A change of the life of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Opened,
    Repeated,
    /// Its severity is higher than before.
    Raised,
    Resolved,
}

/// A line of a digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DigestLine {
    pub alert_id: String,
    pub title: String,
    pub severity: Severity,
    pub count: u64,
}

/// What a person does about an alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "judgement", rename_all = "snake_case")]
pub enum Judgement {
    Acknowledge,
    /// Nothing of it until this time, in milliseconds since 1970.
    Mute {
        until: i64,
    },
    FalseAlarm,
}
