//! Entities and relations of a model's reply that are accepted.

use crate::graph::extract::EntityKind;
use crate::reading::{Note, supported};

fn note(json: serde_json::Value) -> Note {
    serde_json::from_value(json).unwrap()
}

#[test]
fn only_what_the_text_says_is_taken_from_a_model() {
    let found = supported(
        "Ada Lovelace wrote notes on the Analytical Engine.",
        note(serde_json::json!({
            "note": 1,
            "entities": [
                { "name": "Ada Lovelace", "kind": "name" },
                { "name": "the Analytical Engine", "kind": "term" },
                { "name": "Charles Babbage", "kind": "name" },
                { "name": "", "kind": "name" },
            ],
            "relations": [
                { "from": "Ada Lovelace", "to": "the Analytical Engine", "relation": "wrote notes on" },
                { "from": "Charles Babbage", "to": "the Analytical Engine", "relation": "designed" },
                { "from": "Ada Lovelace", "to": "the Analytical Engine", "relation": "`); DROP" },
                { "from": "Ada Lovelace", "to": "Ada Lovelace", "relation": "is" },
            ],
        })),
    );
    let engine = "the Analytical Engine".to_owned();
    let ada = "Ada Lovelace".to_owned();
    assert_eq!(
        found.entities,
        [
            (ada.clone(), EntityKind::Name),
            (engine.clone(), EntityKind::Term)
        ]
    );
    let relations =
        ["WROTE_NOTES_ON", "DROP"].map(|it| (ada.clone(), engine.clone(), it.to_owned()));
    assert_eq!(found.relations, relations);
}
