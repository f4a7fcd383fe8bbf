//! Which version a request is written in, where no name says so.

use serde_json::{Map, Value};

use crate::version::Version;

/// The version that a request is written in, judged by words and names that only one of the versions has; 0.3 is
/// the dialect with `kind`. Most requests have none of these words.
pub fn version_of(request: &Map<String, Value>) -> Option<Version> {
    let configuration = request.get("configuration").and_then(Value::as_object);
    let message = request.get("message").and_then(Value::as_object);
    let status = request.get("status").and_then(Value::as_str);
    message
        .and_then(of_message)
        .or_else(|| configuration.and_then(of_names))
        .or_else(|| status.and_then(of_state))
        .or_else(|| of_names(request))
}

fn of_message(message: &Map<String, Value>) -> Option<Version> {
    let parts = message.get("parts").and_then(Value::as_array);
    let mut parts = parts.into_iter().flatten();
    let kind = message.contains_key("kind") || parts.any(|part| part.get("kind").is_some());
    match message.get("role").and_then(Value::as_str) {
        _ if kind => Some(Version::V0_3),
        Some("user" | "agent") => Some(Version::V0_3),
        Some(role) if role.starts_with("ROLE_") => Some(Version::V1_0),
        _ => None,
    }
}

fn of_state(state: &str) -> Option<Version> {
    if state.starts_with("TASK_STATE_") {
        Some(Version::V1_0)
    } else {
        let word = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
        state.bytes().all(word).then_some(Version::V0_3)
    }
}

fn of_names(members: &Map<String, Value>) -> Option<Version> {
    let has = |names: &[&str]| names.iter().any(|name| members.contains_key(*name));
    if has(&[
        "blocking",
        "pushNotificationConfig",
        "pushNotificationConfigId",
    ]) {
        Some(Version::V0_3)
    } else if has(&["returnImmediately", "taskPushNotificationConfig"]) {
        Some(Version::V1_0)
    } else {
        None
    }
}
