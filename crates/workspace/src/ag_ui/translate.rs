//! Messages of the chat as events of AG-UI.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::chat::envelope::{Envelope, MessageType};
use crate::chat::show::{REASONING, TEXT, now};

#[cfg(test)]
#[path = "translate_tests.rs"]
mod tests;

/// The version of the protocol that is spoken.
const VERSION: &str = "1.0";

/// How a run is over.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    Success,
    Cancelled,
    /// It waits for a person.
    Interrupt(Vec<Value>),
    /// A code and a message.
    Error(String, String),
}

/// Follows the tasks of a run in the messages of its session.
///
/// It is given every message of the session: those from before the run by [`recall`](Self::recall), which tells
/// nothing, and the others by [`take`](Self::take). So a call that waited in an earlier run is known by the same id when
/// its result comes in this one. What belongs to other tasks of the session is left out.
#[derive(Debug)]
pub(super) struct Translator {
    agent: String,
    session: String,
    /// The tasks of this run; with an outcome once they have ended.
    followed: BTreeMap<String, Option<Outcome>>,
    /// All tasks of the session.
    tasks: BTreeSet<String>,
    /// The calls of tasks that have not ended.
    calls: Vec<KnownCall>,
    /// Interrupts that are open, by their ids.
    waiting: BTreeMap<String, Waiting>,
    /// The messages that are open, by their parts.
    text: Option<OpenMessage>,
    reasoning: Option<OpenMessage>,
    /// The texts that were told whole.
    spoken: BTreeSet<String>,
    /// The last reasoning that was told whole.
    reasoned: String,
    /// The last text, which calls belong to.
    parent: Option<String>,
    fault: Option<String>,
    state: Value,
}

#[derive(Debug)]
struct KnownCall {
    id: String,
    task: String,
    tool: String,
    parameters: Value,
    result: Option<Value>,
}

#[derive(Debug)]
struct Waiting {
    task: String,
    interrupt: Value,
}

/// A message of which a part was told.
#[derive(Debug)]
struct OpenMessage {
    id: String,
    told: String,
}

impl Translator {
    pub(super) fn new(agent: &str, session: &str) -> Self {
        Self {
            agent: agent.to_owned(),
            session: session.to_owned(),
            followed: BTreeMap::new(),
            tasks: BTreeSet::new(),
            calls: Vec::new(),
            waiting: BTreeMap::new(),
            text: None,
            reasoning: None,
            spoken: BTreeSet::new(),
            reasoned: String::new(),
            parent: None,
            fault: None,
            state: json!("idle"),
        }
    }

    pub(super) fn agent(&self) -> &str {
        &self.agent
    }

    /// Whether a task was in the session before.
    pub(super) fn knows(&self, task: &str) -> bool {
        self.tasks.contains(task)
    }

    /// The run is about this task.
    pub(super) fn follow(&mut self, task: &str) {
        self.followed.insert(task.to_owned(), None);
    }

    /// An answer was taken: what asked for it waits no longer.
    pub(super) fn answered(&mut self, interrupt: &str) {
        self.waiting.remove(interrupt);
    }

    /// The first events of a run. Results that came after the client had stopped listening are among them.
    pub(super) fn begin(&self, run: &str, state: &Value, open: &BTreeSet<String>) -> Vec<Value> {
        let mut events = vec![event(
            "RUN_STARTED",
            json!({ "threadId": self.session, "runId": run, "protocolVersion": VERSION }),
        )];
        events.extend(self.snapshot(state));
        let known = self.calls.iter().filter(|it| open.contains(&it.id));
        let known = known.filter(|it| self.followed.contains_key(&it.task));
        events.extend(known.filter_map(|it| it.result.clone()));
        events
    }

    /// The last events of a run.
    pub(super) fn end(&mut self, run: &str, state: &Value, outcome: Outcome) -> Vec<Value> {
        let mut events = self.close_all();
        let outcome = match outcome {
            Outcome::Error(code, message) => {
                events.push(event(
                    "RUN_ERROR",
                    json!({ "message": message, "code": code }),
                ));
                return events;
            }
            Outcome::Success => json!({ "type": "success" }),
            Outcome::Cancelled => json!({ "type": "cancelled" }),
            Outcome::Interrupt(interrupts) => {
                json!({ "type": "interrupt", "interrupts": interrupts })
            }
        };
        events.extend(self.snapshot(state));
        let tasks: Vec<&String> = self.followed.keys().collect();
        events.push(event(
            "RUN_FINISHED",
            json!({
                "threadId": self.session, "runId": run, "outcome": outcome, "result": { "taskIds": tasks },
            }),
        ));
        events
    }

    /// The state of the client, with what is known of the session added. A state that is no object stays the client's alone.
    fn snapshot(&self, state: &Value) -> Option<Value> {
        let mut snapshot = match state {
            Value::Null => json!({}),
            Value::Object(_) => state.clone(),
            _ => return None,
        };
        let tasks: Vec<&String> = self.followed.keys().collect();
        snapshot["monas"] = json!({
            "agent": self.agent, "session_id": self.session, "agent_state": self.state, "task_ids": tasks,
        });
        Some(event("STATE_SNAPSHOT", json!({ "snapshot": snapshot })))
    }

    /// How the run is over, if it is.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        if let Some(problem) = &self.fault {
            return Some(Outcome::Error("agent_fault".to_owned(), problem.clone()));
        }
        let mut ended = self.followed.values();
        if ended.clone().all(Option::is_some) {
            let worst = ended.clone().flatten().find(|it| **it != Outcome::Success);
            return worst.or_else(|| ended.next()?.as_ref()).cloned();
        }
        let waiting = self.waiting.values();
        let waiting = waiting.filter(|it| self.followed.contains_key(&it.task));
        let waiting: Vec<Value> = waiting.map(|it| it.interrupt.clone()).collect();
        (!waiting.is_empty()).then_some(Outcome::Interrupt(waiting))
    }

    /// Takes a message in that is from before the run.
    pub(super) fn recall(&mut self, message: &Envelope) {
        self.note(message);
        self.fault = None;
    }

    /// Takes a message in, and gives its events.
    pub(super) fn take(&mut self, message: &Envelope) -> Vec<Value> {
        self.note(message);
        let task = message.metadata.task_id.as_deref();
        if task.is_some_and(|it| !self.followed.contains_key(it)) {
            return Vec::new();
        }
        let payload = &message.payload;
        let mut events = Vec::new();
        match (message.kind, payload["action_type"].as_str()) {
            (MessageType::AgentAction, Some("reasoning")) => self.thought(message, &mut events),
            (MessageType::AgentAction, Some("tool_call")) => {
                events.extend(self.close_all());
                // Another thought may come to the same.
                self.reasoned.clear();
                let calls = payload["tool_calls"].as_array().into_iter().flatten();
                calls.for_each(|it| self.called(it, &mut events));
                // Calls of a later thought belong to its words.
                self.parent = None;
            }
            (MessageType::AgentAction, Some("response")) => {
                let words = words(&payload["content"]);
                events.extend(self.close_reasoning());
                self.say(&message.id, words, true, &mut events);
                events.extend(self.close_text());
            }
            (MessageType::ToolResult, _) => match payload["call_id"].as_str() {
                Some(call) => events.push(result(message, call)),
                // No call of this run was told before.
                None => events.push(custom("tool_result", payload)),
            },
            (MessageType::SystemEvent, _) => {
                let name = words(&payload["event"]);
                if !["session_restored", "error", "pong"].contains(&name) {
                    events.push(custom(name, &payload["data"]));
                }
            }
            (MessageType::WatchdogAlert, _) => events.push(custom("watchdog_alert", payload)),
            _ => {}
        }
        events
    }

    /// Keeps what later messages and runs need.
    fn note(&mut self, message: &Envelope) {
        let payload = &message.payload;
        self.state = json!(message.metadata.agent_state);
        let task = message.metadata.task_id.clone().unwrap_or_default();
        if !task.is_empty() {
            self.tasks.insert(task.clone());
        }
        match message.kind {
            MessageType::AgentAction => {
                for call in payload["tool_calls"].as_array().into_iter().flatten() {
                    self.calls.push(KnownCall {
                        id: words(&call["id"]).to_owned(),
                        task: task.clone(),
                        tool: words(&call["tool"]).to_owned(),
                        parameters: call["parameters"].clone(),
                        result: None,
                    });
                }
            }
            MessageType::ToolResult => {
                let id = words(&payload["call_id"]);
                if let Some(call) = self.calls.iter_mut().find(|it| it.id == id) {
                    call.result = Some(result(message, id));
                }
            }
            MessageType::ApprovalRequest => {
                let interrupt = self.interrupt(message, &task);
                let waiting = Waiting { task, interrupt };
                self.waiting.insert(message.id.clone(), waiting);
            }
            MessageType::SystemEvent => self.note_event(&task, payload),
            _ => {}
        }
    }

    fn note_event(&mut self, task: &str, payload: &Value) {
        let data = &payload["data"];
        let over = match words(&payload["event"]) {
            "approval_decided" | "question_answered" => {
                self.waiting.remove(words(&data["request_id"]));
                return;
            }
            "agent_error" => {
                self.fault = Some(words(&data["message"]).to_owned());
                return;
            }
            "task_completed" => Outcome::Success,
            "task_canceled" => Outcome::Cancelled,
            code @ ("task_failed" | "task_rejected") => {
                Outcome::Error(code.to_owned(), words(&data["message"]).to_owned())
            }
            _ => return,
        };
        self.calls.retain(|it| it.task != task);
        self.waiting.retain(|_, it| it.task != task);
        if let Some(ended) = self.followed.get_mut(task) {
            *ended = Some(over);
        }
    }

    fn interrupt(&self, message: &Envelope, task: &str) -> Value {
        let payload = &message.payload;
        let details = &payload["details"];
        if payload["action"] == "question" {
            return json!({
                "id": message.id,
                "reason": "input_required",
                "message": payload["description"],
                "responseSchema": { "type": "string" },
            });
        }
        let mut interrupt = json!({
            "id": message.id,
            "reason": "tool_call",
            "message": payload["description"],
            "responseSchema": {
                "type": "object",
                "properties": {
                    "approved": { "type": "boolean" },
                    "editedArgs": { "type": "object" },
                    "reason": { "type": "string" },
                },
                "required": ["approved"],
            },
            "metadata": { "action": payload["action"], "details": details },
        });
        if details["expires"].is_string() {
            interrupt["expiresAt"] = details["expires"].clone();
        }
        let fits = |call: &&KnownCall| {
            let mut members = call.parameters.as_object().into_iter().flatten();
            call.task == task
                && call.result.is_none()
                && call.tool == words(&payload["action"])
                && members.all(|(name, value)| details.get(name) == Some(value))
        };
        if let Some(call) = self.calls.iter().find(fits) {
            interrupt["toolCallId"] = call.id.as_str().into();
        }
        interrupt
    }

    /// A thought, or a piece of one.
    fn thought(&mut self, message: &Envelope, events: &mut Vec<Value>) {
        let payload = &message.payload;
        let content = words(&payload["content"]);
        let is_text = words(&payload["part"]) == TEXT;
        let whole = payload["partial"].is_null();
        let reasoning = match is_text {
            true => words(&payload["reasoning"]),
            false => content,
        };
        if !reasoning.trim().is_empty() {
            let id = format!("{}.{REASONING}", message.id);
            self.reason(&id, reasoning, whole, events);
        }
        if is_text {
            events.extend(self.close_reasoning());
            self.say(&message.id, content, whole, events);
        }
        if whole {
            // Pieces of the answer may be open, which comes with the end of the request.
            events.extend(self.close_reasoning());
            events.extend(is_text.then(|| self.close_text()).flatten());
        }
    }

    /// Tells a text as far as it is known; `whole`: it is all of it. A piece that comes late, or that does not go on where the
    /// text is, is left out: the whole follows.
    fn say(&mut self, id: &str, content: &str, whole: bool, events: &mut Vec<Value>) {
        let content = content.trim_start();
        if content.is_empty() || self.spoken.contains(id) {
            return;
        }
        let mut id = id.to_owned();
        if let Some(open) = &self.text {
            let same = open.id == id;
            if same && !open.fits(content) {
                if !whole {
                    return;
                }
                id.push_str(".whole");
            }
            if open.id != id {
                events.extend(self.close_text());
            }
        }
        let open = self.text.get_or_insert_with(|| {
            let start = json!({ "messageId": id, "role": "assistant" });
            events.push(event("TEXT_MESSAGE_START", start));
            OpenMessage::new(&id)
        });
        if let Some(delta) = open.more(content) {
            let content = json!({ "messageId": id, "delta": delta });
            events.push(event("TEXT_MESSAGE_CONTENT", content));
        }
        self.parent = Some(id);
    }

    /// Tells the reasoning as far as it is known. One that was told already, piece by piece, is not told again.
    fn reason(&mut self, id: &str, content: &str, whole: bool, events: &mut Vec<Value>) {
        let mut content = content.trim();
        if self.reasoning.is_none()
            && !self.reasoned.is_empty()
            && let Some(rest) = content.strip_prefix(&*self.reasoned)
        {
            if rest.trim().is_empty() || !whole {
                return;
            }
            content = rest.trim_start();
        }
        if self
            .reasoning
            .as_ref()
            .is_some_and(|it| it.id != id || !it.fits(content))
        {
            events.extend(self.close_reasoning());
        }
        let open = self.reasoning.get_or_insert_with(|| {
            let start = json!({ "messageId": id });
            events.push(event("REASONING_START", start));
            let start = json!({ "messageId": id, "role": "reasoning" });
            events.push(event("REASONING_MESSAGE_START", start));
            OpenMessage::new(id)
        });
        if let Some(delta) = open.more(content) {
            let content = json!({ "messageId": id, "delta": delta });
            events.push(event("REASONING_MESSAGE_CONTENT", content));
        }
    }

    fn called(&mut self, call: &Value, events: &mut Vec<Value>) {
        let id = &call["id"];
        let mut start = json!({ "toolCallId": id, "toolCallName": call["tool"] });
        if let Some(parent) = &self.parent {
            start["parentMessageId"] = parent.as_str().into();
        }
        let arguments = call["parameters"].to_string();
        events.push(event("TOOL_CALL_START", start));
        let arguments = json!({ "toolCallId": id, "delta": arguments });
        events.push(event("TOOL_CALL_ARGS", arguments));
        events.push(event("TOOL_CALL_END", json!({ "toolCallId": id })));
    }

    fn close_all(&mut self) -> Vec<Value> {
        let mut events = self.close_reasoning();
        events.extend(self.close_text());
        events
    }

    fn close_text(&mut self) -> Option<Value> {
        let open = self.text.take()?;
        let end = event("TEXT_MESSAGE_END", json!({ "messageId": open.id }));
        self.spoken.insert(open.id);
        Some(end)
    }

    fn close_reasoning(&mut self) -> Vec<Value> {
        let Some(open) = self.reasoning.take() else {
            return Vec::new();
        };
        self.reasoned = open.told.trim().to_owned();
        let end = json!({ "messageId": open.id });
        vec![
            event("REASONING_MESSAGE_END", end.clone()),
            event("REASONING_END", end),
        ]
    }
}

impl OpenMessage {
    fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            told: String::new(),
        }
    }

    /// Whether a text goes on where this one is. Space at an end is no difference.
    fn fits(&self, content: &str) -> bool {
        content.starts_with(self.told.trim_end()) || self.told.starts_with(content.trim_end())
    }

    /// The part of a fitting text that was not told yet.
    fn more(&mut self, content: &str) -> Option<String> {
        let rest = content.strip_prefix(&*self.told);
        let rest = rest.or_else(|| content.strip_prefix(self.told.trim_end()))?;
        if rest.is_empty() {
            return None;
        }
        let rest = rest.to_owned();
        self.told = content.to_owned();
        Some(rest)
    }
}

fn result(message: &Envelope, call: &str) -> Value {
    let payload = &message.payload;
    let result = json!({
        "messageId": message.id, "toolCallId": call, "content": payload["output"], "role": "tool",
    });
    event("TOOL_CALL_RESULT", result)
}

fn custom(name: &str, value: &Value) -> Value {
    event("CUSTOM", json!({ "name": name, "value": value }))
}

/// An event with its type and its time.
fn event(kind: &str, mut fields: Value) -> Value {
    fields["type"] = kind.into();
    fields["timestamp"] = now().into();
    fields
}

fn words(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
