//! A group of batches folded into what has to be written: pure, so that the database is asked for facts before and told
//! the outcome after.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;

use super::arrays::{Chunks, Streams, columns};
use super::session::Command;
use super::statements::{self, Tables, number};
use crate::Error;
use crate::batch::{Batch, Change};
use crate::engine::chunk;
use crate::engine::rules::{self, CurrentState};
use crate::entry::{StreamId, StreamState};
use crate::table::{Row, Table};

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;

/// The state of a stream, as far as it is known. An append says what the last event is, and nothing of the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) first: Option<u64>,
    pub(super) last: u64,
    pub(super) finished: Option<i64>,
}

impl From<StreamState> for Known {
    fn from(state: StreamState) -> Self {
        Self {
            first: Some(state.first),
            last: state.last,
            finished: state.finished,
        }
    }
}

impl Known {
    /// The state for the rules, which look at the first event only to move it.
    fn state(self) -> StreamState {
        StreamState {
            first: self.first.unwrap_or(1),
            last: self.last,
            finished: self.finished,
        }
    }
}

/// A chunk that is in the database.
#[derive(Clone, Debug)]
pub(super) struct OldChunk {
    pub(super) last: u64,
    pub(super) first: u64,
    pub(super) events: Bytes,
}

/// The facts that a group is folded with.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Streams; none for one that does not exist. A stream that is missing here is not known.
    pub(super) streams: HashMap<StreamId, Option<Known>>,
    /// The chunks that are cut or changed, by their stream.
    pub(super) chunks: HashMap<StreamId, Vec<OldChunk>>,
    /// The rows that are there, of those that batches insert.
    pub(super) rows: HashSet<(&'static str, String)>,
}

/// The changes of the batches taken so far.
#[derive(Debug)]
pub(super) struct Fold<'a> {
    tables: &'a Tables,
    facts: Facts,
    streams: BTreeMap<StreamId, StreamChange>,
    rows: BTreeMap<(&'static str, &'a str), RowChange<'a>>,
}

#[derive(Debug)]
struct StreamChange {
    before: Option<Known>,
    now: Option<Known>,
    /// Whether the stream that was there before is dropped; `now` is then another one of the same name.
    forgotten: bool,
    added: Vec<NewChunk>,
    /// Chunks in the database that are changed, with whether each has been.
    old: Vec<(OldChunk, bool)>,
    /// Whether `first` has moved past events in the database.
    truncated: bool,
}

#[derive(Debug)]
struct NewChunk {
    last: u64,
    first: u64,
    events: Vec<u8>,
}

#[derive(Debug)]
struct RowChange<'a> {
    table: &'static Table,
    /// Whether the first change of the row was an insert, which is refused if the key is taken.
    inserted: bool,
    now: Option<&'a Row>,
}

impl<'a> Fold<'a> {
    pub(super) fn new(tables: &'a Tables, facts: Facts) -> Self {
        Self {
            tables,
            facts,
            streams: BTreeMap::new(),
            rows: BTreeMap::new(),
        }
    }

    /// Checks a batch against what the batches before it leave, and takes it, or refuses it whole.
    pub(super) fn take(&mut self, batch: &'a Batch) -> Result<(), Error> {
        rules::check(batch, &*self)?;
        for change in batch.changes() {
            match change {
                Change::Put { table, row } => self.row(table, &row.key, Some(row), false),
                Change::Insert { table, row } => self.row(table, &row.key, Some(row), true),
                Change::Delete { table, key } => self.row(table, key, None, false),
                Change::Replace {
                    stream,
                    sequence,
                    payload,
                } => self.replace(stream, *sequence, payload)?,
                Change::Append { stream, .. }
                | Change::Finish { stream, .. }
                | Change::Truncate { stream, .. }
                | Change::Forget { stream } => self.stream(stream, change)?,
            }
        }
        Ok(())
    }

    /// Whether there is nothing to write.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.streams.values().all(StreamChange::is_unchanged)
    }

    /// Whether a row was inserted and removed by the same group, so that nothing that is written would find a twin.
    pub(super) fn hides_an_insert(&self) -> bool {
        self.rows
            .values()
            .any(|row| row.inserted && row.now.is_none())
    }

    /// The streams as the group leaves them.
    pub(super) fn states(&self) -> impl Iterator<Item = (&StreamId, Option<Known>)> {
        self.streams
            .iter()
            .map(|(stream, change)| (stream, change.now))
    }

    fn row(&mut self, table: &'static Table, key: &'a str, now: Option<&'a Row>, inserted: bool) {
        let change = RowChange {
            table,
            inserted,
            now,
        };
        self.rows
            .entry((table.name, key))
            .and_modify(|row| row.now = now)
            .or_insert(change);
    }

    fn stream(&mut self, stream: &StreamId, change: &Change) -> Result<(), Error> {
        let change_of = self.change_of(stream);
        let state = rules::after(change, change_of.now.map(Known::state));
        // What is not known of a stream stays unknown, unless the stream is a new one.
        let first = |now: &StreamState, before: Option<Known>| match before {
            Some(Known { first: None, .. }) => None,
            _ => Some(now.first),
        };
        let before = change_of.now;
        change_of.now = state.map(|now| Known {
            first: first(&now, before),
            last: now.last,
            finished: now.finished,
        });
        match change {
            Change::Append { events, .. } if !events.is_empty() => {
                let mut bytes = Vec::new();
                chunk::encode(events, &mut bytes);
                let last = state.map_or(0, |state| state.last);
                let first = last + 1 - events.len() as u64;
                change_of.added.push(NewChunk {
                    last,
                    first,
                    events: bytes,
                });
            }
            Change::Truncate { .. } => {
                if let Some(state) = state {
                    change_of.cut(state.first).ok_or_else(|| damaged(stream))?;
                }
            }
            Change::Forget { .. } => {
                change_of.forgotten |= change_of.before.is_some();
                change_of.added.clear();
                change_of.old.clear();
                change_of.truncated = false;
            }
            _ => {}
        }
        Ok(())
    }

    fn replace(&mut self, stream: &StreamId, sequence: u64, payload: &[u8]) -> Result<(), Error> {
        let change = self.change_of(stream);
        if change.now.is_none() {
            return Ok(());
        }
        let added = change
            .added
            .iter_mut()
            .find(|chunk| (chunk.first..=chunk.last).contains(&sequence));
        if let Some(chunk) = added {
            let events = chunk::with_event(&chunk.events, sequence - chunk.first, payload);
            chunk.events = events.ok_or_else(|| damaged(stream))?;
            return Ok(());
        }
        let old = change
            .old
            .iter_mut()
            .find(|(chunk, _)| (chunk.first..=chunk.last).contains(&sequence));
        if let Some((chunk, changed)) = old {
            let events = chunk::with_event(&chunk.events, sequence - chunk.first, payload);
            chunk.events = events.ok_or_else(|| damaged(stream))?.into();
            *changed = true;
        }
        Ok(())
    }

    fn change_of(&mut self, stream: &StreamId) -> &mut StreamChange {
        let facts = &mut self.facts;
        self.streams.entry(stream.clone()).or_insert_with(|| {
            let before = facts.streams.get(stream).copied().flatten();
            let old = facts.chunks.remove(stream).unwrap_or_default();
            StreamChange {
                before,
                now: before,
                forgotten: false,
                added: Vec::new(),
                old: old.into_iter().map(|chunk| (chunk, false)).collect(),
                truncated: false,
            }
        })
    }

    /// The statements that write all changes, in the order in which they have to be carried out.
    pub(super) fn commands(&self) -> Result<Vec<Command<'_>>, Error> {
        let mut commands = Vec::new();
        self.stream_commands(&mut commands);
        self.row_commands(&mut commands)?;
        Ok(commands)
    }

    fn stream_commands<'b>(&'b self, commands: &mut Vec<Command<'b>>) {
        let (mut forgotten, mut opened, mut moved) =
            (Vec::new(), Streams::default(), Streams::default());
        let (mut cut_streams, mut cut_firsts) = (Vec::new(), Vec::new());
        let (mut changed, mut added) = (Chunks::default(), Chunks::default());
        for (stream, change) in &self.streams {
            let name = stream.as_str();
            if change.forgotten {
                forgotten.push(name);
            }
            let Some(now) = change.now else { continue };
            match change.before.filter(|_| !change.forgotten) {
                None => opened.push(name, None, now),
                Some(before) if before != now => moved.push(name, Some(before), now),
                Some(_) => {}
            }
            if change.truncated {
                cut_streams.push(name);
                cut_firsts.push(number(now.first.unwrap_or(1)));
            }
            for (chunk, _) in change.old.iter().filter(|(_, changed)| *changed) {
                changed.push(name, chunk.last, chunk.first, &chunk.events);
            }
            for chunk in &change.added {
                added.push(name, chunk.last, chunk.first, &chunk.events);
            }
        }
        if !forgotten.is_empty() {
            commands.push(Command::new(
                statements::FORGET_CHUNKS,
                vec![Box::new(forgotten.clone())],
            ));
            commands.push(Command::new(
                statements::FORGET_STREAMS,
                vec![Box::new(forgotten)],
            ));
        }
        opened.open(commands);
        moved.change(commands);
        if !cut_streams.is_empty() {
            commands.push(Command::new(
                statements::DROP_CHUNKS,
                vec![Box::new(cut_streams), Box::new(cut_firsts)],
            ));
        }
        changed.command(statements::CHANGE_CHUNKS, commands);
        added.command(statements::ADD_CHUNKS, commands);
    }

    fn row_commands<'b>(&'b self, commands: &mut Vec<Command<'b>>) -> Result<(), Error> {
        let mut by_table: BTreeMap<&str, Vec<(&str, &RowChange<'_>)>> = BTreeMap::new();
        for ((table, key), change) in &self.rows {
            by_table.entry(table).or_default().push((key, change));
        }
        for changes in by_table.into_values() {
            let Some((_, RowChange { table, .. })) = changes.first() else {
                continue;
            };
            let sql = self.tables.get(table)?;
            let gone = changes
                .iter()
                .filter(|(_, change)| change.now.is_none())
                .map(|(key, _)| *key);
            let gone: Vec<&str> = gone.collect();
            if !gone.is_empty() {
                commands.push(Command::new(&sql.delete, vec![Box::new(gone)]));
            }
            for (statement, wanted) in [(&sql.insert, true), (&sql.put, false)] {
                let rows = changes
                    .iter()
                    .filter(|(_, change)| change.inserted == wanted);
                let rows: Vec<&Row> = rows.filter_map(|(_, change)| change.now).collect();
                if !rows.is_empty() {
                    commands.push(Command::new(statement, columns(table, &rows)));
                }
            }
        }
        Ok(())
    }
}

impl StreamChange {
    fn is_unchanged(&self) -> bool {
        !self.forgotten
            && self.before == self.now
            && self.added.is_empty()
            && !self.old.iter().any(|(_, changed)| *changed)
    }

    /// Drops the events before `first`. None if a chunk is damaged.
    fn cut(&mut self, first: u64) -> Option<()> {
        let is_moved = self
            .before
            .is_some_and(|before| before.first.is_none_or(|old| old < first));
        self.truncated |= is_moved && !self.forgotten;
        self.added.retain(|chunk| chunk.last >= first);
        self.old.retain(|(chunk, _)| chunk.last >= first);
        for chunk in self.added.iter_mut().filter(|chunk| chunk.first < first) {
            chunk.events = chunk::without(&chunk.events, first - chunk.first)?.to_vec();
            chunk.first = first;
        }
        for (chunk, changed) in self.old.iter_mut().filter(|(chunk, _)| chunk.first < first) {
            let rest = chunk::without(&chunk.events, first - chunk.first)?;
            chunk.events = chunk.events.slice_ref(rest);
            chunk.first = first;
            *changed = true;
        }
        Some(())
    }
}

impl CurrentState for Fold<'_> {
    fn stream(&self, stream: &StreamId) -> Result<Option<StreamState>, Error> {
        let now = match self.streams.get(stream) {
            Some(change) => change.now,
            None => self.facts.streams.get(stream).copied().flatten(),
        };
        Ok(now.map(Known::state))
    }

    fn has(&self, table: &'static Table, key: &str) -> Result<bool, Error> {
        if let Some(row) = self.rows.get(&(table.name, key)) {
            return Ok(row.now.is_some());
        }
        Ok(!self.facts.rows.is_empty() && self.facts.rows.contains(&(table.name, key.to_owned())))
    }

    fn knows(&self, table: &'static Table) -> bool {
        self.tables.get(table).is_ok()
    }
}

fn damaged(stream: &StreamId) -> Error {
    Error::Corrupt {
        path: "the database".into(),
        problem: format!("the events of {stream} are incomplete"),
    }
}
