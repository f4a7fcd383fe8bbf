//! Time limits.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use tokio::time::{Instant, timeout, timeout_at};

use crate::embed::{Embed, Vectors};
use crate::error::Error;
use crate::model::Model;
use crate::reply::{Delta, Deltas};
use crate::request::Request;

/// How long to wait for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// For the next piece of a reply, the first included.
    pub next: Duration,
    pub whole: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            next: Duration::from_secs(120),
            whole: Duration::from_secs(600),
        }
    }
}

/// Fails with [`Error::TimedOut`] when a reply takes too long.
#[derive(Debug)]
pub struct Timed<T: ?Sized> {
    times: Times,
    inner: Arc<T>,
}

impl<T: ?Sized> Timed<T> {
    pub fn new(inner: Arc<T>, times: Times) -> Self {
        Self { times, inner }
    }
}

impl Model for Timed<dyn Model> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply(&self, request: Request) -> Deltas {
        let times = self.times;
        // The clock starts at the first poll: nothing is sent before.
        let waiting = (self.inner.reply(request), None);
        Box::pin(stream::unfold(Some(waiting), move |waiting| async move {
            let (mut deltas, end) = waiting?;
            let end = end.unwrap_or_else(|| Instant::now() + times.whole);
            let next = Instant::now() + times.next;
            match timeout_at(next.min(end), deltas.next()).await {
                Ok(delta) => {
                    let delta: Result<Delta, Error> = delta?;
                    let over = delta.is_err();
                    Some((delta, (!over).then_some((deltas, Some(end)))))
                }
                Err(_) if end <= next => Some((Err(Error::TimedOut(times.whole)), None)),
                Err(_) => Some((Err(Error::TimedOut(times.next)), None)),
            }
        }))
    }
}

impl Embed for Timed<dyn Embed> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn embed(&self, texts: Vec<String>) -> Vectors {
        let (vectors, whole) = (self.inner.embed(texts), self.times.whole);
        Box::pin(async move {
            let vectors = timeout(whole, vectors).await;
            vectors.unwrap_or(Err(Error::TimedOut(whole)))
        })
    }
}
