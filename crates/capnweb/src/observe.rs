//! Observing sessions and calls: [counters](Metrics) and [spans](Tracing).
//!
//! Both are [layers](crate::Layer), so a session without them measures nothing and reads no clock. Both name
//! calls by labels, which are bounded in number.

mod labels;
mod metrics;
mod tracing;

pub use metrics::{CallStats, Metrics, Snapshot, TIME_BOUNDS};
pub use tracing::Tracing;

pub(crate) use metrics::{Measuring, Registered};
