//! Runs that wait for input and are resumed: over ACP or A2A, before or after a restart.

use a2a::server::TABLES;
use a2a::service::{Call, Service as _};
use a2a::types::{Answer, Message};
use serde_json::{Value, json};
use store::Store;

use crate::support::{Bench, resume, texts, types};

#[tokio::test]
async fn a_run_that_asks_waits_until_it_is_resumed() {
    let bench = Bench::start().await;
    let run = bench.ask("approve", "it", "sync").await.ok();
    assert_eq!(run["status"], "awaiting");
    let asked = &run["await_request"];
    assert_eq!(asked["type"], "message");
    assert_eq!(asked["message"]["parts"][0]["content"], "Do it?");
    assert_eq!(asked["message"]["role"], "agent/approve");
    let heard = bench.resume(&run, "yes", "sync").await;
    assert_eq!(heard.status, 200);
    let done = heard.ok();
    assert_eq!(done["status"], "completed");
    assert_eq!(done.get("await_request"), None);
    assert_eq!(texts(&done), ["it: yes"]);
    assert_eq!(done["run_id"], run["run_id"]);
}

#[tokio::test]
async fn a_stream_ends_where_the_run_waits_and_the_next_has_what_is_new() {
    let bench = Bench::start().await;
    let first = bench.ask("approve", "it", "stream").await.events();
    assert_eq!(
        types(&first),
        ["run.created", "run.in-progress", "run.awaiting"]
    );
    let run = &first[2]["run"];
    let second = bench.resume(run, "yes", "stream").await.events();
    let expected = [
        "run.in-progress",
        "message.created",
        "message.part",
        "message.completed",
        "run.completed",
    ];
    assert_eq!(types(&second), expected);
    let path = format!("/runs/{}/events", run["run_id"].as_str().unwrap());
    let log = bench.get(&path).await.ok();
    assert_eq!(log["events"], json!([first, second].concat()));
}

#[tokio::test]
async fn a_run_can_be_resumed_without_waiting_for_it() {
    let bench = Bench::start().await;
    let run = bench.ask("approve", "it", "async").await.ok();
    let run = bench.until(&run, "awaiting").await;
    let heard = bench.resume(&run, "yes", "async").await;
    assert_eq!(heard.status, 202);
    assert_eq!(heard.headers["run-id"], run["run_id"].as_str().unwrap());
    let done = bench.until(&run, "completed").await;
    assert_eq!(texts(&done), ["it: yes"]);
}

#[tokio::test]
async fn what_does_not_wait_cannot_be_resumed() {
    let bench = Bench::start().await;
    let run = bench.ask("echo", "it", "sync").await.ok();
    for mode in ["sync", "async", "stream"] {
        let refused = bench.resume(&run, "yes", mode).await.refused();
        assert_eq!(refused, (403, "server_error".to_owned()));
    }
    let nobody = json!({ "run_id": "00000000-0000-0000-0000-000000000000" });
    let refused = bench.resume(&nobody, "yes", "sync").await.refused();
    assert_eq!(refused, (404, "not_found".to_owned()));
}

#[tokio::test]
async fn a_body_may_repeat_the_run_but_not_name_another() {
    let bench = Bench::start().await;
    let run = bench.ask("approve", "it", "sync").await.ok();
    let path = format!("/runs/{}", run["run_id"].as_str().unwrap());
    let mut body = resume("yes", "sync");
    body["run_id"] = json!("another");
    let refused = bench.post(&path, &body).await.refused();
    assert_eq!(refused, (422, "invalid_input".to_owned()));
    body["run_id"] = run["run_id"].clone();
    assert_eq!(bench.post(&path, &body).await.ok()["status"], "completed");
}

#[tokio::test]
async fn a_run_that_waits_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let options = store::Options::new(folder.path()).tables(TABLES);
        Store::open(&options).unwrap()
    };
    let bench = Bench::on(open()).await;
    let run = bench.ask("approve", "it", "sync").await.ok();
    bench.stop().await;

    let bench = Bench::on(open()).await;
    let path = format!("/runs/{}", run["run_id"].as_str().unwrap());
    assert_eq!(bench.get(&path).await.ok(), run);
    let done = bench.resume(&run, "yes", "sync").await.ok();
    assert_eq!(texts(&done), ["it: yes"]);
    bench.stop().await;

    let bench = Bench::on(open()).await;
    assert_eq!(bench.get(&path).await.ok(), done);
    let session = done["session_id"].as_str().unwrap();
    let session = bench.get(&format!("/sessions/{session}")).await.ok();
    assert_eq!(session["history"].as_array().unwrap().len(), 2);
    bench.stop().await;
}

/// A run that began over one protocol can be finished over another, since it is the same task.
#[tokio::test]
async fn a_run_is_answered_over_a2a_and_a_task_over_acp() {
    let bench = Bench::start().await;
    let call = || Call::by(access::Principal::anonymous());
    let run = bench.ask("approve", "it", "sync").await.ok();
    let message = Message {
        task_id: run["run_id"].as_str().unwrap().to_owned(),
        ..Message::user("m-1", "over there")
    };
    let sent = bench.server.send_message(call(), message.into()).await;
    assert!(matches!(sent.unwrap().payload, Answer::Task(_)));
    let done = bench.until(&run, "completed").await;
    assert_eq!(texts(&done), ["it: over there"]);

    let message = skill::extension::call("m-2", "approve", json!({ "text": "that" }));
    let sent = bench.server.send_message(call(), message.into()).await;
    let Answer::Task(task) = sent.unwrap().payload else {
        panic!("no task");
    };
    let run = bench.get(&format!("/runs/{}", task.id)).await.ok();
    assert_eq!(run["status"], "awaiting");
    assert_eq!(run["agent_name"], "approve");
    // A context id that A2A makes is not a UUID, so the run has no session id.
    assert_eq!(run.get("session_id"), None::<&Value>);
    let done = bench.resume(&run, "here", "sync").await.ok();
    assert_eq!(texts(&done), ["that: here"]);
}
