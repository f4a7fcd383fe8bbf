//! The shapes in which workspace pages write 0.3: parts that name their `type`, messages without an id, tasks
//! by `taskId`. A request in them is understood, and answered in them: the message of a status is a text, the
//! history is `messages`, an artifact names its `mimeType`.

use serde_json::{Map, Value, json};

use super::content::Taken as _;

/// Whether a request shows these shapes.
pub(super) fn is_loose(params: &Map<String, Value>) -> bool {
    let typed = |part: &Value| part.get("type").is_some() && part.get("kind").is_none();
    let parts = params.get("message").and_then(|it| it["parts"].as_array());
    let streaming = |it: &Value| it.get("streaming").is_some();
    parts.is_some_and(|parts| parts.iter().any(typed))
        || params.get("configuration").is_some_and(streaming)
        || (params.contains_key("taskId")
            && !params.contains_key("id")
            && !params.contains_key("pushNotificationConfig"))
}

/// The request with `kind`.
pub(super) fn request(mut params: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Object(message)) = params.get_mut("message") {
        let id = || uuid::Uuid::new_v4().to_string().into();
        message.entry("messageId").or_insert_with(id);
        let parts = message.get_mut("parts").and_then(Value::as_array_mut);
        for part in parts.into_iter().flatten() {
            rename(part, "type", "kind");
        }
    }
    // A streaming request does not block until the end of the task.
    if let Some(Value::Object(configuration)) = params.get_mut("configuration")
        && let Some(Value::Bool(streaming)) = configuration.remove("streaming")
    {
        configuration
            .entry("blocking")
            .or_insert((!streaming).into());
    }
    params
}

/// A reply with `kind`, in these shapes.
pub(super) fn reply(mut reply: Value) -> Value {
    match reply["kind"].as_str() {
        Some("task") => task(reply),
        Some("message") => message(reply),
        Some("status-update") => {
            take_kind(&mut reply);
            reply["status"] = status(reply["status"].take());
            reply
        }
        Some("artifact-update") => {
            take_kind(&mut reply);
            reply["artifact"] = artifact(reply["artifact"].take());
            reply
        }
        _ => {
            if let Some(Value::Array(tasks)) = reply.get_mut("tasks") {
                for it in tasks {
                    *it = task(it.take());
                }
            }
            reply
        }
    }
}

fn task(mut task: Value) -> Value {
    take_kind(&mut task);
    let Value::Object(mut old) = task else {
        return task;
    };
    let mut new = old.taken(&[
        ("id", "id"),
        ("contextId", "contextId"),
        ("metadata", "metadata"),
    ]);
    if let Some(id) = new.get("id").cloned() {
        new.insert("taskId".to_owned(), id);
    }
    let given = old.remove("status").unwrap_or_default();
    // What was said last is not history yet.
    let last = given.get("message").cloned();
    new.insert("status".to_owned(), status(given));
    let said = list(old.remove("history")).into_iter().chain(last);
    let said: Vec<Value> = said.map(message).collect();
    if !said.is_empty() {
        new.insert("messages".to_owned(), said.into());
    }
    if let Some(artifacts) = old.remove("artifacts") {
        let artifacts: Vec<Value> = list(Some(artifacts)).into_iter().map(artifact).collect();
        new.insert("artifacts".to_owned(), artifacts.into());
    }
    new.into()
}

fn message(mut message: Value) -> Value {
    take_kind(&mut message);
    parts(&mut message);
    message
}

/// What a status says is the text of its message.
fn status(mut status: Value) -> Value {
    if let Some(said) = status.get_mut("message") {
        let parts = list(said.get_mut("parts").map(Value::take));
        let texts = parts.iter().filter_map(|part| part["text"].as_str());
        *said = texts.collect::<Vec<_>>().join("\n").into();
    }
    status
}

/// An artifact is of the type of its first part.
fn artifact(mut artifact: Value) -> Value {
    let first = &artifact["parts"][0];
    let otherwise = match first["kind"].as_str() {
        Some("text") => "text/plain",
        Some("data") => "application/json",
        _ => "application/octet-stream",
    };
    let media_type = first["file"]["mimeType"].as_str().unwrap_or(otherwise);
    artifact["mimeType"] = json!(media_type);
    parts(&mut artifact);
    artifact
}

fn parts(of: &mut Value) {
    let parts = of.get_mut("parts").and_then(Value::as_array_mut);
    for part in parts.into_iter().flatten() {
        rename(part, "kind", "type");
    }
}

fn rename(object: &mut Value, from: &str, to: &str) {
    if let Some(object) = object.as_object_mut()
        && !object.contains_key(to)
        && let Some(value) = object.remove(from)
    {
        object.insert(to.to_owned(), value);
    }
}

fn take_kind(of: &mut Value) {
    if let Some(of) = of.as_object_mut() {
        of.remove("kind");
    }
}

fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}
