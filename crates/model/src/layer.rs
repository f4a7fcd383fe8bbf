//! Layers around any model or embedder: counts and spans, retry, budget, time limit.
//!
//! A layer implements the trait it wraps, so layers nest. Where all are wanted the order is [`Retry`] around
//! [`Budgeted`] around [`Timed`], and it matters:
//!
//! - `Timed` is innermost, so that its limits hold for one attempt. Around `Retry` they would count the pauses, too,
//!   and a provider that asks to wait 30 seconds would be a time-out.
//! - `Budgeted` is inside `Retry`, so that each attempt is paid for. A provider charges for a reply that broke off;
//!   outside, five attempts would be counted as one.
//! - `Retry` is outermost, and sees errors of both: a time-out is tried again, a spent budget is not
//!   ([`Error::is_transient`](crate::Error::is_transient)).
//!
//! [`Observed`] is around all of them, where a server counts what is asked.
//!
//! All are lazy, as models are: nothing is sent, counted or timed before the stream is polled, and dropping the stream
//! ends what it began. `Retry` begins a reply again only while nothing of it was passed on: a reader that has
//! seen half an answer would otherwise see two beginnings. `Budgeted` charges by an estimate while text arrives and
//! replaces the estimate by the provider's own count, so a reply that is dropped stays charged for what had arrived.

mod budget;
mod observed;
mod payer;
mod retry;
mod timed;

#[cfg(test)]
#[path = "layer/budget_tests.rs"]
mod budget_tests;
#[cfg(test)]
#[path = "layer/observed_tests.rs"]
mod observed_tests;
#[cfg(test)]
#[path = "layer/retry_tests.rs"]
mod retry_tests;
#[cfg(test)]
#[path = "layer/timed_tests.rs"]
mod timed_tests;

pub use budget::{Allowance, Amount, Budget, Budgeted, Cost, Price, Spent};
pub use observed::{Meter, Metered, Observed};
pub use payer::Payer;
pub use retry::{Patience, Retry};
pub use timed::{Timed, Times};
