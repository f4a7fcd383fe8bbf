//! Requests of 1.0 as requests of 0.3, one function for an operation: what a client of ours asks an old agent.

use serde_json::{Map, Value, json};

use super::Dialect;
use super::content::{self, Taken as _};

type Params = Map<String, Value>;

pub(super) fn send(mut new: Params, dialect: Dialect) -> Params {
    let mut old = new.taken(&[("metadata", "metadata")]);
    if let Some(message) = new.remove("message") {
        old.insert("message".to_owned(), content::old_message(message, dialect));
    }
    let mut given = match new.remove("configuration") {
        Some(Value::Object(given)) => given,
        _ => Map::new(),
    };
    let mut configuration = given.taken(&[
        ("acceptedOutputModes", "acceptedOutputModes"),
        ("historyLength", "historyLength"),
    ]);
    // What 1.0 does by itself has to be asked for.
    let blocking = given.get("returnImmediately") != Some(&Value::Bool(true));
    configuration.insert("blocking".to_owned(), blocking.into());
    if let Some(Value::Object(config)) = given.remove("taskPushNotificationConfig") {
        let name = match dialect {
            Dialect::Kind => "pushNotificationConfig",
            Dialect::Proto => "pushNotification",
        };
        configuration.insert(name.to_owned(), push_config(config).into());
    }
    old.insert("configuration".to_owned(), configuration.into());
    old
}

pub(super) fn push_config(mut new: Params) -> Params {
    let mut old = new.taken(&[("id", "id"), ("url", "url"), ("token", "token")]);
    if let Some(Value::Object(mut new)) = new.remove("authentication") {
        let mut authentication = new.taken(&[("credentials", "credentials")]);
        authentication.insert("schemes".to_owned(), json!([new.remove("scheme")]));
        old.insert("authentication".to_owned(), authentication.into());
    }
    old
}

/// What names a task and asks for little else.
pub(super) fn about_task(mut new: Params, dialect: Dialect) -> Params {
    let id = new.remove("id").unwrap_or_default();
    let mut old = new.taken(&[("historyLength", "historyLength"), ("metadata", "metadata")]);
    match dialect {
        Dialect::Kind => old.insert("id".to_owned(), id),
        Dialect::Proto => {
            // The message of protobuf has no place for it.
            old.remove("metadata");
            old.insert("name".to_owned(), task_name(&id).into())
        }
    };
    old
}

pub(super) fn list(mut new: Params, dialect: Dialect) -> Params {
    new.remove("tenant");
    if let (Dialect::Kind, Some(status)) = (dialect, new.get_mut("status")) {
        let old = status.as_str().map(|name| content::state(name, dialect));
        *status = old.unwrap_or_default().into();
    }
    new
}

pub(super) fn set_push(mut new: Params, dialect: Dialect) -> Params {
    let task = new.remove("taskId").unwrap_or_default();
    let id = new.get("id").cloned().unwrap_or_default();
    let config = push_config(new);
    let old = match dialect {
        Dialect::Kind => json!({ "taskId": task, "pushNotificationConfig": config }),
        Dialect::Proto => {
            let parent = task_name(&task);
            let id = id.as_str().unwrap_or_default();
            let name = format!("{parent}/pushNotificationConfigs/{id}");
            json!({
                "parent": parent,
                "configId": id,
                "config": { "name": name, "pushNotificationConfig": config },
            })
        }
    };
    content::object(old)
}

/// The key of one webhook.
pub(super) fn about_push(mut new: Params, dialect: Dialect) -> Params {
    let task = new.remove("taskId").unwrap_or_default();
    let id = new.remove("id").unwrap_or_default();
    content::object(match dialect {
        Dialect::Kind => json!({ "id": task, "pushNotificationConfigId": id }),
        Dialect::Proto => {
            let id = id.as_str().unwrap_or_default();
            json!({ "name": format!("{}/pushNotificationConfigs/{id}", task_name(&task)) })
        }
    })
}

pub(super) fn list_push(mut new: Params, dialect: Dialect) -> Params {
    let task = new.remove("taskId").unwrap_or_default();
    match dialect {
        Dialect::Kind => content::object(json!({ "id": task })),
        Dialect::Proto => {
            let mut old = new.taken(&[("pageSize", "pageSize"), ("pageToken", "pageToken")]);
            old.insert("parent".to_owned(), task_name(&task).into());
            old
        }
    }
}

pub(super) fn nothing(_: Params, _: Dialect) -> Params {
    Map::new()
}

fn task_name(id: &Value) -> String {
    format!("tasks/{}", id.as_str().unwrap_or_default())
}
