//! JSON-RPC over a WebSocket, called: one connection, many calls at once.
//!
//! A task owns the connection. Calls reach it by a channel, replies leave it by one channel for each call. A
//! caller that reads too slowly does not make the others wait: its stream is ended, and goes on by its cursor.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{SinkExt as _, StreamExt as _, stream};
use http::{HeaderValue, Uri};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Instant, interval_at};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

use super::SUBPROTOCOL;
use crate::binding::jsonrpc::client::{result, write};
use crate::client::channel::{self, Carried, Channel, Outgoing, Piece, Pieces};
use crate::client::dial::{Dialer, Socket};
use crate::client::{AgentEndpoint, Error};
use crate::event::Format;
use crate::operation::Replies;

/// How many replies of one call may wait to be read.
const WAITING: usize = 1024;
/// How often the server is asked whether it is there; it is taken for gone when it does not answer until the next.
const ALIVE: Duration = Duration::from_secs(20);

/// The wire to an agent.
pub(crate) fn channel(
    endpoint: &AgentEndpoint,
    dialer: &Arc<Dialer>,
) -> Result<Arc<dyn Channel>, Error> {
    let wrong = || Error::Card(format!("not a WebSocket address: {:?}", endpoint.url));
    let url: Uri = endpoint.url.parse().map_err(|_| wrong())?;
    if !matches!(url.scheme_str(), Some("ws" | "wss")) || url.host().is_none() {
        return Err(wrong());
    }
    Ok(Arc::new(WebSocketChannel(Arc::new(Shared {
        url,
        dialer: dialer.clone(),
        open: Mutex::new(None),
    }))))
}

struct WebSocketChannel(Arc<Shared>);

struct Shared {
    url: Uri,
    dialer: Arc<Dialer>,
    /// The connection in use, if there was need of one.
    open: Mutex<Option<mpsc::Sender<Order>>>,
}

/// A call, on its way to the owner of the connection.
struct Order {
    call: Outgoing,
    replies: Replying,
}

type Replying = mpsc::Sender<Result<Bytes, Error>>;

impl Channel for WebSocketChannel {
    fn format(&self) -> Format {
        Format::Json
    }

    fn call(&self, call: Outgoing) -> BoxFuture<'static, Result<Carried, Error>> {
        let call = call.traced();
        let shared = self.0.clone();
        Box::pin(async move {
            let orders = shared.connection().await?;
            let (replies, mut read) = mpsc::channel(WAITING);
            let asked = call.asked;
            let gone = || Error::lost("the connection was closed");
            let sent = orders.send(Order { call, replies }).await;
            sent.map_err(|_| gone())?;
            if asked.replies() == Replies::One {
                return read.recv().await.ok_or_else(gone)?.map(Carried::One);
            }
            let opening = Box::pin(async move {
                let first = read.recv().await.transpose()?;
                let rest = stream::unfold(read, |mut read| async move {
                    let reply = read.recv().await?;
                    Some((reply, read))
                });
                let all = stream::iter(first.map(Ok)).chain(rest);
                let piece = |body| Piece { cursor: None, body };
                Ok(Box::pin(all.map(move |reply| reply.map(piece))) as Pieces)
            });
            channel::open(opening).await.map(Carried::Many)
        })
    }
}

impl Shared {
    /// The open connection; a new one if there is none.
    async fn connection(&self) -> Result<mpsc::Sender<Order>, Error> {
        let mut open = self.open.lock().await;
        if let Some(orders) = open.as_ref().filter(|orders| !orders.is_closed()) {
            return Ok(orders.clone());
        }
        let socket = self.connect().await?;
        let (orders, taken) = mpsc::channel(1);
        // Its owners are the senders of orders and the readers of replies: when the last is dropped, it ends. To abort it
        // instead would lose the close frame, and the cancellation of a stream that was dropped just before.
        tokio::spawn(Owner::new(socket).run(taken));
        *open = Some(orders.clone());
        Ok(orders)
    }

    async fn connect(&self) -> Result<WebSocketStream<Box<dyn Socket>>, Error> {
        let unreachable = |why: &dyn std::fmt::Display| Error::unreachable(&self.url, why);
        let request = self.dialer.address(&self.url)?.into_client_request();
        let mut request = request.map_err(|error| unreachable(&error))?;
        request.headers_mut().extend(self.dialer.headers().clone());
        request.headers_mut().insert(
            "sec-websocket-protocol",
            HeaderValue::from_static(SUBPROTOCOL),
        );
        self.dialer.sign_handshake(&mut request)?;
        let stream = self.dialer.open(&self.url).await?;
        let limit = Some(self.dialer.max_reply());
        let config = WebSocketConfig::default()
            .max_message_size(limit)
            .max_frame_size(limit);
        let opened =
            tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await;
        match opened {
            Ok((socket, _)) => Ok(socket),
            Err(SocketError::Http(response)) if matches!(response.status().as_u16(), 401 | 403) => {
                Err(Error::Unauthorized {
                    status: response.status().as_u16(),
                    message: format!("the handshake with {}", self.url),
                })
            }
            Err(error) => Err(unreachable(&error)),
        }
    }
}

/// The owner of a connection: it numbers the calls, and hands each reply to the call that waits for it.
struct Owner {
    socket: WebSocketStream<Box<dyn Socket>>,
    last: u64,
    calls: HashMap<u64, (Replies, Replying)>,
    /// Yields the number of each call that its caller has dropped.
    left: FuturesUnordered<BoxFuture<'static, u64>>,
}

impl Owner {
    fn new(socket: WebSocketStream<Box<dyn Socket>>) -> Self {
        Self {
            socket,
            last: 0,
            calls: HashMap::new(),
            left: FuturesUnordered::new(),
        }
    }

    /// Serves calls until the connection ends, or all handles are dropped and all calls are answered.
    async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let mut open = true;
        let mut alive = interval_at(Instant::now() + ALIVE, ALIVE);
        let mut heard = true;
        while open || !self.calls.is_empty() {
            let sent = tokio::select! {
                order = orders.recv(), if open => match order {
                    Some(order) => self.call(order).await,
                    None => {
                        open = false;
                        Ok(())
                    }
                },
                Some(number) = self.left.next() => self.leave(number).await,
                frame = self.socket.next() => {
                    heard = true;
                    match frame {
                        Some(Ok(Message::Text(text))) => self.take(&text.into()).await,
                        Some(Ok(Message::Close(_))) | None => return,
                        Some(Err(error)) => Err(error),
                        Some(Ok(_)) => Ok(()),
                    }
                }
                _ = alive.tick() => match std::mem::take(&mut heard) {
                    true => self.socket.send(Message::Ping(Bytes::new())).await,
                    false => return self.fail("the server does not answer"),
                },
            };
            if let Err(error) = sent {
                return self.fail(&error.to_string());
            }
        }
        let _ = self.socket.close(None).await;
    }

    async fn call(&mut self, Order { call, replies }: Order) -> Result<(), SocketError> {
        self.last += 1;
        let number = self.last;
        let written = write(
            number,
            call.asked.method(),
            &call.body,
            Some(json!(call.parameters)),
        );
        let frame = match written.map(|frame| String::from_utf8_lossy(&frame).into_owned()) {
            Ok(frame) => frame,
            Err(error) => {
                let _ = replies.try_send(Err(error));
                return Ok(());
            }
        };
        let gone = replies.clone();
        self.left.push(Box::pin(async move {
            gone.closed().await;
            number
        }));
        self.calls.insert(number, (call.asked.replies(), replies));
        self.socket.send(Message::Text(frame.into())).await
    }

    /// Hands over what a frame brings.
    async fn take(&mut self, frame: &Bytes) -> Result<(), SocketError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct About {
            id: Option<u64>,
            #[serde(default)]
            stream_end: bool,
        }
        let Ok(About {
            id: Some(number),
            stream_end,
        }) = serde_json::from_slice(frame)
        else {
            // A reply to a call that is unknown or over.
            return Ok(());
        };
        let Some((asked, replies)) = self.calls.get(&number) else {
            return Ok(());
        };
        if stream_end {
            self.calls.remove(&number);
            return Ok(());
        }
        let reply = result(frame);
        let over = reply.is_err() || *asked == Replies::One;
        let handed = replies.try_send(reply);
        if over {
            self.calls.remove(&number);
        } else if handed.is_err() {
            return self.leave(number).await;
        }
        Ok(())
    }

    /// Ends a call that its caller has dropped.
    async fn leave(&mut self, number: u64) -> Result<(), SocketError> {
        match self.calls.remove(&number) {
            Some((Replies::Many, _)) => {
                let frame = json!({ "jsonrpc": "2.0", "id": number, "cancelStream": true });
                let frame = Message::Text(frame.to_string().into());
                self.socket.send(frame).await
            }
            _ => Ok(()),
        }
    }

    fn fail(&mut self, why: &str) {
        for (_, (_, replies)) in self.calls.drain() {
            let _ = replies.try_send(Err(Error::lost(why)));
        }
    }
}
