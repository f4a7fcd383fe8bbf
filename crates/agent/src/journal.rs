//! The life of an agent as it is kept: a stream of events with the changes they led to, and now and then the whole.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use store::{Batch, Column, Entry, NewEvent, Row, Store, StreamId, Table};

use crate::context::Change;
use crate::error::Error;
use crate::event::Event;
use crate::limits::SNAPSHOT;
use crate::step::{Life, Step};

/// The agents that there are: a row for each, with its state as it was at some event.
static AGENTS: Table = Table {
    name: "agents",
    columns: &[Column::integer("sequence")],
    indexes: &[],
};

/// The tables that a store needs for agents.
pub static TABLES: &[&Table] = &[&AGENTS];

/// How many events are read at once.
const PAGE: usize = 1024;

/// What is recorded of a step. Its number in the stream is the id by which it is cited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What was perceived.
    pub event: Event,
    /// What was different from then on.
    pub changes: Vec<Change>,
}

/// A record as it is written.
#[derive(Serialize)]
struct Recorded<'a> {
    event: &'a Event,
    changes: &'a [Change],
}

/// All that is needed of a record to fold it.
#[derive(Deserialize)]
struct Folded {
    changes: Vec<Change>,
}

/// The journal of one agent, as whoever owns the agent writes it.
#[derive(Debug)]
pub(crate) struct Journal {
    store: Store,
    stream: StreamId,
    id: String,
    /// The last event.
    last: u64,
    /// The event after which the whole was last written down.
    whole: u64,
}

impl Journal {
    /// The journal of an agent, and its life so far: the whole that was written down last, and what came after.
    pub(crate) async fn open(store: Store, id: &str) -> Result<(Self, Life), Error> {
        let stream = stream(id);
        let key = id.to_owned();
        let row = store.read(move |view| view.row(&AGENTS, &key)).await?;
        let (mut life, whole) = match row {
            Some(row) => (read::<Life>(&row.body)?, sequence(&row)),
            None => (Life::default(), 0),
        };
        let last = fold(&store, &stream, &mut life, whole).await?;
        let id = id.to_owned();
        Ok((
            Self {
                store,
                stream,
                id,
                last,
                whole,
            },
            life,
        ))
    }

    /// Records a step. It is safe when this returns, and only then it counts.
    pub(crate) async fn record(
        &mut self,
        event: &Event,
        step: &Step,
        life: &Life,
    ) -> Result<(), Error> {
        let changes = &step.changes;
        let record = write(&Recorded { event, changes })?;
        let events = vec![NewEvent::new(record)];
        let mut batch = Batch::new().append(&self.stream, self.last, events);
        let due = self.last + 1 - self.whole >= SNAPSHOT;
        if due {
            let mut after = life.clone();
            step.changes.iter().for_each(|change| after.apply(change));
            batch = batch.put(&AGENTS, self.row(&after, self.last + 1)?);
        }
        self.store.commit(batch).await?;
        self.last += 1;
        if due {
            self.whole = self.last;
        }
        Ok(())
    }

    /// Writes down the whole, so that waking is quick.
    pub(crate) async fn settle(&mut self, life: &Life) -> Result<(), Error> {
        if self.whole < self.last {
            let batch = Batch::new().put(&AGENTS, self.row(life, self.last)?);
            self.store.commit(batch).await?;
            self.whole = self.last;
        }
        Ok(())
    }

    fn row(&self, life: &Life, sequence: u64) -> Result<Row, Error> {
        Ok(Row {
            key: self.id.clone(),
            columns: vec![i64::try_from(sequence).unwrap_or(i64::MAX).into()],
            body: write(life)?,
        })
    }

    /// The number of the last event.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }
}

/// The records of an agent after an event, at most so many, each with its number.
pub(crate) async fn records(
    store: &Store,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<(u64, Record)>, Error> {
    let stream = stream(id);
    let entries = store
        .read(move |view| view.events(&stream, after, limit))
        .await?;
    let records = entries
        .iter()
        .map(|entry| Ok((entry.sequence(), read(entry.payload())?)));
    records.collect()
}

/// All records of an agent.
pub(crate) async fn history(store: &Store, id: &str) -> Result<Vec<(u64, Record)>, Error> {
    let mut all: Vec<(u64, Record)> = Vec::new();
    loop {
        let after = all.last().map_or(0, |(number, _)| *number);
        let page = records(store, id, after, PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// What came of making every step of a journal again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How many steps were made.
    pub steps: u64,
    /// The first whose changes are not those that were recorded: after a new release that is no fault.
    pub differs: Option<u64>,
}

/// Makes every step of a journal again, and compares.
pub(crate) async fn check(store: &Store, id: &str) -> Result<Checked, Error> {
    let mut life = Life::default();
    let mut steps = 0;
    for (number, record) in history(store, id).await? {
        let made = life.step(&record.event);
        // What was written is compared with what would be, so that numbers are as they were read.
        if write(&made.changes)? != write(&record.changes)? {
            let differs = Some(number);
            return Ok(Checked { steps, differs });
        }
        record.changes.iter().for_each(|change| life.apply(change));
        steps += 1;
    }
    let differs = None;
    Ok(Checked { steps, differs })
}

/// The life that all records add up to, without any whole that was written down.
pub(crate) async fn replay(store: &Store, id: &str) -> Result<(Life, u64), Error> {
    let mut life = Life::default();
    let last = fold(store, &stream(id), &mut life, 0).await?;
    Ok((life, last))
}

/// Takes in all that follows an event; says which was the last.
async fn fold(
    store: &Store,
    stream: &StreamId,
    life: &mut Life,
    mut after: u64,
) -> Result<u64, Error> {
    loop {
        let name = stream.clone();
        let page: Vec<Arc<Entry>> = store
            .read(move |view| view.events(&name, after, PAGE))
            .await?;
        let Some(last) = page.last() else {
            return Ok(after);
        };
        after = last.sequence();
        for entry in &page {
            let folded: Folded = read(entry.payload())?;
            folded.changes.iter().for_each(|change| life.apply(change));
        }
    }
}

fn stream(id: &str) -> StreamId {
    StreamId::new(format!("agent/{id}"))
}

fn sequence(row: &Row) -> u64 {
    match row.columns.first() {
        Some(store::Value::Integer(number)) => u64::try_from(*number).unwrap_or_default(),
        _ => 0,
    }
}

fn write<T: Serialize>(value: &T) -> Result<Bytes, Error> {
    let bytes = serde_json::to_vec(value).map_err(|error| Error::Record(error.to_string()))?;
    Ok(Bytes::from(bytes))
}

fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::Record(error.to_string()))
}
