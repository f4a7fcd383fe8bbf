//! JSON through protobuf, and how deep it may be.

use serde_json::json;

use super::super::wire::{Kind, MessageDescription};
use super::super::*;
use super::AROUND;

fn through_protobuf(value: serde_json::Value) -> serde_json::Value {
    let part = Part::data(value);
    let part = Part::from_protobuf(part.to_protobuf()).unwrap();
    match part.content {
        Content::Data(value) => value.0,
        other => panic!("{other:?}"),
    }
}

#[test]
fn whole_numbers_stay_whole_as_far_as_doubles_are_exact() {
    for value in [
        json!(0),
        json!(-7),
        json!(9_007_199_254_740_992_u64),
        json!(1.5),
        json!(-0.0),
        json!([null, true, "é", {"a": [], "b": {}}]),
    ] {
        assert_eq!(through_protobuf(value.clone()), value);
    }
    assert_eq!(through_protobuf(json!(2.0)).to_string(), "2");
    let beyond = through_protobuf(json!(9_007_199_254_740_993_u64));
    assert_eq!(beyond.to_string(), "9007199254740992");
    assert_eq!(
        through_protobuf(json!(u64::MAX)).to_string(),
        "1.8446744073709552e+19"
    );
}

#[test]
fn numbers_of_64_bits_pass_unharmed_through_json() {
    let text = r#"{"data":[9007199254740993,18446744073709551615,-9223372036854775808,0.1]}"#;
    assert_eq!(Part::from_json(text.as_bytes()).unwrap().to_json(), text);
}

#[test]
fn numbers_that_json_does_not_have_are_refused_with_their_place() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut value = vec![0x11];
        value.extend(number.to_le_bytes());
        // Part.data = 4, Value.list_value = 6, ListValue.values = 1.
        let list = [&[0x0a, 9][..], &value].concat();
        let part = [&[0x22, 13, 0x32, 11][..], &list].concat();
        let error = Part::from_protobuf(part.into()).unwrap_err();
        assert_eq!(error.path, "data[0]");
        assert!(
            error.reason.contains("not a number that JSON has"),
            "{error}"
        );
    }
}

#[test]
fn a_value_that_says_nothing_is_null_and_the_last_one_wins() {
    let data = |bytes: &'static [u8]| match Part::from_protobuf(bytes.into()).unwrap().content {
        Content::Data(value) => value.0,
        other => panic!("{other:?}"),
    };
    assert_eq!(data(&[0x22, 0]), json!(null));
    assert_eq!(data(&[0x22, 4, 0x20, 1, 0x08, 0]), json!(null));
    assert_eq!(data(&[0x22, 4, 0x08, 0, 0x20, 1]), json!(true));
    // The same kind again adds to what is there.
    assert_eq!(data(&[0x22, 4, 0x32, 0, 0x2a, 0]), json!({}));
    let twice = [
        0x22, 12, 0x32, 4, 0x0a, 2, 0x20, 1, 0x32, 4, 0x0a, 2, 0x20, 0,
    ];
    assert_eq!(data(Box::leak(Box::new(twice))), json!([true, false]));
}

/// The way to the deepest value decides how deep a value may be itself.
#[test]
fn no_value_lies_deeper_than_is_assumed() {
    fn deepest(message: &MessageDescription) -> Option<u32> {
        let inside = |kind: &Kind| match kind {
            Kind::Message(inner) if inner.full_name.starts_with("google.protobuf.") => {
                matches!(inner.name, "Value" | "Struct").then_some(1)
            }
            Kind::Message(inner) => deepest(inner).map(|depth| depth + 1),
            // An entry is a message around its value.
            Kind::Map(Kind::Message(inner)) => deepest(inner).map(|depth| depth + 2),
            _ => None,
        };
        message
            .fields()
            .filter_map(|field| inside(&field.kind))
            .max()
    }
    let deepest = crate::operation::TABLE
        .iter()
        .flat_map(|operation| [(operation.request)(), (operation.reply)()])
        .filter_map(deepest)
        .max();
    assert_eq!(deepest, Some(AROUND));
}

#[test]
fn values_that_protobuf_could_not_carry_are_refused_on_both_wires() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inside, _| json!({ "a": inside }));
    let json = |levels| {
        let part = json!({"data": nested(levels)});
        Part::from_json(part.to_string().as_bytes())
    };
    assert!(json(31).is_ok());
    let error = json(32).unwrap_err();
    assert_eq!(error.path, "data");
    assert!(
        error.reason.contains("at most 31 objects or 47 lists"),
        "{error}"
    );

    let protobuf = |levels| Part::from_protobuf(Part::data(nested(levels)).to_protobuf());
    assert!(protobuf(31).is_ok());
    assert_eq!(protobuf(32).unwrap_err().path, "data");

    // In metadata the outermost object is the metadata itself.
    let metadata = |levels| {
        let part = json!({"text": "", "metadata": nested(levels)});
        Part::from_json(part.to_string().as_bytes())
    };
    assert!(metadata(32).is_ok());
    assert_eq!(metadata(33).unwrap_err().path, "metadata");
}
