//! The audit trail: every call on every wire, as a stream of the journal.
//!
//! A call is recorded when it has ended, in memory, and written in the background: at most [`GATHER`] later, together with
//! all others of that time. So a call does not wait for the disk, and a process that is killed loses the last second of the
//! trail at most. Each line is chained to the one before it ([`access::audit`]); the table has where the chain begins (after
//! old lines were dropped) and where it ends, in the same batch as the lines.
//!
//! Layout: this file records and writes; [`reading`] reads, checks and serves.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a::types::Timestamp;
use access::audit::Chain;
use access::{CallRecord, Outcome};
use serde_json::{Map, Value, json};
use store::{Batch, NewEvent, Row, Store, StreamId, Table};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::config;

pub(crate) mod reading;
#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;

/// The table with both ends of the chain.
pub(crate) static ENDS: Table = Table {
    name: "audit",
    columns: &[],
    indexes: &[],
};

pub(crate) const TABLES: &[&Table] = &[&ENDS];

/// The rows of [`ENDS`].
const FIRST: &str = "first";
const LAST: &str = "last";

/// How long calls gather before they are written.
const GATHER: Duration = Duration::from_millis(250);

/// How many gathered calls are written at once.
const AT_ONCE: usize = 4_096;

/// How many calls may wait to be written. Further ones are counted, and the trail says how many are missing.
const WAITING: usize = 65_536;

/// How often old lines are looked for.
const TIDY: Duration = Duration::from_secs(60);

/// How many lines are kept where the data are in memory.
const KEPT_IN_MEMORY: u64 = 10_000;

/// The longest text of a caller that a line has: a name or a name of a request, in characters.
const MAX_TEXT: usize = 600;

/// The stream of the trail.
pub(crate) fn stream() -> StreamId {
    StreamId::new("audit")
}

/// One end of the chain, as a row has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct End {
    /// The number of the last line that it covers.
    through: u64,
    chain: Chain,
}

impl End {
    fn row(self, key: &str) -> Row {
        let body = json!({ "through": self.through, "chain": self.chain.head() });
        Row {
            key: key.to_owned(),
            columns: Vec::new(),
            body: body.to_string().into(),
        }
    }

    fn read(row: &Row) -> Option<Self> {
        let body: Value = serde_json::from_slice(&row.body).ok()?;
        Some(Self {
            through: body["through"].as_u64()?,
            chain: Chain::read(body["chain"].as_str()?)?,
        })
    }
}

/// Takes what is recorded. Clones share one queue.
#[derive(Clone, Debug)]
pub(crate) struct Recorder(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    calls: Vec<Recorded>,
    /// Calls that found no room.
    lost: u64,
}

#[derive(Debug)]
struct Recorded {
    asked: CallRecord,
    outcome: Outcome,
    time: Duration,
    at: SystemTime,
}

impl Recorder {
    pub(crate) fn record(
        &self,
        asked: &CallRecord,
        outcome: Outcome,
        time: Duration,
        at: SystemTime,
    ) {
        let mut waiting = self.0.lock();
        if waiting.calls.len() >= WAITING {
            waiting.lost += 1;
            return;
        }
        let first = waiting.calls.is_empty();
        waiting.calls.push(Recorded {
            asked: asked.clone(),
            outcome,
            time,
            at,
        });
        drop(waiting);
        if first {
            self.0.filled.notify_one();
        }
    }
}

impl Queue {
    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The trail of a running server: the queue, and the task that empties it.
///
/// Calls put what is recorded into a bounded queue and go on; one task takes it out, forms lines, chains each to the
/// line before by a hash, and commits a group of lines together with the new end of the chain. Line and end are in one
/// batch: after a crash they agree, and a file in which they differ was changed from outside.
///
/// A queue that is full and a disk that is full do not stop calls. What is lost is counted, and the count becomes a
/// line of the trail as soon as one can be written: gaps are visible. Old lines are dropped from the front, and the
/// row of the first end keeps the hash up to there, so that the rest can still be verified.
///
/// The server closes in this order: the streams that follow the trail (`stopping`), connections and agents, then the
/// trail ([`close`](Self::close)), then the store. Closed earlier, the last calls would be missing; closed after the
/// store, they could not be written. Dropped without `close`, the task is aborted and what waits is lost, which
/// happens only when the server fails to start.
#[derive(Debug)]
pub(crate) struct Trail {
    recorder: Recorder,
    /// Cancelled when the server begins to stop: streams of the trail end.
    pub(crate) stopping: CancellationToken,
    closing: CancellationToken,
    writing: Option<JoinHandle<()>>,
}

impl Trail {
    /// Goes on with the trail of a store.
    pub(crate) async fn start(
        config: &config::Config,
        store: &Store,
    ) -> Result<Self, store::Error> {
        let recorder = Recorder(Arc::default());
        let closing = CancellationToken::new();
        let mut trail = Self {
            recorder: recorder.clone(),
            stopping: CancellationToken::new(),
            closing: closing.clone(),
            writing: None,
        };
        if config.audit.record {
            let mut keep = config.audit;
            if config.data == config::Data::Memory {
                keep.keep_count = keep.keep_count.min(KEPT_IN_MEMORY);
            }
            let writer = Writer {
                end: last(store).await?,
                store: store.clone(),
                keep,
                queue: recorder.0,
                closing,
            };
            trail.writing = Some(tokio::spawn(writer.run()));
        }
        Ok(trail)
    }

    /// What records calls; none where nothing is recorded.
    pub(crate) fn recorder(&self) -> Option<Recorder> {
        self.writing.as_ref().map(|_| self.recorder.clone())
    }

    /// Writes what waits, and ends. The store must be open still.
    pub(crate) async fn close(mut self) {
        self.stopping.cancel();
        self.closing.cancel();
        if let Some(writing) = self.writing.take() {
            // A panic of the writer was reported by the runtime.
            let _ = writing.await;
        }
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        self.stopping.cancel();
        if let Some(writing) = &self.writing {
            writing.abort();
        }
    }
}

/// The end of the chain in a store: what its row says, or nothing at all.
async fn last(store: &Store) -> Result<End, store::Error> {
    let read = store.read(|view| {
        let row = view.row(&ENDS, LAST)?;
        let state = view.stream(&stream())?;
        Ok((row, state.map_or(0, |it| it.last)))
    });
    let (row, through) = read.await?;
    let end = row.as_ref().and_then(End::read).unwrap_or_default();
    if end.through != through {
        tracing::error!(
            recorded = end.through,
            found = through,
            "audit trail does not match its recorded end: run `monas audit --verify` to find the line"
        );
    }
    // New lines continue from the recorded end, so that verification finds removed lines.
    Ok(End { through, ..end })
}

/// The task that writes.
struct Writer {
    store: Store,
    end: End,
    keep: config::Audit,
    queue: Arc<Queue>,
    closing: CancellationToken,
}

impl Writer {
    async fn run(mut self) {
        let mut tidied = tokio::time::Instant::now();
        loop {
            tokio::select! {
                () = self.queue.filled.notified() => {}
                // Old lines go also where no calls come.
                () = tokio::time::sleep_until(tidied + TIDY) => {}
                () = self.closing.cancelled() => {}
            }
            let closing = self.closing.clone();
            closing
                .run_until_cancelled(tokio::time::sleep(GATHER))
                .await;
            while self.write().await {}
            if tidied.elapsed() >= TIDY || self.closing.is_cancelled() {
                tidied = tokio::time::Instant::now();
                if let Err(error) = self.tidy().await {
                    tracing::warn!(%error, "could not drop old lines of the audit trail");
                }
            }
            if self.closing.is_cancelled() {
                return;
            }
        }
    }

    /// Writes a group of calls; whether there were any.
    async fn write(&mut self) -> bool {
        let (calls, lost) = {
            let mut waiting = self.queue.lock();
            let most = waiting.calls.len().min(AT_ONCE);
            let calls: Vec<Recorded> = waiting.calls.drain(..most).collect();
            (calls, std::mem::take(&mut waiting.lost))
        };
        if calls.is_empty() && lost == 0 {
            return false;
        }
        let mut end = self.end;
        let mut events = Vec::with_capacity(calls.len() + 1);
        let mut add = |line: &str| {
            events.push(NewEvent::new(end.chain.add(line)));
            end.through += 1;
        };
        for call in &calls {
            add(&line(call));
        }
        if lost > 0 {
            let at = Timestamp::from_millis(millis(SystemTime::now()));
            add(&json!({ "at": at, "lost": lost }).to_string());
        }
        let count = events.len();
        let batch = Batch::new()
            .append(&stream(), self.end.through, events)
            .put(&ENDS, end.row(LAST));
        match self.store.commit(batch).await {
            Ok(()) => self.end = end,
            Err(error) => {
                // A full disk must not stop calls that need no disk. Lost lines are counted and recorded later.
                tracing::error!(%error, calls = count, "calls were not recorded in the audit trail");
                self.queue.lock().lost += count as u64;
                return false;
            }
        }
        true
    }

    /// Drops lines that are too old or too many, and notes where the chain begins now.
    async fn tidy(&self) -> Result<(), store::Error> {
        let age = i64::try_from(self.keep.keep_for.as_millis()).unwrap_or(i64::MAX);
        let oldest = millis(SystemTime::now()).saturating_sub(age);
        let count = self.keep.keep_count;
        let found = self.store.read(move |view| {
            let Some(state) = view.stream(&stream())? else {
                return Ok(None);
            };
            let by_age = reading::before(view, state, oldest)?;
            let through = by_age.max(state.last.saturating_sub(count));
            if through < state.first.max(1) {
                return Ok(None);
            }
            let link = view.events(&stream(), through - 1, 1)?;
            Ok(link.first().map(|link| (through, link.payload().clone())))
        });
        let Some((through, link)) = found.await? else {
            return Ok(());
        };
        let head = std::str::from_utf8(&link).ok().and_then(|it| it.get(..64));
        let chain = head.and_then(Chain::read).unwrap_or_default();
        let end = End { through, chain };
        let batch = Batch::new()
            .truncate(&stream(), through)
            .put(&ENDS, end.row(FIRST));
        self.store.commit(batch).await
    }
}

fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The line of a call. What a caller chose is cut, and control and direction characters are escaped: a line is shown on
/// terminals.
fn line(call: &Recorded) -> String {
    let Recorded {
        asked,
        outcome,
        time,
        at,
    } = call;
    let mut line = Map::new();
    let mut put = |name: &str, value: Value| {
        line.insert(name.to_owned(), value);
    };
    put("at", json!(Timestamp::from_millis(millis(*at))));
    put("caller", clean(&asked.caller.to_string()).into());
    put("scheme", clean(asked.caller.scheme()).into());
    put("wire", asked.origin.wire.into());
    put("version", asked.version.into());
    put("operation", clean(&asked.operation).into());
    put("outcome", outcome.name().into());
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    put("micros", micros.into());
    if !asked.origin.request.is_empty() {
        put("request", clean(&asked.origin.request).into());
    }
    if let Some(address) = asked.origin.address {
        put("address", address.to_string().into());
    }
    if let Some(trace) = asked.origin.trace {
        put("trace", format!("{:032x}", trace.trace).into());
    }
    Value::Object(line).to_string()
}

/// A text without characters that could break a line or change the direction of what follows.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars().take(MAX_TEXT) {
        match crate::log::is_harmful(c) {
            // A String takes every text.
            true => drop(write!(clean, "\\u{{{:x}}}", u32::from(c))),
            false => clean.push(c),
        }
    }
    clean
}
