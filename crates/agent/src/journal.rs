//! The journal of an agent: a stream of events with the changes they led to, and now and then a snapshot of the state.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use store::{Batch, Column, Entry, NewEvent, Row, Store, StreamId, Table};

use crate::context::Change;
use crate::error::Error;
use crate::event::Event;
use crate::forgetting::Redaction;
use crate::limits::SNAPSHOT;
use crate::step::AgentState;

/// The agents that there are: a row for each, with its state as it was at some event.
static AGENTS: Table = Table {
    name: "agents",
    columns: &[Column::integer("sequence")],
    indexes: &[],
};

/// The tables that a store needs for agents.
pub static TABLES: &[&Table] = &[&AGENTS, &crate::board::BOARDS];

/// How many events are read at once.
const PAGE: usize = 1024;

/// What is recorded of a step. Its number in the stream is the id by which it is cited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub event: Event,
    /// What was different from then on.
    pub changes: Vec<Change>,
    /// Whether words of a forgotten record were taken out of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forgotten: bool,
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

/// The journal of one agent, as its actor writes it: the stream `agent/ID` and, now and then, a snapshot of the state.
///
/// Events are committed in groups. [`add`](Self::add) takes an event and its changes in, without waiting;
/// [`flush`](Self::flush) commits all that was added, in one transaction, and with a snapshot when one is due. The
/// actor applies an event to its state when it adds it, and flushes before anything leaves the agent that cannot be
/// done again: a call that changes something, a question, an answer, a task of its own, a reply to an operator; and
/// within some milliseconds in any case. What is lost when the process is killed before that is work that is only done again: the task that
/// the request is survives in the task server, which delivers it once more, and recalling and thinking are repeated.
/// An event at a time would be as safe and cost a transaction for each; an approved request has ten of them.
///
/// The order is what matters: an effect that left before its event was durable could be repeated after a restart by an
/// agent that knows nothing of it. Readers of the stream ask the actor to flush first.
#[derive(Debug)]
pub(crate) struct Journal {
    store: Store,
    stream: StreamId,
    id: String,
    /// The number of the last event, committed or not.
    last: u64,
    /// The event after which the state was last written down.
    whole: u64,
    /// Whether snapshots are written.
    snapshots: bool,
    /// Events that were added and are not committed.
    added: Vec<NewEvent>,
}

impl Journal {
    /// The journal of an agent, and its state so far: the last snapshot, and the changes after it.
    pub(crate) async fn open(store: Store, id: &str) -> Result<(Self, AgentState), Error> {
        let key = id.to_owned();
        let row = store.read(move |view| view.row(&AGENTS, &key)).await?;
        Self::after(store, id, row, true).await
    }

    /// The journal of a plain agent: few events, and no snapshots, so that its store needs no tables of this crate.
    pub(crate) async fn open_plain(store: Store, id: &str) -> Result<(Self, AgentState), Error> {
        Self::after(store, id, None, false).await
    }

    async fn after(
        store: Store,
        id: &str,
        row: Option<Row>,
        snapshots: bool,
    ) -> Result<(Self, AgentState), Error> {
        let stream = stream(id);
        let snapshot =
            row.and_then(|row| Some((read::<AgentState>(&row.body).ok()?, sequence(&row))));
        // A snapshot of another release is not needed: the events say the same.
        let (mut state, whole) = snapshot.unwrap_or_default();
        let last = fold(&store, &stream, &mut state, whole).await?;
        let journal = Self {
            store,
            stream,
            id: id.to_owned(),
            last,
            whole,
            snapshots,
            added: Vec::new(),
        };
        Ok((journal, state))
    }

    /// Takes an event in, with the changes that it leads to. It is durable after the next [`flush`](Self::flush).
    pub(crate) fn add(&mut self, event: &Event, changes: &[Change]) -> Result<(), Error> {
        let record = write(&Recorded { event, changes })?;
        self.added.push(NewEvent::new(record));
        self.last += 1;
        Ok(())
    }

    /// How many events are not durable yet.
    pub(crate) fn uncommitted(&self) -> usize {
        self.added.len()
    }

    /// Commits what was added. `state` is the state after all of it.
    pub(crate) async fn flush(&mut self, state: &AgentState) -> Result<(), Error> {
        if self.added.is_empty() {
            return Ok(());
        }
        let events = std::mem::take(&mut self.added);
        let before = self.last - events.len() as u64;
        let mut batch = Batch::new().append(&self.stream, before, events);
        let due = self.snapshots && self.last - self.whole >= SNAPSHOT;
        if due {
            batch = batch.put(&AGENTS, self.row(state, self.last)?);
        }
        self.store.commit(batch).await?;
        if due {
            self.whole = self.last;
        }
        Ok(())
    }

    /// Writes down the whole, so that waking is quick.
    pub(crate) async fn settle(&mut self, state: &AgentState) -> Result<(), Error> {
        self.flush(state).await?;
        if self.snapshots && self.whole < self.last {
            let batch = Batch::new().put(&AGENTS, self.row(state, self.last)?);
            self.store.commit(batch).await?;
            self.whole = self.last;
        }
        Ok(())
    }

    /// Takes words out of these records, and of what was recorded after the last event that the redaction has seen; and
    /// writes down the state, which has them no more.
    pub(crate) async fn redact(
        &mut self,
        redaction: &mut Redaction,
        mut numbers: Vec<u64>,
        state: &AgentState,
    ) -> Result<AgentState, Error> {
        self.flush(state).await?;
        numbers.extend(records_with(&self.store, &self.id, redaction).await?);
        let state = redaction.state(state)?;
        let mut batch = Batch::new();
        for number in numbers {
            // Read again here, in the one task that changes it: another redaction may have changed it meanwhile.
            let stream = self.stream.clone();
            let found = self
                .store
                .read(move |view| view.events(&stream, number.saturating_sub(1), 1));
            for entry in found.await?.iter().filter(|it| it.sequence() == number) {
                if let Some(bytes) = redacted(redaction, entry)? {
                    batch = batch.replace(&self.stream, number, bytes);
                }
            }
        }
        if self.snapshots {
            batch = batch.put(&AGENTS, self.row(&state, self.last)?);
        }
        self.store.commit(batch).await?;
        if self.snapshots {
            self.whole = self.last;
        }
        Ok(state)
    }

    fn row(&self, state: &AgentState, sequence: u64) -> Result<Row, Error> {
        Ok(Row {
            key: self.id.clone(),
            columns: vec![i64::try_from(sequence).unwrap_or(i64::MAX).into()],
            body: write(state)?,
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
    after(store, id, 0).await
}

/// All records of an agent after an event.
pub(crate) async fn after(
    store: &Store,
    id: &str,
    event: u64,
) -> Result<Vec<(u64, Record)>, Error> {
    let mut all: Vec<(u64, Record)> = Vec::new();
    loop {
        let last = all.last().map_or(event, |(number, _)| *number);
        let page = records(store, id, last, PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// The numbers of the records with words that a redaction takes out, after the last event that it has seen.
pub(crate) async fn records_with(
    store: &Store,
    id: &str,
    redaction: &mut Redaction,
) -> Result<Vec<u64>, Error> {
    let stream = stream(id);
    let mut found = Vec::new();
    loop {
        let (name, after) = (stream.clone(), redaction.after);
        let page = store
            .read(move |view| view.events(&name, after, PAGE))
            .await?;
        let Some(last) = page.last() else {
            return Ok(found);
        };
        redaction.after = last.sequence();
        for entry in &page {
            redaction.learn(&read(entry.payload())?);
            if redacted(redaction, entry)?.is_some() {
                found.push(entry.sequence());
            }
        }
    }
}

/// A record without the words that a redaction takes out, if it has any of them.
fn redacted(redaction: &Redaction, entry: &Entry) -> Result<Option<Bytes>, Error> {
    let mut record: serde_json::Value = read(entry.payload())?;
    if !redaction.redact(&mut record) {
        return Ok(None);
    }
    let bytes = write(&record)?;
    // A record that could not be read again would end the agent.
    match read::<Record>(&bytes) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) => {
            let event = entry.sequence();
            tracing::error!(event, %error, "words of a forgotten record stay in an event of the journal");
            Ok(None)
        }
    }
}

/// What came of making every step of a journal again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How many steps were made.
    pub steps: u64,
    /// The first event that leads to other changes than were recorded: after a new release that is no fault.
    pub differs: Option<u64>,
}

/// Makes every step of a journal again, and compares.
pub(crate) async fn check(store: &Store, id: &str) -> Result<Checked, Error> {
    let mut state = AgentState::default();
    let mut forgot = false;
    let mut steps = 0;
    for (number, record) in history(store, id).await? {
        let made = state.step(&record.event);
        // Words that were forgotten may have decided what a step led to.
        forgot |= record.forgotten;
        // What was written is compared with what would be, so that numbers are as they were read.
        if !forgot && write(&made.changes)? != write(&record.changes)? {
            let differs = Some(number);
            return Ok(Checked { steps, differs });
        }
        record.changes.iter().for_each(|change| state.apply(change));
        steps += 1;
    }
    let differs = None;
    Ok(Checked { steps, differs })
}

/// The state that all records add up to, without a snapshot.
pub(crate) async fn replay(store: &Store, id: &str) -> Result<(AgentState, u64), Error> {
    let mut state = AgentState::default();
    let last = fold(store, &stream(id), &mut state, 0).await?;
    Ok((state, last))
}

/// What the records up to an event add up to. The last snapshot is used if it is not after the event.
pub(crate) async fn state_at(store: &Store, id: &str, event: u64) -> Result<AgentState, Error> {
    let key = id.to_owned();
    let row = store.read(move |view| view.row(&AGENTS, &key)).await;
    // The store of a plain agent may have no such table.
    let row = row.ok().flatten().filter(|it| sequence(it) <= event);
    let snapshot = row.and_then(|row| Some((read::<AgentState>(&row.body).ok()?, sequence(&row))));
    let (mut life, mut last) = snapshot.unwrap_or_default();
    let stream = stream(id);
    while last < event {
        let name = stream.clone();
        let left = usize::try_from(event - last).unwrap_or(PAGE).min(PAGE);
        let page: Vec<Arc<Entry>> = store
            .read(move |view| view.events(&name, last, left))
            .await?;
        let Some(newest) = page.last() else {
            break;
        };
        last = newest.sequence();
        for entry in &page {
            let folded: Folded = read(entry.payload())?;
            folded.changes.iter().for_each(|change| life.apply(change));
        }
    }
    Ok(life)
}

/// Takes in all that follows an event; says which was the last.
async fn fold(
    store: &Store,
    stream: &StreamId,
    state: &mut AgentState,
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
            folded.changes.iter().for_each(|change| state.apply(change));
        }
    }
}

pub(crate) fn stream(id: &str) -> StreamId {
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

pub(crate) fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::Record(error.to_string()))
}
