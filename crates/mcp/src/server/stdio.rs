//! Serves one client on standard input and output, with one message on each line.

use std::sync::Arc;
use std::time::Duration;

use access::Origin;
use bytes::Bytes;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::exchange::Exchange;
use super::pipe;
use super::request::{Responder, Shared};
use super::rpc::{self, Message, RpcError, Unreadable};

/// How many lines may be queued for writing; then senders wait.
pub(crate) const WAITING: usize = 64;

/// How long requests may take after the input ended; then they are cancelled. A script writes its requests, closes the
/// input and reads the answers.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Serves the process that started this one, until it closes our standard input or `stopping` is cancelled. Nothing else
/// may write to standard output meanwhile. A line longer than `max` bytes is answered with an error.
pub async fn stdio(responder: impl Responder, max: usize, stopping: CancellationToken) {
    let streams = (tokio::io::stdin(), tokio::io::stdout());
    lines(responder, streams, max, stopping).await;
}

/// The same on any pair of streams: the one to read, and the one to write.
///
/// Every request is a task, since a client may send the next before the first is answered. One task owns the output and
/// writes line by line: two writers would mix their lines. When the input ends, open requests get a moment to end by
/// themselves and are then cancelled; what they answer is written before this returns.
pub async fn lines(
    responder: impl Responder,
    (read, write): (
        impl AsyncRead + Send + Unpin + 'static,
        impl AsyncWrite + Send + Unpin + 'static,
    ),
    max: usize,
    stopping: CancellationToken,
) {
    let responder: Shared = Arc::new(responder);
    let exchange = Exchange::new(crate::limits::Limits::default().max_requests);
    let (out, waiting) = mpsc::channel(WAITING);
    let mut writer = JoinSet::new();
    writer.spawn(write_all(write, waiting));
    let mut input = LineReader::new(read, max);
    let mut calls = JoinSet::new();
    loop {
        let line = tokio::select! {
            biased;
            () = stopping.cancelled() => break,
            line = input.next() => line,
        };
        while calls.try_join_next().is_some() {}
        let reply = match line {
            Line::End => break,
            Line::TooLong => {
                let why = format!("message larger than {max} bytes");
                Some(rpc::error(None, &RpcError::invalid_request(why)))
            }
            Line::Blank => None,
            Line::Message(message, _) => {
                let call = {
                    let origin = Origin::on("mcp/stdio");
                    pipe::take(&responder, &exchange, &out, None, origin, *message)
                };
                if let Some(call) = call {
                    calls.spawn(call);
                }
                None
            }
            Line::Unreadable(Unreadable {
                error,
                silent: true,
                ..
            }) => {
                tracing::debug!(%error, "ignoring a notification that cannot be parsed");
                None
            }
            Line::Unreadable(Unreadable { error, id, .. }) => Some(rpc::error(id.as_ref(), &error)),
        };
        if let Some(reply) = reply {
            // Fails when the output is closed; then the input ends as well.
            let _ = out.send(reply).await;
        }
    }
    let all = async { while calls.join_next().await.is_some() {} };
    tokio::select! {
        () = all => {}
        () = stopping.cancelled() => {}
        () = tokio::time::sleep(GRACE) => {}
    }
    exchange.end();
    while calls.join_next().await.is_some() {}
    drop(out);
    while writer.join_next().await.is_some() {}
}

/// What one line is.
pub(crate) enum Line {
    /// A message, and the bytes it was read from.
    Message(Box<Message>, Vec<u8>),
    Unreadable(Unreadable),
    Blank,
    TooLong,
    End,
}

/// Reads lines. The rest of a line that is too long is skipped as it arrives, so that it never fills memory.
pub(crate) struct LineReader<R> {
    read: BufReader<R>,
    /// The part of the next line that was read. Kept when `next` is dropped.
    line: Vec<u8>,
    /// The line is too long: its bytes are dropped up to the next line end.
    skipping: bool,
    max: usize,
}

impl<R: AsyncRead + Send + Unpin> LineReader<R> {
    pub(crate) fn new(read: R, max: usize) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            skipping: false,
            max,
        }
    }

    /// Reads until a line is complete. May be dropped at any await and called again.
    pub(crate) async fn next(&mut self) -> Line {
        loop {
            let there = match self.read.fill_buf().await {
                Ok([]) => return Line::End,
                Ok(there) => there,
                Err(error) => {
                    tracing::error!(%error, "reading standard input failed");
                    return Line::End;
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
                return Line::TooLong;
            }
            if end.is_some() && !skipped {
                return self.take();
            }
        }
    }

    fn take(&mut self) -> Line {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return Line::Blank;
        }
        match Message::read(&line) {
            Ok(message) => Line::Message(Box::new(message), line),
            Err(unreadable) => Line::Unreadable(unreadable),
        }
    }
}

/// Writes lines until the queue ends. Continues after an error, so that senders do not wait for room.
pub(crate) async fn write_all(
    mut write: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Bytes>,
) {
    while let Some(line) = lines.recv().await {
        let written = async {
            write.write_all(&line).await?;
            write.write_all(b"\n").await?;
            write.flush().await
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "writing standard output failed");
        }
    }
}
