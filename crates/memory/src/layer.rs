//! The layers of memory, from observations to axioms.

use serde::{Deserialize, Serialize};

/// How firmly a record is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Logged as it was seen.
    Observation,
    /// An observation that was recalled several times of late.
    Working,
    /// Supposed by a source that is not sure, with a reason; a belief once it is confirmed.
    Hypothesis,
    /// Held to be true, with a reason.
    Belief,
    /// How something is done, with a reason.
    Procedure,
    /// Held to be true in any case; the agent cannot change it.
    Axiom,
}

impl Layer {
    /// All layers, the loosest first.
    pub const ALL: [Self; 6] = [
        Self::Observation,
        Self::Working,
        Self::Hypothesis,
        Self::Belief,
        Self::Procedure,
        Self::Axiom,
    ];

    /// Its name on every wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Observation => "observation",
            Self::Working => "working",
            Self::Hypothesis => "hypothesis",
            Self::Belief => "belief",
            Self::Procedure => "procedure",
            Self::Axiom => "axiom",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }

    /// The lasting layer, which needs a reason; None for observations and working memory. A hypothesis is a belief that
    /// is not confirmed.
    pub fn lasting(self) -> Option<Lasting> {
        match self {
            Self::Observation | Self::Working => None,
            Self::Hypothesis | Self::Belief => Some(Lasting::Belief),
            Self::Procedure => Some(Lasting::Procedure),
            Self::Axiom => Some(Lasting::Axiom),
        }
    }
}

/// A layer of the long term. Its records have a [`Reason`](crate::Reason).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lasting {
    Belief,
    Procedure,
    /// Only the operator writes axioms ([`Access::Govern`](crate::Access::Govern)).
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
