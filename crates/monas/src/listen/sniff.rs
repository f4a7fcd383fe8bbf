//! The version of HTTP that a client speaks, from the first bytes it sends.
//!
//! An HTTP/2 client opens with a fixed text, the preface, that no HTTP/1 request begins with. Over TLS the handshake could
//! tell the version (ALPN), but clients without TLS have no handshake, and one way serves both. HTTP/2 is certain only with
//! the whole preface: deciding on its first bytes would take an HTTP/1 request with an odd method for HTTP/2. The bytes that
//! were read are given out again ([`Rewound`]), so the HTTP implementation behind it sees the connection from its start.
//!
//! It has no time limit of its own. The caller sets one, since `hyper_util`'s automatic detection, which this replaces,
//! waited for ever for a client that sends nothing.

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

/// Reads until the version is certain, at most the length of the preface.
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

/// A stream that gives out again the bytes that were read from it.
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
