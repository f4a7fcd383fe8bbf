//! The reading interface: one snapshot of streams and tables.

use std::sync::Arc;

use crate::Error;
use crate::entry::{Entry, StreamId, StreamState};
use crate::query::Query;
use crate::table::{Row, Table};

/// A snapshot of the store: all reads through one view see the same commits.
pub trait View {
    /// The state of a stream; none when the stream is unknown.
    fn stream(&self, stream: &StreamId) -> Result<Option<StreamState>, Error>;

    /// The events after the event `after`, at most `limit`. Empty when the stream is unknown;
    /// [`Error::Compacted`] when some of them have been dropped.
    fn events(
        &self,
        stream: &StreamId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Arc<Entry>>, Error> {
        self.page(stream, after, limit, usize::MAX)
    }

    /// As [`events`](View::events), but the page ends with the event that fills `bytes`; the caller asks again
    /// for the rest.
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

    /// The number of rows that match a query's conditions; its position and its limit are ignored.
    fn count(&self, query: &Query) -> Result<u64, Error>;

    /// All streams by name, from the one after this name on, at most `limit`.
    fn streams(&self, after: &str, limit: usize) -> Result<Vec<(StreamId, StreamState)>, Error>;

    /// Streams finished before this time (milliseconds since 1970), the oldest first.
    fn finished(&self, before: i64, limit: usize) -> Result<Vec<(StreamId, StreamState)>, Error>;

    /// Streams finished before this time that still have events, the oldest first: candidates for compaction.
    fn compactable(&self, before: i64, limit: usize)
    -> Result<Vec<(StreamId, StreamState)>, Error>;

    /// The number of streams that are finished and not forgotten.
    fn finished_count(&self) -> Result<u64, Error>;
}
