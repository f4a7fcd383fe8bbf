//! Requests of 0.3 as requests of 1.0, one function for an operation.
//!
//! Either dialect is read by its shape: an id, or the resource name that holds it.

use serde_json::{Map, Value, json};

use super::content::{self, Taken as _};
use super::{Dialect, Request};
use crate::error::Error;

/// How fields inside a request were called: the new name, the old name.
pub(super) const FIELDS: &[(&str, &str)] = &[
    ("taskPushNotificationConfig", "pushNotificationConfig"),
    ("returnImmediately", "blocking"),
    ("authentication.scheme", "authentication.schemes"),
    ("].raw", "].file.bytes"),
    ("].url", "].file.uri"),
    ("].filename", "].file.name"),
    ("].mediaType", "].file.mimeType"),
    ("].content", "].kind"),
];

type Params = Map<String, Value>;
type Translated = Result<Request, Error>;

pub(super) fn send(params: Params, dialect: Dialect) -> Translated {
    message("SendMessage", params, dialect)
}

pub(super) fn stream(params: Params, dialect: Dialect) -> Translated {
    message("SendStreamingMessage", params, dialect)
}

fn message(operation: &'static str, mut params: Params, dialect: Dialect) -> Translated {
    let mut body = params.taken(&[("metadata", "metadata")]);
    if let Some(message) = params.remove("message") {
        let message = content::message(message, "message")?;
        body.insert("message".to_owned(), message);
    }
    if let Some(given) = params.remove("configuration") {
        body.insert("configuration".to_owned(), configuration(given, dialect));
    }
    Ok(Request { operation, body })
}

fn configuration(given: Value, dialect: Dialect) -> Value {
    let Value::Object(mut given) = given else {
        return given;
    };
    let mut new = given.taken(&[
        ("acceptedOutputModes", "acceptedOutputModes"),
        ("historyLength", "historyLength"),
    ]);
    // Protobuf cannot leave a boolean open: there, a configuration that does not say so does not wait.
    let open = match dialect {
        Dialect::Kind => None,
        Dialect::Proto => {
            new.retain(|name, value| name != "historyLength" || *value != json!(0));
            Some(Value::Bool(false))
        }
    };
    match given.remove("blocking").or(open) {
        Some(Value::Bool(blocking)) => {
            new.insert("returnImmediately".to_owned(), (!blocking).into());
        }
        Some(other) => {
            new.insert("returnImmediately".to_owned(), other);
        }
        None => {}
    }
    let inline = given.remove("pushNotificationConfig");
    if let Some(config) = inline.or_else(|| given.remove("pushNotification")) {
        let config = push_config(config);
        new.insert("taskPushNotificationConfig".to_owned(), config);
    }
    new.into()
}

pub(super) fn push_config(given: Value) -> Value {
    let Value::Object(mut given) = given else {
        return given;
    };
    let mut new = given.taken(&[("id", "id"), ("url", "url"), ("token", "token")]);
    if let Some(Value::Object(mut authentication)) = given.remove("authentication") {
        let mut one = authentication.taken(&[("credentials", "credentials")]);
        // 1.0 knows one scheme: the one that the caller likes best.
        let schemes = authentication.remove("schemes");
        if let Some(scheme) = schemes.as_ref().and_then(|schemes| schemes.get(0)) {
            one.insert("scheme".to_owned(), scheme.clone());
            new.insert("authentication".to_owned(), one.into());
        }
    }
    new.into()
}

pub(super) fn get(mut params: Params, dialect: Dialect) -> Translated {
    let mut body = id_alone(&mut params, "id");
    body.append(&mut params.taken(&[("historyLength", "historyLength")]));
    if dialect == Dialect::Proto && body.get("historyLength") == Some(&json!(0)) {
        body.remove("historyLength");
    }
    Ok(Request {
        operation: "GetTask",
        body,
    })
}

pub(super) fn list(mut params: Params, _: Dialect) -> Translated {
    let mut body = params.taken(&[
        ("contextId", "contextId"),
        ("status", "status"),
        ("pageSize", "pageSize"),
        ("pageToken", "pageToken"),
        ("historyLength", "historyLength"),
        ("includeArtifacts", "includeArtifacts"),
    ]);
    if let Some(status) = body.get_mut("status") {
        content::raise_state(status);
    }
    if let Some(include) = body.get_mut("includeArtifacts") {
        // In a query it is a word.
        match include.as_str() {
            Some("true") => *include = true.into(),
            Some("false") => *include = false.into(),
            _ => {}
        }
    }
    Ok(Request {
        operation: "ListTasks",
        body,
    })
}

pub(super) fn cancel(mut params: Params, _: Dialect) -> Translated {
    let mut body = id_alone(&mut params, "id");
    body.append(&mut params.taken(&[("metadata", "metadata")]));
    Ok(Request {
        operation: "CancelTask",
        body,
    })
}

pub(super) fn resubscribe(mut params: Params, _: Dialect) -> Translated {
    Ok(Request {
        operation: "SubscribeToTask",
        body: id_alone(&mut params, "id"),
    })
}

pub(super) fn set_push(mut params: Params, _: Dialect) -> Translated {
    let task = task_id(&mut params);
    // protobuf has the configuration in a request, JSON in a pair with its task, some send it alone.
    let mut id = params.remove("configId");
    let mut given = match params.remove("config") {
        Some(Value::Object(config)) => config,
        _ => params,
    };
    id = id.or_else(|| resource_id(&given));
    let task = task.or_else(|| task_id(&mut given));
    let config = match given.remove("pushNotificationConfig") {
        Some(config) => config,
        None if given.contains_key("url") => given.into(),
        None => {
            return Err(Error::invalid_field(
                "pushNotificationConfig",
                "is required",
            ));
        }
    };
    let Value::Object(mut body) = push_config(config) else {
        return Err(Error::invalid_field(
            "pushNotificationConfig",
            "is not an object",
        ));
    };
    // Without an id it is the task's own one, which a caller that names only the task finds and replaces.
    id = id.filter(|id| id != "").or_else(|| task.clone());
    if let Some(id) = id.filter(|_| body.get("id").is_none_or(|id| id == "")) {
        body.insert("id".to_owned(), id);
    }
    body.extend(task.map(|task| ("taskId".to_owned(), task)));
    Ok(Request {
        operation: "CreateTaskPushNotificationConfig",
        body,
    })
}

pub(super) fn get_push(mut params: Params, dialect: Dialect) -> Translated {
    if config_id(&params).is_none() {
        // Any will do: there was only one in the beginning.
        let mut request = list_push(params, dialect)?;
        request.body.insert("pageSize".to_owned(), 1.into());
        return Ok(request);
    }
    Ok(Request {
        operation: "GetTaskPushNotificationConfig",
        body: ids(&mut params),
    })
}

pub(super) fn list_push(mut params: Params, _: Dialect) -> Translated {
    let mut body = id_alone(&mut params, "taskId");
    body.append(&mut params.taken(&[("pageSize", "pageSize"), ("pageToken", "pageToken")]));
    Ok(Request {
        operation: "ListTaskPushNotificationConfigs",
        body,
    })
}

pub(super) fn delete_push(mut params: Params, _: Dialect) -> Translated {
    Ok(Request {
        operation: "DeleteTaskPushNotificationConfig",
        body: ids(&mut params),
    })
}

pub(super) fn card(_: Params, _: Dialect) -> Translated {
    Ok(Request {
        operation: "GetExtendedAgentCard",
        body: Map::new(),
    })
}

/// A request of nothing but the id of a task, under that name.
fn id_alone(params: &mut Params, name: &str) -> Params {
    let id = task_id(params);
    id.map(|id| (name.to_owned(), id)).into_iter().collect()
}

/// The ids of a task and of one of its webhooks.
fn ids(params: &mut Params) -> Params {
    let config = config_id(params).map(|id| ("id".to_owned(), id));
    let mut body = id_alone(params, "taskId");
    body.extend(config);
    body
}

/// The id of a task: by itself, or in the resource name `tasks/{id}` and what is below it.
pub(super) fn task_id(params: &mut Params) -> Option<Value> {
    if let Some(id) = params.remove("id").or_else(|| params.remove("taskId")) {
        return Some(id);
    }
    let name = params.get("name").or_else(|| params.get("parent"))?;
    let id = name.as_str()?.strip_prefix("tasks/")?.split('/').next()?;
    Some(id.into())
}

/// The id of a webhook: by itself, or in its resource name.
pub(super) fn config_id(params: &Params) -> Option<Value> {
    let given = params.get("pushNotificationConfigId").cloned();
    given.or_else(|| resource_id(params))
}

pub(super) fn resource_id(params: &Params) -> Option<Value> {
    let name = params.get("name")?.as_str()?;
    let (_, id) = name.rsplit_once("/pushNotificationConfigs/")?;
    Some(id.into())
}
