//! Skills that panic at random, under load: every caller gets an answer.

use std::sync::atomic::{AtomicU64, Ordering};

use a2a::types::TaskState;
use futures_util::{StreamExt as _, stream};
use serde_json::json;
use skill::{Context, Registry, SkillError, SkillInput, extension, skill};

use super::support::{Bench, state};

#[derive(serde::Deserialize, schemars::JsonSchema, SkillInput)]
struct Number {
    number: u64,
}

/// How often the skill was run.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// Crashes before it waits, after it waits, in the middle of what it says, or not at all.
#[skill(tags = ["test"], examples = ["roll"])]
async fn roll(input: Number, ctx: Context) -> Result<u64, SkillError> {
    RUNS.fetch_add(1, Ordering::Relaxed);
    // Any mixing will do: neighbours are to behave differently.
    match input.number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61 {
        0 => panic!("at once"),
        1 => {
            tokio::task::yield_now().await;
            panic!("after waiting");
        }
        2 => {
            ctx.progress(0.5, None, "half").await?;
            panic!("after saying something");
        }
        3 => Err(SkillError::failed("an ordinary failure")),
        4 => {
            tokio::task::yield_now().await;
            Ok(input.number)
        }
        _ => Ok(input.number),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_is_dropped_however_skills_crash() {
    const CALLS: u64 = 2_000;
    // What panics say is not for the test's reader.
    std::panic::set_hook(Box::new(|_| {}));
    let bench = Bench::with(Registry::new().with(roll).unwrap()).await;
    let calls = stream::iter(0..CALLS).map(|number| {
        let bench = &bench;
        async move {
            let task = bench
                .call("roll", json!({ "number": number }))
                .await
                .unwrap();
            match state(&task) {
                TaskState::Completed => {
                    assert_eq!(extension::output(&task).unwrap(), number);
                    "completed"
                }
                TaskState::Failed => match &*extension::failure_code(&task).unwrap() {
                    "crashed" => "crashed",
                    "failed" => "failed",
                    other => panic!("{other}"),
                },
                other => panic!("{other:?}"),
            }
        }
    });
    let ended: Vec<_> = calls.buffer_unordered(64).collect().await;
    drop(std::panic::take_hook());
    assert_eq!(ended.len() as u64, CALLS);
    assert_eq!(RUNS.load(Ordering::Relaxed), CALLS);
    for kind in ["completed", "crashed", "failed"] {
        let count = ended.iter().filter(|it| **it == kind).count();
        assert!(count > 100, "{kind}: {count}");
    }
}
