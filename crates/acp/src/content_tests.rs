//! Parts are the same after translation to A2A and back.

use a2a::types::{Content, Part as A2aPart};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::content::{from_a2a, to_a2a};
use crate::types::{Encoding, Part};

fn part(part: Value) -> Part {
    serde_json::from_value(part).unwrap()
}

#[test]
fn text_is_text_and_json_is_data() {
    let text = to_a2a(part(json!({ "content": "hello" }))).unwrap();
    assert_eq!(text, A2aPart::text("hello"));
    let data = part(json!({ "content_type": "application/json", "content": "[1,null]" }));
    assert_eq!(to_a2a(data).unwrap(), A2aPart::data(json!([1, null])));
}

#[test]
fn bytes_are_bytes_unless_they_are_said_to_be_text() {
    let bytes = |kind: &str| {
        let part =
            part(json!({ "content_type": kind, "content_encoding": "base64", "content": "aGk=" }));
        to_a2a(part).unwrap().content
    };
    assert_eq!(bytes("image/png"), Content::Raw("hi".into()));
    assert_eq!(bytes("text/csv"), Content::Text("hi".to_owned()));
    // Content declared as text that is not UTF-8 stays bytes.
    let odd = part(json!({ "content_encoding": "base64", "content": "/w==" }));
    let odd = to_a2a(odd).unwrap();
    assert_eq!(odd.content, Content::Raw([0xff][..].to_vec().into()));
    assert_eq!(odd.media_type, "text/plain");
}

/// Regression: a blank media type was lost in translation.
#[test]
fn a_type_that_says_nothing_is_not_given() {
    let there = part(json!({ "content_type": " ", "content_url": "https://x.example" }));
    assert_eq!(to_a2a(there).unwrap().media_type, "text/plain");
    let text = part(json!({ "content_type": "", "content": "hello" }));
    assert_eq!(to_a2a(text).unwrap(), A2aPart::text("hello"));
}

#[test]
fn a_citation_by_itself_is_a_part() {
    let cited = part(json!({ "metadata": { "kind": "citation", "url": "https://x.example" } }));
    let there = to_a2a(cited.clone()).unwrap();
    assert_eq!(there.as_text(), Some(""));
    assert_eq!(from_a2a(&there, None).metadata, cited.metadata);
}

#[test]
fn an_address_is_passed_on_and_looked_at_no_further() {
    for url in [
        "https://x.example/a",
        "data:text/plain,hi",
        "urn:x",
        "s3://bucket/key",
    ] {
        let there = to_a2a(part(json!({ "content_url": url }))).unwrap();
        assert_eq!(there.content, Content::Url(url.to_owned()));
    }
    for url in ["", "x", ":x", "7:x", "a b:x", "//x"] {
        let refused = to_a2a(part(json!({ "content_url": url })));
        assert_eq!(refused.unwrap_err(), "content_url is not a URL", "{url:?}");
    }
}

fn parts() -> impl Strategy<Value = Part> {
    let kind = prop::option::of(prop_oneof![
        Just("text/plain".to_owned()),
        Just("application/json".to_owned()),
        Just("image/png".to_owned()),
        "[a-z/;= ]{0,12}",
    ]);
    let encoding = prop::option::of(prop_oneof![Just(Encoding::Plain), Just(Encoding::Base64)]);
    let content = prop::option::of(prop_oneof![
        any::<String>(),
        "[A-Za-z0-9+/]{0,8}(==|=)?",
        Just("{\"a\":[1.5,\"b\"]}".to_owned()),
    ]);
    let url = prop::option::weighted(0.3, "[a-z:/.]{0,10}");
    let name = prop::option::of("[ -~]{1,8}");
    (name, kind, content, encoding, url).prop_map(
        |(name, content_type, content, content_encoding, content_url)| Part {
            name,
            content_type,
            content,
            content_encoding,
            content_url,
            metadata: None,
        },
    )
}

proptest! {
    /// Every valid part is the same after any number of translations.
    #[test]
    fn what_is_taken_comes_back(part in parts()) {
        if let Ok(there) = to_a2a(part) {
            let back = from_a2a(&there, None);
            let again = to_a2a(back.clone());
            prop_assert_eq!(again.as_ref(), Ok(&there));
            prop_assert_eq!(from_a2a(&there, None), back);
        }
    }
}
