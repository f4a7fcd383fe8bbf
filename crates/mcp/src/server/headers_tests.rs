//! Headers that repeat the body, and headers that contradict it.

use ::http::{HeaderMap, HeaderName};
use serde_json::{Value, json};

use super::{check, decoded, encoded};

fn agrees(headers: &[(&str, &str)], method: &str, params: &Value) -> bool {
    let schema = json!({ "properties": {
        "value": { "type": "string", "x-mcp-header": "Value" },
        "deep": { "properties": { "flag": { "type": "boolean", "x-mcp-header": "Flag" } } },
    } });
    let mut sent = HeaderMap::new();
    for (name, value) in headers {
        sent.append(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
    }
    let find = |tool: &str| (tool == "known").then_some(&schema);
    check(&sent, method, &params.as_object().cloned(), find).is_ok()
}

#[test]
fn method_and_name_are_those_of_the_body() {
    let call = json!({ "name": "known", "arguments": {} });
    let method = ("mcp-method", "tools/call");
    let name = ("mcp-name", "known");
    assert!(agrees(&[method, name], "tools/call", &call));
    assert!(!agrees(&[method], "tools/call", &call));
    assert!(!agrees(&[name], "tools/call", &call));
    assert!(!agrees(
        &[method, ("mcp-name", "other")],
        "tools/call",
        &call
    ));
    assert!(!agrees(&[method, name], "tools/list", &json!({})));
    assert!(!agrees(&[method, method, name], "tools/call", &call));
    assert!(agrees(
        &[("mcp-method", "tools/list")],
        "tools/list",
        &json!({})
    ));
    let task = json!({ "taskId": "t1" });
    let method = ("mcp-method", "tasks/get");
    assert!(agrees(&[method, ("mcp-name", "t1")], "tasks/get", &task));
    assert!(!agrees(&[method, ("mcp-name", "t2")], "tasks/get", &task));
    let read = json!({ "uri": "a:ü" });
    let method = ("mcp-method", "resources/read");
    assert!(agrees(
        &[method, ("mcp-name", "=?base64?YTrDvA==?=")],
        "resources/read",
        &read
    ));
    assert!(!agrees(
        &[method, ("mcp-name", "=?base64?YTrDvA?=")],
        "resources/read",
        &read
    ));
}

#[test]
fn an_argument_that_is_also_a_header_is_the_same_in_both() {
    let known = [("mcp-method", "tools/call"), ("mcp-name", "known")];
    let with = |more: &[(&'static str, &'static str)]| [&known, more].concat();
    let call = json!({ "name": "known", "arguments": { "value": "x", "deep": { "flag": true } } });
    let both = with(&[("mcp-param-value", "x"), ("mcp-param-flag", "true")]);
    assert!(agrees(&both, "tools/call", &call));
    assert!(!agrees(
        &with(&[("mcp-param-value", "x")]),
        "tools/call",
        &call
    ));
    let other = with(&[("mcp-param-value", "y"), ("mcp-param-flag", "true")]);
    assert!(!agrees(&other, "tools/call", &call));
    let none = json!({ "name": "known", "arguments": { "value": null } });
    assert!(agrees(&known, "tools/call", &none));
    assert!(!agrees(
        &with(&[("mcp-param-value", "x")]),
        "tools/call",
        &none
    ));
}

#[test]
fn every_value_can_be_a_header() {
    for value in ["greet", "", "a b", " a", "ü", "a\nb", "=?base64?x?="] {
        let header = encoded(value);
        assert!(
            header.bytes().all(|byte| (0x20..0x7f).contains(&byte)),
            "{header}"
        );
        assert_eq!(header.trim(), header);
        assert_eq!(decoded(&header).as_deref(), Some(value));
    }
}
