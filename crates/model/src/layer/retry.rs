//! Retrying failed requests.

use std::sync::Arc;
use std::time::Duration;

use dial::{Backoff, Jitter};
use futures_util::StreamExt as _;
use futures_util::stream;
use tokio::time::{Instant, timeout_at};

use crate::embed::{Embed, Vectors};
use crate::error::Error;
use crate::model::Model;
use crate::reply::{Delta, Deltas};
use crate::request::Request;

/// How often to try, and how long to wait between attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The number of attempts, the first included.
    pub attempts: u32,
    /// The pause before the second attempt; each further one is twice as long.
    pub pause: Duration,
    /// The longest pause. If the provider asks for a longer one, the request fails.
    pub longest: Duration,
    /// How long all attempts together may take until a reply begins. Clients wait for five minutes.
    pub within: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            attempts: 4,
            pause: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            within: Duration::from_secs(240),
        }
    }
}

/// The attempts at one answer.
struct Attempts {
    patience: Patience,
    made: u32,
    backoff: Backoff,
}

impl Attempts {
    fn first(patience: Patience) -> Self {
        Self {
            patience,
            made: 1,
            backoff: Backoff::new(patience.pause, patience.longest, Jitter::Half),
        }
    }

    /// How long to wait after an attempt that failed with this error; `None` when there is to be no other.
    fn pause_after(&mut self, error: &Error) -> Option<Duration> {
        if self.made >= self.patience.attempts || !error.is_transient() {
            return None;
        }
        self.made += 1;
        match error {
            Error::RateLimited {
                retry_after: Some(asked),
                ..
            } => (*asked <= self.patience.longest).then_some(*asked),
            _ => Some(self.backoff.next_pause()),
        }
    }
}

/// Tries again when a request failed with a transient error.
///
/// Once a piece of the reply was passed on, an error is passed on, too: the reader has seen the beginning.
#[derive(Debug)]
pub struct Retry<T: ?Sized> {
    patience: Patience,
    inner: Arc<T>,
}

impl<T: ?Sized> Retry<T> {
    pub fn new(inner: Arc<T>, patience: Patience) -> Self {
        Self { patience, inner }
    }
}

impl Model for Retry<dyn Model> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply(&self, request: Request) -> Deltas {
        let asking = Asking {
            model: self.inner.clone(),
            attempts: Attempts::first(self.patience),
            deltas: self.inner.reply(request.clone()),
            request,
            begun: false,
            since: None,
        };
        Box::pin(stream::unfold(Some(asking), |asking| async move {
            asking?.next().await
        }))
    }
}

/// A reply under way, with what is needed to begin it again.
struct Asking {
    model: Arc<dyn Model>,
    attempts: Attempts,
    request: Request,
    deltas: Deltas,
    /// Whether a piece of the reply was passed on.
    begun: bool,
    /// When it was first asked.
    since: Option<Instant>,
}

impl Asking {
    async fn next(mut self) -> Option<(Result<Delta, Error>, Option<Self>)> {
        let within = self.attempts.patience.within;
        let end = *self.since.get_or_insert_with(Instant::now) + within;
        loop {
            let next = match self.begun {
                true => self.deltas.next().await,
                false => match timeout_at(end, self.deltas.next()).await {
                    Ok(next) => next,
                    Err(_) => return Some((Err(Error::TimedOut(within)), None)),
                },
            };
            let error = match next? {
                Ok(delta) => {
                    self.begun |= delta != Delta::Working;
                    return Some((Ok(delta), Some(self)));
                }
                Err(error) => error,
            };
            let pause = match self.begun {
                false => self.attempts.pause_after(&error),
                true => None,
            };
            let Some(pause) = pause.filter(|it| Instant::now() + *it < end) else {
                return Some((Err(error), None));
            };
            tracing::info!(model = self.model.name(), %error, ?pause, "model request failed, retrying");
            tokio::time::sleep(pause).await;
            self.deltas = self.model.reply(self.request.clone());
        }
    }
}

impl Embed for Retry<dyn Embed> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn embed(&self, texts: Vec<String>) -> Vectors {
        let (inner, patience) = (self.inner.clone(), self.patience);
        Box::pin(async move {
            let mut attempts = Attempts::first(patience);
            loop {
                let error = match inner.embed(texts.clone()).await {
                    Ok(vectors) => return Ok(vectors),
                    Err(error) => error,
                };
                let Some(pause) = attempts.pause_after(&error) else {
                    return Err(error);
                };
                tracing::debug!(embedder = inner.name(), %error, ?pause, "embedder request failed, retrying");
                tokio::time::sleep(pause).await;
            }
        })
    }
}
