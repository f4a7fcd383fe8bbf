//! Copying all of a store into an empty one, of whatever engine: the way from a folder into a database and back.

use std::sync::Arc;

use crate::Error;
use crate::batch::{Batch, NewEvent};
use crate::entry::{Entry, StreamId, StreamState};
use crate::query::Query;
use crate::store::Store;
use crate::table::Table;

/// How many streams, events or rows are read at a time.
const PAGE: usize = 512;

/// The bytes of events that are read at a time, unless one is larger.
const PAGE_BYTES: usize = 4 << 20;

/// How many events are appended at a time in place of those that a stream has dropped.
const DROPPED: u64 = 65_536;

/// The number of things that were copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    pub streams: u64,
    pub events: u64,
    pub rows: u64,
}

/// Copies all streams with their numbers, and all rows of these tables. Nothing may write into either store meanwhile. A
/// target that holds data is refused; one that was left half-way has to be emptied before it is tried again.
pub async fn copy(from: &Store, to: &Store, tables: &[&'static Table]) -> Result<Copied, Error> {
    check_empty(to, tables).await?;
    let mut copied = Copied::default();
    let mut after = String::new();
    loop {
        let page = from.read(move |view| view.streams(&after, PAGE)).await?;
        let Some((last, _)) = page.last() else { break };
        after = last.as_str().to_owned();
        for (stream, state) in page {
            copied.events += copy_stream(from, to, &stream, state).await?;
            copied.streams += 1;
        }
    }
    for table in tables.iter().copied() {
        copied.rows += copy_rows(from, to, table).await?;
    }
    Ok(copied)
}

async fn check_empty(to: &Store, tables: &[&'static Table]) -> Result<(), Error> {
    let tables = tables.to_vec();
    let found = to.read(move |view| {
        let stream = view
            .streams("", 1)?
            .pop()
            .map(|(stream, _)| stream.to_string());
        let mut full = None;
        for table in tables {
            if view.count(&Query::of(table))? > 0 {
                full = Some(format!("table {}", table.name));
            }
        }
        Ok(stream.map(|stream| format!("stream {stream}")).or(full))
    });
    match found.await? {
        Some(name) => Err(Error::Occupied { name }),
        None => Ok(()),
    }
}

/// Copies a stream, and gives the number of its events that are kept.
async fn copy_stream(
    from: &Store,
    to: &Store,
    stream: &StreamId,
    state: StreamState,
) -> Result<u64, Error> {
    let StreamState {
        first,
        last,
        finished,
    } = state;
    // Events that were dropped have their numbers: empty ones are appended in their place, and dropped in the same batch.
    let mut filled = 0;
    while filled + 1 < first {
        let until = (filled + DROPPED).min(first - 1);
        let nothing = (filled..until).map(|_| NewEvent::new(Vec::new())).collect();
        to.commit(
            Batch::new()
                .append(stream, filled, nothing)
                .truncate(stream, until),
        )
        .await?;
        filled = until;
    }
    let mut cursor = first - 1;
    while cursor < last {
        let name = stream.clone();
        let page = from
            .read(move |view| view.page(&name, cursor, PAGE, PAGE_BYTES))
            .await?;
        let Some(end) = page.last().map(|entry| entry.sequence()) else {
            break;
        };
        let event = |entry: &Arc<Entry>| NewEvent::new(entry.payload().clone());
        to.commit(Batch::new().append(stream, cursor, page.iter().map(event).collect()))
            .await?;
        cursor = end;
    }
    if let Some(at) = finished {
        to.commit(Batch::new().finish(stream, at)).await?;
    }
    Ok(last + 1 - first)
}

async fn copy_rows(from: &Store, to: &Store, table: &'static Table) -> Result<u64, Error> {
    let mut query = Query::of(table).limit(PAGE);
    let mut copied = 0;
    loop {
        let asked = query.clone();
        let page = from.read(move |view| view.rows(&asked)).await?;
        let Some(last) = page.last() else {
            return Ok(copied);
        };
        query = query.after_key(&last.key);
        copied += page.len() as u64;
        let batch = page
            .into_iter()
            .fold(Batch::new(), |batch, row| batch.put(table, row));
        to.commit(batch).await?;
    }
}
