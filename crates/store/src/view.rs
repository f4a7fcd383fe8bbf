//! What a reader sees.

use std::sync::Arc;

use crate::Error;
use crate::entry::{Entry, StreamId, StreamState};
use crate::query::Query;
use crate::table::{Row, Table};

/// The store at one moment: whatever is read through one view belongs together.
pub trait View {
    /// Where a stream stands; nothing when it is unknown.
    fn stream(&self, stream: &StreamId) -> Result<Option<StreamState>, Error>;

    /// The events that follow the event `after`, at most `limit`. None when the stream is unknown;
    /// [`Error::Compacted`] when some of them have been dropped.
    fn events(
        &self,
        stream: &StreamId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Arc<Entry>>, Error> {
        self.page(stream, after, limit, usize::MAX)
    }

    /// The same, but none after those that fill `bytes`: for whoever asks again for the rest.
    fn page(
        &self,
        stream: &StreamId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Arc<Entry>>, Error>;

    /// The row with this key.
    fn row(&self, table: &'static Table, key: &str) -> Result<Option<Row>, Error>;

    /// The rows a query asks for.
    fn rows(&self, query: &Query) -> Result<Vec<Row>, Error>;

    /// How many rows fulfil a query, wherever they are: its position and its limit do not matter.
    fn count(&self, query: &Query) -> Result<u64, Error>;

    /// Streams that were finished before this time (milliseconds since 1970), the oldest first.
    fn finished(&self, before: i64, limit: usize) -> Result<Vec<(StreamId, StreamState)>, Error>;

    /// Of those, the ones that still have events: what compaction is about.
    fn compactable(&self, before: i64, limit: usize)
    -> Result<Vec<(StreamId, StreamState)>, Error>;

    /// How many streams are finished and not forgotten.
    fn finished_count(&self) -> Result<u64, Error>;
}
