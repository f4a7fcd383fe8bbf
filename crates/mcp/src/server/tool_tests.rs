//! The description of a tool.

use serde_json::json;
use skill::{Definition, Id, OneOrMore, Spec};

#[test]
fn tags_and_examples_are_lines_of_their_own_and_escaped() {
    const SPEC: Spec = Spec::new(
        Id::new("compare"),
        "Compare",
        "Compares two numbers.",
        OneOrMore::new(&["maths", "a < b"]),
        OneOrMore::new(&["is 1 > 2 & 3?", "say \"equal\" or 'less'"]),
    );
    let schema = serde_json::json!({ "type": "object" });
    let tool = super::of(&Definition::new(&SPEC, schema, None));
    assert_eq!(
        tool.description,
        "Compares two numbers.\n\n\
         <tags><tag>maths</tag><tag>a &lt; b</tag></tags>\n\
         <examples><example>is 1 &gt; 2 &amp; 3?</example>\
         <example>say &quot;equal&quot; or &#39;less&#39;</example></examples>"
    );
}

/// Regression: validators of clients warned about each of Rust's integer types.
#[test]
fn formats_that_only_one_library_knows_are_not_sent() {
    let number = json!({ "type": "integer", "format": "uint8", "minimum": 0 });
    let schema = json!({
        "type": "object",
        "properties": {
            "count": number,
            "format": number,
            "when": { "type": "string", "format": "date-time" },
            "many": { "type": "array", "items": number },
            "either": { "anyOf": [number, { "type": "null" }] },
            "said": { "default": { "format": "uint8" }, "examples": [{ "format": "uint8" }] },
        },
        "$defs": { "format": number },
    });
    let plain = json!({ "type": "integer", "minimum": 0 });
    let expected = json!({
        "type": "object",
        "properties": {
            "count": plain,
            "format": plain,
            "when": { "type": "string", "format": "date-time" },
            "many": { "type": "array", "items": plain },
            "either": { "anyOf": [plain, { "type": "null" }] },
            "said": { "default": { "format": "uint8" }, "examples": [{ "format": "uint8" }] },
        },
        "$defs": { "format": plain },
    });
    assert_eq!(super::portable(&schema), expected);
}
