//! Only a good answer to the client's own request counts.

use super::*;

fn answered(result: &Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": "a", "result": result })
        .to_string()
        .into_bytes()
}

#[test]
fn a_result_is_that_of_the_own_call_and_no_error() {
    let good = answered(&json!({ "content": [{ "text": "hello" }] }));
    assert_eq!(said(Work::Call, &good, "a").as_deref(), Some("hello"));
    assert_eq!(said(Work::Call, &good, "b"), None);
    let bad = answered(&json!({ "content": [{ "text": "hello" }], "isError": true }));
    assert_eq!(said(Work::Call, &bad, "a"), None);
    assert_eq!(said(Work::Call, b"oops", "a"), None);
}

#[test]
fn a_stream_may_begin_with_an_event_without_data() {
    let result = answered(&json!({ "content": [{ "text": "hello" }] }));
    let mut stream = b"id: 0\nretry: 3000\ndata:\n\nevent: message\ndata: ".to_vec();
    stream.extend(result);
    stream.extend(b"\n\n");
    assert_eq!(
        said(Work::SessionCall, &stream, "a").as_deref(),
        Some("hello")
    );
}

#[test]
fn a_task_or_a_run_must_be_finished() {
    let task = |state: &str| {
        let part = json!({ "text": "hello" });
        let task = json!({ "status": { "state": state }, "artifacts": [{ "parts": [part] }] });
        answered(&json!({ "task": task }))
    };
    let said_by = |state: &str| said(Work::Task, &task(state), "a");
    assert_eq!(said_by("TASK_STATE_COMPLETED").as_deref(), Some("hello"));
    assert_eq!(said_by("TASK_STATE_WORKING"), None);
    let run = |status: &str| {
        let output = json!([{ "parts": [{ "content": "hello" }] }]);
        let run = json!({ "status": status, "output": output }).to_string();
        said(Work::Run, run.as_bytes(), "a")
    };
    assert_eq!(run("completed").as_deref(), Some("hello"));
    assert_eq!(run("failed"), None);
}
