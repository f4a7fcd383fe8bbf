//! Writing the file: a group of batches is one transaction.

use std::cell::RefCell;
use std::collections::HashMap;
use std::thread;

use rusqlite::{OptionalExtension, Params, params_from_iter};

use super::errors::{ResultExt, damaged};
use super::{Sqlite, statements, view};
use crate::Error;
use crate::batch::{Batch, Change};
use crate::engine::rules::{self, CurrentState};
use crate::engine::{Engine, chunk};
use crate::entry::{StreamId, StreamState};
use crate::table::{Row, Table};

/// The most streams in the writer's cache.
const REMEMBERED: usize = 4096;

/// The ids and states of recently written streams, so that an append need not query its stream. Valid because
/// there is one writer; cleared when a transaction fails.
#[derive(Debug, Default)]
pub(super) struct StreamCache(RefCell<HashMap<StreamId, Option<(i64, StreamState)>>>);

impl Engine for Sqlite {
    fn apply(&mut self, group: &[Batch]) -> Result<Vec<Result<(), Error>>, Error> {
        if self.known.0.get_mut().len() > REMEMBERED {
            self.known.0.get_mut().clear();
        }
        let applied = self.transaction(group);
        if applied.is_err() {
            self.known.0.get_mut().clear();
            if !self.connection.is_autocommit()
                && let Err(error) = self.connection.execute_batch("ROLLBACK")
            {
                tracing::error!(%error, "rolling back a failed transaction failed");
            }
        }
        applied
    }

    fn tidy(&mut self) {
        self.checkpoints.run(&self.connection);
    }
}

impl Sqlite {
    /// On failure the transaction is left open, unless SQLite has ended it itself; the caller rolls it back.
    fn transaction(&self, group: &[Batch]) -> Result<Vec<Result<(), Error>>, Error> {
        self.run("BEGIN IMMEDIATE", [])?;
        let mut answers = Vec::with_capacity(group.len());
        for batch in group {
            // Checked first, so that a refused batch has written nothing.
            let answer = rules::check(batch, self);
            if answer.is_ok() {
                let mut changes = batch.changes();
                while let Some((change, rest)) = changes.split_first() {
                    self.write(change, rest)?;
                    changes = rest;
                }
            }
            answers.push(answer);
        }
        if answers.iter().any(Result::is_ok) {
            self.commit_delay.into_iter().for_each(thread::sleep);
            self.run("COMMIT", [])?;
        } else {
            self.run("ROLLBACK", [])?;
        }
        Ok(answers)
    }

    /// Writes one change. `rest` are the changes after it in the batch.
    fn write(&self, change: &Change, rest: &[Change]) -> Result<(), Error> {
        match change {
            Change::Put { table, row } => self.put(&self.tables.get(table)?.put, row),
            Change::Insert { table, row } => self.put(&self.tables.get(table)?.insert, row),
            Change::Delete { table, key } => self.run(&self.tables.get(table)?.delete, [key]),
            Change::Replace {
                stream,
                sequence,
                payload,
            } => match self.find(stream)? {
                Some((id, _)) => self.replace(id, *sequence, payload),
                None => Ok(()),
            },
            Change::Append { stream, .. }
            | Change::Finish { stream, .. }
            | Change::Truncate { stream, .. }
            | Change::Forget { stream } => {
                let before = self.find(stream)?;
                let mut after = rules::after(change, before.map(|(_, state)| state));
                if let (Change::Append { events, .. }, Some(state)) = (change, &mut after)
                    && !events.is_empty()
                {
                    // If the same batch finishes the stream, its row is written once.
                    state.finished = state.finished.or_else(|| end(stream, rest));
                }
                let id = self.change_stream(stream, change, before, after)?;
                let now = id.zip(after);
                self.known.0.borrow_mut().insert(stream.clone(), now);
                Ok(())
            }
        }
    }

    /// Writes a change to a stream, and returns the stream's id unless it was forgotten.
    fn change_stream(
        &self,
        stream: &StreamId,
        change: &Change,
        before: Option<(i64, StreamState)>,
        after: Option<StreamState>,
    ) -> Result<Option<i64>, Error> {
        let (id, after) = match (before, after) {
            (None, None) => return Ok(None),
            (Some((id, _)), None) => {
                self.run("DELETE FROM chunk WHERE stream = ?", [id])?;
                self.run("DELETE FROM stream WHERE id = ?", [id])?;
                return Ok(None);
            }
            (None, Some(state)) => {
                let sql = "INSERT INTO stream (name, first, last, finished) VALUES (?, ?, ?, ?)";
                let (first, last) = (state.first.cast_signed(), state.last.cast_signed());
                self.run(sql, (stream.as_str(), first, last, state.finished))?;
                (self.connection.last_insert_rowid(), state)
            }
            (Some((id, before)), Some(state)) if before != state => {
                let sql = "UPDATE stream SET first = ?, last = ?, finished = ? WHERE id = ?";
                let (first, last) = (state.first.cast_signed(), state.last.cast_signed());
                self.run(sql, (first, last, state.finished, id))?;
                (id, state)
            }
            (Some((id, _)), Some(_)) => return Ok(Some(id)),
        };
        match change {
            Change::Append { events, .. } => {
                let mut bytes = Vec::new();
                chunk::encode(events, &mut bytes);
                let sql = "INSERT INTO chunk (stream, last, first, events) VALUES (?, ?, ?, ?)";
                let first = after.last - events.len() as u64 + 1;
                let (first, last) = (first.cast_signed(), after.last.cast_signed());
                self.run(sql, (id, last, first, bytes))?;
            }
            Change::Truncate { .. } => self.drop_before(id, after.first)?,
            _ => {}
        }
        Ok(Some(id))
    }

    /// Writes another payload for an event, if it is there.
    fn replace(&self, id: i64, sequence: u64, payload: &[u8]) -> Result<(), Error> {
        let wanted = sequence.cast_signed();
        let found = || {
            let sql = "SELECT last, first, events FROM chunk WHERE stream = ? AND last >= ? ORDER BY last LIMIT 1";
            let mut statement = self.connection.prepare_cached(sql)?;
            let chunk = |row: &rusqlite::Row<'_>| {
                Ok((
                    row.get::<_, i64>(0)?,
                    row.get::<_, i64>(1)?,
                    row.get::<_, Vec<u8>>(2)?,
                ))
            };
            statement.query_row([id, wanted], chunk).optional()
        };
        match found().store_error(&self.path)? {
            Some((last, first, events)) if first <= wanted => {
                let place = (wanted - first).cast_unsigned();
                let changed = chunk::with_event(&events, place, payload);
                let changed = changed
                    .ok_or_else(|| damaged(&self.path, "the events of a stream are incomplete"))?;
                let sql = "UPDATE chunk SET events = ? WHERE stream = ? AND last = ?";
                self.run(sql, (changed, id, last))
            }
            _ => Ok(()),
        }
    }

    /// Deletes the events before `first`.
    fn drop_before(&self, id: i64, first: u64) -> Result<(), Error> {
        let first = first.cast_signed();
        self.run(
            "DELETE FROM chunk WHERE stream = ? AND last < ?",
            (id, first),
        )?;
        // One append may have events on both sides of the cut; its row keeps the later ones.
        let cut = || {
            let sql =
                "SELECT last, first, events FROM chunk WHERE stream = ? ORDER BY last LIMIT 1";
            let mut statement = self.connection.prepare_cached(sql)?;
            let chunk = |row: &rusqlite::Row<'_>| {
                Ok((
                    row.get::<_, i64>(0)?,
                    row.get::<_, i64>(1)?,
                    row.get::<_, Vec<u8>>(2)?,
                ))
            };
            statement.query_row([id], chunk).optional()
        };
        match cut().store_error(&self.path)? {
            Some((last, start, events)) if start < first => {
                let rest = chunk::without(&events, (first - start).cast_unsigned());
                let rest = rest
                    .ok_or_else(|| damaged(&self.path, "the events of a stream are incomplete"))?;
                let sql = "UPDATE chunk SET first = ?, events = ? WHERE stream = ? AND last = ?";
                self.run(sql, (first, rest, id, last))
            }
            _ => Ok(()),
        }
    }

    fn put(&self, statement: &str, row: &Row) -> Result<(), Error> {
        let columns = row.columns.iter().map(statements::bind);
        let values = [row.key.as_str().into()].into_iter().chain(columns);
        let values = values.chain([(&*row.body).into()]);
        self.run(statement, params_from_iter(values))
    }

    fn find(&self, stream: &StreamId) -> Result<Option<(i64, StreamState)>, Error> {
        if let Some(known) = self.known.0.borrow().get(stream) {
            return Ok(*known);
        }
        let found = view::stream(&self.connection, stream).store_error(&self.path)?;
        self.known.0.borrow_mut().insert(stream.clone(), found);
        Ok(found)
    }

    fn run(&self, sql: &str, values: impl Params) -> Result<(), Error> {
        let statement = self.connection.prepare_cached(sql);
        let done = statement.and_then(|mut statement| statement.execute(values));
        done.map(|_| ()).store_error(&self.path)
    }
}

/// The time at which these changes finish a stream, if they do.
fn end(stream: &StreamId, changes: &[Change]) -> Option<i64> {
    changes.iter().find_map(|change| match change {
        Change::Finish { stream: ended, at } if ended == stream => Some(*at),
        _ => None,
    })
}

impl CurrentState for Sqlite {
    fn stream(&self, stream: &StreamId) -> Result<Option<StreamState>, Error> {
        Ok(self.find(stream)?.map(|(_, state)| state))
    }

    fn has(&self, table: &'static Table, key: &str) -> Result<bool, Error> {
        let statements = self.tables.get(table)?;
        let statement = self.connection.prepare_cached(&statements.has);
        statement
            .and_then(|mut has| has.exists([key]))
            .store_error(&self.path)
    }

    fn knows(&self, table: &'static Table) -> bool {
        self.tables.get(table).is_ok()
    }
}
