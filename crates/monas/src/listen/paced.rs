//! The time limit for HTTP/2 clients that do not read a response.
//!
//! Over HTTP/1 a client that does not read blocks the socket, which `counted` sees. Over HTTP/2 the socket goes on: a
//! client can leave one response unread and still reply to every ping. What stops is that hyper polls the body for its next
//! piece, so the time since the last piece was handed out is measured here. A response with nothing to send is not
//! affected.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::{Body as _, Frame, SizeHint};
use tokio::time::{Instant, sleep_until};

/// A response of a known size up to this goes out, or into buffers, in one piece.
const AT_ONCE: u64 = 16 << 10;

tokio::task_local! {
    /// The pace of the request that the current task serves.
    static PACE: Pace;
}

/// When the last piece of a response was handed out.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    start: Instant,
    /// Milliseconds after `start`, plus one; zero while the response has nothing to send.
    since: Arc<AtomicU64>,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            since: Arc::default(),
        }
    }

    /// Runs a request, and drops it when the client reads nothing for as long as `limit`. Returns whether it ran to its
    /// end.
    pub(super) async fn watch(self, limit: Duration, request: impl Future<Output = ()>) -> bool {
        tokio::select! {
            biased;
            () = PACE.scope(self.clone(), request) => true,
            () = self.stalled(limit) => false,
        }
    }

    /// Ends when the client has read nothing for so long.
    async fn stalled(&self, limit: Duration) {
        let mut wake = self.start + limit;
        loop {
            sleep_until(wake).await;
            let now = Instant::now();
            wake = match self.since.load(Ordering::Relaxed).checked_sub(1) {
                Some(since) => self.start + Duration::from_millis(since) + limit,
                None => now + limit,
            };
            if wake <= now {
                return;
            }
        }
    }

    fn mark(&self) {
        let since = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.since.store(since + 1, Ordering::Relaxed);
    }

    fn clear(&self) {
        self.since.store(0, Ordering::Relaxed);
    }
}

/// Measures the pace of a response, if the current task has a limit for it.
pub(super) fn keep_pace(response: Response) -> Response {
    if response
        .body()
        .size_hint()
        .upper()
        .is_some_and(|size| size <= AT_ONCE)
    {
        return response;
    }
    match PACE.try_with(Pace::clone) {
        Ok(pace) => response.map(|body| {
            pace.mark();
            Body::new(Paced { body, pace })
        }),
        Err(_) => response,
    }
}

struct Paced {
    body: Body,
    pace: Pace,
}

impl http_body::Body for Paced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        match frame {
            Poll::Ready(Some(Ok(_))) => self.pace.mark(),
            _ => self.pace.clear(),
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
