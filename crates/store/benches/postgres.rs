//! Appends in the shape of a task's, to a PostgreSQL server of this machine: how many, how fast, and the processor time of
//! all processes of the server for each.
//!
//! `cargo bench -p store --features postgres --bench postgres -- [SECONDS]`

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and ends where something fails"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use store::{Batch, Column, NewEvent, Remote, Row, Store, StreamId, Table};
use tokio::task::JoinSet;

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/postgres/server.rs"]
mod server;

use server::Server;

/// As the table of tasks is: the indexed columns change with each commit.
static TASKS: Table = Table {
    name: "tasks",
    columns: &[
        Column::text("owner"),
        Column::text("context"),
        Column::integer("state"),
        Column::integer("updated"),
    ],
    indexes: &[
        &["owner", "updated"],
        &["context", "updated"],
        &["state", "updated"],
    ],
};

/// The length of an event, and the number of events in a stream.
const EVENT: usize = 400;
const EVENTS: u64 = 64;

fn main() {
    let seconds = std::env::args()
        .skip(1)
        .find_map(|word| word.parse().ok())
        .unwrap_or(5);
    let server = Server::start(&["fsync=on", "full_page_writes=on"]);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    println!("appenders  appends/s  a group  p50 ms  p99 ms  PostgreSQL us  own us");
    for (changes, appenders) in [(true, 1), (true, 16), (true, 64), (false, 16), (false, 64)] {
        let store =
            Store::connect(&Remote::new(server.new_schema()).tables(&[&TASKS])).expect("a store");
        let measured = runtime.block_on(measure(
            &server,
            store,
            appenders,
            Duration::from_secs(seconds),
            changes,
        ));
        println!(
            "{measured}{}",
            if changes {
                ""
            } else {
                "  (indexed columns unchanged)"
            }
        );
    }
}

async fn measure(
    server: &Server,
    store: Store,
    appenders: u64,
    time: Duration,
    changes: bool,
) -> String {
    let stop = Arc::new(AtomicBool::new(false));
    let mut working = JoinSet::new();
    for number in 0..appenders {
        working.spawn(append(store.clone(), number, changes, Arc::clone(&stop)));
    }
    // Prepared plans and caches are there before anything is counted.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (begun, before, theirs, own) = (
        Instant::now(),
        store.stats(),
        server.cpu(),
        server::cpu_of("self"),
    );
    tokio::time::sleep(time).await;
    let (after, spent_theirs, spent_own) = (
        store.stats(),
        server.cpu() - theirs,
        server::cpu_of("self") - own,
    );
    let seconds = begun.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    let mut waits = Vec::new();
    while let Some(ended) = working.join_next().await {
        waits.extend(ended.expect("an appender ends by itself"));
    }
    store.close().await;
    waits.sort_unstable();
    let at = |part: usize| waits[(waits.len() - 1) * part / 100].as_secs_f64() * 1e3;
    let appends = (after.batches - before.batches).max(1) as f64;
    let group = appends / (after.commits - before.commits).max(1) as f64;
    format!(
        "{appenders:9}  {:9.0}  {group:7.1}  {:6.2}  {:6.2}  {:13.1}  {:6.1}",
        appends / seconds,
        at(50),
        at(99),
        spent_theirs.as_secs_f64() * 1e6 / appends,
        spent_own.as_secs_f64() * 1e6 / appends,
    )
}

/// Appends until it is told to stop, one after the other, and gives the time of each.
async fn append(store: Store, number: u64, changes: bool, stop: Arc<AtomicBool>) -> Vec<Duration> {
    let mut waits = Vec::new();
    let mut made = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        let name = format!("{:012}-{number:04}", made / EVENTS);
        let begun = Instant::now();
        let updated = if changes { made as i64 } else { 0 };
        let row = Row {
            key: name.clone(),
            columns: vec![
                "ada".into(),
                format!("context-{number}").into(),
                2.into(),
                updated.into(),
            ],
            body: noise(made ^ 7, 120).into(),
        };
        let event = NewEvent::new(noise(made << 8 | number, EVENT));
        let batch = Batch::new()
            .append(&StreamId::new(name), made % EVENTS, vec![event])
            .put(&TASKS, row);
        store.commit(batch).await.expect("an append is committed");
        waits.push(begun.elapsed());
        made += 1;
    }
    waits
}

/// Bytes that do not compress.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(next)
        .flatten()
        .take(length)
        .collect()
}
