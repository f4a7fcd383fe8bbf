//! `/ws/chat`: people and their programs talk with an agent over a WebSocket.
//!
//! A session is a conversation of its caller (A2A's context id), told from the agent's journal: nothing that was said or
//! done is stored for the chat. Every message of the server has a cursor, and a client that hands one back gets what follows
//! it, in order and under the same ids, also after a restart of the server.
//!
//! Layout:
//! - `envelope`, `incoming`: the messages of the server, and those of clients with an exact error for each fault
//! - `show`: moments of a conversation as messages
//! - `feed`, `window`: one follower of the journal for all windows, and one window on a session
//! - `connection`: what one client says and is shown; `socket`: the same over a WebSocket
//! - [`client`]: the other end, which outlives its connections
//! - `sessions`, `history`: what is kept of a session, and what happened in it

use std::sync::Arc;

use a2a::service::{Call, Service};
use a2a::types::{
    Answer as Sent, Message, Part, Role, SendMessageConfiguration, SendMessageRequest, Struct,
};
use access::{Calls, Origin, Principal};
use agent::{AgentHandle, Owner, Population};
use axum::http::StatusCode;
use serde_json::{Value, json};
use skill::Registry;
use store::Store;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::api::files::Projects;
use crate::api::{Caller, Failure, Rights};
use crate::changed::ChangeFeeds;
use feed::Feeds;
use incoming::{Attached, Command};
pub(crate) use sessions::Sessions;

pub mod client;
pub(crate) mod connection;
pub(crate) mod envelope;
mod feed;
mod history;
pub(crate) mod incoming;
pub(crate) mod sessions;
pub(crate) mod show;
mod socket;
mod window;

pub use envelope::{Cursor, Envelope, MessageType, Metadata, Priority, Source};
pub use sessions::TABLES;

/// How many notices of the watchdog a slow follower may be behind.
const ALERTS: usize = 256;

/// What the chat needs of a server.
#[derive(Clone)]
pub struct ChatParts {
    pub population: Population,
    /// Where commands are sent.
    pub service: Arc<dyn Service>,
    pub rights: Rights,
    pub store: Store,
    pub calls: Calls,
    /// The longest frame of a client, in bytes.
    pub max_frame: usize,
    /// What is configured for an agent, by its id.
    pub about: Arc<dyn Fn(&str) -> AboutAgent + Send + Sync>,
    /// The skills of an agent, by its id.
    pub skills: Arc<dyn Fn(&str) -> Registry + Send + Sync>,
}

/// What is configured for an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AboutAgent {
    /// The name of the model that answers; none: rules do.
    pub model: Option<String>,
    /// The ids of its skills.
    pub skills: Vec<String>,
    /// Those that a person is asked about.
    pub marked: std::collections::BTreeSet<String>,
}

impl std::fmt::Debug for ChatParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatParts").finish_non_exhaustive()
    }
}

/// The chat of a server. Clones are the same chat.
#[derive(Clone, Debug)]
pub struct Chat(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    parts: ChatParts,
    feeds: Feeds,
    changes: ChangeFeeds,
    sessions: Sessions,
    /// Notices of the watchdog, for those who follow them.
    alerts: broadcast::Sender<Arc<Value>>,
    /// The connections.
    sockets: TaskTracker,
    stopping: CancellationToken,
}

impl Chat {
    pub fn new(parts: ChatParts) -> Self {
        let sessions = Sessions::new(parts.store.clone());
        Self(Arc::new(Inner {
            parts,
            feeds: Feeds::default(),
            changes: ChangeFeeds::default(),
            sessions,
            alerts: broadcast::channel(ALERTS).0,
            sockets: TaskTracker::new(),
            stopping: CancellationToken::new(),
        }))
    }

    /// The route of the WebSocket. It is to be put behind an access check.
    pub fn routes(&self, projects: Projects) -> axum::Router {
        socket::routes(self.clone(), projects)
    }

    /// The files of projects that change.
    pub(crate) fn changes(&self) -> &ChangeFeeds {
        &self.0.changes
    }

    /// Tells all clients that the server stops, and waits until their connections are closed.
    pub async fn stop(&self) {
        self.0.stopping.cancel();
        self.0.sockets.close();
        self.0.sockets.wait().await;
        self.0.feeds.close().await;
    }

    /// Ends when the server stops.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.0.stopping.clone()
    }

    /// Runs beside its caller; the server waits for it when it stops.
    pub(crate) fn track(&self, running: impl Future<Output = ()> + Send + 'static) {
        self.0.sockets.spawn(running);
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.0.sessions
    }

    pub(crate) fn parts(&self) -> &ChatParts {
        &self.0.parts
    }

    /// The agent that a caller names, if it may use it.
    pub(crate) async fn agent(
        &self,
        caller: &Caller,
        named: Option<&str>,
    ) -> Result<AgentHandle, Failure> {
        let parts = &self.0.parts;
        let id = parts.rights.agent(caller, named)?;
        let found = parts.population.find(id).await;
        found.map_err(crate::api::agent::failure)
    }

    /// The same of an agent that can be talked with. A plain agent of skills keeps no journal of what it is asked.
    pub(crate) async fn thinking_agent(
        &self,
        caller: &Caller,
        named: Option<&str>,
    ) -> Result<AgentHandle, Failure> {
        let agent = self.agent(caller, named).await?;
        match agent.thinks() {
            true => Ok(agent),
            false => {
                let why = format!(
                    "agent {:?} cannot be talked with: it has no law and answers calls of its skills alone, over A2A, MCP and ACP",
                    agent.id()
                );
                Err(Failure::new(StatusCode::CONFLICT, "no_chat", why))
            }
        }
    }

    /// Tells those who follow all alerts. Without followers it does nothing.
    pub(crate) fn tell_alert(&self, notice: Value) {
        let _ = self.0.alerts.send(Arc::new(notice));
    }

    /// Follows the notices of the watchdog from now on.
    pub(crate) fn alerts(&self) -> broadcast::Receiver<Arc<Value>> {
        self.0.alerts.subscribe()
    }

    /// Shows an alert of the watchdog to the windows that are open on a conversation. It is no part of the session's record.
    pub(crate) async fn pass_alert(
        &self,
        agent: &str,
        owner: &Owner,
        payload: Value,
        severe: bool,
        task: Option<String>,
    ) {
        let Some(feed) = self.0.feeds.begun(agent).await else {
            return;
        };
        let place = show::SessionAddress {
            agent: agent.to_owned(),
            session: owner.conversation.clone(),
        };
        // Each window puts in its own state and cursor: a cursor ahead of what a client has would make it miss messages.
        let message = place.passing(show::Passing {
            id: None,
            kind: MessageType::WatchdogAlert,
            payload,
            state: agent::State::Idle,
            priority: if severe {
                Priority::High
            } else {
                Priority::Low
            },
            task,
            cursor: Cursor::default(),
        });
        feed.pass(owner, &Arc::new(message));
    }

    /// Sends a command to an agent, in a session. What comes of it is told by the journal.
    pub(crate) async fn command(&self, asked: AskedCommand) -> Result<String, a2a::Error> {
        let AskedCommand {
            caller,
            origin,
            agent,
            session,
            id,
            command,
        } = asked;
        let first = agent.last_event().await;
        let first = first.map_err(|error| a2a::Error::Unavailable(error.to_string()))?;
        let owner = Owner {
            caller: caller.to_string(),
            conversation: session.clone(),
        };
        let begun = self
            .0
            .sessions
            .begin(&owner, agent.id(), first, &command.command);
        begun
            .await
            .map_err(|error| a2a::Error::Unavailable(format!("keep the session: {error}")))?;
        let tenant = match self.0.parts.rights.is_default(agent.id()) {
            true => String::new(),
            false => agent.id().to_owned(),
        };
        let request = SendMessageRequest {
            tenant,
            message: Some(message(&session, id, command)),
            configuration: Some(SendMessageConfiguration {
                return_immediately: true,
                ..SendMessageConfiguration::default()
            }),
            metadata: None,
        };
        let mut call = Call::by(caller).repeatable();
        call.always_task = true;
        call.origin = origin;
        let sent = self.0.parts.service.send_message(call, request).await?;
        Ok(match sent.payload {
            Sent::Task(task) => task.id,
            Sent::Message(message) => message.task_id,
            Sent::Unset => String::new(),
        })
    }
}

/// A command, with what is known of its caller.
#[derive(Debug)]
pub(crate) struct AskedCommand {
    pub(crate) caller: Principal,
    pub(crate) origin: Origin,
    pub(crate) agent: AgentHandle,
    pub(crate) session: String,
    pub(crate) id: String,
    pub(crate) command: Command,
}

/// A command as a message of A2A: its text, its attachments, and what is shown of it again.
fn message(session: &str, id: String, command: Command) -> Message {
    let mut note = json!({ "command": command.command });
    let mut parts = vec![Part::text(command.command)];
    let mut attached = Vec::new();
    for it in command.attachments {
        let (mut part, size) = match it.content {
            Attached::Text(text) => {
                let size = text.len();
                (Part::text(format!("{}:\n{text}", it.name)), size)
            }
            Attached::Bytes(bytes) => {
                let size = bytes.len();
                (Part::raw(bytes), size)
            }
        };
        attached.push(json!({ "name": it.name, "media_type": it.media_type, "size": size }));
        part.filename = it.name;
        part.media_type = it.media_type;
        parts.push(part);
    }
    note["attachments"] = Value::from(attached);
    let urgent = command.urgency.as_deref().map(|urgency| match urgency {
        "immediate" | "high" => Priority::High,
        "low" => Priority::Low,
        _ => Priority::Normal,
    });
    if let Some(context) = command.context {
        note["context"] = context.into();
    }
    if let Some(urgency) = command.urgency {
        note["urgency"] = urgency.into();
    }
    let mut metadata = vec![(agent::NOTE, note)];
    if let Some(priority) = command.priority.or(urgent) {
        metadata.push((agent::PRIORITY, priority.number().into()));
    }
    Message {
        message_id: id,
        context_id: session.to_owned(),
        role: Role::User,
        parts,
        metadata: Some(Struct::from_iter(metadata)),
        ..Message::default()
    }
}
