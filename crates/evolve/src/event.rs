//! The events of a run. The state of a run is their fold.

use serde::{Deserialize, Serialize};

use crate::candidate::{Content, Edit};
use crate::operator::Operator;
use crate::sample::Sample;

/// One thing that happened in a run, as it is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    Started {
        component: String,
        seed: u64,
        /// The version in force when the run began.
        content: Content,
        hash: String,
    },
    /// A candidate, before it is evaluated.
    Proposed {
        n: usize,
        parent: usize,
        purpose: Purpose,
        operator: Operator,
        edit: Edit,
        hash: String,
        /// Where the neighbourhood of the parent was left, or which draw of the generator it is.
        #[serde(default)]
        cursor: usize,
        /// The numbers or the slot that the edit changes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        touched: Vec<usize>,
        /// The person or agent that it is from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// An evaluation begins. If no end follows, it is begun again.
    Began {
        n: usize,
    },
    Ended {
        n: usize,
        sample: Sample,
    },
    Stopped {
        why: String,
    },
}

/// What a candidate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To find a better version.
    Search,
    /// To show what as many evaluations find at random.
    Random,
}
