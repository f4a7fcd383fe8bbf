//! Values of the mirror in the encoding of Bolt, there and back.

use serde_json::{Value, json};

use super::{parse, structure};

#[test]
fn values_are_written_as_the_specification_has_them() {
    let bytes = |value: Value| structure(0x01, &[&value]).split_off(2);
    assert_eq!(bytes(json!(null)), [0xC0]);
    assert_eq!(bytes(json!(-16)), [0xF0]);
    assert_eq!(bytes(json!(-17)), [0xC8, 0xEF]);
    assert_eq!(bytes(json!(127)), [0x7F]);
    assert_eq!(bytes(json!(128)), [0xC9, 0x00, 0x80]);
    assert_eq!(bytes(json!(1.5)), [0xC1, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes(json!("a")), [0x81, 0x61]);
    assert_eq!(bytes(json!("a".repeat(16)))[..2], [0xD0, 16]);
    assert_eq!(bytes(json!([1, true])), [0x92, 0x01, 0xC3]);
    assert_eq!(bytes(json!({ "a": 1 })), [0xA1, 0x81, 0x61, 0x01]);
}

#[test]
fn values_are_read_back_as_they_were() {
    let long: Vec<i64> = (-70_000..-69_000).collect();
    for value in [
        json!({ "text": "ä".repeat(70_000), "list": long, "nested": { "a": [null, false, -1, 1.25] } }),
        json!([i64::MIN, i64::MAX, 0, 255, 256, -129, 65_536]),
    ] {
        let message = structure(0x70, &[&value]);
        assert_eq!(parse(&message), Some((0x70, json!([value]))));
    }
}

#[test]
fn a_message_that_is_cut_or_made_up_is_none() {
    let message = structure(0x70, &[&json!({ "a": [1, "two"] })]);
    for end in 0..message.len() {
        assert_eq!(parse(&message[..end]), None);
    }
    assert_eq!(parse(&[0xB1, 0x70, 0xD6, 0xFF, 0xFF, 0xFF, 0xFF]), None);
    let nested = [&[0xB1, 0x70][..], &[0x91; 1_000], &[0xC0]].concat();
    assert_eq!(parse(&nested), None);
}
