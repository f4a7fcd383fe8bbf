//! A connection of the chat: it reads what a client says, and writes what its windows show.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use a2a::binding::{beside, weight};
use a2a::server::end_of_credentials;
use a2a::service::Call;
use access::calls::Session;
use access::{Asked, FoundRule, Limit, Origin, Outcome, Principal, RouteRule, UnreadCall};
use agent::{AgentHandle, Owner};
use axum::Router;
use axum::body::Body;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse as _;
use axum::routing::get;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::envelope::{Cursor, Envelope, Priority};
use super::incoming::{self, Fault, Incoming, Said};
use super::show::{Passing, Place};
use super::window::{From, Shared, Window};
use super::{AskedCommand, Chat};
use crate::api::{Caller, Failure, Fields, refusal, respond, rules};

/// Where the chat is.
pub(crate) const PATH: &str = "/ws/chat";

/// The subprotocols: messages are MessagePack in binary frames, or JSON in text frames, as without one.
const MSGPACK: &str = "msgpack";
const JSON: &str = "json";

/// How many messages wait to be written; then windows wait, and the feed lets go of them.
const QUEUE: usize = 64;

/// How long a client may take to read a message.
const WRITE: Duration = Duration::from_secs(30);

/// How often a client is asked whether it is there.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// How long a window may take to read its session before a command is refused.
const READY: Duration = Duration::from_secs(30);

/// The most sessions that one connection looks at.
const MAX_WINDOWS: usize = 32;

/// The code of a message that uses more than its caller may.
const BUDGET: &str = "budget_exceeded";

/// The longest frame, in bytes, that is read only to find the id of a message that is refused.
const SMALL: usize = 16 << 10;

/// The buffers that every connection has.
const READ_BUFFER: usize = 2 << 10;
const WRITE_BUFFER: usize = 16 << 10;

pub(super) fn routes(chat: Chat) -> Router {
    Router::new().route(PATH, get(upgrade)).with_state(chat)
}

async fn upgrade(State(chat): State<Chat>, caller: Caller, request: Request) -> Response<Body> {
    let (mut head, _) = request.into_parts();
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut head, &()).await {
        Ok(upgrade) => upgrade,
        Err(rejection) => {
            let status = rejection.into_response().status();
            let why = "this is a WebSocket; connect with the scheme ws or wss";
            return refusal(status, "not_a_websocket", why);
        }
    };
    if chat.0.stopping.is_cancelled() {
        let why = "the server is stopping";
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "stopped", why);
    }
    let fields = Fields::of(head.uri.query().map(str::to_owned));
    let agent = match chat.thinking_agent(&caller, fields.get("agent")).await {
        Ok(agent) => agent,
        Err(failure) => return respond::<()>(Err(failure)),
    };
    let origin = Origin {
        session: Some(Session::next().0),
        ..Origin::of("chat", &head)
    };
    let caller = chat.0.parts.rights.caller(&caller);
    let limit = chat.0.parts.max_frame;
    let upgrade = upgrade
        .protocols([MSGPACK, JSON])
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(limit)
        .max_frame_size(limit);
    let packed = upgrade
        .selected_protocol()
        .is_some_and(|it| it.as_bytes() == MSGPACK.as_bytes());
    upgrade.on_upgrade(move |socket| {
        let tracker = chat.0.sockets.clone();
        let connection = Connection::new(chat, caller, origin, agent, packed);
        tracker.track_future(connection.serve(socket))
    })
}

/// One connection.
struct Connection {
    chat: Chat,
    caller: Principal,
    origin: Origin,
    agent: AgentHandle,
    /// Messages are MessagePack.
    packed: bool,
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
    fn new(
        chat: Chat,
        caller: Principal,
        origin: Origin,
        agent: AgentHandle,
        packed: bool,
    ) -> Self {
        let (out, written) = mpsc::channel(QUEUE);
        Self {
            chat,
            caller,
            origin,
            agent,
            packed,
            windows: HashMap::new(),
            current: None,
            opened: 0,
            out,
            written,
        }
    }

    async fn serve(mut self, socket: WebSocket) {
        let (mut sink, mut source) = socket.split();
        let stopping = self.chat.0.stopping.clone();
        let mut over = pin!(end_of_credentials(&self.caller));
        let mut heard = true;
        let mut alive = interval(HEARTBEAT);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let farewell = loop {
            let frame = tokio::select! {
                Some((number, message)) = self.written.recv() => {
                    let open = self.windows.get(&message.metadata.session_id);
                    open.filter(|it| it.number == number).map(|_| self.frame(&message))
                }
                incoming = source.next() => {
                    heard = true;
                    match incoming {
                        Some(Ok(Message::Text(text))) if !self.packed => {
                            self.take_frame(text.as_bytes()).await
                        }
                        Some(Ok(Message::Binary(bytes))) if self.packed => {
                            self.take_frame(&bytes).await
                        }
                        Some(Ok(Message::Text(_))) => {
                            let why = "the subprotocol msgpack was chosen: messages are binary frames";
                            Some(self.refuse(&Fault::new("not_msgpack", "", why)))
                        }
                        Some(Ok(Message::Binary(_))) => {
                            let why = "messages are text frames of JSON; for binary frames ask for the subprotocol msgpack";
                            Some(self.refuse(&Fault::new("not_json", "", why)))
                        }
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => None,
                        Some(Ok(Message::Close(_))) | None => break None,
                        Some(Err(error)) => break too_large(&error),
                    }
                }
                _ = alive.tick() => {
                    // Nothing since the last ping: the client is gone.
                    if !std::mem::take(&mut heard) {
                        break None;
                    }
                    Some(Message::Ping(Vec::new().into()))
                }
                refusal = &mut over => {
                    break Some((close_code::POLICY, a2a::Error::from(refusal).to_string()));
                }
                () = stopping.cancelled() => {
                    break Some((close_code::AWAY, "the server is stopping".to_owned()));
                }
            };
            if let Some(frame) = frame
                && !matches!(timeout(WRITE, sink.send(frame)).await, Ok(Ok(())))
            {
                break None;
            }
        };
        if let Some((code, reason)) = farewell {
            let reason = Utf8Bytes::from(reason);
            let close = Message::Close(Some(CloseFrame { code, reason }));
            // The client may be gone already.
            let _ = timeout(Duration::from_secs(1), sink.send(close)).await;
        }
    }

    /// Takes a frame in. It is charged to its caller before it is looked at, weighed before it is parsed, and parsed beside the
    /// threads that serve if it is large.
    async fn take_frame(&mut self, frame: &[u8]) -> Option<Message> {
        let packed = self.packed;
        let unread = match self.admit(frame.len()) {
            Ok(unread) => unread,
            Err(mut fault) => {
                // A small frame is read for its id, so that its sender knows which message is refused.
                if frame.len() <= SMALL {
                    match parse(frame, packed) {
                        Ok(read) => (fault.in_reply_to, fault.session) = (read.id, read.session),
                        Err(read) => {
                            (fault.in_reply_to, fault.session) = (read.in_reply_to, read.session);
                        }
                    }
                }
                return Some(self.refuse(&fault));
            }
        };
        let read = beside(frame.len(), || parse(frame, packed)).await;
        self.take(unread, read, frame.len()).await
    }

    /// Charges a frame of so many bytes to the caller.
    fn admit(&self, bytes: usize) -> Result<UnreadCall, Fault> {
        if let Err(error) = Call::by(self.caller.clone()).check() {
            return Err(Fault::new("unauthorized", "", error.to_string()));
        }
        let admitted = self
            .chat
            .0
            .parts
            .calls
            .admit(&self.caller, self.sent(bytes));
        admitted.map_err(|limit| limited(&limit))
    }

    /// Where a frame of so many bytes comes from.
    fn sent(&self, bytes: usize) -> Origin {
        Origin {
            bytes: bytes as u64,
            ..self.origin.clone()
        }
    }

    /// Takes a message in that was charged to the caller. Gives the answer that is only for this client, if there is one.
    async fn take(
        &mut self,
        unread: UnreadCall,
        read: Result<Incoming, Fault>,
        bytes: usize,
    ) -> Option<Message> {
        let read = match read {
            Ok(read) => read,
            Err(fault) => {
                unread.end(Outcome::Rejected);
                return Some(self.refuse(&fault));
            }
        };
        let begun = unread.begin(Asked {
            origin: self.sent(bytes),
            caller: self.caller.clone(),
            version: "",
            operation: read.what.kind().name().into(),
        });
        let (id, session) = (read.id.clone(), read.session.clone());
        let fault = |fault: Fault| Fault {
            in_reply_to: id.clone(),
            session: session.clone(),
            ..fault
        };
        let done = begun.run(self.perform(read)).await;
        let done = done.unwrap_or_else(|exceeded| Err(limited(&exceeded.into())));
        let done = done.map_err(fault);
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

    async fn perform(&mut self, incoming: Incoming) -> Result<Option<Message>, Fault> {
        let Incoming { id, session, what } = incoming;
        match what {
            Said::Ping => Ok(Some(self.pong(id.as_deref()))),
            Said::Restore { session, cursor } => {
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

    /// Whether the caller may do what the route of the same meaning does.
    fn check(&self, verb: &str, path: &str) -> Result<(), Fault> {
        let rule = RouteRule::find(rules::RULES.iter(), verb, path);
        let Some(FoundRule::Rule(rule)) = rule else {
            return Err(Fault::new(
                "denied",
                "type",
                "this message has no access rule",
            ));
        };
        let checked = rule.check(&self.caller);
        let checked = checked.and_then(|()| rule.check_task(&self.caller, None));
        checked.map_err(|refusal| Fault::new("denied", "type", refusal.to_string()))
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

    fn place(&self, session: &str) -> Place {
        Place {
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
        // A window that ended has nothing to say.
        let _ = ready.await;
    }

    fn standing(&self, session: &str) -> super::window::Standing {
        let open = self.windows.get(session);
        open.map(|it| *it.standing.lock().unwrap_or_else(PoisonError::into_inner))
            .unwrap_or_default()
    }

    fn pong(&self, id: Option<&str>) -> Message {
        let session = self.current.clone().unwrap_or_default();
        let data = json!({ "in_reply_to": id });
        let standing = self.standing(&session);
        let pong = Passing::event("pong", data, standing.state, standing.cursor);
        self.frame(&self.place(&session).passing(pong))
    }

    /// The error that a client is told; the connection stays.
    fn refuse(&self, fault: &Fault) -> Message {
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
        self.frame(&self.place(&session).passing(error))
    }

    fn frame(&self, message: &Envelope) -> Message {
        match self.packed {
            true => Message::Binary(crate::packed::write(message).into()),
            false => {
                let text = serde_json::to_string(message).expect("a message has text keys");
                Message::Text(text.into())
            }
        }
    }
}

/// Reads a frame that is not too heavy.
fn parse(frame: &[u8], packed: bool) -> Result<Incoming, Fault> {
    let heavy = |why: String| Fault::new("too_large", "", why);
    let message: Value = match packed {
        true => {
            crate::packed::check(frame).map_err(|it| heavy(it.to_string()))?;
            crate::packed::read(frame).map_err(|why| Fault::new("not_msgpack", "", why))?
        }
        false => {
            weight::check(frame).map_err(|it| heavy(it.to_string()))?;
            let read = serde_json::from_slice(frame);
            read.map_err(|error| Fault::new("not_json", "", format!("not JSON: {error}")))?
        }
    };
    incoming::read(&message)
}

/// The farewell to a client after a frame that cannot be read.
fn too_large(error: &axum::Error) -> Option<(u16, String)> {
    let text = error.to_string();
    let size = text.contains("too long") || text.contains("too large") || text.contains("capacity");
    match size {
        true => Some((close_code::SIZE, "the frame is too large".to_owned())),
        false => Some((close_code::PROTOCOL, "not a valid frame".to_owned())),
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
