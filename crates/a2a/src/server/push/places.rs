//! Places for deliveries that are under way: some for all webhooks, and a share of them for each caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::Limits;

/// The places for deliveries. A caller with slow webhooks holds its share and no more, so that a webhook of
/// another caller does not wait for them.
pub(super) struct Places {
    all: Arc<Semaphore>,
    each: usize,
    by_caller: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A place that is taken; dropping it gives it back.
pub(super) struct PushPermit {
    _own: Option<OwnedSemaphorePermit>,
    _all: Option<OwnedSemaphorePermit>,
}

impl Places {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            all: Arc::new(Semaphore::new(limits.max_deliveries)),
            each: limits.max_deliveries_each,
            by_caller: Mutex::default(),
        }
    }

    /// Waits for a place of the caller's share, and then for one of all: in the other order a caller that waits for its
    /// own share would hold a place that others need.
    pub(super) async fn take(&self, caller: &str) -> PushPermit {
        let own = self.share(caller);
        // The semaphores are never closed, so an error cannot happen.
        let own = own.acquire_owned().await.ok();
        let all = self.all.clone().acquire_owned().await.ok();
        PushPermit {
            _own: own,
            _all: all,
        }
    }

    fn share(&self, caller: &str) -> Arc<Semaphore> {
        let mut shares = self
            .by_caller
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // A share that is not in use is as good as a new one.
        shares.retain(|_, share| Arc::strong_count(share) > 1);
        let share = shares.entry(caller.to_owned());
        share
            .or_insert_with(|| Arc::new(Semaphore::new(self.each)))
            .clone()
    }
}
