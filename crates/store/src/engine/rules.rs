//! Which batches are refused: the same for every engine, and decided before anything is written.

use crate::Error;
use crate::batch::{Batch, Change};
use crate::entry::{StreamId, StreamState};
use crate::table::Table;

/// What the rules need to know, as it is before the batch.
pub(crate) trait CurrentState {
    /// Where a stream stands.
    fn stream(&self, stream: &StreamId) -> Result<Option<StreamState>, Error>;
    /// Whether there is a row with this key.
    fn has(&self, table: &'static Table, key: &str) -> Result<bool, Error>;
    /// Whether this table was declared when the store was opened.
    fn knows(&self, table: &'static Table) -> bool;
}

/// Whether a batch can be applied to the last change. An engine that has asked this has nothing left
/// that could fail but the storage itself.
pub(crate) fn check(batch: &Batch, current: &dyn CurrentState) -> Result<(), Error> {
    let changes = batch.changes();
    // What the batch itself has made of streams so far.
    let mut moved: Vec<(&StreamId, Option<StreamState>)> = Vec::new();
    for (place, change) in changes.iter().enumerate() {
        let (stream, state) = match change {
            Change::Put { table, row } => {
                known(table, current)?;
                table.admits(row)?;
                continue;
            }
            Change::Insert { table, row } => {
                known(table, current)?;
                table.admits(row)?;
                let earlier = left_by(&changes[..place], table, &row.key);
                if earlier.map_or_else(|| current.has(table, &row.key), Ok)? {
                    let (table, key) = (table.name, row.key.clone());
                    return Err(Error::Exists { table, key });
                }
                continue;
            }
            Change::Delete { table, .. } => {
                known(table, current)?;
                continue;
            }
            Change::Append { stream, .. }
            | Change::Finish { stream, .. }
            | Change::Truncate { stream, .. }
            | Change::Forget { stream } => {
                let earlier = moved.iter().rev().find(|(moved, _)| *moved == stream);
                (
                    stream,
                    earlier.map_or_else(|| current.stream(stream), |(_, state)| Ok(*state))?,
                )
            }
        };
        if let Change::Append { after, .. } = change {
            appendable(stream, state, *after)?;
        }
        if place + 1 < changes.len() {
            moved.push((stream, after(change, state)));
        }
    }
    Ok(())
}

/// Where a stream stands after a change to it that the rules allow.
pub(crate) fn after(change: &Change, state: Option<StreamState>) -> Option<StreamState> {
    match change {
        Change::Append { events, .. } if events.is_empty() => state,
        Change::Append { events, .. } => {
            let state = state.unwrap_or(StreamState {
                first: 1,
                last: 0,
                finished: None,
            });
            let last = state.last + events.len() as u64;
            Some(StreamState { last, ..state })
        }
        Change::Finish { at, .. } => state.map(|state| StreamState {
            finished: Some(*at),
            ..state
        }),
        Change::Truncate { through, .. } => state.map(|state| StreamState {
            first: state.first.max(state.last.min(*through) + 1),
            ..state
        }),
        Change::Forget { .. } => None,
        Change::Put { .. } | Change::Insert { .. } | Change::Delete { .. } => state,
    }
}

fn appendable(stream: &StreamId, state: Option<StreamState>, after: u64) -> Result<(), Error> {
    let found = state.map_or(0, |state| state.last);
    if found != after {
        return Err(Error::Conflict {
            stream: stream.clone(),
            expected: after,
            found,
        });
    }
    match state.and_then(|state| state.finished) {
        Some(_) => Err(Error::Finished {
            stream: stream.clone(),
        }),
        None => Ok(()),
    }
}

fn known(table: &'static Table, current: &dyn CurrentState) -> Result<(), Error> {
    if current.knows(table) {
        return Ok(());
    }
    Err(table.undeclared())
}

/// Whether these changes leave a row with this key, if they touch it.
fn left_by(changes: &[Change], table: &'static Table, key: &str) -> Option<bool> {
    changes.iter().rev().find_map(|change| match change {
        Change::Put { table: other, row } | Change::Insert { table: other, row } => {
            (other.name == table.name && row.key == key).then_some(true)
        }
        Change::Delete {
            table: other,
            key: gone,
        } => (other.name == table.name && gone == key).then_some(false),
        _ => None,
    })
}
