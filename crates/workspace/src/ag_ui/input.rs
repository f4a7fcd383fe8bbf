//! The request of a client, read strictly.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::chat::envelope::stable_id;
use crate::chat::incoming::{
    Attached, Attachment, Command, Fault, MAX_ATTACHMENTS, check_session, missing, read_decision,
    text, wrong,
};

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;

/// The longest id of a run, in bytes.
const MAX_ID: usize = 256;

/// A `RunAgentInput` that was understood.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RunInput {
    /// The session.
    pub(super) thread: String,
    pub(super) run: String,
    /// The state of the client, which snapshots contain.
    pub(super) state: Value,
    pub(super) asked: Asked,
    /// The calls that the client has without a result.
    pub(super) open_calls: BTreeSet<String>,
}

/// The work of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Asked {
    /// The last message of the user.
    Command { id: String, command: Command },
    /// To go on with these answers.
    Resume(Vec<Resumed>),
}

/// The answer to an interrupt.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Resumed {
    pub(super) interrupt: String,
    /// As the agent reads it: an object with `decision`, or words.
    pub(super) given: Value,
}

impl RunInput {
    pub(super) fn read(value: &Value) -> Result<Self, Fault> {
        let Value::Object(input) = value else {
            let why = "the body is an object with threadId, runId and messages";
            return Err(Fault::new("invalid", "", why));
        };
        let thread = named(input, "threadId", "the id of the conversation")?;
        let thread = check_session("threadId", thread)?;
        let run = named(input, "runId", "an id of this run")?;
        if run.len() > MAX_ID {
            let why = format!("runId has {} bytes; at most {MAX_ID}", run.len());
            return Err(Fault::new("invalid", "runId", why));
        }
        let messages = match input.get("messages") {
            None | Some(Value::Null) => return Err(missing("messages", "a list")),
            Some(Value::Array(messages)) => messages,
            Some(other) => return Err(wrong("messages", "a list", other)),
        };
        // Tools of the client are not called: the agent has skills of its own.
        list(input, "tools")?;
        let context = context(input)?;
        let resumed = list(input, "resume")?;
        let open_calls = open_calls(messages)?;
        let asked = match resumed {
            [] => command(&thread, run, messages, context)?,
            resumed => {
                let read = resumed.iter().enumerate();
                let read = read.map(|(at, it)| answer(&format!("resume[{at}]"), it));
                Asked::Resume(read.collect::<Result<_, _>>()?)
            }
        };
        Ok(Self {
            run: run.to_owned(),
            thread,
            state: input.get("state").cloned().unwrap_or_default(),
            asked,
            open_calls,
        })
    }
}

/// A text that is required.
fn named<'a>(input: &'a Map<String, Value>, name: &str, right: &str) -> Result<&'a str, Fault> {
    let found = text(input, "", name)?.filter(|it| !it.is_empty());
    found.ok_or_else(|| missing(name, right))
}

fn list<'a>(input: &'a Map<String, Value>, name: &str) -> Result<&'a [Value], Fault> {
    match input.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(other) => Err(wrong(name, "a list", other)),
    }
}

/// The context, which the agent gets as attachments.
fn context(input: &Map<String, Value>) -> Result<Vec<Attachment>, Fault> {
    let read = list(input, "context")?.iter().enumerate();
    read.map(|(at, it)| {
        let field = format!("context[{at}]");
        let below = format!("{field}.");
        let Value::Object(members) = it else {
            return Err(wrong(&field, "an object with description and value", it));
        };
        let value = text(members, &below, "value")?;
        let value = value.ok_or_else(|| missing(&format!("{below}value"), "a text"))?;
        Ok(Attachment {
            name: text(members, &below, "description")?
                .unwrap_or("context")
                .to_owned(),
            media_type: "text/plain".to_owned(),
            content: Attached::Text(value.to_owned()),
        })
    })
    .collect()
}

const ROLES: [&str; 7] = [
    "developer",
    "system",
    "assistant",
    "user",
    "tool",
    "activity",
    "reasoning",
];

/// The role of a message, one of those that the protocol has.
fn role<'a>(message: &'a Value, field: &str) -> Result<&'a str, Fault> {
    let Value::Object(members) = message else {
        return Err(wrong(field, "an object with id, role and content", message));
    };
    let below = format!("{field}.");
    let given = text(members, &below, "role")?;
    let right = format!("one of {}", ROLES.join(", "));
    match given {
        Some(role) if ROLES.contains(&role) => Ok(role),
        Some(role) => Err(wrong(&format!("{below}role"), &right, &Value::from(role))),
        None => Err(missing(&format!("{below}role"), &right)),
    }
}

/// The calls in the messages of the client that have no result among them.
fn open_calls(messages: &[Value]) -> Result<BTreeSet<String>, Fault> {
    let mut open = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        match role(message, &format!("messages[{at}]"))? {
            "assistant" => {
                let calls = message["toolCalls"].as_array().into_iter().flatten();
                open.extend(calls.filter_map(|it| it["id"].as_str()).map(str::to_owned));
            }
            "tool" => {
                open.remove(message["toolCallId"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }
    Ok(open)
}

fn command(
    thread: &str,
    run: &str,
    messages: &[Value],
    context: Vec<Attachment>,
) -> Result<Asked, Fault> {
    let last = messages.iter().enumerate().next_back();
    let Some((at, message)) = last.filter(|(_, it)| it["role"] == "user") else {
        let why = "the last of messages is to be one of the user; to go on after an interrupt, give resume";
        return Err(Fault::new("invalid", "messages", why));
    };
    let field = format!("messages[{at}].content");
    let (words, mut attachments) = content(&field, &message["content"])?;
    if words.trim().is_empty() {
        return Err(missing(&field, "what the agent is to do"));
    }
    attachments.extend(context);
    if attachments.len() > MAX_ATTACHMENTS {
        let why = format!(
            "{} attachments and pieces of context; at most {MAX_ATTACHMENTS}",
            attachments.len()
        );
        return Err(Fault::new("too_many", "context", why));
    }
    // The same run that is asked for again is done once. Another run with the same message is another command.
    let message = message["id"].as_str().unwrap_or_default();
    Ok(Asked::Command {
        id: stable_id(&["ag-ui", thread, run, message]),
        command: Command {
            command: words,
            attachments,
            ..Command::default()
        },
    })
}

/// The words of a message, and what comes with them.
fn content(field: &str, content: &Value) -> Result<(String, Vec<Attachment>), Fault> {
    let parts = match content {
        Value::String(words) => return Ok((words.clone(), Vec::new())),
        Value::Null => return Err(missing(field, "what the agent is to do")),
        Value::Array(parts) => parts,
        other => return Err(wrong(field, "a text or a list of parts", other)),
    };
    let (mut words, mut attachments) = (Vec::new(), Vec::new());
    for (at, part) in parts.iter().enumerate() {
        let field = format!("{field}[{at}]");
        match part["type"].as_str() {
            Some("text") => match part["text"].as_str() {
                Some(text) => words.push(text),
                None => return Err(wrong(&format!("{field}.text"), "a text", &part["text"])),
            },
            Some(kind @ ("image" | "audio" | "video" | "document")) => {
                attachments.push(attachment(&field, kind, &part["source"])?);
            }
            _ => {
                let right = "one of text, image, audio, video, document";
                return Err(wrong(&format!("{field}.type"), right, &part["type"]));
            }
        }
    }
    Ok((words.join("\n"), attachments))
}

fn attachment(field: &str, kind: &str, source: &Value) -> Result<Attachment, Fault> {
    use base64::Engine as _;
    if source["type"] != "data" {
        let right = "data: what is at an address is not fetched";
        return Err(wrong(
            &format!("{field}.source.type"),
            right,
            &source["type"],
        ));
    }
    let value = format!("{field}.source.value");
    let Some(data) = source["value"].as_str() else {
        return Err(wrong(&value, "base64", &source["value"]));
    };
    let bytes = base64::engine::general_purpose::STANDARD.decode(data);
    let bytes = bytes.map_err(|it| Fault::new("invalid", &value, it.to_string()))?;
    Ok(Attachment {
        name: kind.to_owned(),
        media_type: source["mimeType"].as_str().unwrap_or_default().to_owned(),
        content: Attached::Bytes(bytes),
    })
}

/// Reads one answer. Besides what the chat understands, a payload may be `true` or `false`, words, or
/// `{approved, editedArgs?, reason?}`.
fn answer(field: &str, entry: &Value) -> Result<Resumed, Fault> {
    let Value::Object(members) = entry else {
        return Err(wrong(field, "an object with interruptId and status", entry));
    };
    let below = format!("{field}.");
    let interrupt = text(members, &below, "interruptId")?.filter(|it| !it.is_empty());
    let interrupt = interrupt
        .ok_or_else(|| missing(&format!("{below}interruptId"), "the id of the interrupt"))?;
    let decision = |it: &str| serde_json::json!({ "decision": it });
    let given = match text(members, &below, "status")? {
        Some("cancelled") => decision("reject"),
        Some("resolved") => match members.get("payload") {
            None | Some(Value::Null) => {
                let right = "the answer: true, false, words, or an object with decision";
                return Err(missing(&format!("{below}payload"), right));
            }
            Some(Value::Bool(true)) => decision("approve"),
            Some(Value::Bool(false)) => decision("reject"),
            Some(Value::String(words)) => Value::from(words.as_str()),
            Some(Value::Object(payload)) => object_answer(payload, &format!("{below}payload."))?,
            Some(other) => {
                let right = "true, false, words, or an object with decision";
                return Err(wrong(&format!("{below}payload"), right, other));
            }
        },
        other => {
            let other = other.map_or(Value::Null, Value::from);
            let right = "resolved or cancelled";
            return Err(wrong(&format!("{below}status"), right, &other));
        }
    };
    Ok(Resumed {
        interrupt: interrupt.to_owned(),
        given,
    })
}

fn object_answer(payload: &Map<String, Value>, below: &str) -> Result<Value, Fault> {
    let approved = match payload.get("approved") {
        None | Some(Value::Null) => return read_decision(payload, below),
        Some(Value::Bool(approved)) => *approved,
        Some(other) => {
            return Err(wrong(&format!("{below}approved"), "true or false", other));
        }
    };
    let edited = payload.get("editedArgs").filter(|it| !it.is_null());
    let mut read = Map::new();
    let decision = match (approved, edited) {
        (true, None) => "approve",
        (true, Some(edited)) => {
            read.insert("modified".to_owned(), edited.clone());
            "modify"
        }
        (false, _) => "reject",
    };
    read.insert("decision".to_owned(), decision.into());
    if let Some(reason) = payload.get("reason") {
        read.insert("reason".to_owned(), reason.clone());
    }
    read_decision(&read, below)
}
