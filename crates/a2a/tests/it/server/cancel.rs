//! A task that is cancelled ends, also if its agent does not react.

use std::time::Duration;

use a2a::error::Error;
use a2a::types::TaskState;

use super::support::{Bench, Script, config, in_memory, message, state};

#[tokio::test]
async fn an_agent_that_listens_ends_by_itself() {
    let bench = Bench::start().await;
    let begun = bench.task_at_once("working until-cancelled").await;
    let cancelled = bench.cancel(&begun.id).await.unwrap();
    assert_eq!(state(&cancelled), TaskState::Canceled);
    assert_eq!(bench.get(&begun.id).await.unwrap(), cancelled);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_listen_is_ended() {
    let bench = Bench::start().await;
    let begun = bench.task_at_once("working for-ever").await;
    let cancelled = bench.cancel(&begun.id).await.unwrap();
    assert_eq!(state(&cancelled), TaskState::Canceled);
}

#[tokio::test]
async fn a_task_that_waits_for_its_caller_can_be_cancelled() {
    let bench = Bench::start().await;
    let asked = bench.task("ask:?").await;
    assert_eq!(
        state(&bench.cancel(&asked.id).await.unwrap()),
        TaskState::Canceled
    );
}

#[tokio::test]
async fn to_cancel_twice_is_to_cancel_once() {
    let bench = Bench::start().await;
    let asked = bench.task("ask:?").await;
    let first = bench.cancel(&asked.id).await.unwrap();
    assert_eq!(bench.cancel(&asked.id).await.unwrap(), first);
}

#[tokio::test]
async fn what_has_ended_otherwise_cannot_be_cancelled() {
    let bench = Bench::start().await;
    for text in ["done", "fail:x", "reject:x"] {
        let ended = bench.task(text).await;
        let refused = bench.cancel(&ended.id).await;
        assert!(
            matches!(refused, Err(Error::TaskNotCancelable { .. })),
            "{refused:?}"
        );
    }
    assert!(matches!(
        bench.cancel("made-up").await,
        Err(Error::TaskNotFound(_))
    ));
}

#[tokio::test]
async fn an_agent_that_completes_first_wins() {
    let mut config = config();
    config.limits.cancel_grace = Duration::from_secs(60);
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    let begun = bench.task_at_once("working until-cancelled done").await;
    let refused = bench.cancel(&begun.id).await;
    assert!(
        matches!(
            refused,
            Err(Error::TaskNotCancelable {
                state: TaskState::Completed,
                ..
            })
        ),
        "{refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_against_completing_gives_one_end() {
    let bench = Bench::start().await;
    for _ in 0..200 {
        let begun = bench.task_at_once("working wait done").await;
        let events = bench.subscribe(&begun.id, Some(2)).await.unwrap();
        let (cancelled, ()) = tokio::join!(bench.cancel(&begun.id), async {
            bench.script.gate.add_permits(1)
        });
        let ended = bench.get(&begun.id).await.unwrap();
        match cancelled {
            Ok(task) => assert_eq!((state(&task), &task), (TaskState::Canceled, &ended)),
            Err(_) => assert_eq!(state(&ended), TaskState::Completed),
        }
        assert_eq!(events.rest().await, [format!("3 {:?}", state(&ended))]);
        // A permit that was not taken would let the next one through.
        while let Ok(permit) = bench.script.gate.try_acquire() {
            permit.forget();
        }
    }
}

#[tokio::test]
async fn a_server_that_has_enough_to_do_still_cancels() {
    let mut config = config();
    config.limits.max_running = 1;
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    let asked = bench.task("ask:?").await;
    let begun = bench.task_at_once("working until-cancelled").await;
    let refused = bench.send(bench.request(message("done"))).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    let cancelled = bench.cancel(&asked.id).await.unwrap();
    assert_eq!(state(&cancelled), TaskState::Canceled);
    let cancelled = bench.cancel(&begun.id).await.unwrap();
    assert_eq!(state(&cancelled), TaskState::Canceled);
}
