//! One client and its connection to the server: frames passed on in both directions, and shown.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use capnweb::transcript::{Side, Transcript};
use futures_util::{Sink, SinkExt, Stream, StreamExt, future};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::upstream::Upstream;
use dial::Dialer;

/// The longest frame that is passed on. The sides have limits of their own; this is ours.
const LONGEST: usize = 256 << 20;

/// How long a client may take to say what it wants, and a side to close after the other has.
const PATIENCE: Duration = Duration::from_secs(5);

/// How either side is read.
pub(super) fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(LONGEST))
        .max_frame_size(Some(LONGEST))
}

/// Says what happens in one session.
pub(super) struct Log<S> {
    session: u64,
    started: Instant,
    /// Held while a line is said, so that lines come in the order in which frames are counted.
    read: Mutex<(u64, Transcript)>,
    say: Arc<S>,
}

impl<S: Fn(&str)> Log<S> {
    pub(super) fn new(session: u64, say: Arc<S>) -> Self {
        Self {
            session,
            started: Instant::now(),
            read: Mutex::default(),
            say,
        }
    }

    /// A line about the session.
    fn note(&self, note: &str) {
        let seconds = self.started.elapsed().as_secs_f64();
        (self.say)(&format!("{} {seconds:>9.3}s        {note}", self.session));
    }

    /// The line of a frame.
    fn frame(&self, from: Side, text: &str) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, transcript) = &mut *read;
        *count += 1;
        let frame = transcript.read(from, text);
        let seconds = self.started.elapsed().as_secs_f64();
        (self.say)(&format!(
            "{} {seconds:>9.3}s {count:>5}  {frame}",
            self.session
        ));
    }
}

/// Taps one client until either side is gone.
pub(super) async fn run<S: Fn(&str) + Send + Sync>(
    stream: TcpStream,
    server: Arc<(Upstream, Dialer)>,
    log: Log<S>,
) {
    let mut headers = HeaderMap::new();
    #[expect(
        clippy::result_large_err,
        reason = "the library's own type, and never made here"
    )]
    let keep = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        headers = request.headers().clone();
        Ok(response)
    };
    // A failure only costs latency.
    let _ = stream.set_nodelay(true);
    let accepted = tokio_tungstenite::accept_hdr_async_with_config(stream, keep, Some(config()));
    let mut client = match tokio::time::timeout(PATIENCE, accepted).await {
        Ok(Ok(client)) => client,
        Ok(Err(error)) => return log.note(&format!("not a WebSocket: {error}")),
        Err(_) => return log.note("not a WebSocket: the client sent nothing"),
    };
    let (upstream, dialer) = &*server;
    let server = match upstream.connect(dialer, &headers).await {
        Ok(server) => server,
        Err(reason) => {
            log.note(&format!("could not connect to {upstream}: {reason}"));
            let reason = "the tap could not connect to the server".into();
            let code = CloseCode::Error;
            let farewell = client.close(Some(CloseFrame { code, reason }));
            // The session ends, also if the close frame cannot be sent.
            let _ = tokio::time::timeout(PATIENCE, farewell).await;
            return;
        }
    };
    log.note("connected");
    let (to_client, from_client) = client.split();
    let (to_server, from_server) = server.split();
    let up = std::pin::pin!(pass(Side::Client, from_client, to_server, &log));
    let down = std::pin::pin!(pass(Side::Server, from_server, to_client, &log));
    let rest = match future::select(up, down).await {
        future::Either::Left(((), rest)) => future::Either::Left(rest),
        future::Either::Right(((), rest)) => future::Either::Right(rest),
    };
    let _ = tokio::time::timeout(PATIENCE, rest).await;
    log.note("over");
}

/// Forwards the frames of one side until that side closes.
async fn pass<S: Fn(&str)>(
    from: Side,
    mut source: impl Stream<Item = Result<Message, Error>> + Unpin,
    mut sink: impl Sink<Message, Error = Error> + Unpin,
    log: &Log<S>,
) {
    while let Some(message) = source.next().await {
        let message = match message {
            Ok(message) => message,
            Err(Error::ConnectionClosed | Error::AlreadyClosed) => break,
            Err(error) => {
                log.note(&format!("{from}  lost: {error}"));
                break;
            }
        };
        match &message {
            Message::Text(text) => log.frame(from, text.as_str()),
            Message::Binary(bytes) => log.note(&format!(
                "{from}  a binary frame of {} bytes, which the protocol does not have",
                bytes.len()
            )),
            Message::Close(Some(frame)) => log.note(&format!(
                "{from}  closes: {} {:?}",
                u16::from(frame.code),
                frame.reason.as_str()
            )),
            Message::Close(None) => log.note(&format!("{from}  closes")),
            // Each connection has its own, answered by the library.
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
        }
        if sink.send(message).await.is_err() {
            break;
        }
    }
    // The other side may be gone already.
    let _ = sink.close().await;
}
