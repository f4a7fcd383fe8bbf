//! The knowledge of a client about its session, and the consequences of each message and each cut. It has no socket and no clock.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::{ChatEvent, Error, MAX_OUTBOX, Received};
use crate::chat::envelope::{Cursor, MessageType};

/// The codes of refusals after which the same message may be taken.
const TRANSIENT: [&str; 3] = ["rate_limited", "budget_exceeded", "failed"];

/// A message of ours on its way to the server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outgoing {
    id: String,
    message: Value,
    /// The question that it answers.
    request: Option<String>,
    /// How often it was sent.
    sent: u32,
    /// The id of the ping that was sent behind it over this connection.
    ping: Option<String>,
}

impl Outgoing {
    pub(super) fn new(id: String, message: Value, request: Option<String>) -> Self {
        Self {
            id,
            message,
            request,
            sent: 0,
            ping: None,
        }
    }

    /// Whether the session's record tells that this answer was given: the same question, and not another decision, which
    /// another answer made.
    fn is_settled_by(&self, received: &Received) -> bool {
        let told = match received.event() {
            Some("approval_decided") => received.data("decision"),
            Some("question_answered") => None,
            _ => return false,
        };
        let given = self.message["payload"]["decision"].as_str();
        // What is approved with changes is approved.
        let given = given.map(|it| if it == "modify" { "approve" } else { it });
        let differs = told.is_some() && given.is_some() && told != given;
        self.request.is_some() && self.request.as_deref() == received.data("request_id") && !differs
    }
}

/// The consequences of a message or a cut.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Step {
    /// Messages to send.
    pub(super) frames: Vec<Value>,
    /// Events for the user of the client.
    pub(super) events: Vec<ChatEvent>,
    /// Nothing is sent for a while, since the server wants it so; then [`SessionState::go_on`] says what is.
    pub(super) pause: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    Cut,
    /// The session is told again, after the message with this id.
    Restoring(String),
    Live,
}

/// The session of a client: how far it was told, and what is to be sent.
///
/// One message of ours is on its way at a time, so that the server gets them in order also when it refuses one for a
/// moment. Behind it goes a ping: a server takes the messages of one connection one after the other, so the answer to the
/// ping says that the message was taken, unless it was refused before. The message itself says so as well when it is told
/// among those of the session; but not every message is: the word that answers a question becomes a decision.
///
/// After a cut nothing is sent before the session is restored. A message that the server had taken is among what is told
/// then, and is not sent again. One that it takes just now, over the connection that was cut, is sent a second time under
/// the same id and done once.
#[derive(Debug)]
pub(super) struct SessionState {
    session: String,
    /// The cursor of the last message that was told.
    last: Option<Cursor>,
    outbox: VecDeque<Outgoing>,
    phase: Phase,
    /// The server refused something for a moment.
    paused: bool,
}

impl SessionState {
    pub(super) fn new(session: String, last: Option<Cursor>) -> Self {
        Self {
            session,
            last,
            outbox: VecDeque::new(),
            phase: Phase::Cut,
            paused: false,
        }
    }

    /// A connection is open.
    pub(super) fn connected(&mut self) -> Step {
        self.paused = false;
        let mut step = Step::default();
        self.restore(&mut step);
        step
    }

    /// The connection is gone.
    pub(super) fn lost(&mut self) {
        self.phase = Phase::Cut;
        self.outbox.iter_mut().for_each(|it| it.ping = None);
    }

    /// The user said something.
    pub(super) fn say(&mut self, outgoing: Outgoing) -> Step {
        let mut step = Step::default();
        if self.outbox.len() >= MAX_OUTBOX {
            step.events.push(ChatEvent::Refused {
                id: outgoing.id,
                code: "outbox_full".to_owned(),
                message: Error::Full.to_string(),
            });
            return step;
        }
        self.outbox.push_back(outgoing);
        self.send(&mut step);
        step
    }

    /// The pause is over.
    pub(super) fn go_on(&mut self) -> Step {
        let mut step = Step::default();
        if !std::mem::take(&mut self.paused) {
            return step;
        }
        match self.phase {
            Phase::Restoring(_) => self.restore(&mut step),
            Phase::Live | Phase::Cut => self.send(&mut step),
        }
        step
    }

    /// A message for the heartbeat.
    pub(super) fn ping() -> Value {
        json!({ "type": "ping" })
    }

    /// Takes a message of the server.
    pub(super) fn take(&mut self, message: &Value) -> Step {
        let mut step = Step::default();
        let Some(received) = Received::read(message) else {
            return step;
        };
        if received.is_recorded() {
            self.record(received, &mut step);
        } else {
            self.pass(received, &mut step);
        }
        self.send(&mut step);
        step
    }

    fn record(&mut self, received: Received, step: &mut Step) {
        let is_own = received.session == self.session;
        if !is_own || self.last.is_some_and(|last| received.cursor <= last) {
            return;
        }
        self.last = Some(received.cursor);
        let said = (received.kind == MessageType::UserCommand).then_some(&*received.id);
        let at = self.outbox.iter().position(|it| {
            said.is_some_and(|id| it.id == id) || it.sent > 0 && it.is_settled_by(&received)
        });
        let taken = at.and_then(|at| self.outbox.remove(at));
        step.events.push(ChatEvent::Message(received));
        step.events
            .extend(taken.map(|it| ChatEvent::Taken { id: it.id }));
    }

    fn pass(&mut self, received: Received, step: &mut Step) {
        let reply_to = received.data("in_reply_to").unwrap_or_default();
        match received.event() {
            Some("session_restored") => self.restored(&received, step),
            Some("pong") => self.answered(reply_to, step),
            Some("error") => {
                let code = received.data("code").unwrap_or_default();
                let why = received.data("message").unwrap_or_default();
                self.refused(reply_to, code, why, step);
            }
            _ if received.session == self.session => step.events.push(ChatEvent::Passing(received)),
            _ => {}
        }
    }

    fn restored(&mut self, received: &Received, step: &mut Step) {
        if received.session != self.session || !matches!(self.phase, Phase::Restoring(_)) {
            return;
        }
        self.phase = Phase::Live;
        let waiting = received.payload.pointer("/data/waiting");
        let waiting = waiting.and_then(Value::as_array).into_iter().flatten();
        step.events.push(ChatEvent::Restored {
            waiting: waiting
                .filter_map(|it| it.as_str().map(str::to_owned))
                .collect(),
        });
    }

    /// The ping behind the first message was answered: the server has the message.
    fn answered(&mut self, ping: &str, step: &mut Step) {
        let head = self.outbox.front();
        if head.is_some_and(|it| it.ping.as_deref() == Some(ping)) {
            let taken = self.outbox.pop_front();
            step.events
                .extend(taken.map(|it| ChatEvent::Taken { id: it.id }));
        }
    }

    fn refused(&mut self, id: &str, code: &str, why: &str, step: &mut Step) {
        let transient = TRANSIENT.contains(&code);
        if matches!(&self.phase, Phase::Restoring(restore) if restore == id) {
            match transient {
                true => self.pause(step),
                false => step.events.push(ChatEvent::Ended(Error::Session {
                    session: self.session.clone(),
                    why: why.to_owned(),
                })),
            }
            return;
        }
        let Some(head) = self.outbox.front_mut() else {
            return;
        };
        if transient && head.ping.as_deref() == Some(id) {
            // It is an answer to the ping all the same.
            return self.answered(id, step);
        }
        if head.id != id {
            return;
        }
        head.ping = None;
        if transient {
            return self.pause(step);
        }
        // An answer that was sent twice finds no question the second time.
        let twice = head.sent > 1 && head.request.is_some();
        let done = twice && matches!(code, "not_found" | "conflict");
        let id = id.to_owned();
        self.outbox.pop_front();
        step.events.push(match done {
            true => ChatEvent::Taken { id },
            false => ChatEvent::Refused {
                id,
                code: code.to_owned(),
                message: why.to_owned(),
            },
        });
    }

    fn pause(&mut self, step: &mut Step) {
        self.paused = true;
        step.pause = true;
    }

    fn restore(&mut self, step: &mut Step) {
        let id = uuid::Uuid::new_v4().to_string();
        step.frames.push(json!({
            "id": id,
            "type": "restore_session",
            "payload": {
                "session_id": self.session,
                "cursor": self.last.map(|it| it.to_string()),
            },
        }));
        self.phase = Phase::Restoring(id);
    }

    /// Sends the first message that waits, if none is on its way.
    fn send(&mut self, step: &mut Step) {
        if self.phase != Phase::Live || self.paused {
            return;
        }
        let Some(head) = self.outbox.front_mut().filter(|it| it.ping.is_none()) else {
            return;
        };
        let ping = uuid::Uuid::new_v4().to_string();
        step.frames.push(head.message.clone());
        step.frames.push(json!({ "id": ping, "type": "ping" }));
        head.sent += 1;
        head.ping = Some(ping);
    }
}
