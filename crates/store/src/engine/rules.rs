//! The rules that refuse a batch: the same for all engines, checked before anything is written.

use crate::Error;
use crate::batch::{Batch, Change};
use crate::entry::{StreamId, StreamState};
use crate::table::{Table, Value};

/// The state before the batch, as far as the rules need it.
pub(crate) trait CurrentState {
    /// The state of a stream; none when it is unknown.
    fn stream(&self, stream: &StreamId) -> Result<Option<StreamState>, Error>;
    /// Whether there is a row with this key.
    fn has(&self, table: &'static Table, key: &str) -> Result<bool, Error>;
    /// Whether this table was declared when the store was opened.
    fn knows(&self, table: &'static Table) -> bool;
}

/// Checks every change of a batch, each against the state that the changes before it leave. After this only
/// the storage itself can fail.
pub(crate) fn check(batch: &Batch, current: &dyn CurrentState) -> Result<(), Error> {
    let changes = batch.changes();
    // States of streams as the earlier changes of this batch leave them.
    let mut moved: Vec<(&StreamId, Option<StreamState>)> = Vec::new();
    for (place, change) in changes.iter().enumerate() {
        without_nul(change)?;
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
            Change::Replace { .. } => continue,
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

/// The state of a stream after an allowed change.
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
        Change::Replace { .. }
        | Change::Put { .. }
        | Change::Insert { .. }
        | Change::Delete { .. } => state,
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

/// Refuses texts with the character NUL: PostgreSQL keeps none, and a batch has to mean the same to all engines.
fn without_nul(change: &Change) -> Result<(), Error> {
    let texts: (&str, &[Value]) = match change {
        Change::Put { row, .. } | Change::Insert { row, .. } => (&row.key, &row.columns),
        Change::Delete { key, .. } => (key, &[]),
        Change::Append { stream, .. }
        | Change::Finish { stream, .. }
        | Change::Truncate { stream, .. }
        | Change::Forget { stream }
        | Change::Replace { stream, .. } => (stream.as_str(), &[]),
    };
    let columns = texts.1.iter().filter_map(|value| match value {
        Value::Text(text) => Some(text.as_str()),
        Value::Integer(_) => None,
    });
    match std::iter::once(texts.0)
        .chain(columns)
        .find(|text| text.contains('\0'))
    {
        Some(text) => Err(Error::Nul {
            name: text.chars().take(80).collect(),
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

/// Whether a row with this key exists after these changes; none if they do not touch it.
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
