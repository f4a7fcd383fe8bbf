//! The server's end of a WebSocket, as axum gives it.

use std::future::Future;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::tungstenite;

use super::{Gone, Incoming, Outgoing, Settings, Socket, drive};
use crate::connection::Connection;
use crate::error::Error;
use crate::limits::Limits;

/// How much is gathered before it is written.
const WRITE_BUFFER: usize = 16 << 10;

/// Bounds what is read before a message is whole.
pub fn configure(
    upgrade: WebSocketUpgrade,
    limits: &Limits,
    settings: &Settings,
) -> WebSocketUpgrade {
    upgrade
        .max_message_size(limits.max_message_bytes)
        .max_frame_size(limits.max_message_bytes)
        .read_buffer_size(settings.read_buffer)
        .write_buffer_size(WRITE_BUFFER)
        // One whole message, and the pongs of a peer that pings and does not read.
        .max_write_buffer_size(limits.max_message_bytes + 4 * WRITE_BUFFER)
}

/// Runs a session over a socket to its end. Counts among [`Options::tasks`](crate::Options), and says
/// good-bye when those are drained or stopped.
pub fn serve(
    socket: WebSocket,
    connection: Connection,
    settings: Settings,
) -> impl Future<Output = ()> + Send + 'static {
    let tasks = connection.shared().tasks().clone();
    tasks.track(run(Box::new(socket), connection, settings))
}

/// As [`serve`], as a task.
pub(crate) fn spawn(socket: WebSocket, connection: Connection, settings: Settings) {
    let tasks = connection.shared().tasks().clone();
    tasks.spawn_tracked(run(Box::new(socket), connection, settings));
}

/// The connection is held to the end: on this side the session lasts as long as its socket.
async fn run(socket: Box<WebSocket>, connection: Connection, settings: Settings) {
    drive(socket, connection.shared(), &settings).await;
}

impl Socket for WebSocket {
    type Text = AxumText;

    async fn next(&mut self) -> Option<Incoming<AxumText>> {
        Some(match StreamExt::next(self).await? {
            Ok(Message::Text(text)) => Incoming::Text(AxumText(text)),
            Ok(Message::Ping(_) | Message::Pong(_)) => Incoming::Alive,
            Ok(Message::Binary(_)) => Incoming::Wrong(Error::type_error(
                "binary frames are not part of the protocol",
            )),
            Ok(Message::Close(frame)) => {
                Incoming::Closed(frame.map(|frame| frame.reason.as_str().to_owned()))
            }
            Err(error) => match error.into_inner().downcast::<tungstenite::Error>() {
                Ok(error) => super::failed(&error)?,
                Err(_) => return None,
            },
        })
    }

    async fn feed(&mut self, frame: Outgoing) -> Result<(), Gone> {
        let message = match frame {
            Outgoing::Text(text) => Message::Text(text.into()),
            Outgoing::Ping => Message::Ping(Bytes::new()),
            Outgoing::Close(close) => Message::Close(Some(CloseFrame {
                code: close.code,
                reason: close.reason.into(),
            })),
        };
        SinkExt::feed(self, message).await.map_err(|_| Gone)
    }

    async fn flush(&mut self) -> Result<(), Gone> {
        SinkExt::flush(self).await.map_err(|_| Gone)
    }
}

/// A text frame of axum's.
pub(crate) struct AxumText(Utf8Bytes);

impl std::ops::Deref for AxumText {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.as_str()
    }
}
