//! The one way to write a JSON value (RFC 8785), so that a signature has bytes to hold for.

use serde_json::{Map, Value};

/// The canonical form: no space, members sorted by UTF-16, numbers as ECMAScript prints them.
pub(super) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => {
            // Every number is a double here, also one that was written as an integer. JSON has none that
            // is not finite.
            let number = number.as_f64().unwrap_or_default();
            out.push_str(ryu_js::Buffer::new().format(number));
        }
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => write_members(members, out),
    }
}

fn write_members(members: &Map<String, Value>, out: &mut String) {
    let mut sorted: Vec<_> = members.iter().collect();
    // Beyond the basic plane this is not the order of UTF-8.
    sorted.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    out.push('{');
    for (index, (name, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(name, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

/// What must be escaped, and how, is the same in RFC 8785 and in `serde_json`.
fn write_text(text: &str, out: &mut String) {
    out.push_str(&Value::from(text).to_string());
}

/// The value without what says nothing: empty texts, lists and objects, and `null`. Official
/// implementations sign cards in this form.
pub(super) fn without_empty(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(items) => {
            let kept: Vec<Value> = items.iter().filter_map(without_empty).collect();
            (!kept.is_empty()).then(|| kept.into())
        }
        Value::Object(members) => {
            let members = members.iter();
            let kept = members.filter_map(|(name, it)| Some((name.clone(), without_empty(it)?)));
            let kept: Map<String, Value> = kept.collect();
            (!kept.is_empty()).then(|| kept.into())
        }
        value => Some(value.clone()),
    }
}
