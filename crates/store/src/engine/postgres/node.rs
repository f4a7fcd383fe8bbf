//! This process as a node of the database: its lease, its heartbeat, and the fence around those before it.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use futures_util::future::{Either, select};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::address::Address;
use super::errors::Failure;
use super::link::Link;
use super::session::{Command, Session, SqlValue};
use super::statements::{BEGIN, COMMIT, ROLLBACK, cell};
use crate::Error;

/// How long a node may be silent before another one takes its place, by the database's clock.
const LEASE: Duration = Duration::from_secs(6);

/// The time between two heartbeats.
const BEAT: Duration = Duration::from_millis(1500);

/// The time between two looks at a node that may be gone.
const LOOK: Duration = Duration::from_millis(200);

/// What holds for the connection of the heartbeat: it waits for nothing.
const LIMITS: &str = "SET statement_timeout = '2s'; SET lock_timeout = '1s'; SET idle_in_transaction_session_timeout = '2s'";

/// Enters this node, as soon as no other one has the database. A node that was killed has it until its lease is over, and
/// is fenced then; one that goes on beating has it, and this fails with its address.
///
/// Nodes cannot share a database yet: who works on which task is not decided between them.
pub(super) async fn enter(
    session: &mut Session,
    address: &Address,
    node: &str,
    url: &str,
) -> Result<(), Failure> {
    let since = Instant::now();
    let mut seen: Option<(String, i64)> = None;
    loop {
        session.batch(BEGIN).await?;
        // One node at a time looks and enters.
        session
            .run(&Command::plain("SELECT one FROM monas FOR UPDATE"))
            .await?;
        let sql = "SELECT id, url, (extract(epoch FROM until) * 1000)::int8 FROM node
             WHERE state < 3 AND until > clock_timestamp() ORDER BY id LIMIT 1";
        let rows = session.run(&Command::plain(sql)).await?;
        let Some(row) = rows.first() else {
            write(session, node, url).await?;
            return Ok(());
        };
        session.batch(ROLLBACK).await?;
        let (id, by, until): (String, String, i64) = (cell(row, 0)?, cell(row, 1)?, cell(row, 2)?);
        let beats = seen
            .as_ref()
            .is_some_and(|(known, first)| *known == id && *first != until);
        if beats || since.elapsed() > LEASE * 2 {
            let folder = PathBuf::from(address.shown());
            return Err(Error::InUse { folder, by }.into());
        }
        if seen.is_none() {
            tracing::info!(
                database = address.shown(),
                node = by,
                "waiting for the lease of another node to end"
            );
        }
        seen.get_or_insert((id, until));
        sleep(LOOK).await;
    }
}

/// Fences all others and writes the rows of this node, in the transaction that has been begun.
async fn write(session: &mut Session, node: &str, url: &str) -> Result<(), Failure> {
    let lease = lease();
    let entered: Vec<SqlValue<'_>> = vec![
        Box::new(node),
        Box::new(lease),
        Box::new(url),
        Box::new(env!("CARGO_PKG_VERSION")),
    ];
    let commands = [
        Command::plain("UPDATE lane SET fenced = true WHERE NOT fenced"),
        Command::plain("UPDATE node SET state = 3 WHERE state < 3"),
        Command::plain("DELETE FROM lane WHERE node IN (SELECT id FROM node WHERE until < now() - interval '1 day')"),
        Command::plain("DELETE FROM node WHERE until < now() - interval '1 day'"),
        Command::new(
            "INSERT INTO node (id, until, state, url, release, format, since)
             VALUES ($1, clock_timestamp() + $2 * interval '1 ms', 1, $3, $4, 1, clock_timestamp())",
            entered,
        ),
        Command::new("INSERT INTO lane (node, lane, fenced, sequence) VALUES ($1, 0, false, 0)", vec![Box::new(node)]),
        Command::plain(COMMIT),
    ];
    session.pipeline(&commands).await.map(|_| ())
}

fn lease() -> f64 {
    LEASE.as_secs_f64() * 1000.0
}

/// The thread that says that this node lives, on a connection that does nothing else: one that is shared with readers would
/// be slow exactly when there is much to do.
#[derive(Debug)]
pub(super) struct Heartbeat {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    pub(super) fn start(
        address: Arc<Address>,
        link: Arc<Link>,
        node: String,
    ) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(Error::io("start a runtime for", "the store"))?;
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("store-heartbeat".to_owned())
            .spawn(move || runtime.block_on(beat(&address, &link, &node, stopped)));
        let thread = Some(thread.map_err(Error::io("start a thread for", "the store"))?);
        Ok(Self {
            stop: Some(stop),
            thread,
        })
    }

    /// Ends the heartbeat and waits for its thread.
    pub(super) fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // An error is a panic of the thread, which the panic hook has reported.
            let _ = thread.join();
        }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Beats until it is told to stop or finds this node fenced.
async fn beat(address: &Address, link: &Link, node: &str, mut stopped: oneshot::Receiver<()>) {
    let mut session = None;
    loop {
        let beaten = match select(pin!(once(address, node, &mut session)), &mut stopped).await {
            Either::Left((beaten, _)) => beaten,
            Either::Right(_) => return,
        };
        let wait = match beaten {
            Ok(true) => {
                link.heartbeat_is_away(None);
                BEAT
            }
            Ok(false) => {
                tracing::error!(
                    database = address.shown(),
                    "another node has taken the place of this one; it writes nothing from now on"
                );
                link.fence();
                return;
            }
            Err(failure) => {
                session = None;
                let error = failure.into_error(address.shown());
                tracing::warn!(%error, "the heartbeat of this node fails");
                link.heartbeat_is_away(Some(&error.to_string()));
                BEAT / 4
            }
        };
        // Anything but the end of the wait is the end of the store.
        if timeout(wait, &mut stopped).await.is_ok() {
            return;
        }
    }
}

/// One beat. False if this node is fenced.
async fn once(address: &Address, node: &str, held: &mut Option<Session>) -> Result<bool, Failure> {
    let session = match held.take().filter(|session| !session.is_closed()) {
        Some(session) => held.insert(session),
        None => held.insert(Session::open(address, LIMITS).await?),
    };
    let sql = "UPDATE node SET until = clock_timestamp() + $2 * interval '1 ms' WHERE id = $1 AND state < 3 RETURNING 1";
    let rows = session
        .run(&Command::new(sql, vec![Box::new(node), Box::new(lease())]))
        .await?;
    Ok(!rows.is_empty())
}
