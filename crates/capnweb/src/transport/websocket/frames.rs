//! The frames of one WebSocket, read and written.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes};

use super::boundary::Boundary;
use super::observed::{ObservedStream, ReadObserver as _};
use super::{Duplex, Settings};
use crate::account::too_large;
use crate::connection::{Close, Shared};
use crate::error::Error;

/// The bytes gathered before they are written to the socket.
const WRITE_BUFFER: usize = 16 << 10;

pub(super) enum Incoming {
    Text(Utf8Bytes),
    /// Ping or pong: the peer is there.
    Alive,
    /// What cannot be part of a session; it ends with this error.
    Wrong(Error),
    /// As wrong, and so that nothing behind it can be read either.
    Unreadable(Error),
    Closed(Option<String>),
}

pub(super) enum Outgoing {
    Text(String),
    Ping,
    Close(Close),
}

/// The connection is lost.
#[derive(Debug)]
pub(super) struct Gone;

/// A WebSocket with its buffers.
pub(super) struct Frames(WebSocketStream<ObservedStream<Box<dyn Duplex>, Boundary>>);

impl Frames {
    /// Goes on after the handshake, or after [`Frames::leave`]. `read` is what came from the stream meanwhile.
    pub(super) async fn open(
        stream: Box<dyn Duplex>,
        read: Vec<u8>,
        role: Role,
        session: &Arc<Shared>,
        settings: &Settings,
    ) -> Self {
        let limits = session.limits();
        let config = WebSocketConfig::default()
            .max_message_size(Some(limits.max_message_bytes))
            .max_frame_size(Some(limits.max_message_bytes))
            .read_buffer_size(settings.read_buffer)
            .write_buffer_size(WRITE_BUFFER)
            // One whole message, and the pongs of a peer that pings and does not read.
            .max_write_buffer_size(limits.max_sent_bytes() + 4 * WRITE_BUFFER);
        let mut boundary = Boundary::of(session);
        boundary.observe(&read);
        let watched = ObservedStream::new(stream, boundary);
        Self(WebSocketStream::from_partially_read(watched, read, role, Some(config)).await)
    }

    /// The next frame; `None` at the end. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Option<Incoming> {
        Some(match StreamExt::next(&mut self.0).await? {
            Ok(Message::Text(text)) => Incoming::Text(text),
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => Incoming::Alive,
            Ok(Message::Binary(_)) => Incoming::Wrong(Error::type_error(
                "binary frames are not part of the protocol",
            )),
            Ok(Message::Close(frame)) => {
                Incoming::Closed(frame.map(|frame| frame.reason.as_str().to_owned()))
            }
            Err(error) => match self.0.get_ref().observer.exceeded() {
                Some(most) => Incoming::Unreadable(too_large(most)),
                None => failed(&error)?,
            },
        })
    }

    /// Puts a frame in the write buffer.
    pub(super) async fn feed(&mut self, frame: Outgoing) -> Result<(), Gone> {
        let message = match frame {
            Outgoing::Text(text) => Message::Text(text.into()),
            Outgoing::Ping => Message::Ping(Bytes::new()),
            Outgoing::Close(close) => Message::Close(Some(CloseFrame {
                code: close.code.into(),
                reason: close.reason.into(),
            })),
        };
        SinkExt::feed(&mut self.0, message).await.map_err(|_| Gone)
    }

    /// Writes out the buffer. May be dropped and called again.
    pub(super) async fn flush(&mut self) -> Result<(), Gone> {
        SinkExt::flush(&mut self.0).await.map_err(|_| Gone)
    }

    /// Whether the stream can be left: all that was read is taken, given that [`Frames::next`] has just found
    /// nothing, and all that was fed is written.
    pub(super) fn is_clear(&mut self) -> bool {
        self.0.get_ref().observer.is_clear() && matches!(self.flush().now_or_never(), Some(Ok(())))
    }

    /// The stream without its buffers.
    pub(super) fn leave(self) -> Box<dyn Duplex> {
        self.0.into_inner().stream
    }
}

/// What a failed read means: the frame was wrong, or (`None`) the connection is gone.
fn failed(error: &tungstenite::Error) -> Option<Incoming> {
    match error {
        tungstenite::Error::Capacity(CapacityError::MessageTooLong { max_size, .. }) => {
            Some(Incoming::Unreadable(Error::range_error(format!(
                "Incoming message exceeds maximum size of {max_size} bytes."
            ))))
        }
        tungstenite::Error::Utf8(_) => Some(Incoming::Unreadable(Error::type_error(
            "a text frame is not UTF-8",
        ))),
        _ => None,
    }
}
