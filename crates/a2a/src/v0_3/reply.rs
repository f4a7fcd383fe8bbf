//! Replies of 1.0 as replies of 0.3, one function for what an operation gives.

use serde_json::{Map, Value, json};

use super::content::{self, Taken as _};
use super::{Dialect, card as cards};
use crate::error::Error;

type Translated = Result<Value, Error>;

/// What a message is answered with: a task or a message, which say themselves what they are.
pub(super) fn answer(reply: Value, dialect: Dialect) -> Translated {
    event(reply, dialect)
}

/// One event of a stream.
pub(super) fn event(reply: Value, dialect: Dialect) -> Translated {
    let Value::Object(reply) = reply else {
        return Err(unknown());
    };
    let (what, value) = reply.into_iter().next().ok_or_else(unknown)?;
    let old = match &*what {
        "task" => content::old_task(value, dialect),
        "message" => content::old_message(value, dialect),
        "statusUpdate" => status_update(value, dialect),
        "artifactUpdate" => artifact_update(value, dialect),
        _ => return Err(unknown()),
    };
    Ok(match dialect {
        Dialect::Kind => old,
        Dialect::Proto => json!({ what: old }),
    })
}

fn unknown() -> Error {
    Error::Internal("version 0.3 has no form for this reply".to_owned())
}

/// What both kinds of updates have under the same names.
const UPDATE: &[(&str, &str)] = &[
    ("taskId", "taskId"),
    ("contextId", "contextId"),
    ("metadata", "metadata"),
    ("append", "append"),
    ("lastChunk", "lastChunk"),
];

fn status_update(new: Value, dialect: Dialect) -> Value {
    let (mut new, mut old) = update(new, dialect, "status-update");
    let status = new.remove("status").unwrap_or_default();
    old.insert("final".to_owned(), content::is_final(&status).into());
    old.insert("status".to_owned(), content::old_status(status, dialect));
    old.into()
}

fn artifact_update(new: Value, dialect: Dialect) -> Value {
    let (mut new, mut old) = update(new, dialect, "artifact-update");
    let artifact = new.remove("artifact").unwrap_or_default();
    old.insert(
        "artifact".to_owned(),
        content::old_artifact(artifact, dialect),
    );
    old.into()
}

fn update(new: Value, dialect: Dialect, kind: &str) -> (Map<String, Value>, Map<String, Value>) {
    let mut new = match new {
        Value::Object(new) => new,
        _ => Map::new(),
    };
    let mut old = new.taken(UPDATE);
    if dialect == Dialect::Kind {
        // Not part of 0.3, and ignored by its readers: the cursor.
        old.append(&mut new.taken(&[("generation", "generation")]));
        old.insert("kind".to_owned(), kind.into());
    }
    (new, old)
}

pub(super) fn task(reply: Value, dialect: Dialect) -> Translated {
    Ok(content::old_task(reply, dialect))
}

/// A page of tasks, which only some clients of 0.3 know.
pub(super) fn tasks(mut reply: Value, dialect: Dialect) -> Translated {
    if let Some(Value::Array(tasks)) = reply.get_mut("tasks") {
        for task in tasks {
            *task = content::old_task(task.take(), dialect);
        }
    }
    Ok(reply)
}

/// A webhook. Who did not say which one gets the first.
pub(super) fn push(mut reply: Value, dialect: Dialect) -> Translated {
    let Some(new) = reply.as_object_mut() else {
        return Err(unknown());
    };
    if !new.contains_key("url") {
        let first = new
            .get_mut("configs")
            .and_then(|configs| configs.get_mut(0));
        let none = || Error::invalid_field("pushNotificationConfigId", "the task has no webhook");
        return push(first.ok_or_else(none)?.take(), dialect);
    }
    let mut config = new.taken(&[("id", "id"), ("url", "url"), ("token", "token")]);
    if let Some(Value::Object(mut new)) = new.remove("authentication") {
        let mut old = new.taken(&[("credentials", "credentials")]);
        old.insert("schemes".to_owned(), json!([new.remove("scheme")]));
        config.insert("authentication".to_owned(), old.into());
    }
    let task = new.remove("taskId").unwrap_or_default();
    let task = task.as_str().unwrap_or_default();
    Ok(match dialect {
        Dialect::Kind => json!({ "taskId": task, "pushNotificationConfig": config }),
        Dialect::Proto => {
            let id = config.get("id").and_then(Value::as_str).unwrap_or_default();
            let name = format!("tasks/{task}/pushNotificationConfigs/{id}");
            json!({ "name": name, "pushNotificationConfig": config })
        }
    })
}

/// The webhooks of a task.
pub(super) fn pushes(mut reply: Value, dialect: Dialect) -> Translated {
    let configs = match reply.get_mut("configs").map(Value::take) {
        Some(Value::Array(configs)) => configs,
        _ => Vec::new(),
    };
    let configs = configs.into_iter().map(|config| push(config, dialect));
    let configs = configs.collect::<Result<Vec<_>, _>>()?;
    Ok(match dialect {
        Dialect::Kind => configs.into(),
        Dialect::Proto => {
            let token = reply.get_mut("nextPageToken").map(Value::take);
            json!({ "configs": configs, "nextPageToken": token.unwrap_or_else(|| "".into()) })
        }
    })
}

pub(super) fn nothing(_: Value, dialect: Dialect) -> Translated {
    Ok(match dialect {
        Dialect::Kind => Value::Null,
        Dialect::Proto => json!({}),
    })
}

/// A card, which official clients of REST read as they read the public one.
pub(super) fn card(reply: Value, _: Dialect) -> Translated {
    Ok(cards::old(reply))
}

/// A card, for protobuf.
pub(super) fn proto_card(reply: Value, _: Dialect) -> Translated {
    Ok(cards::proto(reply))
}
