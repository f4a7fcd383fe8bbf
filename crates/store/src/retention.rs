//! Retention: which finished streams are due to be compacted or forgotten.

use std::time::Duration;

use crate::Error;
use crate::entry::{StreamId, StreamState};
use crate::view::View;

/// How long finished streams are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// A stream is forgotten this long after it was finished.
    pub max_age: Duration,
    /// The most finished streams that are kept; beyond that the oldest are forgotten.
    pub max_count: u64,
    /// A stream loses its events this long after it was finished.
    pub compact_after: Duration,
}

/// The streams that are due. The owner of the streams acts on it, because a stream that loses its events may
/// need another change in the same batch, for example a row with its final state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Streams to forget, the oldest first.
    pub forget: Vec<(StreamId, StreamState)>,
    /// Streams to truncate, the oldest first.
    pub compact: Vec<(StreamId, StreamState)>,
}

/// The streams due at `now` (milliseconds since 1970), at most `limit` of each kind.
pub fn due(view: &dyn View, retention: &Retention, now: i64, limit: usize) -> Result<Due, Error> {
    let ago =
        |age: Duration| now.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
    let excess = view.finished_count()?.saturating_sub(retention.max_count);
    let excess = usize::try_from(excess).unwrap_or(usize::MAX);
    let too_old = ago(retention.max_age);
    // Both lists start with the oldest stream, so the longer one contains the shorter one.
    let mut forget = view.finished(i64::MAX, limit.min(excess))?;
    if forget.len() < limit {
        let aged = view.finished(too_old, limit)?;
        if aged.len() > forget.len() {
            forget = aged;
        }
    }
    let mut compact = view.compactable(ago(retention.compact_after), forget.len() + limit)?;
    compact.retain(|(stream, _)| forget.iter().all(|(other, _)| other != stream));
    compact.truncate(limit);
    Ok(Due { forget, compact })
}
