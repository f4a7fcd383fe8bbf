//! The messages of a client of the chat, whatever it is connected by: its windows, and an answer to each message.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use a2a::service::Call;
use access::{CallRecord, FoundRule, Limit, Origin, Outcome, Principal, RouteRule, UnreadCall};
use agent::{AgentHandle, Owner};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::envelope::{Cursor, Envelope, Priority};
use super::incoming::{self, Fault, Incoming, Said};
use super::show::{Passing, SessionAddress};
use super::window::{From, Shared, Window};
use super::{AskedCommand, Chat};
use crate::api::one_session::{check_route, covers};
use crate::api::{Failure, rules};
use crate::changed::Changes;

/// How many messages wait to be written; then windows wait, and the feed lets go of them.
const QUEUE: usize = 64;

/// How long a window may take to read its session before a command is refused.
const READY: Duration = Duration::from_secs(30);

/// The most sessions that one connection looks at.
const MAX_WINDOWS: usize = 32;

/// The code of a message that uses more than its caller may.
const BUDGET: &str = "budget_exceeded";

/// One connection.
pub(crate) struct Connection {
    chat: Chat,
    caller: Principal,
    origin: Origin,
    agent: AgentHandle,
    windows: HashMap<String, Open>,
    /// The session that was named last.
    current: Option<String>,
    /// How many windows were opened.
    opened: u64,
    out: mpsc::Sender<(u64, Arc<Envelope>)>,
    written: mpsc::Receiver<(u64, Arc<Envelope>)>,
}

/// A window that runs; it ends when this is dropped.
struct Open {
    number: u64,
    standing: Shared,
    _running: AbortOnDropHandle<()>,
}

impl Connection {
    pub(crate) fn new(chat: Chat, caller: Principal, origin: Origin, agent: AgentHandle) -> Self {
        let (out, written) = mpsc::channel(QUEUE);
        Self {
            chat,
            caller,
            origin,
            agent,
            windows: HashMap::new(),
            current: None,
            opened: 0,
            out,
            written,
        }
    }

    /// The next message of a window. One of a window that was replaced is left out.
    pub(crate) async fn next(&mut self) -> Arc<Envelope> {
        loop {
            // This connection has a sender itself, so that the channel does not close.
            let Some((number, message)) = self.written.recv().await else {
                return std::future::pending().await;
            };
            if self.shows(number, &message) {
                return message;
            }
        }
    }

    /// The messages that are there already, at most so many.
    pub(crate) fn ready(&mut self, most: usize) -> Vec<Arc<Envelope>> {
        let mut ready = Vec::new();
        while ready.len() < most
            && let Ok((number, message)) = self.written.try_recv()
        {
            if self.shows(number, &message) {
                ready.push(message);
            }
        }
        ready
    }

    fn shows(&self, number: u64, message: &Envelope) -> bool {
        let open = self.windows.get(&message.metadata.session_id);
        open.is_some_and(|it| it.number == number)
    }

    /// Takes a message of so many bytes in. Gives the answer that is only for this client, if there is one.
    pub(crate) async fn take(&mut self, message: &Value, bytes: usize) -> Option<Envelope> {
        let read = incoming::read(message);
        match self.admit(bytes) {
            Ok(unread) => self.take_read(unread, read, bytes).await,
            Err(fault) => Some(self.refuse(&fault.about(&read))),
        }
    }

    /// Charges a message of so many bytes to the caller, before it is read.
    pub(crate) fn admit(&self, bytes: usize) -> Result<UnreadCall, Fault> {
        if let Err(error) = Call::by(self.caller.clone()).check() {
            return Err(Fault::new("unauthorized", "", error.to_string()));
        }
        let calls = &self.chat.0.parts.calls;
        let admitted = calls.admit(&self.caller, self.sent(bytes));
        admitted.map_err(|limit| limited(&limit))
    }

    /// Where a message of so many bytes comes from.
    fn sent(&self, bytes: usize) -> Origin {
        Origin {
            bytes: bytes as u64,
            ..self.origin.clone()
        }
    }

    /// Takes a message in that was charged to the caller and then read.
    pub(crate) async fn take_read(
        &mut self,
        unread: UnreadCall,
        read: Result<Incoming, Fault>,
        bytes: usize,
    ) -> Option<Envelope> {
        let read = match read {
            Ok(read) => read,
            Err(fault) => {
                unread.end(Outcome::Rejected);
                return Some(self.refuse(&fault));
            }
        };
        let begun = unread.begin(CallRecord {
            origin: self.sent(bytes),
            caller: self.caller.clone(),
            version: "",
            operation: read.what.kind().name().into(),
        });
        let (id, session) = (read.id.clone(), read.session.clone());
        let done = begun.run(self.perform(read)).await;
        let done = done.unwrap_or_else(|exceeded| Err(limited(&exceeded.into())));
        let done = done.map_err(|fault| Fault {
            in_reply_to: id,
            session,
            ..fault
        });
        begun.end(match &done {
            Ok(_) => Outcome::Ok,
            Err(fault) if fault.code == BUDGET => Outcome::Limited,
            Err(fault) if fault.code == "denied" => Outcome::Denied,
            Err(fault) if fault.code == "failed" => Outcome::Failed,
            Err(_) => Outcome::Rejected,
        });
        match done {
            Ok(answer) => answer,
            Err(fault) => Some(self.refuse(&fault)),
        }
    }

    async fn perform(&mut self, incoming: Incoming) -> Result<Option<Envelope>, Fault> {
        let Incoming { id, session, what } = incoming;
        match what {
            Said::Ping => Ok(Some(self.pong(id.as_deref()))),
            Said::Restore { session, cursor } => {
                self.check_covers(&session)?;
                self.windows.remove(&session);
                let after = cursor.unwrap_or_default();
                // A cursor names the last message that the client has; the first one has the index 0.
                let from = match cursor {
                    Some(_) => From::After(after),
                    None => From::After(Cursor::default()),
                };
                self.open(&session, from)?;
                self.current = Some(session);
                Ok(None)
            }
            Said::Command(command) => {
                self.check("POST", "/api/agent/command")?;
                let session = session
                    .or_else(|| self.current.clone())
                    .unwrap_or_else(|| format!("sess_{}", uuid::Uuid::new_v4().simple()));
                self.check_covers(&session)?;
                if !self.windows.contains_key(&session) {
                    let ready = self.open(&session, From::Now)?;
                    let waited = timeout(READY, self.writing_until(ready)).await;
                    if waited.is_err() {
                        let why = "the session could not be read in time; send the command again";
                        return Err(Fault::new("failed", "", why));
                    }
                }
                self.current = Some(session.clone());
                let sent = self.chat.command(AskedCommand {
                    caller: self.caller.clone(),
                    origin: self.origin.clone(),
                    agent: self.agent.clone(),
                    session,
                    id: id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string()),
                    command,
                });
                sent.await.map(|_| None).map_err(|error| refused(&error))
            }
            Said::Answer(answer) => {
                self.check("POST", "/api/approvals/{id}")?;
                let given = crate::api::approvals::give(
                    &self.agent,
                    &self.caller,
                    &answer.request_id,
                    answer.given,
                );
                given.await.map(|_| None).map_err(|it| failed(&it))
            }
            Said::Alert(payload) => {
                self.check("POST", "/api/agent/law/accept")?;
                self.alert(session, payload).await.map(|()| None)
            }
        }
    }

    /// Opens a window on all of a session, in place of one that is open. It ends the past with `session_restored`.
    pub(crate) fn restore(&mut self, session: &str) -> Result<(), Fault> {
        self.windows.remove(session);
        self.open(session, From::After(Cursor::default()))?;
        self.current = Some(session.to_owned());
        Ok(())
    }

    /// Whether the caller may do what the route of the same meaning does.
    pub(crate) fn check(&self, verb: &str, path: &str) -> Result<(), Fault> {
        let rule = RouteRule::find(rules::RULES.iter(), verb, path);
        let Some(FoundRule::Rule(rule)) = rule else {
            return Err(Fault::new(
                "denied",
                "type",
                "this message has no access rule",
            ));
        };
        let checked = check_route(&rule, &self.caller, path);
        checked.map_err(|refusal| Fault::new("denied", "type", refusal.to_string()))
    }

    /// Whether a session is one that the credential of the caller was lent for.
    fn check_covers(&self, session: &str) -> Result<(), Fault> {
        match covers(&self.caller, session) {
            true => Ok(()),
            false => Err(Fault::new(
                "denied",
                "metadata.session_id",
                "this link is for another session",
            )),
        }
    }

    /// Passes an alert on to all windows of a session.
    async fn alert(&mut self, session: Option<String>, payload: Value) -> Result<(), Fault> {
        let session = session.or_else(|| self.current.clone());
        let session = session.ok_or_else(|| {
            let why = "metadata.session_id is missing: the session that the alert is for";
            Fault::new("missing", "metadata.session_id", why)
        })?;
        let standing = self.standing(&session);
        let severe = matches!(payload["severity"].as_str(), Some("high" | "critical"));
        let message = self.place(&session).passing(Passing {
            id: None,
            kind: super::MessageType::WatchdogAlert,
            payload,
            state: standing.state,
            priority: if severe {
                Priority::High
            } else {
                Priority::Low
            },
            task: None,
            cursor: standing.cursor,
        });
        let feed = self.chat.0.feeds.of(&self.agent).await;
        let feed = feed.map_err(|it| Fault::new("failed", "", it.to_string()))?;
        feed.pass(&self.owner(&session), &Arc::new(message));
        Ok(())
    }

    fn owner(&self, session: &str) -> Owner {
        Owner {
            caller: self.caller.to_string(),
            conversation: session.to_owned(),
        }
    }

    fn place(&self, session: &str) -> SessionAddress {
        SessionAddress {
            agent: self.agent.id().to_owned(),
            session: session.to_owned(),
        }
    }

    /// Opens a window on a session. The result is told when the window has read everything so far.
    fn open(&mut self, session: &str, from: From) -> Result<oneshot::Receiver<()>, Fault> {
        if self.windows.len() >= MAX_WINDOWS {
            let why =
                format!("{MAX_WINDOWS} sessions are open on this connection; open another one");
            return Err(Fault::new("too_many", "metadata.session_id", why));
        }
        let (ready, read) = oneshot::channel();
        let standing = Shared::default();
        self.opened += 1;
        let window = Window {
            chat: self.chat.clone(),
            caller: self.caller.clone(),
            agent: self.agent.clone(),
            owner: self.owner(session),
            place: self.place(session),
            from,
            number: self.opened,
            out: self.out.clone(),
            standing: standing.clone(),
            ready: Some(ready),
        };
        let running = AbortOnDropHandle::new(tokio::spawn(window.run()));
        let open = Open {
            number: self.opened,
            standing,
            _running: running,
        };
        self.windows.insert(session.to_owned(), open);
        Ok(read)
    }

    /// Waits for a window. A window that begins now writes nothing before it is ready.
    async fn writing_until(&self, ready: oneshot::Receiver<()>) {
        // An error means that the window has ended.
        let _ = ready.await;
    }

    fn standing(&self, session: &str) -> super::window::SessionState {
        let open = self.windows.get(session);
        open.map(|it| *it.standing.lock().unwrap_or_else(PoisonError::into_inner))
            .unwrap_or_default()
    }

    /// The messages that tell of changed files: one for each change of lines, and one for a file without any.
    pub(crate) fn changed(&self, changes: &Changes) -> Vec<Envelope> {
        let session = self.current.clone().unwrap_or_default();
        let standing = self.standing(&session);
        let place = self.place(&session);
        let event = |name: &str, data: Value| {
            place.passing(Passing::event(name, data, standing.state, standing.cursor))
        };
        let files = match changes {
            Changes::Files(files) => files,
            Changes::Missed => return vec![event("files_missed", json!({}))],
            Changes::Over => return vec![event("files_ended", json!({}))],
        };
        let mut messages = Vec::new();
        for file in files.iter() {
            if file.deltas.is_empty() {
                let data = json!({
                    "path": file.path, "operation": file.operation, "size": file.size, "hash": file.after,
                });
                messages.push(event("file_modified", data));
            }
            for (at, delta) in file.deltas.iter().enumerate() {
                let mut data = json!(delta);
                data["before"] = json!(file.before);
                data["after"] = json!(file.after);
                data["remaining"] = (file.deltas.len() - 1 - at).into();
                messages.push(event("file_delta", data));
            }
        }
        messages
    }

    fn pong(&self, id: Option<&str>) -> Envelope {
        let session = self.current.clone().unwrap_or_default();
        let data = json!({ "in_reply_to": id });
        let standing = self.standing(&session);
        let pong = Passing::event("pong", data, standing.state, standing.cursor);
        self.place(&session).passing(pong)
    }

    /// The error that a client is told; the connection stays.
    pub(crate) fn refuse(&self, fault: &Fault) -> Envelope {
        let session = fault.session.clone().or_else(|| self.current.clone());
        let session = session.unwrap_or_default();
        let standing = self.standing(&session);
        let data = json!({
            "code": fault.code,
            "field": fault.field,
            "message": fault.message,
            "in_reply_to": fault.in_reply_to,
        });
        let error = Passing::event("error", data, standing.state, standing.cursor);
        let error = Passing {
            priority: Priority::High,
            ..error
        };
        self.place(&session).passing(error)
    }
}

/// One message too many, or one that uses too much.
fn limited(limit: &Limit) -> Fault {
    let code = match limit {
        Limit::Calls(_) => "rate_limited",
        Limit::Budget(_) => BUDGET,
    };
    Fault::new(code, "", limit.to_string())
}

/// Why the task server did not take a command.
fn refused(error: &a2a::Error) -> Fault {
    let code = match error.code().http {
        401 => "unauthorized",
        403 => "denied",
        400..500 => "refused",
        _ => "failed",
    };
    Fault::new(code, "payload.command", error.to_string())
}

/// Why an answer was not taken.
fn failed(failure: &Failure) -> Fault {
    let (code, message) = failure.told();
    let code = match code {
        "not_found" => "not_found",
        "invalid" => "invalid",
        "denied" => "denied",
        "conflict" => "conflict",
        _ => "failed",
    };
    Fault::new(code, "payload.request_id", message)
}
