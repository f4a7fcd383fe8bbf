//! The values in a message of MessagePack are counted without reading it.

use a2a::binding::weight;
use serde_json::{Value, json};

use super::{census, check, read, write};

/// The values in a tree, with the names of members, and the containers among them.
fn counted(value: &Value) -> (usize, usize) {
    let (mut values, mut containers) = (1, 0);
    let mut add = |value: &Value| {
        let (more, inner) = counted(value);
        values += more;
        containers += inner;
    };
    match value {
        Value::Array(items) => {
            items.iter().for_each(&mut add);
            containers += 1;
        }
        Value::Object(members) => {
            members.values().for_each(&mut add);
            values += members.len();
            containers += 1;
        }
        _ => {}
    }
    (values, containers)
}

#[test]
fn every_form_is_counted_as_it_is_read() {
    let many: Vec<u32> = (0..70_000).collect();
    let wide: serde_json::Map<String, Value> =
        (0..70_000).map(|it| (it.to_string(), json!(it))).collect();
    for value in [
        json!(null),
        json!([
            true,
            -1,
            -200,
            -40_000,
            -3_000_000_000_i64,
            1.5,
            300,
            70_000,
            u64::MAX
        ]),
        json!({ "a": {}, "b": [[], [[]]], "c": "x".repeat(40), "d": "x".repeat(300), "e": "x".repeat(70_000) }),
        json!(many),
        json!(many[..100]),
        json!(wide),
    ] {
        let bytes = write(&value);
        assert_eq!(read(&bytes).as_ref(), Ok(&value));
        let census = census(&bytes);
        assert_eq!((census.values, census.containers), counted(&value));
    }
}

/// A byte of a list once became some eighty bytes of memory.
#[test]
fn a_message_of_too_many_values_is_refused_before_it_is_read() {
    let mut lists = vec![0xdd];
    lists.extend_from_slice(&1_000_000_u32.to_be_bytes());
    lists.resize(lists.len() + 1_000_000, 0x90);
    let refused = check(&lists).unwrap_err().to_string();
    assert!(refused.contains("take too much memory"), "{refused}");
    // One that says that it has more than it has, and one of few long texts.
    let mut short = vec![0xdf, 0xff, 0xff, 0xff, 0xff];
    short.resize(weight::LARGE + 1, 0xc0);
    assert!(check(&short).is_ok() || read(&short).is_err());
    assert_eq!(check(&write(&json!(["x".repeat(8 << 20)]))), Ok(()));
}
