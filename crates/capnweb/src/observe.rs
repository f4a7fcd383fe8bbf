//! What sessions do, for those who run them: [counted](Metrics), and [told as it happens](Tracing).
//!
//! Both are [layers](crate::Layer), so a session without them measures nothing and reads no clock. Both
//! name calls by labels, of which there are only so many whatever peers send.

mod labels;
mod metrics;
mod tracing;

pub use metrics::{CallStats, Metrics, Snapshot, TIME_BOUNDS};
pub use tracing::Tracing;

pub(crate) use metrics::{Measuring, Registered};
