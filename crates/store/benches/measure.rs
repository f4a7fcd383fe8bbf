//! Measures the store: processor time for each commit, and memory for each kept stream.
//!
//! `cargo bench -p store --bench measure`. The figures are read from `/proc`, so it runs on
//! Linux; processor time is that of all threads, the writer's included.
#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::error::Error;
use std::fs;
use std::time::Instant;

use store::{Batch, Column, Durability, NewEvent, Options, Row, Store, StreamId, Table};

/// Like the table of tasks: selected by context and by owner, newest first.
static TASKS: Table = Table {
    name: "tasks",
    columns: &[
        Column::text("owner"),
        Column::text("context"),
        Column::integer("updated"),
    ],
    indexes: &[&["owner", "updated"], &["context", "updated"]],
};

/// Like the table of answered requests, for repeated requests.
static ANSWERS: Table = Table {
    name: "answers",
    columns: &[Column::integer("time")],
    indexes: &[&["time"]],
};

type Outcome = Result<(), Box<dyn Error>>;

#[tokio::main(worker_threads = 2)]
async fn main() -> Outcome {
    println!("a task: a new stream, 4 events of 120 bytes, 3 rows of 150 bytes");
    for keys in [Keys::Random, Keys::Ordered] {
        let memory = Store::memory(&[&TASKS, &ANSWERS]);
        measure("memory", &memory, keys, 1, 100_000).await?;
        for (name, durability) in [
            ("SQLite normal", Durability::Normal),
            ("SQLite full", Durability::Full),
        ] {
            let folder = tempfile::tempdir()?;
            let options = Options::new(folder.path());
            let options = options.tables(&[&TASKS, &ANSWERS]).durability(durability);
            let store = Store::open(&options)?;
            measure(name, &store, keys, 1, 2_000).await?;
            measure(name, &store, keys, 16, 10_000).await?;
            measure(name, &store, keys, 64, 40_000).await?;
            store.close().await;
            let file = fs::metadata(folder.path().join("monas.db"))?.len();
            println!("{name:<14} {:>48} bytes of file for each", file / 52_000);
        }
    }
    appends().await?;
    streams_in_memory().await
}

/// Commits `count` tasks from `writers` concurrent writers, each waiting for its acknowledgement.
async fn measure(name: &str, store: &Store, keys: Keys, writers: u64, count: u64) -> Outcome {
    let before = (store.stats(), cpu()?, Instant::now());
    let each = count / writers;
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for round in 0..each {
                    let number = round * writers + writer;
                    store.commit(task(number + (writers << 40), keys)).await?;
                }
                Ok::<_, store::Error>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    let count = writers * each;
    let cpu = (cpu()? - before.1) / count;
    let wall = before.2.elapsed().as_nanos() as u64 / count;
    let stats = store.stats();
    let group =
        (stats.batches - before.0.batches) as f64 / (stats.commits - before.0.commits) as f64;
    println!(
        "{name:<14} {keys:<8?} {writers:>3} at a time: {cpu:>7} ns of processor, {wall:>8} ns, \
         {group:>4.1} in a transaction"
    );
    Ok(())
}

/// Appends one event after the other to one stream.
async fn appends() -> Outcome {
    let store = Store::memory(&[]);
    let stream = StreamId::new("stream");
    let before = cpu()?;
    let count = 1_000_000;
    for after in 0..count {
        let event =
            NewEvent::new(&b"an event of a hundred bytes, more or less, as a delta would be"[..]);
        store
            .commit(Batch::new().append(&stream, after, vec![event]))
            .await?;
    }
    let cpu = (cpu()? - before) / count;
    println!("memory, one event onto a stream:  {cpu:>7} ns of processor");
    Ok(())
}

/// Measures the memory of finished streams with their rows.
async fn streams_in_memory() -> Outcome {
    let count = 100_000;
    let before = resident()?;
    let store = Store::memory(&[&TASKS, &ANSWERS]);
    for number in 0..count {
        let id = id(number, Keys::Random);
        let stream = StreamId::new(id.as_str());
        let first = Batch::new()
            .append(&stream, 0, events(&id, 100, 2))
            .put(&TASKS, row(&id, number, 150))
            .put(&ANSWERS, answer(&id, number, 150));
        store.commit(first).await?;
        let last = Batch::new()
            .append(&stream, 2, events(&id, 100, 2))
            .put(&TASKS, row(&id, number + 7, 150))
            .finish(&stream, number as i64);
        store.commit(last).await?;
    }
    let bytes = (resident()? - before) / count;
    println!("memory, 4 x 100 + 2 x 150 bytes: {bytes:>8} bytes for each finished stream");
    Ok(())
}

fn task(number: u64, keys: Keys) -> Batch {
    let id = id(number, keys);
    let stream = StreamId::new(id.as_str());
    Batch::new()
        .append(&stream, 0, events(&id, 120, 4))
        .put(&TASKS, row(&id, number, 150))
        .insert(&ANSWERS, answer(&format!("a{id}"), number, 150))
        .put(&ANSWERS, answer(&format!("b{id}"), number, 150))
}

/// Events as a task writes them: the task's ids each time, then the change.
fn events(id: &str, bytes: usize, count: usize) -> Vec<NewEvent> {
    let event = |number| {
        format!(
            "task {id} context {:.16} number {number}: {FILLER:.*}",
            id,
            bytes - 84
        )
    };
    (0..count).map(event).map(NewEvent::new).collect()
}

const FILLER: &str =
    "what is new is never quite what was there before, or it would not be told at all";

fn row(id: &str, number: u64, bytes: usize) -> Row {
    let context = format!("context-{}", number / 3);
    Row {
        key: id.to_owned(),
        columns: vec!["anonymous".into(), context.into(), (number as i64).into()],
        body: vec![b'y'; bytes].into(),
    }
}

fn answer(id: &str, number: u64, bytes: usize) -> Row {
    Row {
        key: id.to_owned(),
        columns: vec![(number as i64).into()],
        body: vec![b'z'; bytes].into(),
    }
}

/// An id with the length of a UUID: random, or beginning with its time of creation.
fn id(number: u64, keys: Keys) -> String {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    match keys {
        Keys::Random => format!("{mixed:016x}-4b2d-9c1e-{number:09x}"),
        Keys::Ordered => format!("{number:016x}-{mixed:016x}xxx"),
    }
}

#[derive(Clone, Copy, Debug)]
enum Keys {
    Random,
    Ordered,
}

/// The processor time of all threads of this process, in nanoseconds.
fn cpu() -> Result<u64, Box<dyn Error>> {
    let mut sum = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        let ran = fs::read_to_string(thread?.path().join("schedstat"))?;
        sum += ran.split(' ').next().unwrap_or_default().parse::<u64>()?;
    }
    Ok(sum)
}

/// The resident memory of this process, in bytes.
fn resident() -> Result<u64, Box<dyn Error>> {
    let pages = fs::read_to_string("/proc/self/statm")?;
    let pages = pages.split(' ').nth(1).unwrap_or_default();
    Ok(pages.parse::<u64>()? * 4096)
}
