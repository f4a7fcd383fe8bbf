//! From the parts of a message to the object that a schema describes.

use a2a::types::{Content, Part};
use serde_json::{Map, Value, json};

use crate::error::Fault;

/// What parts say: the first that holds data, else the text, as an object or as the one field that a text can
/// fill.
pub(crate) fn from_parts(schema: &Value, parts: &[Part]) -> Result<Value, Fault> {
    let data = parts.iter().find_map(|part| match &part.content {
        Content::Data(data) => Some(data.0.clone()),
        _ => None,
    });
    if let Some(data) = data {
        return Ok(data);
    }
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    let text = texts.join("\n");
    if let Ok(object @ Value::Object(_)) = serde_json::from_str(&text) {
        return Ok(object);
    }
    if texts.is_empty() && required(schema).is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    // A message that says nothing in words fills no field.
    let field = text_field(schema).filter(|_| !texts.is_empty());
    let filled = field.and_then(|(name, field)| {
        let value = of_kind(field, &text)?;
        Some(json!({ name: value }))
    });
    let problem = "an object is expected: a data part, or text that is JSON";
    filled.ok_or_else(|| Fault::new("", problem))
}

/// The field that a plain text fills: the only one that must be there, or the only one there is.
pub(crate) fn text_field(schema: &Value) -> Option<(&str, &Value)> {
    let fields = schema.get("properties")?.as_object()?;
    let name = match (&required(schema)[..], fields.len()) {
        ([one], _) => *one,
        ([], 1) => fields.keys().next()?,
        _ => return None,
    };
    let (name, field) = fields.get_key_value(name)?;
    Some((name, field))
}

fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// The word that is meant, where a field takes some words only: people write `Yes.` for `yes`.
fn one_of<'a>(field: &'a Value, said: &str) -> Option<&'a str> {
    let words = field.get("enum")?.as_array()?.iter();
    let said = said.trim_end_matches(['.', '!']);
    words
        .filter_map(Value::as_str)
        .find(|word| word.eq_ignore_ascii_case(said))
}

/// An answer as its schema wants it: where a text is wanted and something else is given, that is written as JSON. Forms
/// have no other way to ask for it, and programs no reason to write it so. Where only some words are taken, the one that
/// is meant.
pub(crate) fn in_writing(schema: &Value, mut answer: Value) -> Value {
    let fields = schema.get("properties").and_then(Value::as_object);
    for (name, field) in fields.into_iter().flatten() {
        if field.get("type").and_then(Value::as_str) != Some("string") {
            continue;
        }
        match answer.get_mut(name) {
            Some(given @ (Value::Object(_) | Value::Array(_))) => {
                *given = Value::String(given.to_string());
            }
            Some(Value::String(said)) => {
                if let Some(word) = one_of(field, said.trim()) {
                    word.clone_into(said);
                }
            }
            _ => {}
        }
    }
    answer
}

/// A text as what a field holds.
fn of_kind(field: &Value, text: &str) -> Option<Value> {
    let said = text.trim();
    match field.get("type")?.as_str()? {
        "string" => Some(json!(one_of(field, said).unwrap_or(text))),
        "boolean" => match &*said.to_ascii_lowercase() {
            "yes" | "y" | "true" => Some(json!(true)),
            "no" | "n" | "false" => Some(json!(false)),
            _ => None,
        },
        "integer" => said.parse::<i64>().ok().map(Value::from),
        "number" => said.parse::<f64>().ok().map(Value::from),
        _ => None,
    }
}
