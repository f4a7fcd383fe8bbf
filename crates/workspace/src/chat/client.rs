//! A client of `/ws/chat` that outlives its connections.
//!
//! It keeps one session. When the connection is cut it comes back, after 1 s at first and 30 s at most, restores the session
//! after the last cursor, and sends what was said meanwhile. Every message of the session is told once and in order; every
//! message of the user has a UUID, is kept in the outbox until the server has it, and is done once, since the server knows
//! the id again.
//!
//! Layout:
//! - `session_state`: what follows from each message and each cut; pure
//! - `driver`: the connection, the pauses between two of them, the heartbeat
//! - `received`: the messages of the server

use std::sync::Arc;
use std::time::Duration;

use axum::http::{Request, Uri};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::show::{now, timestamp};
use driver::Driver;
pub use received::Received;
use session_state::Outgoing;

mod driver;
mod received;
mod session_state;
#[cfg(test)]
#[path = "client/session_state_tests.rs"]
mod session_state_tests;

/// How many events wait to be read; then the connection is not read further.
const EVENTS: usize = 256;

/// How many messages wait to be sent.
pub const MAX_OUTBOX: usize = 1_024;

/// Why there is no connection, or why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The server is not there, or the connection was cut before it was ready. It is worth another try.
    #[error("reach {url}: {why}")]
    Unreachable { url: String, why: String },
    /// The server answered the handshake with a refusal. The same handshake would be refused again.
    #[error("open a chat at {url}: {status}: {why}")]
    Refused {
        url: String,
        status: u16,
        why: String,
    },
    /// The server does not tell this session to this caller.
    #[error("restore session {session:?}: {why}")]
    Session { session: String, why: String },
    /// The client was closed, or the server has refused its credentials.
    #[error("send the message: the chat is closed")]
    Closed,
    /// Too many messages wait for the connection.
    #[error("keep the message: {} messages wait for the connection", MAX_OUTBOX)]
    Full,
}

/// Adds what a server wants to see in a handshake: credentials, or a signature, which is made anew each time.
pub type Handshake = Arc<dyn Fn(&mut Request<()>) -> Result<(), String> + Send + Sync>;

/// The events of a client, in order.
#[derive(Clone)]
pub struct ClientSettings {
    /// The chat: `ws://HOST/ws/chat`, or `wss`; `?agent=ID` names another agent than the default one.
    pub url: Uri,
    /// The session that is kept. One that the server does not know begins with the first command.
    pub session: String,
    /// The message after which the session is told; without one it is told from its beginning.
    pub cursor: Option<super::Cursor>,
    pub dialer: dial::Dialer,
    pub handshake: Option<Handshake>,
    pub times: Times,
}

impl ClientSettings {
    pub fn new(url: Uri, session: impl Into<String>, dialer: dial::Dialer) -> Self {
        Self {
            url,
            session: session.into(),
            cursor: None,
            dialer,
            handshake: None,
            times: Times::default(),
        }
    }
}

impl std::fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientSettings")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// How long a client waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The bound of the first pause before a new connection; each further bound is doubled. A pause is between half of its
    /// bound and the bound, at random, so that many clients of one server do not come back at one moment.
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// How often the server is asked whether it is there. It is taken for gone when it said nothing until the next time.
    pub heartbeat: Duration,
    /// How long a handshake, and the writing of a message, may take.
    pub attempt: Duration,
    /// How long a client waits after a refusal because of the rate of its messages.
    pub limited: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(30),
            heartbeat: Duration::from_secs(30),
            attempt: Duration::from_secs(10),
            limited: Duration::from_secs(1),
        }
    }
}

/// An event of a session or of its connection.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// Everything that happened so far was told; these questions wait for an answer. It comes after every connection.
    Restored { waiting: Vec<String> },
    /// The next message of the session.
    Message(Received),
    /// Something that is not part of the session's record: a piece of a thought, progress, an alert. Such are not told again.
    Passing(Received),
    /// The server has this message of ours.
    Taken { id: String },
    /// The server refused this message of ours; it is not sent again.
    Refused {
        id: String,
        code: String,
        message: String,
    },
    /// The connection is gone, or could not be made; the next attempt is after the pause.
    Lost { why: String, pause: Duration },
    /// The server refuses this client: there is no other attempt, and no event after this one.
    Ended(Error),
}

/// A session of the chat, kept over all connections. Dropping it ends the connection.
#[derive(Debug)]
pub struct ChatClient {
    orders: mpsc::Sender<Outgoing>,
    events: mpsc::Receiver<ChatEvent>,
    session: String,
    _running: AbortOnDropHandle<()>,
}

impl ChatClient {
    /// Connects now and then as often as needed.
    pub fn start(settings: ClientSettings) -> Self {
        Self::with(settings, None)
    }

    /// The same after a first connection, whose failure is returned: so a caller learns whether there is a chat at all.
    pub async fn connect(settings: ClientSettings) -> Result<Self, Error> {
        let socket = driver::open(&settings).await?;
        Ok(Self::with(settings, Some(socket)))
    }

    fn with(settings: ClientSettings, socket: Option<driver::Socket>) -> Self {
        let (orders, taken) = mpsc::channel(MAX_OUTBOX);
        let (told, events) = mpsc::channel(EVENTS);
        let session = settings.session.clone();
        let driver = Driver::new(settings, taken, told);
        Self {
            orders,
            events,
            session,
            _running: AbortOnDropHandle::new(tokio::spawn(driver.run(socket))),
        }
    }

    pub fn session(&self) -> &str {
        &self.session
    }

    /// The next event; `None` after [`ChatEvent::Ended`].
    pub async fn next(&mut self) -> Option<ChatEvent> {
        self.events.recv().await
    }

    /// Says something to the agent, now or when there is a connection. Gives the id of the message.
    pub fn say(&self, command: &str) -> Result<String, Error> {
        self.send("user_command", &json!({ "command": command }), None)
    }

    /// Answers what waits under an id: an object with `decision` (`approve`, `reject`, `modify` with `modified`), or with
    /// `answer` in words.
    pub fn answer(&self, request: &str, answer: Value) -> Result<String, Error> {
        let mut payload = match answer {
            answer @ Value::Object(_) => answer,
            words => json!({ "answer": words }),
        };
        payload["request_id"] = request.into();
        self.send("approval_response", &payload, Some(request.to_owned()))
    }

    fn send(&self, kind: &str, payload: &Value, request: Option<String>) -> Result<String, Error> {
        let id = uuid::Uuid::new_v4().to_string();
        let message = json!({
            "id": id,
            "type": kind,
            "timestamp": timestamp(now()),
            "source": "user",
            "payload": payload,
            "metadata": { "session_id": self.session },
        });
        let sent = self
            .orders
            .try_send(Outgoing::new(id.clone(), message, request));
        sent.map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::Full,
            mpsc::error::TrySendError::Closed(_) => Error::Closed,
        })?;
        Ok(id)
    }
}
