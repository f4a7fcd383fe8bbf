//! Calls, counted by wire, version, operation and outcome. All four are words of ours, so that their number is bounded.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use access::{CallRecord, Outcome};

/// The most combinations that are told apart; further ones are counted as one, with the operation `other`.
const MOST: usize = 2_000;

/// The upper bounds of the time that calls take, in seconds.
pub(crate) const BOUNDS: [f64; 10] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0];

/// What is counted apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    pub(crate) wire: &'static str,
    pub(crate) version: &'static str,
    pub(crate) operation: Cow<'static, str>,
    pub(crate) outcome: Outcome,
}

/// How long the calls of a wire took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    /// Up to each of [`BOUNDS`], and above the last.
    pub(crate) buckets: [u64; BOUNDS.len() + 1],
    pub(crate) seconds: f64,
    pub(crate) count: u64,
}

/// The calls of a server so far.
#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<Numbers>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) calls: BTreeMap<Kind, u64>,
    pub(crate) times: BTreeMap<&'static str, Times>,
}

impl Counted {
    pub(crate) fn count(&self, asked: &CallRecord, outcome: Outcome, time: Duration) {
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kind = Kind {
            wire: asked.origin.wire,
            version: asked.version,
            operation: asked.operation.clone(),
            outcome,
        };
        if numbers.calls.len() >= MOST && !numbers.calls.contains_key(&kind) {
            kind.operation = "other".into();
        }
        *numbers.calls.entry(kind).or_default() += 1;
        let times = numbers.times.entry(asked.origin.wire).or_default();
        let seconds = time.as_secs_f64();
        let place = BOUNDS.iter().position(|bound| seconds <= *bound);
        if let Some(bucket) = times.buckets.get_mut(place.unwrap_or(BOUNDS.len())) {
            *bucket += 1;
        }
        times.seconds += seconds;
        times.count += 1;
    }

    pub(crate) fn numbers(&self) -> Numbers {
        let numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.clone()
    }
}
