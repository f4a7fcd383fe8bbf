//! Conversations belong to their callers, and no caller pushes out those of another.

use serde_json::json;

use super::{Conversations, Line};
use crate::limits;

fn said(by: &str, text: &str) -> Line {
    Line {
        by: Some(by.to_owned()),
        text: text.to_owned(),
        found: false,
    }
}

#[test]
fn one_context_id_is_one_conversation_for_each_caller() {
    let mut kept = Conversations::default();
    kept.add("ada", "chat", [said("ada", "my secret")]);
    kept.add("bob", "chat", [said("bob", "hello")]);
    assert_eq!(kept.lines("ada", "chat"), [said("ada", "my secret")]);
    assert_eq!(kept.lines("bob", "chat"), [said("bob", "hello")]);
    assert!(kept.lines("eve", "chat").is_empty());
}

#[test]
fn one_caller_with_many_conversations_pushes_out_its_own() {
    let mut kept = Conversations::default();
    kept.add("ada", "chat", [said("ada", "hello")]);
    for at in 0..1000 {
        kept.add("bob", &format!("chat {at}"), [said("bob", "hello")]);
    }
    assert_eq!(kept.lines("ada", "chat").len(), 1);
    assert_eq!(kept.kept.len(), limits::CONVERSATIONS_EACH + 1);
    assert_eq!(kept.lines("bob", "chat 999").len(), 1);
    // With more callers than there is room for, the oldest conversation of all goes.
    for at in 0..1000 {
        let caller = format!("caller {at}");
        kept.add(&caller, "chat", [said(&caller, "hello")]);
    }
    assert_eq!(kept.kept.len(), limits::CONVERSATIONS);
    assert_eq!(kept.lines("caller 999", "chat").len(), 1);
}

#[test]
fn a_conversation_stored_without_its_caller_belongs_to_the_only_one_who_spoke() {
    let stored = json!({
        "one": [{"by": "ada", "text": "hello"}, {"by": null, "text": "Hello, Ada."}],
        "two": [{"by": "ada", "text": "my secret"}, {"by": "bob", "text": "hello"}],
    });
    let kept: Conversations = serde_json::from_value(stored).unwrap();
    assert_eq!(kept.lines("ada", "one").len(), 2);
    assert!(kept.lines("ada", "two").is_empty() && kept.lines("bob", "two").is_empty());
    let again = serde_json::from_value(serde_json::to_value(&kept).unwrap());
    assert_eq!(kept, again.unwrap());
}
