//! Responses over HTTP/2 whose client takes nothing for too long.
//!
//! On HTTP/1 that shows at the socket. On HTTP/2 the socket goes on, since a client may hold back one
//! response and answer every sign of life; what shows is that nobody asks for the next piece of a
//! response that has one. A response that has nothing to say is no concern of this.

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
    /// The pace of the request that the current task is for.
    static PACE: Pace;
}

/// Since when the next piece of a response could have been asked for.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    start: Instant,
    /// Milliseconds after `start`, plus one; zero while nobody is waited for.
    since: Arc<AtomicU64>,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            since: Arc::default(),
        }
    }

    /// Runs a request so that its response keeps this pace, and gives up on it when the client takes
    /// nothing for as long as `limit`. Returns whether it ran to its end.
    pub(super) async fn watch(self, limit: Duration, request: impl Future<Output = ()>) -> bool {
        tokio::select! {
            biased;
            () = PACE.scope(self.clone(), request) => true,
            () = self.stalled(limit) => false,
        }
    }

    /// Ends when the client has taken nothing for so long.
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

/// Makes a response keep the pace of the current task, if it has one.
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
