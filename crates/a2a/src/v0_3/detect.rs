//! Which version a request is written in, where no name says so.

use serde_json::{Map, Value};

/// The version that a request shows to be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// 1.0.
    New,
    /// 0.3, in the dialect with `kind`.
    Old,
}

impl Written {
    /// Judges by words and names that only one of the versions has. Most requests have none.
    pub fn of(request: &Map<String, Value>) -> Option<Self> {
        let configuration = request.get("configuration").and_then(Value::as_object);
        let message = request.get("message").and_then(Value::as_object);
        let status = request.get("status").and_then(Value::as_str);
        message
            .and_then(of_message)
            .or_else(|| configuration.and_then(of_names))
            .or_else(|| status.and_then(of_state))
            .or_else(|| of_names(request))
    }
}

fn of_message(message: &Map<String, Value>) -> Option<Written> {
    let parts = message.get("parts").and_then(Value::as_array);
    let mut parts = parts.into_iter().flatten();
    let kind = message.contains_key("kind") || parts.any(|part| part.get("kind").is_some());
    match message.get("role").and_then(Value::as_str) {
        _ if kind => Some(Written::Old),
        Some("user" | "agent") => Some(Written::Old),
        Some(role) if role.starts_with("ROLE_") => Some(Written::New),
        _ => None,
    }
}

fn of_state(state: &str) -> Option<Written> {
    if state.starts_with("TASK_STATE_") {
        Some(Written::New)
    } else {
        let word = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
        state.bytes().all(word).then_some(Written::Old)
    }
}

fn of_names(members: &Map<String, Value>) -> Option<Written> {
    let has = |names: &[&str]| names.iter().any(|name| members.contains_key(*name));
    if has(&[
        "blocking",
        "pushNotificationConfig",
        "pushNotificationConfigId",
    ]) {
        Some(Written::Old)
    } else if has(&["returnImmediately", "taskPushNotificationConfig"]) {
        Some(Written::New)
    } else {
        None
    }
}
