//! Requests for runs: faults, commands, answers.

use super::*;
use serde_json::json;

fn input(change: &Value) -> Value {
    let mut input = json!({
        "threadId": "t1", "runId": "r1", "messages": [{ "id": "m1", "role": "user", "content": "hello" }],
        "tools": [], "context": [], "state": {}, "forwardedProps": {},
    });
    for (name, value) in change.as_object().unwrap() {
        input[name] = value.clone();
    }
    input
}

fn asked(change: &Value) -> Asked {
    RunInput::read(&input(change)).unwrap().asked
}

#[test]
fn each_fault_names_its_field() {
    for (change, field) in [
        (json!({ "threadId": null }), "threadId"),
        (json!({ "threadId": "two words" }), "threadId"),
        (json!({ "runId": 7 }), "runId"),
        (json!({ "messages": null }), "messages"),
        (json!({ "messages": {} }), "messages"),
        (json!({ "messages": [] }), "messages"),
        (json!({ "messages": [7] }), "messages[0]"),
        (
            json!({ "messages": [{ "role": "king" }] }),
            "messages[0].role",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": " " }] }),
            "messages[0].content",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": [{ "type": "smell" }] }] }),
            "messages[0].content[0].type",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": [
                { "type": "image", "source": { "type": "url", "value": "http://localhost/a.png" } },
            ] }] }),
            "messages[0].content[0].source.type",
        ),
        (json!({ "tools": 1 }), "tools"),
        (
            json!({ "context": [{ "description": "a" }] }),
            "context[0].value",
        ),
        (
            json!({ "resume": [{ "status": "resolved" }] }),
            "resume[0].interruptId",
        ),
        (
            json!({ "resume": [{ "interruptId": "a", "status": "done" }] }),
            "resume[0].status",
        ),
        (
            json!({ "resume": [{ "interruptId": "a", "status": "resolved" }] }),
            "resume[0].payload",
        ),
        (
            json!({ "resume": [{ "interruptId": "a", "status": "resolved", "payload": { "decision": "maybe" } }] }),
            "resume[0].payload.decision",
        ),
    ] {
        let fault = RunInput::read(&input(&change)).unwrap_err();
        assert_eq!(fault.field, field, "{change}: {fault:?}");
    }
}

#[test]
fn a_run_that_is_asked_for_again_is_the_same_command() {
    let id = |change: &Value| match asked(change) {
        Asked::Command { id, .. } => id,
        Asked::Resume(_) => panic!("no command"),
    };
    assert_eq!(id(&json!({})), id(&json!({})));
    assert_ne!(id(&json!({})), id(&json!({ "runId": "r2" })));
    assert_ne!(id(&json!({})), id(&json!({ "threadId": "t2" })));
}

#[test]
fn parts_and_context_come_with_the_command() {
    let content = json!([
        { "type": "text", "text": "look at" },
        { "type": "text", "text": "this" },
        { "type": "image", "source": { "type": "data", "value": "aGk=", "mimeType": "image/png" } },
    ]);
    let read = asked(&json!({
        "messages": [{ "id": "m", "role": "user", "content": content }],
        "context": [{ "description": "the page", "value": "settings" }],
    }));
    let Asked::Command { command, .. } = read else {
        panic!("no command");
    };
    assert_eq!(command.command, "look at\nthis");
    assert_eq!(
        command.attachments[0].content,
        Attached::Bytes(b"hi".to_vec())
    );
    assert_eq!(command.attachments[0].media_type, "image/png");
    assert_eq!(command.attachments[1].name, "the page");
}

#[test]
fn answers_are_read_in_each_form() {
    let edited = json!({ "approved": true, "editedArgs": { "path": "b" } });
    for (status, payload, given) in [
        ("cancelled", Value::Null, json!({ "decision": "reject" })),
        ("resolved", json!(true), json!({ "decision": "approve" })),
        ("resolved", json!(false), json!({ "decision": "reject" })),
        ("resolved", json!("in words"), json!("in words")),
        ("resolved", json!({ "answer": "blue" }), json!("blue")),
        (
            "resolved",
            json!({ "approved": true }),
            json!({ "decision": "approve" }),
        ),
        (
            "resolved",
            json!({ "approved": false, "reason": "not now" }),
            json!({ "decision": "reject", "why": "not now" }),
        ),
        (
            "resolved",
            edited,
            json!({ "decision": "modify", "input": "{\"path\":\"b\"}" }),
        ),
    ] {
        let entry = json!({ "interruptId": "a", "status": status, "payload": payload });
        let Asked::Resume(answers) = asked(&json!({ "resume": [entry] })) else {
            panic!("no resume");
        };
        assert_eq!(answers[0].interrupt, "a");
        assert_eq!(answers[0].given, given);
    }
}

#[test]
fn calls_without_a_result_are_open() {
    let messages = json!([
        { "id": "1", "role": "assistant", "toolCalls": [{ "id": "a" }, { "id": "b" }] },
        { "id": "2", "role": "tool", "toolCallId": "a", "content": "done" },
        { "id": "3", "role": "user", "content": "go on" },
    ]);
    let read = RunInput::read(&input(&json!({ "messages": messages }))).unwrap();
    assert_eq!(read.open_calls.into_iter().collect::<Vec<_>>(), ["b"]);
}
