//! A client of any agent: it reads the agent's card, chooses a wire and calls operations.
//!
//! ```no_run
//! # async fn example() -> Result<(), a2a::client::Error> {
//! use a2a::client::Client;
//! use a2a::types::{Message, SendMessageRequest};
//!
//! let client = Client::discover("http://127.0.0.1:8080", Default::default()).await?;
//! let message = Message::user("m-1", "hello");
//! let answer = client.send_message(SendMessageRequest::from(message)).await?;
//! # let _ = answer; Ok(()) }
//! ```
//!
//! Every row of the [table](crate::operation::TABLE) is a method of [`Client`], over every binding and in both
//! versions of the protocol. A wire that cannot be reached is left for the next one that the card lists. What
//! may be repeated is repeated when a connection was lost, and a stream goes on behind its last event.
//!
//! Layout:
//! - `settings`: who calls, what is preferred, how long to wait
//! - `card`: the card, found and read in either version
//! - `endpoint`: the wires that a card lists, best first, and what is spoken over each
//! - `channel`: what a binding does for a client
//! - `dial`: connections, plain and encrypted
//! - `events`: streams that outlive connections
//! - `error`: what goes wrong

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ::dial::{Backoff, Jitter};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::operation::{self, Operation};
use crate::service::REPEATABLE;
use crate::types::wire::WireMessage;
use crate::types::{AgentCard, StreamResponse, SubscribeToTaskRequest};

mod card;
#[cfg(test)]
#[path = "client/card_tests.rs"]
mod card_tests;
pub(crate) mod channel;
pub(crate) mod dial;
mod endpoint;
#[cfg(test)]
#[path = "client/endpoint_tests.rs"]
mod endpoint_tests;
mod error;
mod events;
mod settings;

pub use crate::version::Version;
pub use ::dial::{Identity, Trust};
pub use endpoint::AgentEndpoint;
pub use error::{Error, Refusal};
pub use events::Events;
pub use settings::{Heard, Settings, Tap};

use channel::Reply;
use endpoint::Spoken;

/// An agent somewhere, and the wires to it. Clones share connections.
///
/// The card lists interfaces: a binding, a version and an address each. At construction they become a list of wires,
/// best first: those that the settings name, in their order, otherwise in the order of the card, and 1.0 before 0.3.
/// Nothing is connected yet; each wire connects with its first call and keeps its connection.
///
/// A call begins with the wire that answered last. Only *unreachable*, which means that no byte was sent, leads to the
/// next wire: then the call cannot have been performed. A connection that breaks later, or a reply that does not come
/// in time, leads to no other wire at once, since the agent may be at work. Such a call is repeated after a pause only
/// if that does no harm: the operation is safe, or it is a send and the agent's card promises that a repeated message
/// gets the first answer, for which the client asks with every call. Everything else is returned to the caller as *lost*
/// or *late*.
///
/// Falling back on any error would be the obvious way; it would perform sends twice on agents that do not recognise
/// repetitions.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    card: AgentCard,
    raw: Value,
    settings: Settings,
    /// Best first; there is at least one.
    spoken: Vec<Spoken>,
    /// The one that answered last.
    current: AtomicUsize,
}

impl Client {
    /// Fetches the card of the agent at an address and gets ready to call it. The address is that of the
    /// agent's host, of a folder, or of the card itself.
    pub async fn discover(url: &str, settings: Settings) -> Result<Self, Error> {
        let dialer = dial::Dialer::new(&settings)?;
        let found = card::fetch(&dialer, url).await?;
        Self::ready(found, settings, dialer)
    }

    /// Gets ready to call the agent of a card, as JSON in either version.
    pub fn of_card(card: Value, settings: Settings) -> Result<Self, Error> {
        let dialer = dial::Dialer::new(&settings)?;
        Self::ready(card::read(card, None)?, settings, dialer)
    }

    fn ready(
        found: card::FetchedCard,
        mut settings: Settings,
        dialer: dial::Dialer,
    ) -> Result<Self, Error> {
        let found = match &settings.trusted {
            Some(trusted) => found.verified(trusted)?,
            None => found,
        };
        // Without it a repeated message is a new one to the agent.
        if offers_repetition(&found.card) && !settings.extensions.iter().any(|it| it == REPEATABLE)
        {
            settings.extensions.push(REPEATABLE.to_owned());
        }
        let endpoints = endpoint::choose(&found.card, &settings, found.secure)?;
        let dialer = Arc::new(dialer);
        let spoken = endpoints
            .into_iter()
            .map(|endpoint| Spoken::new(endpoint, &dialer));
        Ok(Self(Arc::new(Inner {
            card: found.card,
            raw: found.raw,
            settings,
            spoken: spoken.collect::<Result<_, _>>()?,
            current: AtomicUsize::new(0),
        })))
    }

    pub fn card(&self) -> &AgentCard {
        &self.0.card
    }

    /// The card as it came, with all that only its writer knows.
    pub fn raw_card(&self) -> &Value {
        &self.0.raw
    }

    /// The wire in use: the one that answered last, at first the best.
    pub fn endpoint(&self) -> &AgentEndpoint {
        &self.0.spoken[self.0.current.load(Ordering::Relaxed)].endpoint
    }

    /// Calls an operation that has one reply.
    pub(crate) async fn one<Q: WireMessage, R: WireMessage>(
        &self,
        operation: &'static Operation,
        request: Q,
    ) -> Result<R, Error> {
        match self.call(operation, &request, None).await? {
            Reply::One(reply) => reply.read(),
            Reply::Many(_) => Err(Error::unclear("a stream where one answer was expected")),
        }
    }

    /// Calls an operation that has a stream of replies.
    pub(crate) async fn many<Q: WireMessage>(
        &self,
        operation: &'static Operation,
        request: Q,
    ) -> Result<Events, Error> {
        Events::open(self.clone(), operation, request, None).await
    }

    /// What happened to a task behind a cursor, then what happens to it: a stream that was left, taken up again.
    pub async fn resume_task(
        &self,
        request: SubscribeToTaskRequest,
        cursor: u64,
    ) -> Result<Events, Error> {
        let row = operation::following().expect("the table has a row that follows a task");
        Events::open(self.clone(), row, request, Some(cursor)).await
    }

    /// Calls an operation: over the next wire if the first cannot be reached, and again if it is safe to repeat.
    pub(crate) async fn call<Q: WireMessage>(
        &self,
        operation: &'static Operation,
        request: &Q,
        cursor: Option<u64>,
    ) -> Result<Reply, Error> {
        let mut pauses = self.pauses();
        loop {
            let error = match self.round(operation, request, cursor).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let again = match &error {
                Error::Unreachable { .. } => true,
                error => error.is_passing() && self.may_repeat(operation),
            };
            match pauses.next() {
                Some(pause) if again => sleep(pause).await,
                _ => return Err(error),
            }
        }
    }

    /// Tries each wire once, beginning with the one that answered last, until one can be reached.
    async fn round<Q: WireMessage>(
        &self,
        operation: &'static Operation,
        request: &Q,
        cursor: Option<u64>,
    ) -> Result<Reply, Error> {
        let Inner {
            spoken, current, ..
        } = &*self.0;
        let first = current.load(Ordering::Relaxed);
        let mut nobody = None;
        for at in (first..spoken.len()).chain(0..first) {
            let calling = spoken[at].call(operation, request, cursor, &self.0.settings);
            let called = match timeout(self.0.settings.time, calling).await {
                Ok(called) => called,
                Err(_) => Err(Error::Late(self.0.settings.time)),
            };
            match called {
                Err(error @ Error::Unreachable { .. }) => nobody = Some(error),
                called => {
                    current.store(at, Ordering::Relaxed);
                    return called;
                }
            }
        }
        Err(nobody.unwrap_or_else(|| Error::unclear("the card lists no address")))
    }

    /// Whether an operation does no harm when it is performed twice.
    fn may_repeat(&self, operation: &Operation) -> bool {
        operation.is_safe() || (operation.is_send() && offers_repetition(&self.0.card))
    }

    /// How long to wait before each further attempt.
    pub(crate) fn pauses(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        let Settings {
            attempts, pause, ..
        } = self.0.settings;
        let mut backoff = Backoff::new(pause, LONGEST, Jitter::Half);
        (1..attempts).map(move |_| backoff.next_pause())
    }
}

/// Whether a repeated message gets the answer of the first time.
fn offers_repetition(card: &AgentCard) -> bool {
    let offered = card.capabilities.iter().flat_map(|it| &it.extensions);
    offered.into_iter().any(|it| it.uri == REPEATABLE)
}

/// The longest pause between two attempts.
const LONGEST: Duration = Duration::from_secs(30);

/// Something that arrived, and how it is written.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) format: crate::event::Format,
    pub(crate) bytes: bytes::Bytes,
}

impl Body {
    fn read<T: WireMessage>(self) -> Result<T, Error> {
        let read = match self.format {
            // Where nothing is expected, it is written in several ways.
            crate::event::Format::Json
                if matches!(self.bytes.trim_ascii(), b"" | b"null")
                    && T::describe().fields().next().is_none() =>
            {
                Ok(T::default())
            }
            crate::event::Format::Json => T::from_json(&self.bytes),
            crate::event::Format::Protobuf => T::from_protobuf(self.bytes),
        };
        read.map_err(|error| Error::unclear(format!("{}: {error}", T::describe().name)))
    }

    fn event(self) -> Result<StreamResponse, Error> {
        self.read()
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("agent", &self.0.card.name)
            .field("endpoint", self.endpoint())
            .finish_non_exhaustive()
    }
}
