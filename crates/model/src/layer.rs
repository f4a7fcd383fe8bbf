//! What can be laid around a model or an embedder of whatever kind: patience, time limits, a budget.
//!
//! Layers are models themselves, so they can be laid around each other. Where all are wanted, the order is
//! `Retry` around [`Budgeted`] around [`Timed`]: each attempt has its time, and each is paid for.

mod budget;
mod retry;
mod timed;

#[cfg(test)]
#[path = "layer/budget_tests.rs"]
mod budget_tests;
#[cfg(test)]
#[path = "layer/retry_tests.rs"]
mod retry_tests;
#[cfg(test)]
#[path = "layer/timed_tests.rs"]
mod timed_tests;

pub use budget::{Allowance, Budget, Budgeted, Cost, Price, Spent};
pub use retry::{Patience, Retry};
pub use timed::{Timed, Times};
