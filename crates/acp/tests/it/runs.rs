//! Runs in the modes sync, async and stream.

use serde_json::{Value, json};

use crate::support::{Bench, request, texts, types};

#[tokio::test]
async fn a_run_that_is_waited_for_is_answered_when_it_has_ended() {
    let bench = Bench::start().await;
    let heard = bench.ask("echo", "hello", "sync").await;
    assert_eq!(heard.status, 200);
    let run = heard.ok();
    assert_eq!(heard.headers["run-id"], run["run_id"].as_str().unwrap());
    assert_eq!(run["status"], "completed");
    assert_eq!(run["agent_name"], "echo");
    assert_eq!(run["output"][0]["role"], "agent/echo");
    let part =
        json!({ "content_type": "text/plain", "content": "hello", "content_encoding": "plain" });
    assert_eq!(run["output"][0]["parts"], json!([part]));
    assert!(run["created_at"].as_str() <= run["finished_at"].as_str());
    assert_eq!(run.get("error"), None);
    let id: uuid::Uuid = run["session_id"].as_str().unwrap().parse().unwrap();
    assert_eq!(id.get_version_num(), 7);
    // `getRun` returns the same run.
    let path = format!("/runs/{}", run["run_id"].as_str().unwrap());
    assert_eq!(bench.get(&path).await.ok(), run);
}

#[tokio::test]
async fn without_a_mode_a_run_is_waited_for() {
    let bench = Bench::start().await;
    let mut request = request("echo", "hello", "");
    request.as_object_mut().unwrap().remove("mode");
    assert_eq!(
        bench.post("/runs", &request).await.ok()["status"],
        "completed"
    );
    request["mode"] = Value::Null;
    assert_eq!(
        bench.post("/runs", &request).await.ok()["status"],
        "completed"
    );
}

#[tokio::test]
async fn a_stream_tells_all_that_happens_in_order() {
    let bench = Bench::start().await;
    let heard = bench.ask("echo", "hello", "stream").await;
    let events = heard.events();
    assert_eq!(
        types(&events),
        [
            "run.created",
            "run.in-progress",
            "generic",
            "message.created",
            "message.part",
            "message.completed",
            "run.completed"
        ]
    );
    let run = &events[0]["run"];
    assert_eq!(heard.headers["run-id"], run["run_id"].as_str().unwrap());
    assert_eq!(
        (&run["status"], &run["output"]),
        (&json!("created"), &json!([]))
    );
    let run = &events[1]["run"];
    assert_eq!(
        (&run["status"], &run["output"]),
        (&json!("in-progress"), &json!([]))
    );
    let progress = json!({ "progress": 1.0, "total": 1.0, "message": "listening" });
    assert_eq!(events[2]["generic"], progress);
    assert_eq!(events[3]["message"]["parts"], json!([]));
    assert_eq!(events[3]["message"]["completed_at"], Value::Null);
    assert_eq!(events[4]["part"]["content"], "hello");
    assert_eq!(events[5]["message"]["parts"], json!([events[4]["part"]]));
    // `getRun` returns the run of the last event.
    let path = format!("/runs/{}", run["run_id"].as_str().unwrap());
    assert_eq!(bench.get(&path).await.ok(), events[6]["run"]);
    // `listRunEvents` returns the events of the stream.
    let log = bench.get(&format!("{path}/events")).await.ok();
    assert_eq!(log, json!({ "events": events }));
}

#[tokio::test]
async fn a_run_that_is_left_alone_is_accepted_and_found_later() {
    let bench = Bench::start().await;
    let heard = bench.ask("slow", "go", "async").await;
    assert_eq!(heard.status, 202);
    let run = heard.ok();
    assert_eq!(heard.headers["run-id"], run["run_id"].as_str().unwrap());
    let run = bench.until(&run, "in-progress").await;
    // The events so far are returned without waiting for the end.
    let path = format!("/runs/{}/events", run["run_id"].as_str().unwrap());
    let log = bench.get(&path).await.ok();
    let events = log["events"].as_array().unwrap();
    assert_eq!(types(events)[..2], ["run.created", "run.in-progress"]);
}

#[tokio::test]
async fn a_run_that_fails_is_a_good_answer() {
    let bench = Bench::start().await;
    for (agent, text, reason) in [
        ("boom", "it is broken", "broken"),
        ("crash", "crashed", "crashed"),
    ] {
        let heard = bench.ask(agent, "x", "sync").await;
        assert_eq!(heard.status, 200);
        let run = heard.ok();
        assert_eq!(run["status"], "failed", "{run}");
        assert_eq!(run["error"]["code"], "server_error");
        let message = run["error"]["message"].as_str().unwrap();
        assert!(message.contains(text), "{run}");
        assert_eq!(run["error"]["data"]["reason"], reason);
        assert!(run["finished_at"].is_string());
        let events = bench.ask(agent, "x", "stream").await.events();
        assert_eq!(types(&events).last(), Some(&"run.failed"));
    }
}

#[tokio::test]
async fn what_is_made_are_named_parts_and_what_is_answered_has_no_name() {
    let bench = Bench::start().await;
    let heard = bench.ask("make", "four", "stream").await;
    let events = heard.events();
    let parts = events
        .iter()
        .filter(|event| event["type"] == "message.part");
    let parts: Vec<&Value> = parts.map(|event| &event["part"]).collect();
    let plain = |name: &str, kind: &str, content: &str| json!({ "name": name, "content_type": kind, "content": content, "content_encoding": "plain" });
    assert_eq!(parts[0], &plain("story.txt", "text/plain", "Once "));
    assert_eq!(parts[1], &plain("story.txt", "text/plain", "upon a time"));
    assert_eq!(
        parts[2],
        &plain("facts", "application/json", r#"{"true":true}"#)
    );
    assert_eq!(
        parts[3],
        &json!({ "name": "dot.png", "content_type": "image/png", "content": "iVBORw==", "content_encoding": "base64" })
    );
    assert_eq!(
        parts[4],
        &json!({ "content_type": "application/json", "content": r#"{"letters":4}"#, "content_encoding": "plain" })
    );
    // The chunks of one artifact are parts of one message.
    let run = &events.last().unwrap()["run"];
    let sizes = run["output"].as_array().unwrap().iter();
    let sizes: Vec<_> = sizes
        .map(|message| message["parts"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [2, 1, 1, 1]);
    let completed = events
        .iter()
        .filter(|event| event["type"] == "message.completed");
    assert_eq!(completed.count(), 4);
}

#[tokio::test]
async fn a_message_without_a_task_elsewhere_is_a_run_here() {
    let bench = Bench::start().await;
    let run = bench.ask("chat", "hello", "sync").await.ok();
    assert_eq!(run["status"], "completed");
    assert_eq!(texts(&run), ["you said hello"]);
    let path = format!("/runs/{}", run["run_id"].as_str().unwrap());
    assert_eq!(bench.get(&path).await.ok(), run);
    let events = bench.ask("chat", "hello", "stream").await.events();
    assert_eq!(
        types(&events),
        [
            "run.created",
            "run.in-progress",
            "message.created",
            "message.part",
            "message.completed",
            "run.completed"
        ]
    );
}

#[tokio::test]
async fn the_agent_as_a_whole_answers_what_names_no_skill() {
    let bench = Bench::start().await;
    let run = bench.ask("test-agent", "hello", "sync").await.ok();
    assert_eq!(run["agent_name"], "test-agent");
    assert_eq!(run["output"][0]["role"], "agent/test-agent");
    assert!(
        texts(&run)[0].contains("echo: Says what it was told."),
        "{run}"
    );
}

#[tokio::test]
async fn input_can_be_json_and_bytes_that_are_text() {
    let bench = Bench::start().await;
    for (kind, encoding, content) in [
        ("application/json", "plain", r#"{"text":"hello"}"#),
        ("application/json", "base64", "eyJ0ZXh0IjoiaGVsbG8ifQ=="),
        ("text/plain", "base64", "aGVsbG8="),
        ("text/markdown; charset=utf-8", "plain", "hello"),
    ] {
        let part =
            json!({ "content_type": kind, "content_encoding": encoding, "content": content });
        let mut request = request("echo", "", "sync");
        request["input"][0]["parts"] = json!([part]);
        let run = bench.post("/runs", &request).await.ok();
        assert_eq!(texts(&run), ["hello"], "{kind} {encoding}");
    }
}

#[tokio::test]
async fn input_that_the_skill_does_not_take_is_refused_with_all_faults() {
    let bench = Bench::start().await;
    let part = json!({ "content_type": "application/json", "content": r#"{"text":7}"# });
    let mut request = request("echo", "", "sync");
    request["input"][0]["parts"] = json!([part]);
    for mode in ["sync", "async", "stream"] {
        request["mode"] = json!(mode);
        let heard = bench.post("/runs", &request).await;
        assert_eq!(heard.refused(), (422, "invalid_input".to_owned()));
        let fault = &heard.json()["data"]["faults"][0];
        assert_eq!(
            fault["field"], "input[0].parts[0].content.text",
            "{heard:?}"
        );
    }
}
