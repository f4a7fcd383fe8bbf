//! Messages of clients are read as documented, and each fault is named.

use serde_json::{Value, json};

use super::{Attached, Command, Said, read, read_decision};
use crate::chat::Priority;

const ID: &str = "550e8400-e29b-41d4-a716-446655440000";

fn command(payload: &Value) -> Result<Command, (String, String)> {
    let metadata = json!({ "session_id": "sess_abc123", "priority": "high" });
    let message =
        json!({ "id": ID, "type": "user_command", "payload": payload, "metadata": metadata });
    match read(&message) {
        Ok(read) => match read.what {
            Said::Command(command) => Ok(command),
            other => panic!("{other:?}"),
        },
        Err(fault) => Err((fault.field, fault.message)),
    }
}

#[test]
fn of_a_command_only_the_words_are_required() {
    let read = command(&json!({ "command": "hi" })).unwrap();
    assert_eq!((read.context, read.priority), (None, Some(Priority::High)));
    let (field, message) = command(&json!({ "command": "hi", "urgency": "soon" })).unwrap_err();
    assert_eq!(field, "payload.urgency");
    assert_eq!(
        message,
        "payload.urgency is \"soon\"; expected one of immediate, high, normal, low"
    );
}

#[test]
fn attachments_are_text_or_bytes() {
    let text = json!({ "name": "a.txt", "content": "hello" });
    let bytes = json!({ "name": "b.png", "media_type": "image/png", "data": "AAE=" });
    let read = command(&json!({ "command": "hi", "attachments": [text, bytes] })).unwrap();
    let contents: Vec<_> = read.attachments.into_iter().map(|it| it.content).collect();
    let expected = [
        Attached::Text("hello".to_owned()),
        Attached::Bytes(vec![0, 1]),
    ];
    assert_eq!(contents, expected);
    for (attachment, field) in [
        (json!("a"), "payload.attachments[0]"),
        (json!({ "name": "a" }), "payload.attachments[0]"),
        (json!({ "data": "?" }), "payload.attachments[0].data"),
    ] {
        let fault = command(&json!({ "command": "hi", "attachments": [attachment] })).unwrap_err();
        assert_eq!(fault.0, field);
        assert!(fault.1.starts_with(field), "{}", fault.1);
    }
}

#[test]
fn decisions_become_what_the_agent_reads() {
    let decide =
        |given: Value| read_decision(given.as_object().unwrap(), "").map_err(|it| it.field);
    let modified =
        json!({ "decision": "modify", "modified": { "path": "b.md" }, "reason": "name" });
    let expected = json!({ "decision": "modify", "input": "{\"path\":\"b.md\"}", "why": "name" });
    assert_eq!(decide(modified), Ok(expected));
    assert_eq!(decide(json!({ "answer": "blue" })), Ok(json!("blue")));
    assert_eq!(
        decide(json!({ "decision": "modify" })),
        Err("modified".to_owned())
    );
    assert_eq!(
        decide(json!({ "decision": "maybe" })),
        Err("decision".to_owned())
    );
    let both = json!({ "decision": "approve", "modified": {} });
    assert_eq!(decide(both), Err("modified".to_owned()));
}

#[test]
fn bombs_of_messagepack_are_refused() {
    // A list that claims four thousand million members, and lists in lists in lists.
    assert!(crate::packed::read(&[0xdd, 0xff, 0xff, 0xff, 0xff]).is_err());
    assert!(crate::packed::read(&[0x91; 100_000]).is_err());
    assert!(crate::packed::read(&[0x01, 0x02]).is_err());
    let value = json!({ "a": [1, "two", null, { "b": 0.5 }] });
    assert_eq!(
        crate::packed::read(&crate::packed::write(&value)),
        Ok(value)
    );
}
