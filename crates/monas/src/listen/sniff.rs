//! Which version of HTTP a client speaks, found out from what it sends first.
//!
//! An HTTP/2 client opens with a fixed text that no HTTP/1 request begins with. Whoever sends nothing
//! is the caller's to give up on: this waits for as long as it is polled.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

#[cfg(test)]
#[path = "sniff_tests.rs"]
mod tests;

// RFC 9113 3.4: what every HTTP/2 client sends first.
const PREFACE: [u8; 24] = *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// Reads until it is certain what the client speaks, and gives the stream back as if nothing had been
/// read. HTTP/2 is certain only with the whole preface, which bounds how long that may take as well.
pub(super) async fn sniff<S: AsyncRead + Unpin>(
    mut stream: S,
) -> io::Result<(Protocol, Rewound<S>)> {
    let mut head = [0; PREFACE.len()];
    let mut length = 0;
    while length < PREFACE.len() && head[..length] == PREFACE[..length] {
        match stream.read(&mut head[length..]).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => length += read,
        }
    }
    let protocol = if head == PREFACE {
        Protocol::Http2
    } else {
        Protocol::Http1
    };
    Ok((
        protocol,
        Rewound {
            head,
            unread: 0..length,
            stream,
        },
    ))
}

/// A stream whose first bytes were read and are given out again.
#[derive(Debug)]
pub(super) struct Rewound<S> {
    head: [u8; PREFACE.len()],
    unread: std::ops::Range<usize>,
    stream: S,
}

impl<S: AsyncRead + Unpin> AsyncRead for Rewound<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.unread.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        let length = self.unread.len().min(buf.remaining());
        let start = self.unread.start;
        buf.put_slice(&self.head[start..start + length]);
        self.unread.start += length;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Rewound<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
