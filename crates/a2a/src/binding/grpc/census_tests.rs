//! Requests that are small as bytes and large in memory are refused; large ones that are large as bytes are not.

use bytes::Bytes;

use super::check;
use crate::error::Error;
use crate::types::wire::WireMessage as _;
use crate::types::{Message, Part};

fn verdict(parts: Vec<Part>) -> Result<(), Error> {
    let mut message = Message::user("m", "");
    message.parts = parts;
    check(&message.to_protobuf(), Message::describe())
}

#[test]
fn a_million_empty_parts_are_refused() {
    let refused = verdict(vec![Part::default(); 1_000_000]).unwrap_err();
    let Error::TooManyValues(why) = refused else {
        panic!("{refused}");
    };
    assert!(
        why.contains("2000005 bytes of protobuf hold 1000002 values"),
        "{why}"
    );
}

#[test]
fn a_list_of_a_million_values_is_refused() {
    let list = serde_json::Value::Array(vec![serde_json::Value::Null; 1_000_000]);
    let refused = verdict(vec![Part::data(list)]).unwrap_err();
    assert!(matches!(refused, Error::TooManyValues(_)), "{refused}");
    let names = (0..300_000).map(|number| (number.to_string(), true.into()));
    let object = serde_json::Value::Object(names.collect());
    let refused = verdict(vec![Part::data(object)]).unwrap_err();
    assert!(matches!(refused, Error::TooManyValues(_)), "{refused}");
}

#[test]
fn long_texts_and_many_small_requests_pass() {
    assert!(verdict(vec![Part::text("x".repeat(8 << 20))]).is_ok());
    assert!(verdict(vec![Part::text("some words"); 20_000]).is_ok());
    assert!(verdict(vec![Part::default(); 10_000]).is_ok());
}

#[test]
fn what_cannot_be_decoded_is_left_to_decoding() {
    let torn = Bytes::from(vec![0xff; 1 << 20]);
    assert!(check(&torn, Message::describe()).is_ok());
}
