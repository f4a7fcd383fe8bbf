//! Reading streams and rows from the database.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::runtime::Runtime;
use tokio::time::sleep;
use tokio_postgres::Row as SqlRow;

use super::address::Address;
use super::errors::Failure;
use super::link::Link;
use super::session::{Command, Session, SqlValue};
use super::statements::{self, COMMIT, Tables, cell, number};
use crate::Error;
use crate::engine::chunk;
use crate::entry::{Entry, StreamId, StreamState};
use crate::page::Page;
use crate::query::Query;
use crate::table::{Row, Table};
use crate::view::View;

/// All reads of a transaction see the same commits.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The longest that a read waits for a database that cannot be reached.
const PATIENCE: Duration = Duration::from_secs(15);

/// The waits between two tries to reach it.
const SOONEST: Duration = Duration::from_millis(20);
const LATEST: Duration = Duration::from_secs(1);

/// The most chunks that are asked for at a time, and their bytes, unless one is larger.
const CHUNKS: i64 = 256;
const CHUNK_BYTES: usize = 4 << 20;

const STREAM: &str = "SELECT first, last, finished FROM stream WHERE name = $1";

/// The chunks after an event, up to a number of chunks and of bytes: the sum of those before a chunk is below the limit.
const READ_CHUNKS: &str = "SELECT first, last, events FROM (
       SELECT first, last, events, sum(octet_length(events)) OVER (ORDER BY last) - octet_length(events) AS before
       FROM (SELECT first, last, events FROM chunk WHERE stream = $1 AND last > $2 ORDER BY last LIMIT $3) AS c) AS c
     WHERE before < $4 ORDER BY last";

/// What every connection that reads has set. A transaction that is left open would keep the database from clearing up.
const LIMITS: &str = "SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '30s'; \
                      SET default_transaction_read_only = on";

/// A connection that reads, on the runtime that moves its bytes while a caller waits.
///
/// Each has a runtime of its own, which runs on the thread of the caller: a read then costs no change of threads.
#[derive(Debug)]
pub(super) struct Reader {
    runtime: Option<Runtime>,
    session: Option<Session>,
    address: Arc<Address>,
    tables: Arc<Tables>,
    link: Arc<Link>,
}

impl Reader {
    pub(super) fn new(
        address: Arc<Address>,
        tables: Arc<Tables>,
        link: Arc<Link>,
    ) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(Error::io("start a runtime for", "the store"))?;
        Ok(Self {
            runtime: Some(runtime),
            session: None,
            address,
            tables,
            link,
        })
    }

    fn wait<T>(&mut self, ask: impl AsyncFnOnce(&mut Option<Session>) -> T) -> T {
        let runtime = self
            .runtime
            .as_ref()
            .expect("it is taken only when this is dropped");
        runtime.block_on(ask(&mut self.session))
    }
}

impl Drop for Reader {
    /// A runtime may not be dropped where a future runs, and this may be.
    fn drop(&mut self) {
        self.session = None;
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A snapshot of the database. The transaction is begun by the first question, in the same trip.
#[derive(Debug)]
pub(super) struct Snapshot(RefCell<(Reader, bool)>);

impl Snapshot {
    pub(super) fn new(reader: Reader) -> Self {
        Self(RefCell::new((reader, false)))
    }

    /// Ends the transaction, and gives the reader back if its connection is still good.
    pub(super) fn end(self) -> Option<Reader> {
        let (mut reader, is_begun) = self.0.into_inner();
        if !is_begun {
            return Some(reader);
        }
        let ended = reader.wait(async |session| match session {
            Some(session) => session.run(&Command::plain(COMMIT)).await.is_ok(),
            None => false,
        });
        ended.then_some(reader)
    }

    /// Asks all questions in one trip. The first ones of a snapshot are asked again while the database cannot be reached;
    /// later ones cannot, since the snapshot is gone with its connection.
    fn ask(&self, questions: &[Command<'_>]) -> Result<Vec<Vec<SqlRow>>, Error> {
        let mut held = self.0.borrow_mut();
        let (reader, is_begun) = &mut *held;
        let (address, link) = (Arc::clone(&reader.address), Arc::clone(&reader.link));
        let begun = *is_begun;
        let answers = reader.wait(async |session| match begun {
            true => {
                let session = session
                    .as_mut()
                    .ok_or_else(|| Failure::Lost("the connection was lost".to_owned()))?;
                session.pipeline(questions).await
            }
            false => first(session, &address, &link, questions).await,
        });
        match answers {
            Ok(answers) => {
                *is_begun = true;
                Ok(answers)
            }
            Err(failure) => {
                // The transaction is broken or gone, and so is the snapshot.
                reader.session = None;
                *is_begun = true;
                Err(failure.into_error(address.shown()))
            }
        }
    }

    fn one(&self, sql: &str, values: Vec<SqlValue<'_>>) -> Result<Vec<SqlRow>, Error> {
        let answers = self.ask(&[Command::new(sql, values)])?;
        Ok(answers.into_iter().flatten().collect())
    }

    fn tables(&self) -> Arc<Tables> {
        Arc::clone(&self.0.borrow().0.tables)
    }

    /// Reads with the error of this database.
    fn read<T>(&self, read: impl FnOnce() -> Result<T, Failure>) -> Result<T, Error> {
        read().map_err(|failure| failure.into_error(self.0.borrow().0.address.shown()))
    }

    /// Finished streams, the oldest first: either those that have events or those that have none.
    fn ended(
        &self,
        empty: bool,
        before: i64,
        limit: usize,
    ) -> Result<Vec<(StreamId, StreamState)>, Error> {
        let sql = "SELECT first, last, finished, name FROM stream
             WHERE empty = $1 AND finished IS NOT NULL AND finished < $2 ORDER BY finished, name LIMIT $3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.one(
            sql,
            vec![Box::new(empty), Box::new(before), Box::new(limit)],
        )?;
        self.read(|| {
            rows.iter()
                .map(|row| Ok((StreamId::new(cell::<&str>(row, 3)?), state(row)?)))
                .collect()
        })
    }
}

/// Begins the transaction with its first questions, as soon as the database can be reached.
async fn first(
    held: &mut Option<Session>,
    address: &Address,
    link: &Link,
    questions: &[Command<'_>],
) -> Result<Vec<Vec<SqlRow>>, Failure> {
    let (since, mut wait) = (Instant::now(), SOONEST);
    loop {
        let asked = async {
            let session = match held.take().filter(|session| !session.is_closed()) {
                Some(session) => held.insert(session),
                None => held.insert(Session::open(address, LIMITS).await?),
            };
            let begin = Command::plain(BEGIN);
            let mut answers = session
                .pipeline(std::iter::once(&begin).chain(questions))
                .await?;
            answers.remove(0);
            Ok(answers)
        };
        match asked.await {
            Err(Failure::Lost(_)) if since.elapsed() < PATIENCE && !link.is_closing() => {
                *held = None;
                sleep(wait).await;
                wait = (wait * 2).min(LATEST);
            }
            answers => return answers,
        }
    }
}

fn state(row: &SqlRow) -> Result<StreamState, Failure> {
    Ok(StreamState {
        first: cell::<i64>(row, 0)?.cast_unsigned(),
        last: cell::<i64>(row, 1)?.cast_unsigned(),
        finished: cell(row, 2)?,
    })
}

/// The chunks of one answer: first and last event, and the bytes.
type Chunks = Vec<(u64, u64, Bytes)>;

fn chunks(rows: &[SqlRow]) -> Result<Chunks, Failure> {
    let chunk = |row: &SqlRow| {
        let events = Bytes::copy_from_slice(cell::<&[u8]>(row, 2)?);
        Ok((
            cell::<i64>(row, 0)?.cast_unsigned(),
            cell::<i64>(row, 1)?.cast_unsigned(),
            events,
        ))
    };
    rows.iter().map(chunk).collect()
}

impl View for Snapshot {
    fn stream(&self, stream: &StreamId) -> Result<Option<StreamState>, Error> {
        if stream.as_str().contains('\0') {
            return Ok(None);
        }
        let rows = self.one(STREAM, vec![Box::new(stream.as_str())])?;
        self.read(|| rows.first().map(state).transpose())
    }

    fn page(
        &self,
        stream: &StreamId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Arc<Entry>>, Error> {
        let mut page = Page::new(after, limit, bytes);
        if stream.as_str().contains('\0') {
            return Ok(Vec::new());
        }
        let read = |after: u64| -> Command<'_> {
            let most = i64::try_from(limit).map_or(CHUNKS, |limit| limit.clamp(1, CHUNKS));
            let bytes = i64::try_from(bytes.clamp(1, CHUNK_BYTES)).unwrap_or(i64::MAX);
            let values: Vec<SqlValue<'_>> = vec![
                Box::new(stream.as_str()),
                Box::new(number(after)),
                Box::new(most),
                Box::new(bytes),
            ];
            Command::new(READ_CHUNKS, values)
        };
        let known = Command::new(STREAM, vec![Box::new(stream.as_str())]);
        let mut answers = self.ask(&[known, read(after)])?.into_iter();
        let found = answers.next().unwrap_or_default();
        let Some(StreamState { first, last, .. }) =
            self.read(|| found.first().map(state).transpose())?
        else {
            return Ok(Vec::new());
        };
        if after.saturating_add(1) < first {
            let stream = stream.clone();
            return Err(Error::Compacted { stream, first });
        }
        let damaged = || Error::Corrupt {
            path: self.0.borrow().0.address.shown().into(),
            problem: format!("the events of {stream} are incomplete"),
        };
        let mut read_to = after;
        while read_to < last && !page.is_full() {
            let rows = match answers.next() {
                Some(rows) => rows,
                None => self.one(READ_CHUNKS, read(read_to).values)?,
            };
            if rows.is_empty() {
                return Err(damaged());
            }
            for (first, end, events) in self.read(|| chunks(&rows))? {
                if !page.is_full() {
                    chunk::decode(&events, first, &mut page).ok_or_else(damaged)?;
                }
                read_to = end;
            }
        }
        Ok(page.into_entries())
    }

    fn row(&self, table: &'static Table, key: &str) -> Result<Option<Row>, Error> {
        let tables = self.tables();
        let sql = &tables.get(table)?.get;
        if key.contains('\0') {
            return Ok(None);
        }
        let rows = self.one(sql, vec![Box::new(key)])?;
        self.read(|| {
            rows.first()
                .map(|found| statements::row(table, found))
                .transpose()
        })
    }

    fn rows(&self, query: &Query) -> Result<Vec<Row>, Error> {
        let query = query.resolve()?;
        self.tables().get(query.table)?;
        if statements::is_impossible(&query) {
            return Ok(Vec::new());
        }
        let (sql, values) = statements::select(&query);
        let rows = self.one(&sql, values)?;
        self.read(|| {
            rows.iter()
                .map(|found| statements::row(query.table, found))
                .collect()
        })
    }

    fn count(&self, query: &Query) -> Result<u64, Error> {
        let query = query.resolve()?;
        self.tables().get(query.table)?;
        if statements::is_impossible(&query) {
            return Ok(0);
        }
        let (sql, values) = statements::count(&query);
        self.number(&sql, values)
    }

    fn streams(&self, after: &str, limit: usize) -> Result<Vec<(StreamId, StreamState)>, Error> {
        let sql =
            "SELECT first, last, finished, name FROM stream WHERE name > $1 ORDER BY name LIMIT $2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.one(sql, vec![Box::new(after), Box::new(limit)])?;
        self.read(|| {
            rows.iter()
                .map(|row| Ok((StreamId::new(cell::<&str>(row, 3)?), state(row)?)))
                .collect()
        })
    }

    fn finished(&self, before: i64, limit: usize) -> Result<Vec<(StreamId, StreamState)>, Error> {
        let mut streams = self.ended(true, before, limit)?;
        streams.extend(self.ended(false, before, limit)?);
        streams.sort_by_key(|(_, state)| state.finished);
        streams.truncate(limit);
        Ok(streams)
    }

    fn compactable(
        &self,
        before: i64,
        limit: usize,
    ) -> Result<Vec<(StreamId, StreamState)>, Error> {
        self.ended(false, before, limit)
    }

    fn finished_count(&self) -> Result<u64, Error> {
        self.number(
            "SELECT count(*) FROM stream WHERE finished IS NOT NULL",
            Vec::new(),
        )
    }
}

impl Snapshot {
    fn number(&self, sql: &str, values: Vec<SqlValue<'_>>) -> Result<u64, Error> {
        let rows = self.one(sql, values)?;
        self.read(|| {
            rows.first()
                .map_or(Ok(0), |row| cell::<i64>(row, 0))
                .map(i64::cast_unsigned)
        })
    }
}
