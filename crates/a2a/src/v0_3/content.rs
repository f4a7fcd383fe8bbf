//! Messages, parts and states between 0.3 and 1.0, both ways.

use serde_json::{Map, Value, json};

use super::Dialect;
use crate::error::Error;
use crate::types::TaskState;

/// Marks data that had to be put into an object, because 0.3 knows no other data.
const WRAPPED: &str = "data_part_compat";

/// Takes members out of an object, under new names.
pub(super) trait Taken {
    /// Those of these names that are there; `null` is not.
    fn taken(&mut self, names: &[(&str, &str)]) -> Self;
}

impl Taken for Map<String, Value> {
    fn taken(&mut self, names: &[(&str, &str)]) -> Self {
        let take = |(from, to): &(&str, &str)| {
            let value = self.remove(*from).filter(|value| !value.is_null())?;
            Some(((*to).to_owned(), value))
        };
        names.iter().filter_map(take).collect()
    }
}

/// What a message and its old form have under the same names.
const MESSAGE: &[(&str, &str)] = &[
    ("messageId", "messageId"),
    ("contextId", "contextId"),
    ("taskId", "taskId"),
    ("role", "role"),
    ("metadata", "metadata"),
    ("extensions", "extensions"),
];

/// A message of 0.3 as 1.0 has it. A value that is no message is passed on; reading it as 1.0 reports the fault.
pub(super) fn message(old: Value, path: &str) -> Result<Value, Error> {
    let Value::Object(mut old) = old else {
        return Ok(old);
    };
    let mut new = old.taken(MESSAGE);
    new.append(&mut old.taken(&[("referenceTaskIds", "referenceTaskIds")]));
    match new.get("role").and_then(Value::as_str) {
        Some("user") => _ = new.insert("role".to_owned(), "ROLE_USER".into()),
        Some("agent") => _ = new.insert("role".to_owned(), "ROLE_AGENT".into()),
        _ => {}
    }
    if let Some(given) = old.remove("parts").or_else(|| old.remove("content")) {
        new.insert("parts".to_owned(), parts(given, path)?);
    }
    Ok(new.into())
}

fn parts(old: Value, path: &str) -> Result<Value, Error> {
    let Value::Array(parts) = old else {
        return Ok(old);
    };
    let parts = parts.into_iter().enumerate();
    let parts = parts.map(|(index, it)| part(it, &format!("{path}.parts[{index}]")));
    Ok(parts.collect::<Result<Vec<_>, _>>()?.into())
}

/// A part of 0.3. One that does not name its kind, or its type as versions before it did, is of the kind of its content.
fn part(old: Value, path: &str) -> Result<Value, Error> {
    let Value::Object(mut old) = old else {
        return Ok(old);
    };
    let mut new = old.taken(&[("metadata", "metadata")]);
    let named = old.remove("kind").or_else(|| old.remove("type"));
    let kind = match &named {
        None => ["text", "file", "data"]
            .into_iter()
            .find(|kind| old.contains_key(*kind)),
        Some(kind) => kind.as_str(),
    };
    let missing = |field: &str| Error::invalid_field(&format!("{path}.{field}"), "is required");
    match kind {
        Some("text") => {
            let text = old.remove("text").ok_or_else(|| missing("text"))?;
            new.insert("text".to_owned(), text);
        }
        Some("file") => {
            let Some(Value::Object(mut file)) = old.remove("file") else {
                return Err(missing("file"));
            };
            new.append(&mut file.taken(&[
                ("bytes", "raw"),
                ("fileWithBytes", "raw"),
                ("uri", "url"),
                ("fileWithUri", "url"),
                ("mimeType", "mediaType"),
                ("name", "filename"),
            ]));
            if !new.contains_key("raw") && !new.contains_key("url") {
                return Err(missing("file.bytes"));
            }
        }
        Some("data") => {
            let mut data = old.remove("data").ok_or_else(|| missing("data"))?;
            // protobuf has a message around it.
            if let (None, Some(inner)) = (&named, data.get_mut("data")) {
                data = inner.take();
            }
            if take_mark(&mut new)
                && let Some(wrapped) = data.get_mut("value")
            {
                data = wrapped.take();
            }
            new.insert("data".to_owned(), data);
        }
        _ => {
            let field = format!("{path}.kind");
            return Err(Error::invalid_field(&field, "is not text, file or data"));
        }
    }
    Ok(new.into())
}

fn take_mark(part: &mut Map<String, Value>) -> bool {
    let Some(Value::Object(metadata)) = part.get_mut("metadata") else {
        return false;
    };
    let marked = metadata.remove(WRAPPED) == Some(Value::Bool(true));
    if marked && metadata.is_empty() {
        part.remove("metadata");
    }
    marked
}

/// A task of 0.3 as 1.0 has it.
pub(super) fn task(old: Value) -> Result<Value, Error> {
    let mut old = object(old);
    let mut new = old.taken(&[
        ("id", "id"),
        ("contextId", "contextId"),
        ("metadata", "metadata"),
        ("generation", "generation"),
    ]);
    if let Some(old) = old.remove("status") {
        new.insert("status".to_owned(), status(old)?);
    }
    if let Some(Value::Array(list)) = old.remove("artifacts") {
        let list = list.into_iter().map(artifact);
        let list = list.collect::<Result<Vec<_>, _>>()?;
        new.insert("artifacts".to_owned(), list.into());
    }
    if let Some(Value::Array(list)) = old.remove("history") {
        let list = list.into_iter().map(|old| message(old, "history"));
        let list = list.collect::<Result<Vec<_>, _>>()?;
        new.insert("history".to_owned(), list.into());
    }
    Ok(new.into())
}

/// A status of 0.3 as 1.0 has it.
pub(super) fn status(old: Value) -> Result<Value, Error> {
    let mut old = object(old);
    let mut new = old.taken(&[("timestamp", "timestamp"), ("state", "state")]);
    if let Some(state) = new.get_mut("state") {
        raise_state(state);
    }
    // protobuf has it under the other name.
    if let Some(said) = old.remove("message").or_else(|| old.remove("update"))
        && !said.is_null()
    {
        new.insert("message".to_owned(), message(said, "status.message")?);
    }
    Ok(new.into())
}

/// An artifact of 0.3 as 1.0 has it.
pub(super) fn artifact(old: Value) -> Result<Value, Error> {
    let mut old = object(old);
    let mut new = old.taken(ARTIFACT);
    if let Some(given) = old.remove("parts") {
        new.insert("parts".to_owned(), parts(given, "artifact")?);
    }
    Ok(new.into())
}

/// What an artifact and its old form have under the same names.
const ARTIFACT: &[(&str, &str)] = &[
    ("artifactId", "artifactId"),
    ("name", "name"),
    ("description", "description"),
    ("metadata", "metadata"),
    ("extensions", "extensions"),
];

/// The members of an object; of anything else, none.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Gives a state the name it has in 1.0. One that is not known is left as it is.
pub(super) fn raise_state(state: &mut Value) {
    let Some(word) = state.as_str() else {
        return;
    };
    let word = word.trim_start_matches("TASK_STATE_");
    let word = word.to_ascii_uppercase().replace('-', "_");
    let word = match &*word {
        "CANCELLED" => "CANCELED",
        "UNKNOWN" => "UNSPECIFIED",
        word => word,
    };
    *state = format!("TASK_STATE_{word}").into();
}

/// A state of 1.0, in the words of 0.3.
pub(super) fn state(new: &str, dialect: Dialect) -> String {
    match (dialect, new) {
        (Dialect::Proto, "TASK_STATE_CANCELED") => "TASK_STATE_CANCELLED".to_owned(),
        (Dialect::Proto, name) => name.to_owned(),
        (Dialect::Kind, "TASK_STATE_UNSPECIFIED") => "unknown".to_owned(),
        (Dialect::Kind, name) => {
            let word = name.trim_start_matches("TASK_STATE_");
            word.to_ascii_lowercase().replace('_', "-")
        }
    }
}

/// Whether a stream ends with a status: 0.3 has clients know it by the event.
pub(super) fn is_final(status: &Value) -> bool {
    let state = status["state"].as_str().and_then(TaskState::named);
    state.is_some_and(TaskState::ends_streams)
}

/// A message of 1.0 as 0.3 has it.
pub(super) fn old_message(new: Value, dialect: Dialect) -> Value {
    let Value::Object(mut new) = new else {
        return new;
    };
    let mut old = new.taken(MESSAGE);
    let parts = old_parts(&mut new, dialect);
    match dialect {
        Dialect::Proto => _ = old.insert("content".to_owned(), parts),
        Dialect::Kind => {
            old.append(&mut new.taken(&[("referenceTaskIds", "referenceTaskIds")]));
            let role = old.get("role").and_then(Value::as_str).unwrap_or_default();
            let role = role.trim_start_matches("ROLE_").to_ascii_lowercase();
            old.insert("role".to_owned(), role.into());
            old.insert("parts".to_owned(), parts);
            old.insert("kind".to_owned(), "message".into());
        }
    }
    old.into()
}

fn old_parts(new: &mut Map<String, Value>, dialect: Dialect) -> Value {
    let Some(Value::Array(parts)) = new.remove("parts") else {
        return json!([]);
    };
    let parts = parts.into_iter().map(|part| old_part(part, dialect));
    parts.collect::<Vec<_>>().into()
}

fn old_part(new: Value, dialect: Dialect) -> Value {
    let Value::Object(mut new) = new else {
        return new;
    };
    let mut old = new.taken(&[("metadata", "metadata")]);
    let (kind, content) = if let Some(text) = new.remove("text") {
        ("text", text)
    } else if let Some(data) = new.remove("data") {
        let data = if data.is_object() {
            data
        } else {
            let metadata = old.entry("metadata").or_insert_with(|| json!({}));
            metadata[WRAPPED] = true.into();
            json!({ "value": data })
        };
        match dialect {
            Dialect::Kind => ("data", data),
            Dialect::Proto => ("data", json!({ "data": data })),
        }
    } else {
        let names: &[(&str, &str)] = match dialect {
            Dialect::Kind => &[("raw", "bytes"), ("url", "uri")],
            Dialect::Proto => &[("raw", "fileWithBytes"), ("url", "fileWithUri")],
        };
        let mut file = new.taken(names);
        file.append(&mut new.taken(&[("mediaType", "mimeType"), ("filename", "name")]));
        ("file", file.into())
    };
    old.insert(kind.to_owned(), content);
    if dialect == Dialect::Kind {
        old.insert("kind".to_owned(), kind.into());
    }
    old.into()
}

/// A task of 1.0 as 0.3 has it.
pub(super) fn old_task(new: Value, dialect: Dialect) -> Value {
    let Value::Object(mut new) = new else {
        return new;
    };
    let mut old = new.taken(&[
        ("id", "id"),
        ("contextId", "contextId"),
        ("metadata", "metadata"),
    ]);
    let status = new.remove("status").unwrap_or_default();
    old.insert("status".to_owned(), old_status(status, dialect));
    let mut list = |name: &str, translate: fn(Value, Dialect) -> Value| {
        if let Some(Value::Array(list)) = new.remove(name) {
            let list = list.into_iter().map(|it| translate(it, dialect));
            old.insert(name.to_owned(), list.collect::<Vec<_>>().into());
        }
    };
    list("artifacts", old_artifact);
    list("history", old_message);
    if dialect == Dialect::Kind {
        // Not part of 0.3, and ignored by its readers: the cursor.
        old.append(&mut new.taken(&[("generation", "generation")]));
        old.insert("kind".to_owned(), "task".into());
    }
    old.into()
}

/// A status of 1.0 as 0.3 has it.
pub(super) fn old_status(new: Value, dialect: Dialect) -> Value {
    let Value::Object(mut new) = new else {
        return new;
    };
    let mut old = new.taken(&[("timestamp", "timestamp")]);
    let name = new.get("state").and_then(Value::as_str);
    let name = name.unwrap_or("TASK_STATE_UNSPECIFIED");
    old.insert("state".to_owned(), state(name, dialect).into());
    if let Some(message) = new.remove("message") {
        old.insert("message".to_owned(), old_message(message, dialect));
    }
    old.into()
}

/// An artifact of 1.0 as 0.3 has it.
pub(super) fn old_artifact(new: Value, dialect: Dialect) -> Value {
    let Value::Object(mut new) = new else {
        return new;
    };
    let mut old = new.taken(ARTIFACT);
    old.insert("parts".to_owned(), old_parts(&mut new, dialect));
    old.into()
}
