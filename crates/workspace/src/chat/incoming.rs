//! Messages of clients, read strictly: each fault names the field, what is wrong with it and what is right.

use serde_json::{Map, Value};

use super::envelope::{Cursor, MessageType, Priority, is_uuid_v4};

#[cfg(test)]
#[path = "incoming_tests.rs"]
mod tests;

/// The longest name of a session, in bytes.
pub(crate) const MAX_SESSION: usize = 128;

/// The most attachments of a command.
pub(crate) const MAX_ATTACHMENTS: usize = 32;

/// A message of a client that was understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Incoming {
    /// The id that the client gave it; of pings and restores it may be missing.
    pub(crate) id: Option<String>,
    /// The session that it names.
    pub(crate) session: Option<String>,
    pub(crate) what: Said,
}

/// A message of a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    Command(Command),
    Answer(ApprovalAnswer),
    Ping,
    Restore {
        session: String,
        cursor: Option<Cursor>,
    },
    /// It is checked and passed on to the windows of the session.
    Alert(Value),
}

impl Said {
    /// Its type, which is its name in the log and in the audit trail.
    pub(crate) fn kind(&self) -> MessageType {
        match self {
            Self::Command(_) => MessageType::UserCommand,
            Self::Answer(_) => MessageType::ApprovalResponse,
            Self::Ping => MessageType::Ping,
            Self::Restore { .. } => MessageType::RestoreSession,
            Self::Alert(_) => MessageType::WatchdogAlert,
        }
    }
}

/// The payload of a `user_command`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Command {
    pub(crate) command: String,
    pub(crate) context: Option<String>,
    pub(crate) urgency: Option<String>,
    pub(crate) priority: Option<Priority>,
    pub(crate) attachments: Vec<Attachment>,
}

/// A file that comes with a command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attachment {
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) content: Attached,
}

/// The content of an attachment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Attached {
    Text(String),
    Bytes(Vec<u8>),
}

/// The payload of an `approval_response`: a decision about a call, or the answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApprovalAnswer {
    pub(crate) request_id: String,
    /// As the agent reads it: an object with `decision`, or words.
    pub(crate) given: Value,
}

/// Why a message is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// A word that programs decide by.
    pub(crate) code: &'static str,
    /// The field that is wrong, as a path; empty if it is the message as a whole.
    pub(crate) field: String,
    pub(crate) message: String,
    /// The id of the message, where it has one.
    pub(crate) in_reply_to: Option<String>,
    /// The session that it names.
    pub(crate) session: Option<String>,
}

impl Fault {
    pub(crate) fn new(code: &'static str, field: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            field: field.to_owned(),
            message: message.into(),
            in_reply_to: None,
            session: None,
        }
    }

    /// The same fault as one of a message that was read, or could not be read.
    pub(crate) fn about(self, read: &Result<Incoming, Self>) -> Self {
        let (in_reply_to, session) = match read {
            Ok(read) => (read.id.clone(), read.session.clone()),
            Err(fault) => (fault.in_reply_to.clone(), fault.session.clone()),
        };
        Self {
            in_reply_to,
            session,
            ..self
        }
    }
}

/// A word and what it stands for.
const STATES: [&str; 5] = [
    "idle",
    "thinking",
    "executing",
    "awaiting_approval",
    "error",
];
const CONTEXTS: [&str; 3] = ["project", "file", "system"];
const URGENCIES: [&str; 4] = ["immediate", "high", "normal", "low"];
const SEVERITIES: [&str; 5] = ["info", "low", "warning", "high", "critical"];

/// Reads a message.
pub(crate) fn read(message: &Value) -> Result<Incoming, Fault> {
    let id = message.get("id").and_then(Value::as_str);
    let session = message.pointer("/metadata/session_id");
    let session = session.or_else(|| message.pointer("/payload/session_id"));
    let session = session.and_then(Value::as_str).map(str::to_owned);
    let in_reply_to = id.map(|it| it.chars().take(64).collect());
    envelope(message).map_err(|fault| Fault {
        in_reply_to,
        session,
        ..fault
    })
}

fn envelope(message: &Value) -> Result<Incoming, Fault> {
    let Value::Object(message) = message else {
        let why = format!("a message is an object, not {}", named(message));
        return Err(Fault::new("not_an_object", "", why));
    };
    let kind = match message.get("type") {
        None | Some(Value::Null) => return Err(missing("type", "one of the message types")),
        Some(Value::String(kind)) => kind,
        Some(other) => return Err(wrong("type", "a text", other)),
    };
    let kind = MessageType::ALL.iter().find(|(name, _)| name == kind);
    let Some((_, kind)) = kind else {
        let given = message.get("type").unwrap_or(&Value::Null);
        let known = MessageType::ALL.map(|(name, _)| name).join(", ");
        return Err(wrong("type", &format!("one of {known}"), given));
    };
    // The heartbeat and the restore of the documented client are a type, and a type with a payload.
    let short = matches!(kind, MessageType::Ping | MessageType::RestoreSession);
    let id = match message.get("id") {
        Some(Value::String(id)) if is_uuid_v4(id) => Some(id.clone()),
        None | Some(Value::Null) if short => None,
        None | Some(Value::Null) => return Err(missing("id", "a UUID, version 4")),
        Some(Value::String(id)) if id.is_empty() => {
            return Err(missing("id", "a UUID, version 4"));
        }
        Some(other) => return Err(wrong("id", "a UUID, version 4", other)),
    };
    check_time(message)?;
    let session = check_metadata(message)?;
    let payload = payload(message, short)?;
    let source = |allowed: &str| one_of(message, "", "source", &[allowed]);
    let what = match kind {
        MessageType::UserCommand => {
            source("user")?;
            Said::Command(command(&payload, message)?)
        }
        MessageType::ApprovalResponse => {
            source("user")?;
            Said::Answer(answer(&payload)?)
        }
        MessageType::Ping => Said::Ping,
        MessageType::RestoreSession => restore(&payload, session.clone())?,
        MessageType::WatchdogAlert => {
            source("watchdog")?;
            check_alert(&payload)?;
            Said::Alert(Value::Object(payload))
        }
        kind => {
            let why = format!("{} is a message of the server", kind.name());
            return Err(Fault::new("wrong_direction", "type", why));
        }
    };
    Ok(Incoming { id, session, what })
}

fn check_time(message: &Map<String, Value>) -> Result<(), Fault> {
    let right = "a time such as 2025-10-26T03:45:00.000Z";
    match message.get("timestamp") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(time)) if memory::parse_time(time).is_some() => Ok(()),
        Some(other) => Err(wrong("timestamp", right, other)),
    }
}

/// Checks the metadata, and gives the session that it names.
fn check_metadata(message: &Map<String, Value>) -> Result<Option<String>, Fault> {
    let metadata = match message.get("metadata") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(metadata)) => metadata,
        Some(other) => return Err(wrong("metadata", "an object", other)),
    };
    one_of(metadata, "metadata.", "agent_state", &STATES)?;
    let priorities = Priority::ALL.map(|(name, _)| name);
    one_of(metadata, "metadata.", "priority", &priorities)?;
    text(metadata, "metadata.", "task_id")?;
    let session = text(metadata, "metadata.", "session_id")?;
    session
        .map(|it| check_session("metadata.session_id", it))
        .transpose()
}

/// A name that a session may have.
pub(crate) fn check_session(field: &str, name: &str) -> Result<String, Fault> {
    let plain = name.bytes().all(|it| it.is_ascii_graphic());
    match !name.is_empty() && name.len() <= MAX_SESSION && plain {
        true => Ok(name.to_owned()),
        false => {
            let right = format!("1 to {MAX_SESSION} visible ASCII characters without spaces");
            Err(wrong(field, &right, &Value::from(name)))
        }
    }
}

fn payload(message: &Map<String, Value>, optional: bool) -> Result<Map<String, Value>, Fault> {
    match message.get("payload") {
        Some(Value::Object(payload)) => Ok(payload.clone()),
        None | Some(Value::Null) if optional => Ok(Map::new()),
        None | Some(Value::Null) => Err(missing("payload", "an object")),
        Some(other) => Err(wrong("payload", "an object", other)),
    }
}

fn command(payload: &Map<String, Value>, message: &Map<String, Value>) -> Result<Command, Fault> {
    let priority = message
        .get("metadata")
        .and_then(|it| it.get("priority"))
        .and_then(Value::as_str);
    read_command(payload, "payload.", priority)
}

/// Reads a command: of the chat below `payload.`, of REST at the root of the body.
pub(crate) fn read_command(
    payload: &Map<String, Value>,
    below: &str,
    priority: Option<&str>,
) -> Result<Command, Fault> {
    let field = format!("{below}command");
    let command = match payload.get("command") {
        Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
        None | Some(Value::Null) => return Err(missing(&field, "what the agent is to do")),
        Some(other) => return Err(wrong(&field, "a text that is not empty", other)),
    };
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Ok(Command {
        command,
        context: owned(one_of(payload, below, "context", &CONTEXTS)?),
        urgency: owned(one_of(payload, below, "urgency", &URGENCIES)?),
        priority: priority.and_then(Priority::named),
        attachments: attachments(payload, below)?,
    })
}

fn attachments(payload: &Map<String, Value>, below: &str) -> Result<Vec<Attachment>, Fault> {
    let field = format!("{below}attachments");
    let list = match payload.get("attachments") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) if list.len() <= MAX_ATTACHMENTS => list,
        Some(Value::Array(list)) => {
            let why = format!("{} attachments; at most {MAX_ATTACHMENTS}", list.len());
            return Err(Fault::new("too_many", &field, why));
        }
        Some(other) => return Err(wrong(&field, "a list", other)),
    };
    let read = list.iter().enumerate();
    read.map(|(at, it)| attachment(&format!("{field}[{at}]"), it))
        .collect()
}

fn attachment(field: &str, value: &Value) -> Result<Attachment, Fault> {
    let below = format!("{field}.");
    let Value::Object(members) = value else {
        let right = "an object with name and content (text) or data (base64)";
        return Err(wrong(field, right, value));
    };
    let name = text(members, &below, "name")?.unwrap_or("attachment");
    let media_type = text(members, &below, "media_type")?.unwrap_or_default();
    let content = match (
        text(members, &below, "content")?,
        text(members, &below, "data")?,
    ) {
        (Some(content), None) => Attached::Text(content.to_owned()),
        (None, Some(data)) => {
            use base64::Engine as _;
            let bytes = base64::engine::general_purpose::STANDARD.decode(data);
            let bytes = bytes.map_err(|error| {
                let right = format!("base64 ({error})");
                wrong(&format!("{below}data"), &right, &members["data"])
            });
            Attached::Bytes(bytes?)
        }
        _ => {
            let why = format!("{field} has content (text) or data (base64), one of them");
            return Err(Fault::new("invalid", field, why));
        }
    };
    Ok(Attachment {
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        content,
    })
}

fn answer(payload: &Map<String, Value>) -> Result<ApprovalAnswer, Fault> {
    let request_id = match payload.get("request_id") {
        Some(Value::String(id)) if is_uuid_v4(id) => id.clone(),
        None | Some(Value::Null) => {
            return Err(missing(
                "payload.request_id",
                "the id of the approval_request",
            ));
        }
        Some(other) => return Err(wrong("payload.request_id", "a UUID, version 4", other)),
    };
    let given = read_decision(payload, "payload.")?;
    Ok(ApprovalAnswer { request_id, given })
}

/// Reads a decision: `{decision, modified?, reason?}`, or `{answer}` in words. The result is what the agent reads.
pub(crate) fn read_decision(payload: &Map<String, Value>, below: &str) -> Result<Value, Fault> {
    if let Some(answer) = text(payload, below, "answer")? {
        return Ok(Value::from(answer));
    }
    let field = |name: &str| format!("{below}{name}");
    let right = "approve, reject or modify";
    let decision = match payload.get("decision") {
        Some(Value::String(decision)) => decision,
        None | Some(Value::Null) => return Err(missing(&field("decision"), right)),
        Some(other) => return Err(wrong(&field("decision"), right, other)),
    };
    let mut given = Map::new();
    given.insert("decision".to_owned(), Value::from(decision.as_str()));
    let reason = text(payload, below, "reason")?.or(text(payload, below, "why")?);
    let modified = payload.get("modified").or_else(|| payload.get("input"));
    let modified = modified.filter(|it| !it.is_null());
    match (&**decision, modified) {
        ("modify", None) => return Err(missing(&field("modified"), "the input to use instead")),
        ("modify", Some(Value::String(text))) => {
            given.insert("input".to_owned(), Value::from(text.as_str()));
        }
        ("modify", Some(input)) => {
            given.insert("input".to_owned(), Value::from(input.to_string()));
        }
        ("approve" | "reject" | "session" | "yes" | "no" | "ok", None) => {}
        ("approve" | "reject" | "session" | "yes" | "no" | "ok", Some(_)) => {
            let why = format!("modified belongs to the decision modify, not to {decision}");
            return Err(Fault::new("invalid", &field("modified"), why));
        }
        (other, _) => return Err(wrong(&field("decision"), right, &Value::from(other))),
    }
    if let Some(reason) = reason {
        given.insert("why".to_owned(), Value::from(reason));
    }
    for name in ["prefix", "field"] {
        if let Some(value) = text(payload, below, name)? {
            given.insert(name.to_owned(), Value::from(value));
        }
    }
    Ok(Value::Object(given))
}

fn restore(payload: &Map<String, Value>, session: Option<String>) -> Result<Said, Fault> {
    let named = text(payload, "payload.", "session_id")?;
    let named = named.map(|it| check_session("payload.session_id", it));
    let session = named.transpose()?.or(session);
    let session = session.ok_or_else(|| missing("payload.session_id", "the session to restore"))?;
    let right = "a cursor as metadata.cursor has it, such as 12.0";
    let cursor = match payload.get("cursor") {
        None | Some(Value::Null) => None,
        Some(given) => {
            let read = given.as_str().and_then(Cursor::read);
            Some(read.ok_or_else(|| wrong("payload.cursor", right, given))?)
        }
    };
    Ok(Said::Restore { session, cursor })
}

fn check_alert(payload: &Map<String, Value>) -> Result<(), Fault> {
    for name in ["alert_type", "title", "description"] {
        if text(payload, "payload.", name)?.is_none() {
            return Err(missing(&format!("payload.{name}"), "a text"));
        }
    }
    if one_of(payload, "payload.", "severity", &SEVERITIES)?.is_none() {
        let right = format!("one of {}", SEVERITIES.join(", "));
        return Err(missing("payload.severity", &right));
    }
    match payload.get("related_nodes") {
        None | Some(Value::Null) => {}
        Some(Value::Array(nodes)) if nodes.iter().all(Value::is_string) => {}
        Some(other) => return Err(wrong("payload.related_nodes", "a list of texts", other)),
    }
    match payload.get("action_required") {
        None | Some(Value::Bool(_)) => Ok(()),
        Some(other) => Err(wrong("payload.action_required", "true or false", other)),
    }
}

pub(crate) fn text<'a>(
    members: &'a Map<String, Value>,
    below: &str,
    name: &str,
) -> Result<Option<&'a str>, Fault> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong(&format!("{below}{name}"), "a text", other)),
    }
}

fn one_of<'a>(
    members: &'a Map<String, Value>,
    below: &str,
    name: &str,
    words: &[&str],
) -> Result<Option<&'a str>, Fault> {
    let Some(given) = text(members, below, name)? else {
        return Ok(None);
    };
    match words.contains(&given) {
        true => Ok(Some(given)),
        false => {
            let right = match words {
                [only] => (*only).to_owned(),
                words => format!("one of {}", words.join(", ")),
            };
            Err(wrong(
                &format!("{below}{name}"),
                &right,
                &Value::from(given),
            ))
        }
    }
}

pub(crate) fn missing(field: &str, right: &str) -> Fault {
    Fault::new("missing", field, format!("{field} is missing: {right}"))
}

pub(crate) fn wrong(field: &str, right: &str, given: &Value) -> Fault {
    let given = named(given);
    Fault::new(
        "invalid",
        field,
        format!("{field} is {given}; expected {right}"),
    )
}

/// A value in a sentence, cut at some length.
fn named(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) => {
            let short: String = text.chars().take(60).collect();
            let more = if short.len() < text.len() { "..." } else { "" };
            format!("{short:?}{more}")
        }
        other => other.to_string(),
    }
}
