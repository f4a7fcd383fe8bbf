//! Answers that are not what was asked for are errors, never successes.

use serde_json::json;

use super::*;

#[test]
fn takes_the_result_of_its_own_request_only() {
    let good = br#"{"jsonrpc":"2.0","id":"a","result":{"x":1}}"#;
    assert_eq!(result(good, "a").unwrap(), json!({"x": 1}));
    assert!(result(good, "b").is_err());
    let error = br#"{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"no"}}"#;
    assert!(result(error, "a").is_err());
    assert!(result(b"oops", "a").is_err());
}

#[test]
fn a_task_must_be_finished_and_whole() {
    let task = |state: &str, text: &str| {
        json!({"id": "1", "status": {"state": state},
               "artifacts": [{"parts": [{"text": text}]}]})
    };
    assert!(check_task(&task(COMPLETED, TASK), TASK).is_ok());
    assert!(check_task(&task("TASK_STATE_WORKING", TASK), TASK).is_err());
    assert!(check_task(&task(COMPLETED, "other"), TASK).is_err());
}

fn chunk(text: &str) -> Value {
    json!({"artifactUpdate": {"artifact": {"parts": [{"text": text}]}}})
}

#[test]
fn chunks_come_once_and_in_order() {
    let mut stream = Stream::default();
    stream.add(&json!({"task": {"id": "1"}})).unwrap();
    stream.add(&chunk("c0 ")).unwrap();
    stream.add(&chunk("c1 ")).unwrap();
    assert!(stream.add(&chunk("c1 ")).is_err(), "doubled");
    assert!(stream.add(&chunk("c3 ")).is_err(), "with a gap");
    assert_eq!((stream.events, stream.chunks), (5, 2));
}

#[test]
fn nothing_comes_after_the_end() {
    let status = |state: &str| json!({"statusUpdate": {"status": {"state": state}}});
    let mut stream = Stream::default();
    stream.add(&status("TASK_STATE_WORKING")).unwrap();
    stream.add(&status(COMPLETED)).unwrap();
    assert!(stream.completed);
    assert!(stream.add(&status(COMPLETED)).is_err());
}
