//! Metadata of the workspace in params: placed, left alone, refused.

use serde_json::{Value, json};

use super::metadata::placed;
use crate::error::Error;

fn place(params: &Value) -> Result<Value, Error> {
    let placed = placed(params.to_string().into())?;
    Ok(serde_json::from_slice(&placed).expect("JSON"))
}

#[test]
fn what_the_envelope_says_is_put_into_the_message() {
    let read = place(&json!({
        "message": { "role": "user", "parts": [] },
        "metadata": { "session_id": "sess_1", "agent_state": "idle", "priority": "high", "task_id": "t" },
    }));
    let message = &read.unwrap()["message"];
    assert_eq!(
        (&message["contextId"], &message["taskId"]),
        (&json!("sess_1"), &json!("t"))
    );
    assert_eq!(
        message["metadata"]["urn:monas:a2a:ext:agent:1/priority"],
        75
    );
}

#[test]
fn metadata_of_other_programs_is_left_alone() {
    for params in [
        json!({ "message": { "parts": [] }, "metadata": { "priority": 7, "task_id": 3 } }),
        json!({ "message": { "parts": [], "metadata": { "session_id": 7 } } }),
        json!({ "metadata": "\"session_id\"" }),
        json!({ "id": "t", "metadata": { "session_id": "s" } }),
    ] {
        assert_eq!(place(&params).unwrap(), params);
    }
    assert_eq!(placed("{\"session_id\"".into()).unwrap(), "{\"session_id\"");
}

#[test]
fn each_fault_names_its_field() {
    let message = json!({ "contextId": "other", "parts": [] });
    for (metadata, field) in [
        (json!({ "session_id": 7 }), "metadata.session_id"),
        (json!({ "session_id": "two words" }), "metadata.session_id"),
        (
            json!({ "session_id": "not the other" }),
            "metadata.session_id",
        ),
        (json!({ "session_id": "sess_1" }), "metadata.session_id"),
        (json!({ "agent_state": "asleep" }), "metadata.agent_state"),
        (
            json!({ "session_id": "other", "priority": "urgent" }),
            "metadata.priority",
        ),
        (
            json!({ "session_id": "other", "task_id": [] }),
            "metadata.task_id",
        ),
    ] {
        let params = json!({ "message": message, "metadata": metadata });
        let error = place(&params).unwrap_err();
        assert!(error.to_string().contains(field), "{metadata}: {error}");
    }
}
