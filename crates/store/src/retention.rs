//! Which finished streams have been kept long enough.

use std::time::Duration;

use crate::Error;
use crate::entry::{StreamId, StreamState};
use crate::view::View;

/// How long finished streams are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Forgotten this long after they were finished.
    pub max_age: Duration,
    /// The most that are kept; beyond it the oldest are forgotten.
    pub max_count: u64,
    /// Without their events this long after they were finished.
    pub compact_after: Duration,
}

/// What is due at a moment. To act on it is for whoever owns the streams, since a stream that loses its
/// events may have to leave something else behind in the same batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Streams to forget, the oldest first.
    pub forget: Vec<(StreamId, StreamState)>,
    /// Streams to truncate, the oldest first.
    pub compact: Vec<(StreamId, StreamState)>,
}

/// What is due at `now` (milliseconds since 1970), at most `limit` streams of each kind.
pub fn due(view: &dyn View, retention: &Retention, now: i64, limit: usize) -> Result<Due, Error> {
    let ago =
        |age: Duration| now.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
    let excess = view.finished_count()?.saturating_sub(retention.max_count);
    let excess = usize::try_from(excess).unwrap_or(usize::MAX);
    let too_old = ago(retention.max_age);
    // Both are the oldest ones, so one is the beginning of the other.
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
