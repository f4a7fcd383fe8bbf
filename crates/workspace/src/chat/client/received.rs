//! A message of the server, as a client reads it.

use serde_json::Value;

use crate::chat::envelope::{Cursor, MessageType};

/// A message of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    pub id: String,
    pub kind: MessageType,
    pub timestamp: String,
    pub payload: Value,
    pub session: String,
    /// `idle`, `thinking`, `executing`, `awaiting_approval` or `error`.
    pub state: String,
    pub task: Option<String>,
    pub cursor: Cursor,
}

/// The events that are not part of the record of a session.
const PASSING: [&str; 4] = ["pong", "progress", "session_restored", "error"];

impl Received {
    /// Reads a message; `None` if it is none, or of a type that a later server may have.
    pub(super) fn read(message: &Value) -> Option<Self> {
        let text = |path: &str| message.pointer(path)?.as_str().map(str::to_owned);
        let named = text("/type")?;
        let kind = MessageType::ALL.iter().find(|(name, _)| *name == named)?.1;
        Some(Self {
            id: text("/id")?,
            kind,
            timestamp: text("/timestamp").unwrap_or_default(),
            payload: message.get("payload").cloned().unwrap_or_default(),
            session: text("/metadata/session_id")?,
            state: text("/metadata/agent_state").unwrap_or_default(),
            task: text("/metadata/task_id"),
            cursor: Cursor::read(&text("/metadata/cursor")?)?,
        })
    }

    /// Whether it is part of the record of its session. Only the cursors of such messages say how far a client is: others
    /// have the cursor of the last message that was recorded, which may still be on its way.
    pub(super) fn is_recorded(&self) -> bool {
        match self.kind {
            MessageType::WatchdogAlert => false,
            MessageType::SystemEvent => !self.event().is_some_and(|it| PASSING.contains(&it)),
            _ => self.payload.get("partial").is_none(),
        }
    }

    /// The name of a `system_event`.
    pub fn event(&self) -> Option<&str> {
        let event = (self.kind == MessageType::SystemEvent).then(|| self.text("event"));
        event.flatten()
    }

    /// The `action_type` of an `agent_action`.
    pub fn action(&self) -> Option<&str> {
        let action = (self.kind == MessageType::AgentAction).then(|| self.text("action_type"));
        action.flatten()
    }

    /// A text of the payload.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.payload.get(field)?.as_str()
    }

    /// A text of the data of a `system_event`.
    pub fn data(&self, field: &str) -> Option<&str> {
        self.payload.get("data")?.get(field)?.as_str()
    }
}
