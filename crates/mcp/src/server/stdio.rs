//! Serves one client on standard input and output, with one message on each line.

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

use super::session::{OpenRequests, answered, cancelled};

/// How many lines may be queued for writing; then senders wait.
const WAITING: usize = 64;

/// Serves the process that started this one, until it closes our standard input or `stopping` is cancelled. Nothing else
/// may write to standard output meanwhile. A line longer than `max` bytes is answered with an error.
pub async fn stdio<H: ServerHandler>(
    handler: H,
    max: usize,
    stopping: CancellationToken,
) -> Result<(), Box<ServerInitializeError>> {
    let streams = (tokio::io::stdin(), tokio::io::stdout());
    lines(handler, streams, max, stopping).await
}

/// The same on any pair of streams: the one to read, and the one to write.
pub async fn lines<H: ServerHandler>(
    handler: H,
    (read, write): (
        impl AsyncRead + Send + Unpin + 'static,
        impl AsyncWrite + Send + Unpin + 'static,
    ),
    max: usize,
    stopping: CancellationToken,
) -> Result<(), Box<ServerInitializeError>> {
    let lines = LineTransport::new(read, write, max);
    let serving =
        serve_server_with_ct::<_, _, _, TransportAdapterIdentity>(handler, lines, stopping).await;
    match serving {
        Ok(serving) => {
            if let Err(error) = serving.waiting().await {
                tracing::error!(%error, "MCP session on standard input failed");
            }
            Ok(())
        }
        // The input was closed before a client initialized: not an error.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(Box::new(error)),
    }
}

/// The transport that the library reads and writes: one message on each line.
///
/// It replaces the library's own reader, which drops a line that is not JSON or is too long, so that the client waits
/// for a reply. Here such a line is answered with an error and the next one is read; the rest of a line that is too long
/// is skipped as it arrives, so it never fills memory. A notification is never answered, also if it cannot be parsed.
///
/// Reading: [`receive`](Transport::receive) may be dropped at any await, since the library selects over it. So the line
/// that is half read is a field, and an error reply is put into `reply` first and sent when the queue has room.
///
/// Writing: one task owns the output and writes line by line, since several responses may be ready at once and two
/// writers would mix their lines. [`close`](Transport::close) ends the queue and waits until all of it is written; a
/// transport that is dropped instead aborts the task.
struct LineTransport<R> {
    read: BufReader<R>,
    /// The part of the next line that was read. Kept when `receive` is dropped.
    line: Vec<u8>,
    /// The line is too long: its bytes are dropped up to the next line end.
    skipping: bool,
    max: usize,
    /// An error reply that waits for room in the queue.
    reply: Option<Bytes>,
    open_requests: OpenRequests,
    out: Option<mpsc::Sender<Line>>,
    writer: JoinSet<()>,
}

/// A line to write, and the sender that waits for the result.
type Line = (Bytes, Option<oneshot::Sender<io::Result<()>>>);

enum LineRead {
    Line,
    TooLong,
    End,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    fn new(read: R, write: impl AsyncWrite + Send + Unpin + 'static, max: usize) -> Self {
        let (out, lines) = mpsc::channel(WAITING);
        let mut writer = JoinSet::new();
        writer.spawn(write_all(write, lines));
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            skipping: false,
            max,
            reply: None,
            open_requests: OpenRequests::default(),
            out: Some(out),
            writer,
        }
    }

    /// Reads until a line is complete. May be dropped at any await and called again.
    async fn read_line(&mut self) -> LineRead {
        loop {
            let there = match self.read.fill_buf().await {
                Ok([]) => return LineRead::End,
                Ok(there) => there,
                Err(error) => {
                    tracing::error!(%error, "reading standard input failed");
                    return LineRead::End;
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
                return LineRead::TooLong;
            }
            if end.is_some() && !skipped {
                return LineRead::Line;
            }
        }
    }

    /// Parses the line that was read. `Err` is the error reply to it; `None` is a line that needs no reply.
    fn parse(&self) -> Result<Option<ClientJsonRpcMessage>, Bytes> {
        let line = self.line.trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        let message: ClientJsonRpcMessage = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => return parse_error(line, &error).map_or(Ok(None), Err),
        };
        if let ClientJsonRpcMessage::Request(request) = &message
            && let Err(error) = self.open_requests.begin(request)
        {
            let id = Some(&request.id);
            return Err(error_reply(error.code, &error.message, id));
        }
        if let Some(id) = cancelled(&message) {
            self.open_requests.forget(id);
        }
        Ok(Some(message))
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // A client that has read the response may use the id again at once, so the id is free before it is written.
        if let Some(id) = answered(&message) {
            self.open_requests.forget(id);
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
            if self.reply.is_some() {
                let room = self.out.as_ref()?.reserve().await.ok()?;
                let reply = self.reply.take()?;
                room.send((reply, None));
            }
            match self.read_line().await {
                LineRead::End => return None,
                LineRead::TooLong => {
                    let why = format!("message larger than {} bytes", self.max);
                    self.reply = Some(error_reply(ErrorCode::INVALID_REQUEST, &why, None));
                }
                LineRead::Line => {
                    let parsed = self.parse();
                    self.line.clear();
                    match parsed {
                        Ok(Some(message)) => return Some(message),
                        Ok(None) => {}
                        Err(reply) => self.reply = Some(reply),
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

/// Writes lines until the queue ends. Continues after an error: every sender gets its own.
async fn write_all(mut write: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Line>) {
    while let Some((line, done)) = lines.recv().await {
        let written = async {
            write.write_all(&line).await?;
            write.write_all(b"\n").await?;
            write.flush().await
        };
        let written = written.await;
        if let Err(error) = &written {
            tracing::debug!(%error, "writing standard output failed");
        }
        if let Some(done) = done {
            let _ = done.send(written);
        }
    }
}

/// The reply to a line that is not a message. `None` for a notification, which is never answered.
fn parse_error(line: &[u8], error: &serde_json::Error) -> Option<Bytes> {
    let Ok(json) = serde_json::from_slice::<Value>(line) else {
        let why = format!("not JSON: {error}");
        return Some(error_reply(ErrorCode::PARSE_ERROR, &why, None));
    };
    if json.get("method").is_some() && json.get("id").is_none() {
        tracing::debug!(%error, "ignoring a notification that cannot be parsed");
        return None;
    }
    let id = json.get("id");
    let id = id.and_then(|id| serde_json::from_value(id.clone()).ok());
    Some(error_reply(
        ErrorCode::INVALID_REQUEST,
        super::invalid_message(&json),
        id.as_ref(),
    ))
}

fn error_reply(code: ErrorCode, why: &str, id: Option<&RequestId>) -> Bytes {
    let error = json!({ "code": code.0, "message": why });
    let reply = json!({ "jsonrpc": "2.0", "id": id, "error": error });
    reply.to_string().into()
}
