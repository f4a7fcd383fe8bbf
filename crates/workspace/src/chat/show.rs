//! Moments of a conversation as messages of the chat.

use agent::{ApprovalState, EffectId, End, Moment, MomentKind, Outcome, PlannedCall, State};
use serde_json::{Map, Value, json};

use super::envelope::{
    Cursor, Envelope, MessageType, Metadata, Priority, Source, is_uuid_v4, stable_id,
};

/// The longest output of a tool in a message, in bytes; the whole is in the task.
const MAX_OUTPUT: usize = 64 << 10;

/// Which session of which agent messages are written for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionAddress {
    pub(crate) agent: String,
    pub(crate) session: String,
}

impl SessionAddress {
    /// The messages that a record of the journal led to, from the moments that it tells.
    pub(crate) fn messages(&self, event: u64, moments: &[Moment]) -> Vec<Envelope> {
        let mut messages = Vec::new();
        for moment in moments {
            for shown in shown(&self.agent, moment) {
                let index = u32::try_from(messages.len()).unwrap_or(u32::MAX);
                let cursor = Cursor { event, index };
                let priority = shown
                    .priority
                    .unwrap_or_else(|| Priority::of(moment.priority));
                let id = shown.id.unwrap_or_else(|| {
                    stable_id(&[&self.agent, &self.session, &cursor.to_string()])
                });
                messages.push(Envelope {
                    id,
                    kind: shown.kind,
                    timestamp: timestamp(moment.at),
                    source: shown.source,
                    payload: shown.payload,
                    metadata: Metadata {
                        session_id: self.session.clone(),
                        agent_state: moment.state,
                        priority,
                        task_id: moment.turn.clone().map(String::from),
                        cursor,
                    },
                });
            }
        }
        messages
    }

    /// A message that is not part of the session's record: it has the cursor of the last one that is.
    pub(crate) fn passing(&self, passing: Passing) -> Envelope {
        Envelope {
            id: passing
                .id
                .unwrap_or_else(|| uuid::Uuid::new_v4().to_string()),
            kind: passing.kind,
            timestamp: timestamp(now()),
            source: match passing.kind {
                MessageType::AgentAction => Source::Agent,
                MessageType::WatchdogAlert => Source::Watchdog,
                _ => Source::System,
            },
            payload: passing.payload,
            metadata: Metadata {
                session_id: self.session.clone(),
                agent_state: passing.state,
                priority: passing.priority,
                task_id: passing.task,
                cursor: passing.cursor,
            },
        }
    }

    /// The id of the message that a thought becomes; the pieces that come before it have the same.
    pub(crate) fn thought_id(&self, effect: EffectId) -> String {
        thought_id(&self.agent, effect)
    }
}

/// A message that is sent and not recorded.
#[derive(Clone, Debug)]
pub(crate) struct Passing {
    pub(crate) id: Option<String>,
    pub(crate) kind: MessageType,
    pub(crate) payload: Value,
    pub(crate) state: State,
    pub(crate) priority: Priority,
    pub(crate) task: Option<String>,
    pub(crate) cursor: Cursor,
}

/// The payload of a `system_event`.
fn event_payload(event: &str, data: Value) -> Value {
    let members = [
        ("event".to_owned(), event.into()),
        ("data".to_owned(), data),
    ];
    Value::Object(Map::from_iter(members))
}

impl Passing {
    /// A `system_event`.
    pub(crate) fn event(event: &str, data: Value, state: State, cursor: Cursor) -> Self {
        Self {
            id: None,
            kind: MessageType::SystemEvent,
            payload: event_payload(event, data),
            state,
            priority: Priority::Low,
            task: None,
            cursor,
        }
    }
}

/// A time as messages have it: RFC 3339, in UTC, with milliseconds.
pub(crate) fn timestamp(at: memory::Millis) -> String {
    let seconds = memory::format_time(at);
    let millis = at.rem_euclid(1_000);
    format!("{}.{millis:03}Z", seconds.trim_end_matches('Z'))
}

/// The time, in milliseconds since 1970.
pub(crate) fn now() -> memory::Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |it| {
        memory::Millis::try_from(it.as_millis()).unwrap_or(memory::Millis::MAX)
    })
}

fn thought_id(agent: &str, effect: EffectId) -> String {
    stable_id(&[agent, "thought", &effect.to_string()])
}

/// A message without what all messages have.
struct Shown {
    id: Option<String>,
    kind: MessageType,
    source: Source,
    payload: Value,
    priority: Option<Priority>,
}

impl Shown {
    fn new(kind: MessageType, source: Source, payload: Value) -> Self {
        Self {
            id: None,
            kind,
            source,
            payload,
            priority: None,
        }
    }

    fn action(payload: Value) -> Self {
        Self::new(MessageType::AgentAction, Source::Agent, payload)
    }

    fn event(event: &str, data: Value) -> Self {
        let payload = event_payload(event, data);
        Self::new(MessageType::SystemEvent, Source::System, payload)
    }

    fn with_id(self, id: Option<String>) -> Self {
        Self { id, ..self }
    }

    fn with(self, priority: Priority) -> Self {
        Self {
            priority: Some(priority),
            ..self
        }
    }
}

fn shown(agent: &str, moment: &Moment) -> Vec<Shown> {
    match &moment.what {
        MomentKind::Requested {
            message,
            text,
            note,
        } => vec![command(message, text, note.as_ref())],
        MomentKind::Thought {
            effect,
            text,
            reasoning,
            calls,
        } => thought(agent, *effect, text, reasoning, calls),
        MomentKind::Asked { approval, shown } => vec![asked(approval, shown)],
        MomentKind::Questioned { id, text } => vec![questioned(id, text)],
        MomentKind::Decided {
            id,
            skill,
            standing,
            by,
        } => vec![decided(id, skill, standing, by)],
        MomentKind::Answered {
            id,
            answer,
            by,
            message,
        } => answered(id, answer.as_deref(), by, message),
        MomentKind::Called {
            call,
            skill,
            input,
            outcome,
        } => called(call.as_deref(), skill, input, outcome),
        MomentKind::Ended { answer, effect } => {
            let id = effect.map(|effect| thought_id(agent, effect));
            let said = json!({ "action_type": "response", "content": answer.text });
            let (event, state) = match answer.end {
                End::Answered => ("task_completed", "completed"),
                End::Refused => ("task_rejected", "rejected"),
                End::Failed => ("task_failed", "failed"),
                End::NotApproved | End::Cancelled => ("task_canceled", "canceled"),
            };
            let ended = json!({ "task_id": moment.turn, "state": state, "message": answer.text });
            vec![
                Shown::action(said).with_id(id),
                Shown::event(event, ended).with(Priority::Low),
            ]
        }
        MomentKind::Paused(true) => vec![Shown::event("agent_paused", json!({}))],
        MomentKind::Paused(false) => vec![Shown::event("agent_resumed", json!({}))],
        MomentKind::Fault(Some(problem)) => {
            let data = json!({ "code": "agent_fault", "message": problem });
            vec![Shown::event("agent_error", data).with(Priority::Critical)]
        }
        MomentKind::Fault(None) => vec![Shown::event("agent_recovered", json!({}))],
    }
}

fn command(message: &str, text: &str, note: Option<&Value>) -> Shown {
    let mut payload = json!({ "command": text, "attachments": [] });
    if let Some(Value::Object(note)) = note {
        for name in ["command", "context", "urgency", "attachments"] {
            if let Some(value) = note.get(name) {
                payload[name] = value.clone();
            }
        }
    }
    let id = is_uuid_v4(message).then(|| message.to_owned());
    Shown::new(MessageType::UserCommand, Source::User, payload).with_id(id)
}

/// The part of a thought that is the content of a message: the words of the model, or how it came to them.
pub(crate) const TEXT: &str = "text";
pub(crate) const REASONING: &str = "reasoning";

/// A thought with calls is the reasoning and then the calls. One without is the answer, which comes when the request ends;
/// how the model came to it is told before.
fn thought(
    agent: &str,
    effect: Option<EffectId>,
    text: &str,
    reasoning: &str,
    calls: &[PlannedCall],
) -> Vec<Shown> {
    let mut said = Vec::new();
    let planned: Vec<String> = calls.iter().map(|it| line(&it.skill, &it.input)).collect();
    let (text, reasoning) = (text.trim(), reasoning.trim());
    let content = match (text.is_empty(), reasoning.is_empty(), planned.is_empty()) {
        (false, _, false) => Some((TEXT, text.to_owned())),
        // Without calls the text is the answer.
        (_, false, _) => Some((REASONING, reasoning.to_owned())),
        (_, true, false) => {
            let planned = planned.join(", then ");
            Some((REASONING, format!("I will call {planned}.")))
        }
        (_, true, true) => None,
    };
    if let Some((part, content)) = content {
        let mut steps = lines(reasoning);
        steps.extend(planned.iter().map(|it| format!("Call {it}")));
        let mut payload = json!({
            "action_type": "reasoning",
            "content": content,
            "part": part,
            "reasoning_steps": steps,
        });
        if part == TEXT && !reasoning.is_empty() {
            payload["reasoning"] = reasoning.into();
        }
        let id = effect.filter(|_| !calls.is_empty());
        let id = id.map(|effect| thought_id(agent, effect));
        said.push(Shown::action(payload).with_id(id));
    }
    if !calls.is_empty() {
        let tool_calls: Vec<Value> = calls
            .iter()
            .map(|call| {
                json!({
                    "id": call.id,
                    "tool": call.skill,
                    "parameters": call.input,
                    "requires_approval": call.approval,
                })
            })
            .collect();
        said.push(Shown::action(json!({
            "action_type": "tool_call",
            "content": format!("Calling {}", planned.join(", ")),
            "tool_calls": tool_calls,
        })));
    }
    said
}

/// The lines of a text that say something, as steps; at most so many.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
    lines.take(64).map(str::to_owned).collect()
}

/// What was run: the exact command line of a call that runs one, else the call in a line.
fn command_of(skill: &str, input: &Value) -> String {
    match input.get("command").and_then(Value::as_str) {
        Some(command) => command.to_owned(),
        None => line(skill, input),
    }
}

/// A call in a line: the skill, and the field of its input that says most.
fn line(skill: &str, input: &Value) -> String {
    let field = ["command", "path", "query", "url", "text", "question"]
        .into_iter()
        .find_map(|name| input.get(name).and_then(Value::as_str));
    match field {
        Some(text) => {
            let text: String = text.chars().take(120).collect();
            format!("{skill} {}", text.lines().next().unwrap_or_default())
        }
        None => skill.to_owned(),
    }
}

fn asked(approval: &agent::Approval, shown: &str) -> Shown {
    let mut details = match &approval.input {
        Value::Object(members) => members.clone(),
        Value::Null => Map::new(),
        other => Map::from_iter([("input".to_owned(), other.clone())]),
    };
    if let Some(operation) = operation(&approval.skill, &approval.bound, &approval.input) {
        details.insert("operation".to_owned(), operation.into());
    }
    details.insert("preview".to_owned(), shown.into());
    details.insert(
        "expires".to_owned(),
        memory::format_time(approval.until).into(),
    );
    if !approval.notes.is_empty() {
        details.insert("notes".to_owned(), json!(approval.notes));
    }
    let payload = json!({
        "action": approval.skill,
        "description": format!("Call {}", line(&approval.skill, &approval.input)),
        "details": details,
        "options": ["approve", "reject", "modify"],
    });
    Shown::new(MessageType::ApprovalRequest, Source::Agent, payload)
        .with_id(Some(approval.uuid.clone()))
        .with(Priority::High)
}

/// What a call does to a file: `create`, `modify`, `delete` or `move`.
fn operation(skill: &str, bound: &Option<Value>, input: &Value) -> Option<&'static str> {
    match skill {
        "file-write" => {
            let seen = bound.as_ref().unwrap_or(input).get("seen");
            match seen.and_then(Value::as_str) {
                Some("absent") => Some("create"),
                _ => Some("modify"),
            }
        }
        "file-delete" => Some("delete"),
        "file-move" => Some("move"),
        _ => None,
    }
}

fn questioned(id: &str, text: &str) -> Shown {
    let payload = json!({
        "action": "question",
        "description": text,
        "details": { "question": text },
        "options": ["answer", "reject"],
    });
    Shown::new(MessageType::ApprovalRequest, Source::Agent, payload)
        .with_id(Some(id.to_owned()))
        .with(Priority::High)
}

fn decided(id: &str, skill: &str, standing: &ApprovalState, by: &str) -> Shown {
    let (decision, reason) = match standing {
        ApprovalState::Approved(_) => ("approve", None),
        ApprovalState::Rejected(why) => ("reject", Some(why.clone())),
        ApprovalState::Expired => ("expired", None),
        ApprovalState::Pending => ("pending", None),
    };
    let mut data = json!({ "request_id": id, "action": skill, "decision": decision, "by": by });
    if let Some(reason) = reason {
        data["reason"] = reason.into();
    }
    Shown::event("approval_decided", data)
}

fn answered(id: &str, answer: Option<&str>, by: &str, message: &str) -> Vec<Shown> {
    let mut said = Vec::new();
    if let Some(answer) = answer.filter(|_| is_uuid_v4(message)) {
        said.push(command(message, answer, None));
    }
    let data = json!({ "request_id": id, "answer": answer, "by": by });
    said.push(Shown::event("question_answered", data));
    said
}

/// The result of a call, and the file that it changed.
fn called(call: Option<&str>, skill: &str, input: &Value, outcome: &Outcome) -> Vec<Shown> {
    let (output, data, failed) = match outcome {
        Outcome::Gave(output) => (words(output), output.clone(), false),
        Outcome::Failed(code, why) => (why.clone(), json!({ "code": code, "message": why }), true),
    };
    let exit_code = data.get("exit_code").and_then(Value::as_i64);
    let exit_code = exit_code.unwrap_or_else(|| i64::from(failed));
    let mut result = json!({
        "tool": skill,
        "command": command_of(skill, input),
        "output": cut(output),
        "exit_code": exit_code,
        "success": !failed && exit_code == 0,
        "data": data,
    });
    if let Some(call) = call {
        result["call_id"] = call.into();
    }
    let mut shown = vec![Shown::new(MessageType::ToolResult, Source::System, result)];
    let changed = (!failed).then(|| file_change(skill, input, &data));
    if let Some(change) = changed.flatten() {
        shown.push(Shown::event("file_modified", change).with(Priority::Low));
    }
    shown
}

/// What a call of a skill for files changed, as the data of `file_modified`.
fn file_change(skill: &str, input: &Value, output: &Value) -> Option<Value> {
    let path = ["path", "to"].into_iter().find_map(|name| {
        let found = output.get(name).or_else(|| input.get(name));
        found.filter(|it| it.is_string())
    })?;
    let is = |name: &str| output.get(name).and_then(Value::as_bool) == Some(true);
    let operation = match skill {
        "file-write" | "file-edit" if is("created") => "created",
        "file-write" | "file-edit" => "modified",
        "undo" => output["operation"].as_str().unwrap_or("modified"),
        "file-delete" => "deleted",
        "file-move" => "moved",
        _ => return None,
    };
    if matches!(operation, "modified") && output.get("changed") == Some(&Value::Bool(false)) {
        return None;
    }
    let mut change = json!({ "path": path, "operation": operation });
    for name in ["size", "hash", "from"] {
        if let Some(value) = output.get(name) {
            change[name] = value.clone();
        }
    }
    Some(change)
}

/// An output as a person reads it.
fn words(output: &Value) -> String {
    let says = ["output", "says", "text", "content"]
        .into_iter()
        .find_map(|name| output.get(name).and_then(Value::as_str));
    match (output, says) {
        (Value::String(text), _) => text.clone(),
        (_, Some(says)) => says.to_owned(),
        (other, None) => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_OUTPUT {
        let mut end = MAX_OUTPUT;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}
