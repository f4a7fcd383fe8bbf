//! A time that a test sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Milliseconds that change only when a test says so. Clones are the same clock.
#[derive(Clone, Debug)]
pub struct Clock(Arc<AtomicI64>);

impl Clock {
    /// A clock that shows this many milliseconds.
    pub fn at(millis: i64) -> Self {
        Self(Arc::new(AtomicI64::new(millis)))
    }

    pub fn millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, Ordering::Relaxed);
    }

    /// The clock as a function, for code that takes one.
    pub fn source(&self) -> Arc<dyn Fn() -> i64 + Send + Sync> {
        let clock = self.clone();
        Arc::new(move || clock.millis())
    }
}
