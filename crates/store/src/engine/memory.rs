//! The engine that keeps everything in memory. It is fast, and nothing survives the process.
//!
//! It is built for a small footprint, since a server may keep many finished streams: events and rows are
//! packed bytes, and indexes hold numbers instead of keys.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use crate::Error;
use crate::backup::BackupFile;
use crate::batch::{Batch, Change};
use crate::engine::rules::{self, CurrentState};
use crate::engine::{Engine, Views};
use crate::entry::{Entry, StreamId, StreamState};
use crate::page::Page;
use crate::query::Query;
use crate::table::{Row, Table};
use crate::view::View;

mod index;
mod log;
mod name_map;
mod packed_row;
mod rows;
mod streams;

use rows::Rows;
use streams::Streams;

/// A handle to the in-memory state, which is one `RwLock` around streams and tables. The writer has one
/// handle, the readers have another.
///
/// A group is applied under the write lock, so a view under the read lock is a snapshot without any versions
/// of rows. Neither side waits for a disk, so the inline writer and readers run on the caller's thread.
///
/// Layout, and the reason for each part:
///
/// - A stream's events are one buffer of length-prefixed payloads ([`log`]), not a `Vec` of `Bytes`: a short
///   stream is one allocation, and an event costs one or two bytes beside its payload.
/// - When a stream is finished its buffer is compressed with LZ4, with the first finished stream as the
///   dictionary. The events of a task repeat its ids and the field names of all tasks, so this saves a quarter
///   or more of the memory of a finished task. LZ4 because it costs about a microsecond for a task and has no
///   dependencies; a stronger method would cost the writer more time than the memory is worth.
/// - A row is one packed allocation ([`packed_row`]); key, columns and body are slices of it. A `Row` would be
///   an allocation for each text column.
/// - Streams and rows have 32-bit numbers. Names are kept once, in the stream or row itself; the maps from name
///   to number ([`name_map`]) and the indexes hold only hashes and numbers, so an entry is 8 or 16 bytes without
///   a pointer.
///
/// Why not SQLite with `:memory:`: a commit would go through SQL and cost several times as much, and finished
/// streams could not be compressed. `cargo bench -p store --bench measure` shows both figures.
///
/// The write lock is std's, with poisoning: a panic half-way through a batch must not let later batches build
/// on it. Readers ignore the poison.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Arc<RwLock<State>>);

#[derive(Debug)]
struct State {
    streams: Streams,
    tables: Vec<Rows>,
    closed: bool,
}

impl Memory {
    /// An empty engine with these tables. The caller has checked their declarations.
    pub(crate) fn new(tables: &[&'static Table]) -> Self {
        Self(Arc::new(RwLock::new(State {
            streams: Streams::default(),
            tables: tables.iter().copied().map(Rows::new).collect(),
            closed: false,
        })))
    }
}

impl Engine for Memory {
    fn apply(&mut self, group: &[Batch]) -> Result<Vec<Result<(), Error>>, Error> {
        let mut state = self.0.write().expect("a change is applied without panic");
        Ok(group.iter().map(|batch| state.apply(batch)).collect())
    }
}

impl Views for Memory {
    fn show(&self, reader: &mut dyn FnMut(&dyn View)) -> Result<(), Error> {
        let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return Err(Error::Closed);
        }
        reader(&*state);
        Ok(())
    }

    fn back_up(&self, to: &Path, _: &[BackupFile]) -> Result<(), Error> {
        let unkept = std::io::Error::other("data in memory cannot be backed up");
        Err(Error::io("write", to)(unkept))
    }

    fn may_block(&self) -> bool {
        false
    }

    fn close(&self) {
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        state.closed = true;
        state.streams = Streams::default();
        state.tables.clear();
    }
}

impl State {
    /// Checks the rules first, so that a batch never stops half-way.
    fn apply(&mut self, batch: &Batch) -> Result<(), Error> {
        rules::check(batch, self)?;
        for change in batch.changes() {
            match change {
                Change::Append { stream, events, .. } => self.streams.append(stream, events),
                Change::Finish { stream, at } => self.streams.finish(stream, *at),
                Change::Truncate { stream, through } => self.streams.truncate(stream, *through),
                Change::Forget { stream } => self.streams.forget(stream),
                Change::Replace {
                    stream,
                    sequence,
                    payload,
                } => self.streams.replace(stream, *sequence, payload),
                Change::Put { table, row } | Change::Insert { table, row } => {
                    self.table_mut(table).put(row);
                }
                Change::Delete { table, key } => self.table_mut(table).delete(key),
            }
        }
        Ok(())
    }

    fn table(&self, table: &'static Table) -> Result<&Rows, Error> {
        let mut tables = self.tables.iter();
        let found = tables.find(|rows| rows.table().name == table.name);
        found.ok_or_else(|| table.undeclared())
    }

    fn table_mut(&mut self, table: &'static Table) -> &mut Rows {
        let mut tables = self.tables.iter_mut();
        let found = tables.find(|rows| rows.table().name == table.name);
        found.expect("the rules know all tables")
    }
}

impl CurrentState for State {
    fn stream(&self, stream: &StreamId) -> Result<Option<StreamState>, Error> {
        Ok(self.streams.state(stream))
    }

    fn has(&self, table: &'static Table, key: &str) -> Result<bool, Error> {
        Ok(self.table(table)?.has(key))
    }

    fn knows(&self, table: &'static Table) -> bool {
        self.table(table).is_ok()
    }
}

impl View for State {
    fn stream(&self, stream: &StreamId) -> Result<Option<StreamState>, Error> {
        Ok(self.streams.state(stream))
    }

    fn page(
        &self,
        stream: &StreamId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Arc<Entry>>, Error> {
        let mut page = Page::new(after, limit, bytes);
        self.streams.read(stream, &mut page)?;
        Ok(page.into_entries())
    }

    fn row(&self, table: &'static Table, key: &str) -> Result<Option<Row>, Error> {
        Ok(self.table(table)?.get(key))
    }

    fn rows(&self, query: &Query) -> Result<Vec<Row>, Error> {
        let rows = self.table(query.table())?;
        Ok(rows.select(&query.resolve()?))
    }

    fn count(&self, query: &Query) -> Result<u64, Error> {
        let rows = self.table(query.table())?;
        Ok(rows.count(&query.resolve()?))
    }

    fn streams(&self, after: &str, limit: usize) -> Result<Vec<(StreamId, StreamState)>, Error> {
        Ok(self.streams.listed(after, limit))
    }

    fn finished(&self, before: i64, limit: usize) -> Result<Vec<(StreamId, StreamState)>, Error> {
        Ok(self.streams.finished(before, limit))
    }

    fn compactable(
        &self,
        before: i64,
        limit: usize,
    ) -> Result<Vec<(StreamId, StreamState)>, Error> {
        Ok(self.streams.compactable(before, limit))
    }

    fn finished_count(&self) -> Result<u64, Error> {
        Ok(self.streams.finished_count() as u64)
    }
}
