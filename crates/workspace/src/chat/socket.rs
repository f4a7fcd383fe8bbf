//! A connection of the chat: it reads what a client says, and writes what its windows show.

use std::pin::pin;
use std::time::Duration;

use a2a::binding::{beside, weight};
use a2a::server::end_of_credentials;
use access::calls::Session;
use access::{Origin, Principal};
use agent::AgentHandle;
use axum::Router;
use axum::body::Body;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse as _;
use axum::routing::get;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::Chat;
use super::connection::Connection;
use super::envelope::Envelope;
use super::incoming::{self, Fault, Incoming};
use crate::api::files::{Projects, project_of};
use crate::api::{Caller, Failure, Fields, invalid, refusal, respond};
use crate::changed::{ChangeFollower, Changes};

/// Where the chat is.
pub(crate) const PATH: &str = "/ws/chat";

/// The subprotocols: messages are MessagePack in binary frames, or JSON in text frames, as without one.
const MSGPACK: &str = "msgpack";
const JSON: &str = "json";

/// How long a client may take to read a message.
const WRITE: Duration = Duration::from_secs(30);

/// How often a client is asked whether it is there.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// The longest frame, in bytes, that is read only to find the id of a message that is refused.
const SMALL: usize = 16 << 10;

/// The buffers that every connection has.
const READ_BUFFER: usize = 2 << 10;
const WRITE_BUFFER: usize = 16 << 10;

pub(super) fn routes(chat: Chat, projects: Projects) -> Router {
    let state = ChatRoute { chat, projects };
    Router::new().route(PATH, get(upgrade)).with_state(state)
}

#[derive(Clone)]
struct ChatRoute {
    chat: Chat,
    projects: Projects,
}

async fn upgrade(
    State(ChatRoute { chat, projects }): State<ChatRoute>,
    caller: Caller,
    request: Request,
) -> Response<Body> {
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
    let connection = Connection::new(chat.clone(), caller.clone(), origin, agent.clone());
    let files = match fields.get("files") {
        None => None,
        Some("follow") => {
            let followed = follow_files(&chat, &projects, &connection, &agent).await;
            match followed {
                Ok(followed) => Some(followed),
                Err(failure) => return respond::<()>(Err(failure)),
            }
        }
        Some(other) => {
            let why = format!("files is {other:?}; expected follow");
            return respond::<()>(Err(invalid("files", why)));
        }
    };
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
        let stopping = chat.0.stopping.clone();
        let served = Served {
            caller,
            connection,
            files,
            packed,
            stopping,
        };
        tracker.track_future(served.serve(socket))
    })
}

/// Follows the files of an agent's project, for a caller that may read them.
async fn follow_files(
    chat: &Chat,
    projects: &Projects,
    connection: &Connection,
    agent: &AgentHandle,
) -> Result<ChangeFollower, Failure> {
    let checked = connection.check("GET", "/api/files/content");
    checked.map_err(|fault| Failure::new(StatusCode::FORBIDDEN, "denied", fault.message))?;
    let project = project_of(projects, agent)?.project;
    chat.changes().follow(agent.id(), &project).await
}

/// The next changes of the files that are followed.
async fn next_changes(files: &mut Option<ChangeFollower>) -> Changes {
    let changes = match files {
        None => return std::future::pending().await,
        Some(files) => files.next().await,
    };
    if matches!(changes, Changes::Over) {
        *files = None;
    }
    changes
}

/// A connection over a WebSocket.
struct Served {
    caller: Principal,
    connection: Connection,
    /// The files of the project, if the client follows them.
    files: Option<ChangeFollower>,
    /// Messages are MessagePack.
    packed: bool,
    stopping: CancellationToken,
}

impl Served {
    async fn serve(mut self, socket: WebSocket) {
        let (mut sink, mut source) = socket.split();
        let stopping = self.stopping.clone();
        let mut over = pin!(end_of_credentials(&self.caller));
        let mut heard = true;
        let mut alive = interval(HEARTBEAT);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let farewell = loop {
            let frame = tokio::select! {
                message = self.connection.next() => Some(self.frame(&message)),
                changes = next_changes(&mut self.files) => {
                    let mut failed = false;
                    for message in self.connection.changed(&changes) {
                        let frame = self.frame(&message);
                        failed |= !matches!(timeout(WRITE, sink.send(frame)).await, Ok(Ok(())));
                        if failed {
                            break;
                        }
                    }
                    match failed {
                        true => break None,
                        false => None,
                    }
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
        let unread = match self.connection.admit(frame.len()) {
            Ok(unread) => unread,
            // A small frame is read for its id, so that its sender knows which message is refused.
            Err(fault) if frame.len() <= SMALL => {
                return Some(self.refuse(&fault.about(&parse(frame, packed))));
            }
            Err(fault) => return Some(self.refuse(&fault)),
        };
        let read = beside(frame.len(), || parse(frame, packed)).await;
        let answer = self.connection.take_read(unread, read, frame.len()).await;
        answer.map(|it| self.frame(&it))
    }

    /// The error that a client is told; the connection stays.
    fn refuse(&self, fault: &Fault) -> Message {
        self.frame(&self.connection.refuse(fault))
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
