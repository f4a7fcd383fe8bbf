//! A byte stream with an observer of the bytes read from it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Sees the bytes of a stream as they are read.
pub(super) trait ReadObserver {
    /// Called with the bytes of each read, in order.
    fn observe(&mut self, bytes: &[u8]);

    /// The most bytes to read next.
    fn at_most(&self) -> usize {
        usize::MAX
    }

    /// Whether the bytes so far may be passed on.
    fn check(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps all bytes.
impl ReadObserver for Vec<u8> {
    fn observe(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// A stream and its observer. Writes pass through.
pub(super) struct ObservedStream<S, W> {
    pub(super) stream: S,
    pub(super) observer: W,
}

impl<S, W> ObservedStream<S, W> {
    pub(super) fn new(stream: S, observer: W) -> Self {
        Self { stream, observer }
    }
}

impl<S: AsyncRead + Unpin, W: ReadObserver + Unpin> AsyncRead for ObservedStream<S, W> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let most = self.observer.at_most();
        let read = if most >= buffer.remaining() {
            Pin::new(&mut self.stream).poll_read(context, buffer)
        } else {
            let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
            let read = Pin::new(&mut self.stream).poll_read(context, &mut part);
            let length = part.filled().len();
            buffer.advance(length);
            read
        };
        self.observer.observe(&buffer.filled()[before..]);
        match read {
            Poll::Ready(Ok(())) => Poll::Ready(self.observer.check()),
            read => read,
        }
    }
}

impl<S: AsyncWrite + Unpin, W: Unpin> AsyncWrite for ObservedStream<S, W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
