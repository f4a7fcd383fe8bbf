//! One message, held up against the official reading of it.

use serde_json::{Value, json};

use super::official::{Forms, Official, hex};
use super::table::{Both, Row};

/// Takes all the forms that the official code gave a message in, and shows it all of ours.
#[track_caller]
pub(crate) fn check(official: &Forms) {
    let row = Row::named(&official.message);
    let read = [
        (row.from_protobuf)(&official.protobuf),
        (row.from_json)(official.json.as_bytes()),
        (row.from_json)(official.snake.as_bytes()),
    ];
    for both in read {
        let both = both.unwrap_or_else(|error| panic!("{error} in {}", official.json));
        check_written(official, &both);
    }
}

/// What we wrote reads, at the official end, as the original does; and JSON is also the same text, but for how
/// whole numbers are written.
#[track_caller]
pub(crate) fn check_written(official: &Forms, ours: &Both) {
    let text = std::str::from_utf8(&ours.json).unwrap();
    let answer = Official::ask(&json!({
        "do": "same",
        "message": official.message,
        "protobuf": hex(&official.protobuf),
        "text": text,
        "bytes": hex(&ours.protobuf),
    }));
    assert_eq!(
        answer,
        json!({"json": true, "protobuf": true}),
        "ours: {text} {}\ntheirs: {} {}",
        hex(&ours.protobuf),
        official.json,
        hex(&official.protobuf),
    );
    let theirs = serde_json::from_str(&official.json).unwrap();
    let ours = serde_json::from_str(text).unwrap();
    let (ours, theirs) = (comparable(ours), comparable(theirs));
    // The four members that we always print, as the protocol asks, and python does not.
    if official.message != "ListTasksResponse" {
        assert_eq!(ours, theirs);
    }
}

/// The same JSON with all numbers as doubles, which is what they are on protobuf.
fn comparable(json: Value) -> Value {
    match json {
        Value::Number(number) => number.as_f64().into(),
        Value::Array(list) => list.into_iter().map(comparable).collect(),
        Value::Object(map) => {
            let members = map.into_iter();
            members
                .map(|(name, member)| (name, comparable(member)))
                .collect()
        }
        other => other,
    }
}
