//! Parts that are taken out of records, and parts that stay.

use serde_json::{Value, json};

use super::Redaction;

fn redacted(person: Option<&str>, records: &[Value]) -> Vec<Value> {
    let texts = ["the vault code is zebra77".to_owned()];
    let mut redaction = Redaction::new(&texts, person);
    let records = records.iter().cloned().map(|mut record| {
        redaction.learn(&record);
        redaction.redact(&mut record);
        record
    });
    records.collect()
}

fn heard(turn: &str, caller: &str, text: &str) -> Value {
    let opened = json!({ "change": "opened", "turn": { "heard": { "turn": turn, "text": text } } });
    let recall = json!({ "change": "wished", "pending": { "wish": { "id": turn.len(), "turn": turn,
        "effect": { "effect": "recall", "question": text } } } });
    json!({
        "event": { "at": 1, "event": "heard", "turn": turn, "conversation": "c", "caller": caller, "from": caller,
            "text": text },
        "changes": [opened, recall],
    })
}

#[test]
fn the_words_go_from_requests_effects_and_results_of_the_person() {
    let found = json!({ "event": { "event": "recalled", "effect": 1,
        "found": [{ "record": "r", "text": "The vault code is Zebra77." }] }, "changes": [] });
    let said = redacted(
        Some("ada"),
        &[
            heard(
                "1",
                "ada",
                "Remember that the vault  code is zebra77, please",
            ),
            found,
            heard("22", "bob", "the vault code is zebra77"),
            heard("333", "ada", "the vault is green"),
        ],
    );
    for record in &said[..2] {
        assert!(
            !record.to_string().to_lowercase().contains("zebra77"),
            "{record}"
        );
        assert_eq!(record["forgotten"], true);
    }
    let text = said[0]["event"]["text"].as_str().unwrap();
    assert!(text.starts_with("Remember that [forgotten "), "{text}");
    assert!(text.ends_with("], please"), "{text}");
    // What others said, and what says something else, stays as it is.
    assert_eq!(said[2], heard("22", "bob", "the vault code is zebra77"));
    assert_eq!(said[3], heard("333", "ada", "the vault is green"));
}

#[test]
fn names_and_ids_are_no_texts() {
    let mut redaction = Redaction::new(&["file write".to_owned(), "heard".to_owned()], None);
    let mut record = heard("1", "ada", "heard");
    record["event"]["skill"] = json!("file-write");
    redaction.learn(&record);
    assert!(redaction.redact(&mut record));
    assert_eq!(record["event"]["event"], "heard");
    assert_eq!(record["event"]["skill"], "file-write");
    assert_ne!(record["event"]["text"], "heard");
}
