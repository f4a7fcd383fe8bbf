//! Asking again when that may help.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;

use crate::embed::{Embed, Vectors};
use crate::error::Error;
use crate::model::Model;
use crate::reply::{Delta, Deltas};
use crate::request::Request;

/// How often to ask again, and how long to wait before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How often to ask, with the first time.
    pub attempts: u32,
    /// The pause before the second attempt; each further one is twice as long.
    pub pause: Duration,
    /// The longest pause. Whoever asks for a longer one is not asked again.
    pub longest: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            attempts: 4,
            pause: Duration::from_millis(500),
            longest: Duration::from_secs(30),
        }
    }
}

impl Patience {
    /// How long to wait after so many attempts of which the last failed like this; `None`: it is in vain.
    fn pause_after(&self, attempts: u32, error: &Error) -> Option<Duration> {
        if attempts >= self.attempts || !error.is_transient() {
            return None;
        }
        if let Error::RateLimited {
            retry_after: Some(asked),
            ..
        } = error
        {
            return (*asked <= self.longest).then_some(*asked);
        }
        let doubled = 2_u32.saturating_pow(attempts.saturating_sub(1));
        let pause = self.pause.saturating_mul(doubled).min(self.longest);
        // Those who were turned away together do not come back together.
        Some(pause.mul_f64(0.5 + 0.5 * chance()))
    }
}

/// A number between 0 and 1 that nobody can tell before.
fn chance() -> f64 {
    let number = RandomState::new().hash_one(());
    number as f64 / u64::MAX as f64
}

/// A model or an embedder that is asked again when it failed in a way that may pass.
///
/// Once a piece of an answer was handed on, the answer is not begun again: it fails where it fails.
#[derive(Debug)]
pub struct Retry<T: ?Sized> {
    patience: Patience,
    inner: Arc<T>,
}

impl<T: ?Sized> Retry<T> {
    /// Asks this one, with this patience.
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
            patience: self.patience,
            deltas: self.inner.reply(request.clone()),
            request,
            attempts: 1,
            begun: false,
        };
        Box::pin(stream::unfold(Some(asking), |asking| async move {
            asking?.next().await
        }))
    }
}

/// An answer that is waited for.
struct Asking {
    model: Arc<dyn Model>,
    patience: Patience,
    request: Request,
    deltas: Deltas,
    attempts: u32,
    /// Whether something was handed on.
    begun: bool,
}

impl Asking {
    async fn next(mut self) -> Option<(Result<Delta, Error>, Option<Self>)> {
        loop {
            let error = match self.deltas.next().await? {
                Ok(delta) => {
                    self.begun |= delta != Delta::Working;
                    return Some((Ok(delta), Some(self)));
                }
                Err(error) => error,
            };
            let pause = match self.begun {
                false => self.patience.pause_after(self.attempts, &error),
                true => None,
            };
            let Some(pause) = pause else {
                return Some((Err(error), None));
            };
            tracing::debug!(model = self.model.name(), %error, ?pause, "a model is asked again");
            tokio::time::sleep(pause).await;
            self.attempts += 1;
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
            let mut attempts = 1;
            loop {
                let error = match inner.embed(texts.clone()).await {
                    Ok(vectors) => return Ok(vectors),
                    Err(error) => error,
                };
                let Some(pause) = patience.pause_after(attempts, &error) else {
                    return Err(error);
                };
                tracing::debug!(embedder = inner.name(), %error, ?pause, "an embedder is asked again");
                tokio::time::sleep(pause).await;
                attempts += 1;
            }
        })
    }
}
