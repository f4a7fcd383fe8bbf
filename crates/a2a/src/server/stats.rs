//! Counters of a task server since it started.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Server;
use crate::types::TaskState;

/// The states that are counted when a task gets into them, with the words that metrics have for them.
const STATES: [(TaskState, &str); 7] = [
    (TaskState::Submitted, "submitted"),
    (TaskState::InputRequired, "input_required"),
    (TaskState::AuthRequired, "auth_required"),
    (TaskState::Completed, "completed"),
    (TaskState::Failed, "failed"),
    (TaskState::Canceled, "canceled"),
    (TaskState::Rejected, "rejected"),
];

/// What a task server has done since it started, and what it does now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// How often tasks got into each state.
    pub tasks: Vec<(&'static str, u64)>,
    /// How many tasks are being worked on.
    pub running: usize,
    /// How many turns of agents began.
    pub turns: u64,
    pub webhooks: WebhookStats,
}

/// Deliveries to webhooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebhookStats {
    pub delivered: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Webhooks that were given up after their last attempt.
    pub given_up: u64,
}

/// The counters behind [`Stats`].
#[derive(Debug, Default)]
pub(super) struct Counters {
    tasks: [AtomicU64; STATES.len()],
    turns: AtomicU64,
    delivered: AtomicU64,
    failed: AtomicU64,
    given_up: AtomicU64,
}

impl Counters {
    /// A task got into a state, and that is committed.
    pub(super) fn entered(&self, state: TaskState) {
        let place = STATES.iter().position(|(it, _)| *it == state);
        if let Some(count) = place.and_then(|place| self.tasks.get(place)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn turn(&self) {
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(feature = "http")]
    pub(super) fn delivered(&self) {
        self.delivered.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(feature = "http")]
    pub(super) fn delivery_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(feature = "http")]
    pub(super) fn given_up(&self) {
        self.given_up.fetch_add(1, Ordering::Relaxed);
    }
}

impl Server {
    pub fn stats(&self) -> Stats {
        let inner = &self.inner;
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counters = &inner.counters;
        let tasks = STATES.iter().zip(&counters.tasks);
        let most = inner.limits.max_running;
        Stats {
            tasks: tasks
                .map(|((_, word), count)| (*word, read(count)))
                .collect(),
            running: most.saturating_sub(inner.places.available_permits()),
            turns: read(&counters.turns),
            webhooks: WebhookStats {
                delivered: read(&counters.delivered),
                failed: read(&counters.failed),
                given_up: read(&counters.given_up),
            },
        }
    }
}
