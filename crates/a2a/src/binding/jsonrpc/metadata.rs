//! The metadata of a message of the workspace, which travels in `params.metadata`: `session_id`, `agent_state`, `priority`,
//! `task_id`. It is checked, and put where operations look for the same.

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::error::Error;

/// Where agents look for the priority of a request, from 0 to 100.
const PRIORITY: &str = "urn:monas:a2a:ext:agent:1/priority";

/// The longest name of a session, in bytes.
const MAX_SESSION: usize = 128;

const STATES: [&str; 5] = [
    "idle",
    "thinking",
    "executing",
    "awaiting_approval",
    "error",
];

const PRIORITIES: [(&str, u8); 4] = [("low", 25), ("normal", 50), ("high", 75), ("critical", 100)];

/// The params of a request with its metadata in place. Metadata that names neither a session nor a state is that of another
/// program, and left alone.
pub(in crate::binding) fn placed(params: Bytes) -> Result<Bytes, Error> {
    let names = |it: &str| params.windows(it.len()).any(|at| at == it.as_bytes());
    if !names("\"session_id\"") && !names("\"agent_state\"") {
        return Ok(params);
    }
    // A text that cannot be read is refused by the reader of the request.
    let Ok(mut read) = serde_json::from_slice::<Map<String, Value>>(&params) else {
        return Ok(params);
    };
    let Some(Value::Object(metadata)) = read.get("metadata") else {
        return Ok(params);
    };
    if !["session_id", "agent_state"]
        .iter()
        .any(|it| metadata.contains_key(*it))
    {
        return Ok(params);
    }
    let session = text(metadata, "session_id")?.map(str::to_owned);
    if let Some(session) = &session {
        let plain = session.bytes().all(|it| it.is_ascii_graphic());
        if session.is_empty() || session.len() > MAX_SESSION || !plain {
            let right = format!("1 to {MAX_SESSION} visible ASCII characters without spaces");
            return Err(wrong("session_id", &metadata["session_id"], &right));
        }
    }
    if let Some(state) = text(metadata, "agent_state")?
        && !STATES.contains(&state)
    {
        let right = format!("one of {}", STATES.join(", "));
        return Err(wrong("agent_state", &metadata["agent_state"], &right));
    }
    let priority = match text(metadata, "priority")? {
        None => None,
        Some(name) => {
            let known = PRIORITIES.iter().find(|it| it.0 == name);
            let right = format!("one of {}", PRIORITIES.map(|it| it.0).join(", "));
            Some(
                known
                    .ok_or_else(|| wrong("priority", &metadata["priority"], &right))?
                    .1,
            )
        }
    };
    let task = text(metadata, "task_id")?.map(str::to_owned);
    let Some(Value::Object(message)) = read.get_mut("message") else {
        return Ok(params);
    };
    place(message, ["contextId", "context_id"], "session_id", session)?;
    place(message, ["taskId", "task_id"], "task_id", task)?;
    if let Some(priority) = priority {
        let metadata = message
            .entry("metadata")
            .or_insert_with(|| Map::new().into());
        if let Value::Object(metadata) = metadata {
            metadata.entry(PRIORITY).or_insert(priority.into());
        }
    }
    Ok(Value::Object(read).to_string().into())
}

/// Puts a value into a message that does not have it. One that has another is refused: which of the two is meant?
fn place(
    message: &mut Map<String, Value>,
    fields: [&str; 2],
    name: &str,
    value: Option<String>,
) -> Result<(), Error> {
    let Some(value) = value else {
        return Ok(());
    };
    let mut there = fields.iter().filter_map(|it| message.get(*it)?.as_str());
    match there.find(|it| !it.is_empty()) {
        None => {
            message.insert(fields[0].to_owned(), value.into());
            Ok(())
        }
        Some(there) if there == value => Ok(()),
        Some(there) => {
            let right = format!("{there:?}, as message.{} has it", fields[0]);
            Err(wrong(name, &value.into(), &right))
        }
    }
}

fn text<'a>(metadata: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Error> {
    match metadata.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong(name, other, "a text")),
    }
}

fn wrong(name: &str, given: &Value, right: &str) -> Error {
    let field = format!("metadata.{name}");
    let given: String = given.to_string().chars().take(80).collect();
    let why = format!("it is {given}; expected {right}");
    Error::invalid_field(&field, why)
}
