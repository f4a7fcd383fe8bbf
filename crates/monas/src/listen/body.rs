//! A request body with time limits.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};

use super::limits::Limits;

/// Set when a body has exceeded its time.
#[derive(Clone, Debug, Default)]
pub(super) struct Late(Arc<AtomicBool>);

impl Late {
    pub(super) fn is_late(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A request body that fails when its client pauses for too long, or takes too long as a whole. Only the time spent waiting
/// for the client counts, not that of a handler that reads slowly.
pub(super) struct Timed {
    body: Incoming,
    progress: std::time::Duration,
    total: std::time::Duration,
    /// When the first wait began, plus `total`.
    end: Option<Instant>,
    /// Runs while the next piece is waited for.
    waiting: Option<Pin<Box<Sleep>>>,
    late: Late,
}

impl Timed {
    pub(super) fn new(body: Incoming, limits: &Limits) -> (Self, Late) {
        let late = Late::default();
        let timed = Self {
            body,
            progress: limits.body,
            total: limits.body_total,
            end: None,
            waiting: None,
            late: late.clone(),
        };
        (timed, late)
    }
}

impl Body for Timed {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.waiting = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        if self.waiting.is_none() {
            let now = Instant::now();
            let total = self.total;
            let end = *self.end.get_or_insert(now + total);
            self.waiting = Some(Box::pin(sleep_until(end.min(now + self.progress))));
        }
        if let Some(waiting) = &mut self.waiting {
            ready!(waiting.as_mut().poll(cx));
        }
        self.late.0.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::TimedOut).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
