//! JSON-RPC over WebSockets, served.

use std::collections::HashMap;
use std::time::Duration;

use access::{Origin, Principal, UnreadCall};
use axum::Router;
use axum::body::Body;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{FromRequestParts as _, State};
use axum::response::IntoResponse as _;
use axum::routing::get;
use bytes::Bytes;
use futures_core::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, SplitSink};
use futures_util::{SinkExt as _, StreamExt as _};
use http::request::Parts;
use http::{Request, Response};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use tokio_tungstenite::tungstenite::{self, error::ProtocolError};
use tokio_util::sync::CancellationToken;

use super::frame::{self, Incoming};
use super::{PATH, SUBPROTOCOL};
use crate::binding::Wire;
use crate::binding::http_call::Connection;
use crate::binding::jsonrpc::server::{SMALL, id_in, write_error, write_result};
use crate::binding::jsonrpc::{Envelope, Id, metadata};
use crate::binding::versioned_operation::VersionedOperation;
use crate::binding::{Parameters, http_call};
use crate::error::Error;
use crate::event::Format;
use crate::limits::{FRAMES_AT_ONCE, MAX_CALLS};
use crate::operation::{Input, Replies, Reply, beside};
use crate::sabotage::broken;

/// The buffers that every connection has.
const READ_BUFFER: usize = 2 << 10;
const WRITE_BUFFER: usize = 16 << 10;

/// How long a peer that sent what is no frame has to read the reason: closing with unread bytes would reset the
/// connection and destroy it.
const CLOSE_TIME: Duration = Duration::from_millis(500);

pub fn routes(wire: Wire) -> Router {
    Router::new().route(PATH, get(upgrade)).with_state(wire)
}

async fn upgrade(State(wire): State<Wire>, request: Request<Body>) -> Response<Body> {
    let (mut head, _) = request.into_parts();
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut head, &()).await {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let caller = match wire.admit(&head) {
        Ok(caller) => caller,
        Err(error) => return http_call::refused(&error),
    };
    Connection::of(&head).put(&mut head);
    let limit = wire.limits.max_body;
    let upgrade = upgrade.protocols([SUBPROTOCOL]);
    let is_page = upgrade.selected_protocol().is_none();
    upgrade
        // Most connections are idle; the buffers of larger frames are made when these come.
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(limit)
        .max_frame_size(limit)
        .on_upgrade(move |socket| {
            let tasks = wire.tasks.clone();
            tasks.track(Session::new(wire, caller, head, is_page).serve(socket))
        })
}

/// One connection: its caller, the calls under way, and the frames that wait to be written.
struct Session {
    wire: Wire,
    /// Who opened it, and makes all its calls.
    caller: Principal,
    handshake: Parts,
    /// It speaks no subprotocol.
    is_page: bool,
    /// The calls under way. They are polled here, so they end with the connection.
    calls: FuturesUnordered<BoxFuture<'static, Id>>,
    /// All of their ids, with what ends the streams among them.
    open: HashMap<Bytes, Option<CancellationToken>>,
    frames: mpsc::Sender<Vec<u8>>,
    written: mpsc::Receiver<Vec<u8>>,
}

impl Session {
    fn new(wire: Wire, caller: Principal, handshake: Parts, is_page: bool) -> Self {
        let (frames, written) = mpsc::channel(FRAMES_AT_ONCE);
        Self {
            wire,
            caller,
            handshake,
            is_page,
            calls: FuturesUnordered::new(),
            open: HashMap::new(),
            frames,
            written,
        }
    }

    async fn serve(mut self, socket: WebSocket) {
        let (mut sink, mut source) = socket.split();
        let (draining, stopping) = (self.wire.tasks.draining(), self.wire.tasks.stopping());
        tokio::pin!(draining, stopping);
        // Whether the server stops: no more calls are taken, those under way are answered.
        let mut leaving = false;
        // Whether anything came since the last ping.
        let mut heard = true;
        let mut alive = interval(self.wire.limits.keep_alive);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let farewell = loop {
            if leaving && self.calls.is_empty() && self.written.is_empty() {
                break Some((close_code::AWAY, "the server is stopping"));
            }
            let sent = tokio::select! {
                Some(frame) = self.written.recv() => send(&mut sink, frame).await,
                Some(id) = self.calls.next() => {
                    self.open.remove(id.as_bytes());
                    Ok(())
                }
                incoming = source.next(), if !leaving => match incoming.inspect(|_| heard = true) {
                    Some(Ok(Message::Text(text))) => match self.take(text.into()).await {
                        Some(refusal) => send(&mut sink, refusal).await,
                        None => Ok(()),
                    },
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(()),
                    Some(Ok(Message::Binary(_))) => {
                        break Some((close_code::UNSUPPORTED, "frames are text"));
                    }
                    Some(Ok(Message::Close(_))) | None => break None,
                    Some(Err(error)) => match fault(error) {
                        Some(fault) => break Some(fault),
                        None => break None,
                    },
                },
                _ = alive.tick() => {
                    // No frame since the last ping: the peer is gone.
                    if !std::mem::take(&mut heard) {
                        break None;
                    }
                    sink.send(Message::Ping(Bytes::new())).await
                }
                () = &mut draining, if !leaving => {
                    leaving = true;
                    Ok(())
                }
                () = &mut stopping => break None,
            };
            if sent.is_err() {
                break None;
            }
        };
        if let Some((code, reason)) = farewell {
            let reason = Utf8Bytes::from_static(reason);
            // The peer may be gone already.
            let _ = sink
                .send(Message::Close(Some(CloseFrame { code, reason })))
                .await;
            if FAULTS.contains(&code) {
                tokio::time::sleep(CLOSE_TIME).await;
            }
        }
    }

    /// Charges a frame to its caller, weighs and reads it, and begins its call. Returns a reply only for a refusal.
    async fn take(&mut self, frame: Bytes) -> Option<Vec<u8>> {
        let origin = Origin {
            bytes: frame.len() as u64,
            ..Origin::of(self.wire.name, &self.handshake)
        };
        let unread = match self.wire.calls.admit(&self.caller, origin) {
            Ok(unread) => unread,
            Err(limit) => {
                let id = match frame.len() as u64 <= SMALL {
                    true => id_in(&frame),
                    false => Id::null(),
                };
                return Some(refusal(&id, &limit.into()));
            }
        };
        let frame = match http_call::weighed(frame).await {
            Ok(frame) => frame,
            // Its id was not read.
            Err(error) => {
                unread.end(error.outcome());
                return Some(refusal(&Id::null(), &error));
            }
        };
        match beside(frame.len(), || Incoming::read(&frame)).await {
            Ok(Incoming::CancelStream(id)) => {
                unread.pass();
                // A stream that has ended was already closed with its last event.
                if let Some(Some(stop)) = self.open.get(id.as_bytes()) {
                    stop.cancel();
                }
                None
            }
            Ok(Incoming::Call(envelope, parameters)) => {
                let id = envelope.id.clone();
                let mut unread = Some(unread);
                let begun = self.begin(envelope, parameters, &mut unread).await;
                let error = begun.err()?;
                if let Some(unread) = unread {
                    unread.end(error.outcome());
                }
                Some(refusal(&id, &error))
            }
            Err((id, error)) => {
                unread.end(error.outcome());
                Some(refusal(&id, &error))
            }
        }
    }

    /// Begins a call; what was charged for its frame is taken, unless it is refused.
    async fn begin(
        &mut self,
        envelope: Envelope,
        parameters: Parameters,
        unread: &mut Option<UnreadCall>,
    ) -> Result<(), Error> {
        let Envelope { id, method, params } = envelope;
        let Some(asked) = VersionedOperation::named(&method) else {
            return Err(Error::MethodNotFound(method));
        };
        let asked = match self.is_page {
            true => asked.or_for_page(),
            false => asked,
        };
        let (asked, params) = beside(params.len(), || {
            let asked = asked.or_loose(&params);
            metadata::placed(params).map(|params| (asked, params))
        })
        .await?;
        if self.open.contains_key(id.as_bytes()) {
            let why = "a call with this id is under way";
            return Err(Error::InvalidRequest(why.to_owned()));
        }
        if self.open.len() >= MAX_CALLS {
            let why = format!("{MAX_CALLS} calls are under way on this connection");
            return Err(Error::Unavailable(why));
        }
        let mut head = self.handshake.clone();
        head.headers = http_call::with_parameters(&head.headers, parameters)?;
        let stop = (asked.replies() == Replies::Many).then(CancellationToken::new);
        let key = Bytes::copy_from_slice(id.as_bytes());
        self.open.insert(key, stop.clone());
        let answer = FinishedCall {
            wire: self.wire.clone(),
            caller: self.caller.clone(),
            asked,
            id,
            frames: self.frames.clone(),
        };
        let unread = unread.take();
        self.calls
            .push(Box::pin(answer.give(head, params, stop, unread)));
        Ok(())
    }
}

/// The answer to one call, under way.
struct FinishedCall {
    wire: Wire,
    caller: Principal,
    asked: VersionedOperation,
    id: Id,
    frames: mpsc::Sender<Vec<u8>>,
}

impl FinishedCall {
    /// Gives the answer, frame by frame; the id is free again after it.
    async fn give(
        self,
        head: Parts,
        params: Bytes,
        stop: Option<CancellationToken>,
        unread: Option<UnreadCall>,
    ) -> Id {
        let answering = self.answer(&head, params, unread);
        match stop {
            None => answering.await,
            Some(stop) => {
                if stop.run_until_cancelled(answering).await.is_none() {
                    self.send(frame::stream_end(&self.id)).await;
                }
            }
        }
        self.id
    }

    async fn answer(&self, head: &Parts, params: Bytes, unread: Option<UnreadCall>) {
        let mut frames = match self.perform(head, params, unread).await {
            Ok(Reply::One(result)) => return self.send(self.result(&result)).await,
            Ok(Reply::Many(frames)) => frames,
            Err(error) => return self.send(refusal(&self.id, &error)).await,
        };
        while let Some(portion) = frames.next().await {
            match portion {
                Ok(_) if broken("r09_calling_back") => {}
                Ok(portion) => {
                    for frame in portion {
                        self.send(self.result(&frame.body)).await;
                    }
                }
                Err(error) => return self.send(refusal(&self.id, &error)).await,
            }
        }
        self.send(frame::stream_end(&self.id)).await;
    }

    async fn perform(
        &self,
        head: &Parts,
        body: Bytes,
        unread: Option<UnreadCall>,
    ) -> Result<Reply, Error> {
        let versioned = self.asked.versioned_at_address();
        let call = match http_call::call(self.wire.name, &self.caller, head, versioned) {
            Ok(call) => call,
            Err(error) => {
                if let Some(unread) = unread {
                    unread.end(error.outcome());
                }
                return Err(error);
            }
        };
        let input = Input {
            format: Format::Json,
            body,
            fields: Vec::new(),
        };
        match unread {
            Some(unread) => {
                let wire = &self.wire;
                self.asked.perform_read(wire, unread, call, input).await
            }
            None => self.asked.perform(&self.wire, call, input).await,
        }
    }

    fn result(&self, result: &Bytes) -> Vec<u8> {
        let mut out = Vec::with_capacity(result.len() + 64);
        write_result(&mut out, &self.id, result);
        out
    }

    /// Waits while the caller does not read.
    async fn send(&self, frame: Vec<u8>) {
        // The connection reads these frames as long as it polls this call.
        let _ = self.frames.send(frame).await;
    }
}

fn refusal(id: &Id, error: &Error) -> Vec<u8> {
    let mut out = Vec::new();
    write_error(&mut out, id, error);
    out
}

/// The close codes of frames that could not be read. RFC 6455 7.4.1.
const FAULTS: [u16; 3] = [close_code::PROTOCOL, close_code::INVALID, close_code::SIZE];

/// The close code and the reason for a frame that could not be read; none where the connection is gone.
fn fault(error: axum::Error) -> Option<(u16, &'static str)> {
    let error = error.into_inner();
    match error.downcast_ref::<tungstenite::Error>()? {
        tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        tungstenite::Error::Protocol(_) => Some((close_code::PROTOCOL, "not a valid frame")),
        tungstenite::Error::Utf8(_) => Some((close_code::INVALID, "a text frame is not UTF-8")),
        tungstenite::Error::Capacity(_) => Some((close_code::SIZE, "the frame is too large")),
        _ => None,
    }
}

async fn send(sink: &mut SplitSink<WebSocket, Message>, frame: Vec<u8>) -> Result<(), axum::Error> {
    let text = Utf8Bytes::try_from(frame).map_err(axum::Error::new)?;
    sink.send(Message::Text(text)).await
}
