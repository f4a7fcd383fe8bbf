//! Filling the arguments of a tool from text.

use serde_json::{Map, Value, json};

use super::text::unquoted;
use crate::request::Tool;

/// Why a request gives no valid arguments.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Unfilled {
    /// Required fields that are missing.
    Missing(Vec<String>),
    /// A value of the wrong type.
    Wrong {
        field: String,
        expected: &'static str,
    },
    Unknown(String),
    /// Text that could belong to several fields.
    Unclear(String),
}

/// The names of required fields.
pub(super) fn required(tool: &Tool) -> Vec<&str> {
    let names = tool.input.get("required").and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// The JSON schema of a field.
pub(super) fn field<'a>(tool: &'a Tool, name: &str) -> Option<&'a Value> {
    tool.input.get("properties")?.get(name)
}

pub(super) fn all(tool: &Tool) -> Vec<&str> {
    let fields = tool.input.get("properties").and_then(Value::as_object);
    fields
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect()
}

/// The field for plain text: the only required one, or the only one.
pub(super) fn text_field(tool: &Tool) -> Option<&str> {
    match (&required(tool)[..], &all(tool)[..]) {
        ([one], _) | ([], [one]) => Some(one),
        _ => None,
    }
}

/// Arguments by field, with all required ones.
pub(super) fn from_fields<'a>(
    tool: &Tool,
    values: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Value, Unfilled> {
    let mut arguments = Map::new();
    for (name, text) in values {
        let schema = field(tool, name).ok_or_else(|| Unfilled::Unknown(name.to_owned()))?;
        let value = typed(schema, text).map_err(|expected| Unfilled::Wrong {
            field: name.to_owned(),
            expected,
        })?;
        arguments.insert(name.to_owned(), value);
    }
    whole(tool, arguments)
}

/// Arguments from the text behind the name of a tool: a JSON object, `field=value`, or plain text for the one field.
pub(super) fn from_text(tool: &Tool, rest: &str) -> Result<Value, Unfilled> {
    if rest.starts_with('{')
        && let Ok(Value::Object(arguments)) = serde_json::from_str(rest)
    {
        return whole(tool, arguments);
    }
    if let Some(pairs) = pairs(rest) {
        return from_fields(tool, pairs);
    }
    if rest.is_empty() {
        return whole(tool, Map::new());
    }
    match text_field(tool) {
        Some(name) => from_fields(tool, [(name, unquoted(rest))]),
        None => match required(tool) {
            // No field is required, and there is text.
            missing if missing.is_empty() => Err(Unfilled::Unclear(rest.to_owned())),
            missing => Err(Unfilled::Missing(
                missing.into_iter().map(str::to_owned).collect(),
            )),
        },
    }
}

/// The arguments, if no required field is missing.
fn whole(tool: &Tool, arguments: Map<String, Value>) -> Result<Value, Unfilled> {
    let missing = required(tool).into_iter();
    let missing: Vec<_> = missing
        .filter(|name| !arguments.contains_key(*name))
        .map(str::to_owned)
        .collect();
    match missing.is_empty() {
        true => Ok(Value::Object(arguments)),
        false => Err(Unfilled::Missing(missing)),
    }
}

/// Pairs such as `a=1 b="two words"`, if the whole text has that form.
fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let is_name = name.starts_with(|c: char| c.is_alphabetic())
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-".contains(c));
        if !is_name {
            return None;
        }
        let quoted = after.strip_prefix('"').and_then(|it| it.split_once('"'));
        let (value, after) = match quoted {
            Some(parts) => parts,
            None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
        };
        pairs.push((name, value));
        rest = after.trim_start();
    }
    (!pairs.is_empty()).then_some(pairs)
}

/// A text as a value of the type of a field, or which type is expected.
pub(super) fn typed(schema: &Value, text: &str) -> Result<Value, &'static str> {
    let said = text.trim();
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        // A schema without a type accepts any value.
        _ => vec!["string"],
    };
    let mut expected = "something else";
    for kind in kinds {
        let (value, what) = match kind {
            "string" => (in_choices(schema, text), "one of the words it knows"),
            "integer" => (said.parse::<i64>().ok().map(Value::from), "a whole number"),
            "number" => {
                let number = said.parse::<f64>().ok().filter(|it| it.is_finite());
                (number.map(Value::from), "a number")
            }
            "boolean" => (yes_or_no(said), "yes or no"),
            "array" => (Some(list(said)), "a list"),
            _ => continue,
        };
        match value {
            Some(value) => return Ok(value),
            None => expected = what,
        }
    }
    Err(expected)
}

/// A text, if it is one of the values in the `enum` of a schema.
fn in_choices(schema: &Value, text: &str) -> Option<Value> {
    match schema.get("enum").and_then(Value::as_array) {
        Some(choices) => choices
            .iter()
            .find(|choice| {
                choice
                    .as_str()
                    .is_some_and(|it| it.eq_ignore_ascii_case(text.trim()))
            })
            .cloned(),
        None => Some(json!(text)),
    }
}

fn yes_or_no(text: &str) -> Option<Value> {
    match &*text.to_ascii_lowercase() {
        "yes" | "y" | "true" | "on" => Some(json!(true)),
        "no" | "n" | "false" | "off" => Some(json!(false)),
        _ => None,
    }
}

fn list(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::Array(items)) => Value::Array(items),
        _ => text
            .split(',')
            .map(str::trim)
            .filter(|it| !it.is_empty())
            .collect(),
    }
}
