//! Cancelling runs.

use crate::support::{Bench, types};
use serde_json::{Value, json};

async fn cancel(bench: &Bench, run: &Value) -> crate::support::Heard {
    let path = format!("/runs/{}/cancel", run["run_id"].as_str().unwrap());
    bench
        .send(axum::http::Method::POST, &format!("/acp{path}"), "")
        .await
}

#[tokio::test]
async fn a_run_is_about_to_be_cancelled_and_then_it_is() {
    let bench = Bench::start().await;
    let run = bench.ask("slow", "go", "async").await.ok();
    let run = bench.until(&run, "in-progress").await;
    let heard = cancel(&bench, &run).await;
    assert_eq!(heard.status, 202);
    assert_eq!(heard.ok()["status"], "cancelling");
    let run = bench.until(&run, "cancelled").await;
    assert!(run["finished_at"].is_string());
    let path = format!("/runs/{}/events", run["run_id"].as_str().unwrap());
    let log = bench.get(&path).await.ok();
    let events = log["events"].as_array().unwrap();
    assert_eq!(types(events).last(), Some(&"run.cancelled"));
}

#[tokio::test]
async fn a_follower_of_a_run_sees_that_it_was_cancelled() {
    let bench = Bench::start().await;
    let (first, _) = tokio::join!(bench.ask("slow", "go", "stream"), async {
        // The task exists once the stream has begun.
        let run = loop {
            let listed = a2a::Service::list_tasks(
                &bench.server,
                a2a::Call::by(access::Principal::anonymous()),
                a2a::types::ListTasksRequest::default(),
            );
            if let Some(task) = listed.await.unwrap().tasks.first() {
                break json!({ "run_id": task.id });
            }
            tokio::task::yield_now().await;
        };
        cancel(&bench, &run).await.ok()
    });
    assert_eq!(types(&first.events()).last(), Some(&"run.cancelled"));
}

#[tokio::test]
async fn a_run_that_waits_can_be_cancelled() {
    let bench = Bench::start().await;
    let run = bench.ask("approve", "it", "sync").await.ok();
    let cancelling = cancel(&bench, &run).await.ok();
    assert_eq!(cancelling["status"], "cancelling");
    assert_eq!(cancelling.get("await_request"), None);
    bench.until(&run, "cancelled").await;
    let refused = bench.resume(&run, "yes", "sync").await.refused();
    assert_eq!(refused, (403, "server_error".to_owned()));
}

#[tokio::test]
async fn what_has_ended_cannot_be_cancelled() {
    let bench = Bench::start().await;
    for agent in ["echo", "boom"] {
        let run = bench.ask(agent, "x", "sync").await.ok();
        let refused = cancel(&bench, &run).await.refused();
        assert_eq!(refused, (403, "server_error".to_owned()));
    }
    let run = bench.ask("slow", "x", "async").await.ok();
    cancel(&bench, &run).await.ok();
    bench.until(&run, "cancelled").await;
    assert_eq!(cancel(&bench, &run).await.refused().0, 403);
    let nobody = json!({ "run_id": "no-such-run" });
    assert_eq!(cancel(&bench, &nobody).await.refused().0, 404);
}
