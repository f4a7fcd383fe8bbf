//! The connection of a client: opened, read and written, and opened again after a pause.

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::time::Duration;

use axum::http::StatusCode;
use dial::{Backoff, Jitter};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep, interval_at, sleep, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

use super::session_state::{Outgoing, SessionState, Step};
use super::{ChatEvent, ClientSettings, Error};

/// The longest message of a server, in bytes.
const MAX_MESSAGE: usize = 64 << 20;

/// How many events may wait to be told before the connection is read further.
const UNTOLD: usize = 256;

pub(super) type Socket = WebSocketStream<Box<dyn dial::Socket>>;

/// Opens a connection.
pub(super) async fn open(settings: &ClientSettings) -> Result<Socket, Error> {
    let opening = timeout(settings.times.attempt, handshake(settings));
    let late = |_| unreachable(settings, &"no answer to the handshake in time");
    opening.await.map_err(late)?
}

async fn handshake(settings: &ClientSettings) -> Result<Socket, Error> {
    let wrong = |why: String| Error::Refused {
        url: shown(settings),
        status: 0,
        why,
    };
    let request = settings.url.clone().into_client_request();
    let mut request = request.map_err(|error| wrong(error.to_string()))?;
    if let Some(prepare) = &settings.handshake {
        prepare(&mut request).map_err(wrong)?;
    }
    let stream = settings.dialer.open(&settings.url).await;
    let stream = stream.map_err(|error| unreachable(settings, &error))?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let opened = tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await;
    match opened {
        Ok((socket, _)) => Ok(socket),
        Err(SocketError::Http(answer)) => {
            let status = answer.status();
            let body = answer.body().as_deref().unwrap_or_default();
            let why = String::from_utf8_lossy(body).trim().to_owned();
            let busy = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
            match busy {
                true => Err(unreachable(settings, &format!("{status} {why}"))),
                false => Err(Error::Refused {
                    url: shown(settings),
                    status: status.as_u16(),
                    why,
                }),
            }
        }
        Err(error) => Err(unreachable(settings, &error)),
    }
}

fn unreachable(settings: &ClientSettings, why: &dyn std::fmt::Display) -> Error {
    Error::Unreachable {
        url: shown(settings),
        why: why.to_string(),
    }
}

/// The address without its parameters, which may hold credentials.
fn shown(settings: &ClientSettings) -> String {
    let url = settings.url.to_string();
    url.split('?').next().unwrap_or_default().to_owned()
}

/// The owner of the connection and of the session.
pub(super) struct Driver {
    settings: ClientSettings,
    state: SessionState,
    orders: mpsc::Receiver<Outgoing>,
    events: mpsc::Sender<ChatEvent>,
    /// Events that wait for room in the queue.
    untold: VecDeque<ChatEvent>,
    backoff: Backoff,
}

/// Why a connection ended.
enum Over {
    /// Another one is to be opened.
    Cut(String),
    /// The client is not used any more.
    Dropped,
}

impl Driver {
    pub(super) fn new(
        settings: ClientSettings,
        orders: mpsc::Receiver<Outgoing>,
        events: mpsc::Sender<ChatEvent>,
    ) -> Self {
        let times = settings.times;
        Self {
            state: SessionState::new(settings.session.clone(), settings.cursor),
            settings,
            orders,
            events,
            untold: VecDeque::new(),
            backoff: Backoff::new(times.first_pause, times.longest_pause, Jitter::Half),
        }
    }

    /// Runs until the client is dropped or refused.
    pub(super) async fn run(mut self, first: Option<Socket>) {
        let mut socket = first;
        loop {
            let opened = match socket.take() {
                Some(socket) => Ok(socket),
                None => open(&self.settings).await,
            };
            let why = match opened {
                Ok(socket) => match self.serve(socket).await {
                    Over::Cut(why) => why,
                    Over::Dropped => return,
                },
                Err(refused @ Error::Refused { .. }) => {
                    self.untold.push_back(ChatEvent::Ended(refused));
                    return self.tell_all().await;
                }
                Err(error) => error.to_string(),
            };
            self.state.lost();
            if matches!(self.untold.back(), Some(ChatEvent::Ended(_))) {
                return self.tell_all().await;
            }
            let pause = self.backoff.next_pause();
            // To one who does not listen, the last attempt is told.
            if matches!(self.untold.back(), Some(ChatEvent::Lost { .. })) {
                self.untold.pop_back();
            }
            self.untold.push_back(ChatEvent::Lost { why, pause });
            if self.wait(pause).await.is_none() {
                return;
            }
        }
    }

    async fn tell_all(self) {
        for event in self.untold {
            if self.events.send(event).await.is_err() {
                return;
            }
        }
    }

    /// Waits for the next attempt; what is said meanwhile is kept. `None`: the client is dropped.
    async fn wait(&mut self, pause: Duration) -> Option<()> {
        let mut over = pin!(sleep(pause));
        loop {
            tokio::select! {
                () = &mut over => return Some(()),
                room = self.events.reserve(), if !self.untold.is_empty() => {
                    let room = room.ok()?;
                    if let Some(event) = self.untold.pop_front() {
                        room.send(event);
                    }
                    continue;
                }
                order = self.orders.recv() => {
                    let step = self.state.say(order?);
                    self.untold.extend(step.events);
                }
            }
        }
    }

    /// Uses a connection until it ends.
    async fn serve(&mut self, mut socket: Socket) -> Over {
        let beat = self.settings.times.heartbeat;
        let mut alive = interval_at(Instant::now() + beat, beat);
        let mut heard = true;
        let mut pause = pin!(sleep_until(far()));
        let first = self.state.connected();
        if let Err(over) = self.perform(&mut socket, first, pause.as_mut()).await {
            return over;
        }
        loop {
            let step = tokio::select! {
                room = self.events.reserve(), if !self.untold.is_empty() => {
                    let Ok(room) = room else { return Over::Dropped };
                    if let Some(event) = self.untold.pop_front() {
                        room.send(event);
                    }
                    continue;
                }
                order = self.orders.recv() => match order {
                    Some(order) => self.state.say(order),
                    None => {
                        let _ = timeout(self.settings.times.attempt, socket.close(None)).await;
                        return Over::Dropped;
                    }
                },
                frame = socket.next(), if self.untold.len() < UNTOLD => {
                    heard = true;
                    match frame {
                        Some(Ok(Message::Text(text))) => match serde_json::from_str(&text) {
                            Ok(message) => self.state.take(&message),
                            Err(error) => return Over::Cut(format!("not a message: {error}")),
                        },
                        Some(Ok(Message::Close(close))) => {
                            let reason = close.map(|it| it.reason.to_string());
                            let reason = reason.filter(|it| !it.is_empty());
                            return Over::Cut(reason.unwrap_or_else(|| "it was closed".to_owned()));
                        }
                        Some(Ok(_)) => Step::default(),
                        Some(Err(error)) => return Over::Cut(error.to_string()),
                        None => return Over::Cut("it was closed".to_owned()),
                    }
                }
                () = &mut pause => {
                    pause.as_mut().reset(far());
                    self.state.go_on()
                }
                _ = alive.tick() => {
                    // A server is not silent if messages were left unread for want of room.
                    if !std::mem::take(&mut heard) && self.untold.len() < UNTOLD {
                        return Over::Cut("the server does not answer".to_owned());
                    }
                    let ping = SessionState::ping();
                    Step { frames: vec![ping], ..Step::default() }
                }
            };
            if let Err(over) = self.perform(&mut socket, step, pause.as_mut()).await {
                return over;
            }
        }
    }

    async fn perform(
        &mut self,
        socket: &mut Socket,
        step: Step,
        pause: Pin<&mut Sleep>,
    ) -> Result<(), Over> {
        let is_restored = |it: &ChatEvent| matches!(it, ChatEvent::Restored { .. });
        if step.events.iter().any(is_restored) {
            self.backoff.reset();
        }
        let ended = step
            .events
            .iter()
            .any(|it| matches!(it, ChatEvent::Ended(_)));
        self.untold.extend(step.events);
        if ended {
            return Err(Over::Cut("refused".to_owned()));
        }
        if step.pause {
            pause.reset(Instant::now() + self.settings.times.limited);
        }
        for frame in &step.frames {
            write(self.settings.times.attempt, socket, frame).await?;
        }
        Ok(())
    }
}

async fn write(within: Duration, socket: &mut Socket, frame: &Value) -> Result<(), Over> {
    let sending = socket.send(Message::text(frame.to_string()));
    match timeout(within, sending).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Over::Cut(error.to_string())),
        Err(_) => Err(Over::Cut("the server does not read".to_owned())),
    }
}

/// A moment that does not come.
fn far() -> Instant {
    Instant::now() + Duration::from_secs(1 << 30)
}
