//! The layers of memory: from what was merely seen to what is never given up.

use serde::{Deserialize, Serialize};

/// How firmly something is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Seen and logged; nothing is concluded from it.
    Observation,
    /// An observation that matters at the moment.
    Working,
    /// Held to be true, for a reason.
    Belief,
    /// How something is done, for a reason.
    Procedure,
    /// What the agent starts from and cannot change itself.
    Axiom,
}

impl Layer {
    /// All of them, the loosest first.
    pub const ALL: [Self; 5] = [
        Self::Observation,
        Self::Working,
        Self::Belief,
        Self::Procedure,
        Self::Axiom,
    ];

    /// Its name on every wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Observation => "observation",
            Self::Working => "working",
            Self::Belief => "belief",
            Self::Procedure => "procedure",
            Self::Axiom => "axiom",
        }
    }

    /// The layer of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }

    /// Whether it is kept in the long term, and so needs a reason.
    pub fn lasting(self) -> Option<Lasting> {
        match self {
            Self::Observation | Self::Working => None,
            Self::Belief => Some(Lasting::Belief),
            Self::Procedure => Some(Lasting::Procedure),
            Self::Axiom => Some(Lasting::Axiom),
        }
    }
}

/// A layer of the long term: what is in it is there for a [`Reason`](crate::Reason).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lasting {
    /// Held to be true.
    Belief,
    /// How something is done.
    Procedure,
    /// What the agent starts from: only those who govern it write here.
    Axiom,
}

impl From<Lasting> for Layer {
    fn from(lasting: Lasting) -> Self {
        match lasting {
            Lasting::Belief => Self::Belief,
            Lasting::Procedure => Self::Procedure,
            Lasting::Axiom => Self::Axiom,
        }
    }
}
