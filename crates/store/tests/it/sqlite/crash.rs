//! The process is killed under load again and again: acknowledged batches are there, and no batch is there by half.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use store::{Batch, Durability, NewEvent, Store, Value, View};

use crate::support::{NOTES, note, options, stream};

/// The environment variable that makes the child process write until it is killed.
const FOLDER: &str = "MONAS_TEST_CRASH_FOLDER";
/// The environment variable for the number of kills.
const ROUNDS: &str = "MONAS_CRASH_ROUNDS";

const WRITERS: u64 = 8;
/// The number of events that the truncated stream of each writer keeps.
const KEPT: u64 = 20;

/// The test binary starts itself as the process that is killed.
#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_half_written_when_the_process_is_killed() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        write_until_killed(folder.as_ref());
        return;
    }
    let rounds = std::env::var(ROUNDS).map_or(5, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let chance = RandomState::new();
    let mut acknowledged = HashMap::new();
    for round in 0..rounds {
        // Kill before the first acknowledgement, after it, and in the middle of many.
        let patience = match round % 5 {
            0 => 0,
            1 => 1,
            _ => chance.hash_one(round) % 3_000,
        };
        kill_after(folder.path(), patience, &mut acknowledged);
        check(folder.path(), &acknowledged);
    }
    assert!(
        acknowledged.values().sum::<u64>() > 0,
        "something was acknowledged"
    );
}

/// Starts the process, reads `patience` acknowledgements, and kills it. Acknowledgements written before the
/// kill took effect count as well.
fn kill_after(folder: &Path, patience: u64, acknowledged: &mut HashMap<u64, u64>) {
    let name = "sqlite::crash::nothing_acknowledged_is_lost_and_nothing_is_half_written_\
                when_the_process_is_killed";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut lines = 0;
    let mut killed = false;
    let mut line = String::new();
    loop {
        if lines >= patience && !killed {
            child.kill().unwrap();
            killed = true;
        }
        line.clear();
        said.read_line(&mut line).unwrap();
        // A line cut off by the kill is not an acknowledgement.
        let Some(whole) = line.strip_suffix('\n') else {
            break;
        };
        let (writer, number) = whole.split_once(' ').unwrap_or_else(|| panic!("{whole}"));
        acknowledged.insert(writer.parse().unwrap(), number.parse().unwrap());
        lines += 1;
    }
    assert!(killed, "it ended by itself: {line}");
    child.wait().unwrap();
}

/// Each writer commits one batch after the other, across two streams and a table, and prints each
/// acknowledgement.
#[tokio::main]
async fn write_until_killed(folder: &Path) {
    // Both durabilities survive the end of the process, which is all this test causes.
    let durability = match std::process::id() % 2 {
        0 => Durability::Full,
        _ => Durability::Normal,
    };
    let store = Store::open(&options(folder).durability(durability)).unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let store = store.clone();
        writers.spawn(async move {
            let left = stream(&format!("left {writer}"));
            let s = left.clone();
            let state = store.read(move |view| view.stream(&s)).await.unwrap();
            let mut number = state.map_or(0, |state| state.last);
            loop {
                store.commit(change(writer, number)).await.unwrap();
                number += 1;
                let line = format!("{writer} {number}\n");
                std::io::stderr().write_all(line.as_bytes()).unwrap();
            }
        });
    }
    writers.join_next().await.unwrap().unwrap();
}

/// The batch with this number of a writer.
fn change(writer: u64, number: u64) -> Batch {
    let (left, right) = (format!("left {writer}"), format!("right {writer}"));
    let (left, right) = (stream(&left), stream(&right));
    let next = number + 1;
    let row = note(&writer.to_string(), "ada", "new", next.cast_signed());
    let event = || vec![NewEvent::new(payload(writer, next))];
    let batch = Batch::new()
        .append(&left, number, event())
        .put(&NOTES, row)
        .append(&right, number, event())
        .truncate(&right, next.saturating_sub(KEPT));
    // A stream that one batch creates and the next one forgets.
    let passing = stream(&format!("passing {writer}"));
    match next % 2 {
        0 => batch.forget(&passing),
        _ => batch
            .append(&passing, 0, event())
            .finish(&passing, next.cast_signed()),
    }
}

/// From zero bytes to several pages, different for each event.
fn payload(writer: u64, number: u64) -> Vec<u8> {
    let size = (writer * 31 + number * 797) % 6_000;
    (0..size)
        .map(|place| (place + number + writer) as u8)
        .collect()
}

fn check(folder: &Path, acknowledged: &HashMap<u64, u64>) {
    let acknowledged = acknowledged.clone();
    let look = move |view: &dyn View| {
        for writer in 0..WRITERS {
            let acknowledged = acknowledged.get(&writer).copied().unwrap_or(0);
            let (left, right) = (format!("left {writer}"), format!("right {writer}"));
            let (left, right) = (stream(&left), stream(&right));
            let written = view.stream(&left)?.map_or(0, |state| state.last);
            assert!(
                written >= acknowledged,
                "{left}: {written} of {acknowledged}"
            );
            let kept = written.saturating_sub(KEPT);
            assert_eq!(view.stream(&right)?.map_or(0, |state| state.last), written);
            let row = view.row(&NOTES, &writer.to_string())?;
            let row = row.map_or(0.into(), |row| row.columns[2].clone());
            assert_eq!(row, Value::Integer(written.cast_signed()));
            for (stream, after) in [(&left, 0), (&right, kept)] {
                let events = view.events(stream, after, usize::MAX)?;
                let sequences = events.iter().map(|entry| entry.sequence());
                assert!(sequences.eq(after + 1..=written), "{stream} has a gap");
                for entry in events {
                    assert!(
                        entry.payload()[..] == payload(writer, entry.sequence()),
                        "{stream}"
                    );
                }
            }
            let passing = view.stream(&stream(&format!("passing {writer}")))?;
            assert_eq!(passing.is_some(), written % 2 == 1);
        }
        Ok(())
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Store::open(&options(folder)).unwrap();
        store.read(look).await.unwrap();
        store.close().await;
    });
}
