//! One client, on standard input and output: a message in each line.

use std::io;

use bytes::Bytes;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, RequestId, ServerJsonRpcMessage};
use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rmcp::transport::{Transport, TransportAdapterIdentity};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::session::{InFlight, answered, given_up};

/// How many lines may wait to be written.
const WAITING: usize = 64;

/// Serves whoever started this process, until they close its input or `stopping` ends. Nothing else may be written to
/// standard output meanwhile. A request has at most `max` bytes.
pub async fn stdio<H: ServerHandler>(
    handler: H,
    max: usize,
    stopping: CancellationToken,
) -> Result<(), Box<ServerInitializeError>> {
    let streams = (tokio::io::stdin(), tokio::io::stdout());
    lines(handler, streams, max, stopping).await
}

/// The same on any two streams: what is read, and what is written.
pub async fn lines<H: ServerHandler>(
    handler: H,
    (read, write): (
        impl AsyncRead + Send + Unpin + 'static,
        impl AsyncWrite + Send + Unpin + 'static,
    ),
    max: usize,
    stopping: CancellationToken,
) -> Result<(), Box<ServerInitializeError>> {
    let lines = Lines::new(read, write, max);
    let serving =
        serve_server_with_ct::<_, _, _, TransportAdapterIdentity>(handler, lines, stopping).await;
    match serving {
        Ok(serving) => {
            if let Err(error) = serving.waiting().await {
                tracing::error!(%error, "the session broke");
            }
            Ok(())
        }
        // Nobody said anything, and that is fine.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(Box::new(error)),
    }
}

/// Messages in lines. What is none is answered here, and the next line is read.
struct Lines<R> {
    read: BufReader<R>,
    /// What is there of the next line. It stays when reading is interrupted.
    line: Vec<u8>,
    /// The rest of the line is not looked at: it is too long.
    skipping: bool,
    max: usize,
    /// To say no in a moment when there is room for it.
    complaint: Option<Bytes>,
    in_flight: InFlight,
    out: Option<mpsc::Sender<Line>>,
    writer: JoinSet<()>,
}

/// A line to be written, and whom to tell that it was.
type Line = (Bytes, Option<oneshot::Sender<io::Result<()>>>);

/// What came of reading.
enum Read {
    Line,
    TooLong,
    End,
}

impl<R: AsyncRead + Send + Unpin> Lines<R> {
    fn new(read: R, write: impl AsyncWrite + Send + Unpin + 'static, max: usize) -> Self {
        let (out, lines) = mpsc::channel(WAITING);
        let mut writer = JoinSet::new();
        writer.spawn(write_all(write, lines));
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            skipping: false,
            max,
            complaint: None,
            in_flight: InFlight::default(),
            out: Some(out),
            writer,
        }
    }

    /// Reads on until a line is whole. May be dropped at any time and called again.
    async fn read_line(&mut self) -> Read {
        loop {
            let there = match self.read.fill_buf().await {
                Ok([]) => return Read::End,
                Ok(there) => there,
                Err(error) => {
                    tracing::error!(%error, "the input cannot be read");
                    return Read::End;
                }
            };
            let end = there.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(there.len(), |end| end + 1);
            let text = &there[..end.unwrap_or(there.len())];
            let skipped = self.skipping;
            let too_long = !skipped && self.line.len() + text.len() > self.max;
            if too_long {
                self.line = Vec::new();
            } else if !skipped {
                self.line.extend_from_slice(text);
            }
            self.read.consume(taken);
            self.skipping = end.is_none() && (skipped || too_long);
            if too_long {
                return Read::TooLong;
            }
            if end.is_some() && !skipped {
                return Read::Line;
            }
        }
    }

    /// The message of the line that was read, or what to say about it. `None` is for what needs no answer.
    fn understand(&self) -> Result<Option<ClientJsonRpcMessage>, Bytes> {
        let line = self.line.trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        let message: ClientJsonRpcMessage = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => return misunderstood(line, &error).map_or(Ok(None), Err),
        };
        if let ClientJsonRpcMessage::Request(request) = &message
            && let Err(error) = self.in_flight.begin(request)
        {
            let id = Some(&request.id);
            return Err(complaint(error.code, &error.message, id));
        }
        if let Some(id) = given_up(&message) {
            self.in_flight.forget(id);
        }
        Ok(Some(message))
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // Whoever has the answer may use the id again at once.
        if let Some(id) = answered(&message) {
            self.in_flight.forget(id);
        }
        let out = self.out.clone();
        async move {
            let closed = || io::Error::from(io::ErrorKind::NotConnected);
            let out = out.ok_or_else(closed)?;
            let (done, written) = oneshot::channel();
            let line = (serde_json::to_vec(&message)?.into(), Some(done));
            out.send(line).await.map_err(|_| closed())?;
            written.await.unwrap_or_else(|_| Err(closed()))
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.complaint.is_some() {
                let room = self.out.as_ref()?.reserve().await.ok()?;
                let complaint = self.complaint.take()?;
                room.send((complaint, None));
            }
            match self.read_line().await {
                Read::End => return None,
                Read::TooLong => {
                    let why = format!("a message has at most {} bytes", self.max);
                    self.complaint = Some(complaint(ErrorCode::INVALID_REQUEST, &why, None));
                }
                Read::Line => {
                    let understood = self.understand();
                    self.line.clear();
                    match understood {
                        Ok(Some(message)) => return Some(message),
                        Ok(None) => {}
                        Err(why) => self.complaint = Some(why),
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.out = None;
        while self.writer.join_next().await.is_some() {}
        Ok(())
    }
}

/// Writes one line after the other, each whole.
async fn write_all(mut write: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Line>) {
    while let Some((line, done)) = lines.recv().await {
        let written = async {
            write.write_all(&line).await?;
            write.write_all(b"\n").await?;
            write.flush().await
        };
        let written = written.await;
        if let Err(error) = &written {
            tracing::debug!(%error, "nobody reads the output");
        }
        if let Some(done) = done {
            let _ = done.send(written);
        }
    }
}

/// What to say about a line that is no message. A notification is never answered.
fn misunderstood(line: &[u8], error: &serde_json::Error) -> Option<Bytes> {
    let Ok(said) = serde_json::from_slice::<Value>(line) else {
        let why = format!("this is no JSON: {error}");
        return Some(complaint(ErrorCode::PARSE_ERROR, &why, None));
    };
    if said.get("method").is_some() && said.get("id").is_none() {
        tracing::debug!(%error, "a notification was not understood");
        return None;
    }
    let id = said.get("id");
    let id = id.and_then(|id| serde_json::from_value(id.clone()).ok());
    Some(complaint(
        ErrorCode::INVALID_REQUEST,
        super::no_message(&said),
        id.as_ref(),
    ))
}

fn complaint(code: ErrorCode, why: &str, id: Option<&RequestId>) -> Bytes {
    let error = json!({ "code": code.0, "message": why });
    let reply = json!({ "jsonrpc": "2.0", "id": id, "error": error });
    reply.to_string().into()
}
