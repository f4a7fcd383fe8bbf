//! Replies of 0.3 as replies of 1.0, one function for what an operation gives: what a client of ours hears from an
//! old agent. Either dialect is read by its shape.

use serde_json::{Map, Value, json};

use super::content::{self, Taken as _};
use super::{card as cards, request};
use crate::error::Error;

type Translated = Result<Value, Error>;

/// An answer to a message, or one event of a stream.
pub(super) fn event(old: Value) -> Translated {
    let Value::Object(mut old) = old else {
        return Err(unknown("an event that is not an object"));
    };
    let kind = old.get("kind").and_then(Value::as_str);
    let (what, value): (&str, Value) = match kind {
        Some("task") => ("task", old.into()),
        Some("message") => ("message", old.into()),
        Some("status-update") => ("statusUpdate", old.into()),
        Some("artifact-update") => ("artifactUpdate", old.into()),
        Some(other) => return Err(unknown(other)),
        None => {
            let names = [
                ("task", "task"),
                ("message", "message"),
                ("msg", "message"),
                ("statusUpdate", "statusUpdate"),
                ("artifactUpdate", "artifactUpdate"),
            ];
            let mut found = old.taken(&names).into_iter();
            let (what, value) = found.next().ok_or_else(|| unknown("an event of no kind"))?;
            let what = names.iter().find(|(_, new)| *new == what);
            (what.map_or("", |(_, new)| new), value)
        }
    };
    let new = match what {
        "task" => task(value)?,
        "message" => content::message(value, "message")?,
        "statusUpdate" => {
            let mut old = content::object(value);
            let status = old.remove("status").unwrap_or_default();
            let mut new = old.taken(UPDATE);
            new.insert("status".to_owned(), content::status(status)?);
            new.into()
        }
        _ => {
            let mut old = content::object(value);
            let artifact = old.remove("artifact").unwrap_or_default();
            let mut new = old.taken(UPDATE);
            new.insert("artifact".to_owned(), content::artifact(artifact)?);
            new.into()
        }
    };
    Ok(json!({ what: new }))
}

/// What both kinds of updates have under the same names.
const UPDATE: &[(&str, &str)] = &[
    ("taskId", "taskId"),
    ("contextId", "contextId"),
    ("metadata", "metadata"),
    ("append", "append"),
    ("lastChunk", "lastChunk"),
    ("generation", "generation"),
];

fn unknown(what: &str) -> Error {
    Error::InvalidAgentResponse(format!("version 1.0 has no form for this: {what}"))
}

pub(super) fn task(old: Value) -> Translated {
    content::task(old)
}

/// A page of tasks.
pub(super) fn tasks(mut old: Value) -> Translated {
    if let Some(Value::Array(tasks)) = old.get_mut("tasks") {
        for task in tasks {
            *task = content::task(task.take())?;
        }
    }
    Ok(old)
}

pub(super) fn push(old: Value) -> Translated {
    let mut old = content::object(old);
    let mut new = match old.remove("pushNotificationConfig") {
        Some(config) => content::object(request::push_config(config)),
        None => Map::new(),
    };
    let id = request::resource_id(&old).filter(|_| !new.contains_key("id"));
    new.extend(id.map(|id| ("id".to_owned(), id)));
    let task = request::task_id(&mut old);
    new.extend(task.map(|task| ("taskId".to_owned(), task)));
    Ok(new.into())
}

/// The webhooks of a task.
pub(super) fn pushes(mut old: Value) -> Translated {
    let list = match old.get_mut("configs") {
        Some(configs) => configs.take(),
        None => old.take(),
    };
    let list = match list {
        Value::Array(list) => list,
        _ => Vec::new(),
    };
    let configs = list.into_iter().map(push).collect::<Result<Vec<_>, _>>()?;
    let next = old.get("nextPageToken").and_then(Value::as_str);
    Ok(json!({ "configs": configs, "nextPageToken": next.unwrap_or_default() }))
}

pub(super) fn nothing(_: Value) -> Translated {
    Ok(json!({}))
}

pub(super) fn card(old: Value) -> Translated {
    Ok(cards::renewed(old))
}
