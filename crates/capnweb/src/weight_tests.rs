//! Counters, and refusals because of them.

use proptest::prelude::*;
use serde_json::Value;

use super::{Census, LARGE, TooHeavy, census, check};

fn of(json: &str) -> [usize; 4] {
    let Census {
        values,
        containers,
        members,
        filled,
    } = census(json.as_bytes());
    [values, containers, members, filled]
}

#[test]
fn counts_values_containers_and_members() {
    assert_eq!(of("1"), [1, 0, 0, 0]);
    assert_eq!(of(r#""a\"b,[{:""#), [1, 0, 0, 0]);
    assert_eq!(of("[]"), [1, 1, 0, 0]);
    assert_eq!(of("{ }"), [1, 1, 0, 0]);
    assert_eq!(of(r#"[[],{},{"": -1.5e3}, null]"#), [6, 4, 1, 1]);
    assert_eq!(
        of(r#"{"a" : {"b":"c","d":[true , false]},"e":"\\"}"#),
        [7, 3, 4, 2]
    );
}

#[test]
fn refuses_many_small_values_in_a_large_text_and_nothing_else() {
    let of = |item: &str, bytes: usize| {
        let count = bytes / item.len();
        format!("[{}1]", item.repeat(count))
    };
    // These four made 31 MB into more than 2 GB.
    for item in ["{},", r#"{"":1},"#, "[[]],", "1,"] {
        assert!(matches!(
            check(of(item, 31 << 20).as_bytes()),
            Err(TooHeavy { .. })
        ));
        assert_eq!(check(of(item, LARGE - 9).as_bytes()), Ok(()));
    }
    let row = r#"{"id":12345,"name":"Ada Lovelace","value":1.25},"#;
    assert_eq!(check(of(row, 1 << 20).as_bytes()), Ok(()));
    let file = format!(r#"{{"raw":"{}"}}"#, "QUJD".repeat(4 << 20));
    assert_eq!(check(file.as_bytes()), Ok(()));
}

/// What a parser finds in the same text.
fn parsed(value: &Value, census: &mut Census) {
    census.values += 1;
    match value {
        Value::Array(items) => {
            census.containers += 1;
            items.iter().for_each(|item| parsed(item, census));
        }
        Value::Object(members) => {
            census.containers += 1;
            census.members += members.len();
            census.filled += usize::from(!members.is_empty());
            members.values().for_each(|member| parsed(member, census));
        }
        _ => {}
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        r#"[\\",:\[\]{}]*"#.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(".*", inner, 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn counts_as_a_parser_does(json in any_json(), pretty in any::<bool>()) {
        let mut found = Census::default();
        parsed(&json, &mut found);
        let text = if pretty {
            serde_json::to_string_pretty(&json).unwrap()
        } else {
            json.to_string()
        };
        prop_assert_eq!(census(text.as_bytes()), found);
    }

    #[test]
    fn takes_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        let census = census(&bytes);
        prop_assert!(census.values <= bytes.len());
    }
}
