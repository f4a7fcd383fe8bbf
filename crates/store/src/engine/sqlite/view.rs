//! Reading streams and rows from the file.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params_from_iter};

use super::errors::{ResultExt, damaged};
use super::statements::{self, Tables};
use crate::Error;
use crate::engine::chunk;
use crate::entry::{Entry, StreamId, StreamState};
use crate::page::Page;
use crate::query::Query;
use crate::table::{Row, Table};
use crate::view::View;

/// A snapshot of the file. The connection is in a read transaction.
#[derive(Debug)]
pub(super) struct SqliteView<'a> {
    connection: &'a Connection,
    path: &'a Path,
    tables: &'a Tables,
}

impl<'a> SqliteView<'a> {
    pub(super) fn new(connection: &'a Connection, path: &'a Path, tables: &'a Tables) -> Self {
        Self {
            connection,
            path,
            tables,
        }
    }

    /// Fills a page with the events of a stream. None if they are damaged.
    fn read(&self, id: i64, page: &mut Page) -> rusqlite::Result<Option<()>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT first, events FROM chunk WHERE stream = ? AND last > ? ORDER BY last",
        )?;
        let mut chunks = statement.query((id, page.after().cast_signed()))?;
        while !page.is_full()
            && let Some(found) = chunks.next()?
        {
            let events = Bytes::copy_from_slice(found.get_ref(1)?.as_blob()?);
            let first = found.get::<_, i64>(0)?.cast_unsigned();
            if chunk::decode(&events, first, page).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// Finished streams, the oldest first: either those that have events or those that have none.
    fn ended(
        &self,
        empty: bool,
        before: i64,
        limit: usize,
    ) -> rusqlite::Result<Vec<(StreamId, StreamState)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, first, last, finished, name FROM stream
             WHERE (first > last) = ? AND finished IS NOT NULL AND finished < ?
             ORDER BY finished, id LIMIT ?",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let found = statement.query_map((empty, before, limit), |row| {
            let (_, state) = state(row)?;
            Ok((StreamId::new(row.get::<_, String>(4)?), state))
        })?;
        found.collect()
    }
}

/// A stream's number and state.
pub(super) fn stream(
    connection: &Connection,
    stream: &StreamId,
) -> rusqlite::Result<Option<(i64, StreamState)>> {
    let mut statement =
        connection.prepare_cached("SELECT id, first, last, finished FROM stream WHERE name = ?")?;
    statement.query_row([stream.as_str()], state).optional()
}

fn state(row: &SqlRow<'_>) -> rusqlite::Result<(i64, StreamState)> {
    let state = StreamState {
        first: row.get::<_, i64>(1)?.cast_unsigned(),
        last: row.get::<_, i64>(2)?.cast_unsigned(),
        finished: row.get(3)?,
    };
    Ok((row.get(0)?, state))
}

impl View for SqliteView<'_> {
    fn stream(&self, stream: &StreamId) -> Result<Option<StreamState>, Error> {
        let found = self::stream(self.connection, stream).store_error(self.path)?;
        Ok(found.map(|(_, state)| state))
    }

    fn page(
        &self,
        stream: &StreamId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Arc<Entry>>, Error> {
        let mut page = Page::new(after, limit, bytes);
        let found = self::stream(self.connection, stream).store_error(self.path)?;
        let Some((id, StreamState { first, last, .. })) = found else {
            return Ok(Vec::new());
        };
        if after.saturating_add(1) < first {
            let stream = stream.clone();
            return Err(Error::Compacted { stream, first });
        }
        if after < last {
            let read = self.read(id, &mut page).store_error(self.path)?;
            read.ok_or_else(|| {
                damaged(self.path, format!("the events of {stream} are incomplete"))
            })?;
        }
        Ok(page.into_entries())
    }

    fn row(&self, table: &'static Table, key: &str) -> Result<Option<Row>, Error> {
        let statements = self.tables.get(table)?;
        let read = || {
            let mut statement = self.connection.prepare_cached(&statements.get)?;
            statement
                .query_row([key], |found| statements::row(table, found))
                .optional()
        };
        read().store_error(self.path)
    }

    fn rows(&self, query: &Query) -> Result<Vec<Row>, Error> {
        let query = query.resolve()?;
        self.tables.get(query.table)?;
        let (sql, bound) = statements::select(&query);
        let read = || {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let row = |found: &SqlRow<'_>| statements::row(query.table, found);
            statement
                .query_map(params_from_iter(bound), row)?
                .collect::<rusqlite::Result<_>>()
        };
        read().store_error(self.path)
    }

    fn count(&self, query: &Query) -> Result<u64, Error> {
        let query = query.resolve()?;
        self.tables.get(query.table)?;
        let (sql, bound) = statements::count(&query);
        let read = || {
            let mut statement = self.connection.prepare_cached(&sql)?;
            statement.query_row(params_from_iter(bound), |row| row.get::<_, i64>(0))
        };
        read().store_error(self.path).map(i64::cast_unsigned)
    }

    fn streams(&self, after: &str, limit: usize) -> Result<Vec<(StreamId, StreamState)>, Error> {
        let read = || {
            let sql = "SELECT id, first, last, finished, name FROM stream WHERE name > ? ORDER BY name LIMIT ?";
            let mut statement = self.connection.prepare_cached(sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let found = statement.query_map((after, limit), |row| {
                let (_, state) = state(row)?;
                Ok((StreamId::new(row.get::<_, String>(4)?), state))
            })?;
            found.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().store_error(self.path)
    }

    fn finished(&self, before: i64, limit: usize) -> Result<Vec<(StreamId, StreamState)>, Error> {
        let mut streams = self.ended(true, before, limit).store_error(self.path)?;
        streams.extend(self.ended(false, before, limit).store_error(self.path)?);
        streams.sort_by_key(|(_, state)| state.finished);
        streams.truncate(limit);
        Ok(streams)
    }

    fn compactable(
        &self,
        before: i64,
        limit: usize,
    ) -> Result<Vec<(StreamId, StreamState)>, Error> {
        self.ended(false, before, limit).store_error(self.path)
    }

    fn finished_count(&self) -> Result<u64, Error> {
        let sql = "SELECT count(*) FROM stream WHERE finished IS NOT NULL";
        let count = self.connection.prepare_cached(sql);
        let count = count.and_then(|mut count| count.query_row([], |row| row.get::<_, i64>(0)));
        count.store_error(self.path).map(i64::cast_unsigned)
    }
}
