//! Credentials that are taken back while they are in use.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// The end of a user, a key or a capability that can come at any moment. What holds the data has one for each of its
/// entries and gives a clone to every [`Principal`](crate::Principal) that it authenticates
/// ([`Principal::revocable`](crate::Principal::revocable)). [`revoke`](Self::revoke) ends all of them at once: the next
/// call, calls under way, and open streams.
///
/// The order is: remove the entry from the data and commit that, then revoke. In the opposite order a caller could be
/// authenticated again by the entry that is about to be removed.
#[derive(Clone, Default)]
pub struct Revocation(CancellationToken);

impl Revocation {
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends every principal that has it. It cannot be undone: an entry that is added again has a new one.
    pub fn revoke(&self) {
        self.0.cancel();
    }

    pub fn is_revoked(&self) -> bool {
        self.0.is_cancelled()
    }
}

impl fmt::Debug for Revocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.is_revoked() {
            true => "Revocation(revoked)",
            false => "Revocation(valid)",
        })
    }
}

/// All revocations that one principal depends on: of its user, of its key, of each capability on the way to it. Any of
/// them ends it. They are no part of who the caller is, so all are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Revocations(Arc<[Revocation]>);

impl Revocations {
    pub(crate) fn of(only: Revocation) -> Self {
        Self([only].into())
    }

    pub(crate) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn and(&self, other: Revocation) -> Self {
        let all = self.0.iter().cloned();
        Self(all.chain([other]).collect())
    }

    pub(crate) fn is_revoked(&self) -> bool {
        self.0.iter().any(Revocation::is_revoked)
    }

    /// Ends when one of them is revoked; never where there are none.
    pub(crate) fn revoked(&self) -> impl Future<Output = ()> + Send + 'static {
        let all = self.0.iter();
        let mut all: Vec<Pin<Box<WaitForCancellationFutureOwned>>> = all
            .map(|it| Box::pin(it.0.clone().cancelled_owned()))
            .collect();
        poll_fn(move |context| {
            let mut all = all.iter_mut();
            match all.any(|it| it.as_mut().poll(context).is_ready()) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
    }
}

impl PartialEq for Revocations {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Revocations {}

impl std::hash::Hash for Revocations {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}
