//! The shapes in which workspace pages write 0.3: parts that name their `type`, messages without an id, tasks
//! by `taskId`. A request in them is understood, and answered in them: the message of a status is a text, the
//! history is `messages` with the answer at its end, an artifact names its `mimeType`, and a card says in a word what the agent
//! can do.

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
        _ if reply.get("protocolVersion").is_some() => card(reply),
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
    let concluded = last.is_some();
    new.insert("status".to_owned(), status(given));
    let said = list(old.remove("history")).into_iter().chain(last);
    let mut said: Vec<Value> = said.map(message).collect();
    let artifacts = old.remove("artifacts");
    if !concluded && new["status"]["state"] == "completed" {
        said.extend(answer(artifacts.as_ref()));
    }
    if !said.is_empty() {
        new.insert("messages".to_owned(), said.into());
    }
    if let Some(artifacts) = artifacts {
        let artifacts: Vec<Value> = list(Some(artifacts)).into_iter().map(artifact).collect();
        new.insert("artifacts".to_owned(), artifacts.into());
    }
    new.into()
}

/// The answer of a task that ended without words, as a message: the text of the first artifact that has any.
fn answer(artifacts: Option<&Value>) -> Option<Value> {
    let artifacts = artifacts?.as_array()?.iter();
    let text = |it: &Value| {
        let parts = it["parts"].as_array().into_iter().flatten();
        let texts: Vec<&str> = parts.filter_map(|it| it["text"].as_str()).collect();
        texts.concat()
    };
    let text = artifacts.map(text).find(|it| !it.is_empty())?;
    Some(json!({ "role": "agent", "parts": [{ "type": "text", "text": text }] }))
}

/// Abilities of an agent in words of the workspace: the tag of skills that shows one, the capability, the skill and its description.
const ABILITIES: [(&str, Option<&str>, &str, &str); 4] = [
    (
        "browser",
        Some("browser_automation"),
        "web_browsing",
        "Automated web browsing and data extraction",
    ),
    (
        "files",
        Some("file_operations"),
        "code_generation",
        "Generate and edit code files",
    ),
    (
        "terminal",
        None,
        "terminal_control",
        "Execute terminal commands",
    ),
    (
        "memory",
        Some("memory_graph"),
        "memory_management",
        "Store and retrieve from knowledge graph",
    ),
];

/// A card with the abilities of the agent added, and the address of the WebSocket as its own.
fn card(mut card: Value) -> Value {
    let skills = list(card.get_mut("skills").map(Value::take));
    let has = |tag: &str| {
        let mut tags = skills
            .iter()
            .filter_map(|it| it["tags"].as_array())
            .flatten();
        tags.any(|it| it == tag)
    };
    let named = ABILITIES.iter().filter(|it| has(it.0));
    let named: Vec<Value> = named
        .map(|(tag, _, name, says)| {
            json!({ "id": name, "name": name, "description": says, "tags": [tag] })
        })
        .collect();
    for (tag, capability, ..) in ABILITIES {
        if let Some(capability) = capability {
            card["capabilities"][capability] = has(tag).into();
        }
    }
    card["skills"] = named.into_iter().chain(skills).collect();
    let here = card["additionalInterfaces"].as_array();
    let mut here = here.into_iter().flatten();
    let here = here.find(|it| it["transport"] == "WEBSOCKET");
    if let Some(url) = here.map(|it| it["url"].clone()) {
        card["url"] = url;
    }
    card["transport"] = "JSONRPC".into();
    card
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
