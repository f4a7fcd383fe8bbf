//! When the disk is full.

use a2a::error::Error;
use a2a::server::TABLES;
use a2a::types::*;
use store::{Options, Store};

use super::support::{Bench, Script, config, message, said, state};

#[tokio::test(start_paused = true)]
async fn a_full_disk_is_an_error_that_leaves_the_rest_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(folder.path());
    options.tables = TABLES.to_vec();
    options.max_bytes = Some(1 << 20);
    let bench = Bench::with(config(), Store::open(&options).unwrap(), Script::new()).await;
    let done = bench.task("working artifact:x done").await;

    let large = "x".repeat(2 << 20);
    let refused = bench
        .send(bench.request(message(&format!("working artifact:{large} done"))))
        .await;
    // It was INTERNAL, which no caller repeats.
    let full = "the server has no space left to record requests";
    assert!(
        matches!(&refused, Err(Error::Unavailable(why)) if why == full),
        "{refused:?}"
    );
    assert!(bench.store.is_full());
    assert_eq!(bench.get(&done.id).await.unwrap(), done);
    assert_eq!(bench.list(ListTasksRequest::default()).await.total_size, 1);

    // A task that was there before it went wrong ends, and its stream with it.
    let begun = bench.task_at_once("working wait grow done").await;
    let stream = bench.subscribe(&begun.id, Some(2)).await.unwrap();
    bench.script.gate.add_permits(1);
    let reason = "the journal failed while the task was being worked on";
    assert_eq!(stream.rest().await, [format!("3 Failed {reason}")]);
    let ended = bench.get(&begun.id).await.unwrap();
    assert_eq!((state(&ended), &*said(&ended)), (TaskState::Failed, reason));
}
