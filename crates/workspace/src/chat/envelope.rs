//! The message of the chat: one envelope for everything that a client and the server say to each other.

use agent::State;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A message of the server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Envelope {
    /// A UUID, version 4. What is replayed has the same id again.
    pub id: String,
    #[serde(rename = "type")]
    pub kind: MessageType,
    /// RFC 3339, in UTC, with milliseconds.
    pub timestamp: String,
    pub source: Source,
    pub payload: Value,
    pub metadata: Metadata,
}

/// What is said around a payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Metadata {
    pub session_id: String,
    pub agent_state: State,
    pub priority: Priority,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Where the session goes on after this message.
    pub cursor: Cursor,
}

/// The types of messages, of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageType {
    AgentAction,
    UserCommand,
    SystemEvent,
    WatchdogAlert,
    ApprovalRequest,
    ApprovalResponse,
    ToolResult,
    Ping,
    RestoreSession,
}

impl MessageType {
    pub(super) const ALL: [(&str, Self); 9] = [
        ("agent_action", Self::AgentAction),
        ("user_command", Self::UserCommand),
        ("system_event", Self::SystemEvent),
        ("watchdog_alert", Self::WatchdogAlert),
        ("approval_request", Self::ApprovalRequest),
        ("approval_response", Self::ApprovalResponse),
        ("tool_result", Self::ToolResult),
        ("ping", Self::Ping),
        ("restore_session", Self::RestoreSession),
    ];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(_, it)| *it == self)
            .map_or("", |(name, _)| *name)
    }
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Agent,
    User,
    System,
    Watchdog,
}

/// How much a message matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    Low,
    Normal,
    High,
    Critical,
}

impl Priority {
    pub(super) const ALL: [(&str, Self); 4] = [
        ("low", Self::Low),
        ("normal", Self::Normal),
        ("high", Self::High),
        ("critical", Self::Critical),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|(it, _)| *it == name).map(|(_, it)| *it)
    }

    /// The priority of a request, from 0 to 100.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Low => 25,
            Self::Normal => 50,
            Self::High => 75,
            Self::Critical => 100,
        }
    }

    pub(super) fn of(number: u8) -> Self {
        match number {
            0..40 => Self::Low,
            40..65 => Self::Normal,
            65..90 => Self::High,
            _ => Self::Critical,
        }
    }
}

/// A place in a session: the event of the agent's journal, and the message among those that the event led to. On the wire
/// it is a text, which clients hand back as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub(super) event: u64,
    pub(super) index: u32,
}

impl Cursor {
    /// The event of the agent's journal that the message tells of.
    pub fn event(self) -> u64 {
        self.event
    }

    /// Reads a cursor as it was handed out.
    pub fn read(text: &str) -> Option<Self> {
        let (event, index) = text.split_once('.')?;
        Some(Self {
            event: event.parse().ok()?,
            index: index.parse().ok()?,
        })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.event, self.index)
    }
}

impl Serialize for Cursor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A UUID, version 4, that is the same whenever it is made of the same parts.
pub(crate) fn stable_id(parts: &[&str]) -> String {
    let hash = Sha256::digest(parts.join("\n"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    let id = uuid::Builder::from_random_bytes(bytes);
    id.into_uuid().to_string()
}

/// Whether a text is a UUID of version 4 in its usual form.
pub(crate) fn is_uuid_v4(text: &str) -> bool {
    let read = uuid::Uuid::try_parse(text);
    text.len() == 36 && read.is_ok_and(|it| it.get_version_num() == 4)
}
