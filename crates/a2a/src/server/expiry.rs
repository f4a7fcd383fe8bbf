//! Streams and calls end when the credentials of their caller expire or are revoked.

use std::future::Future;
use std::time::{Duration, SystemTime};

use access::{Principal, Refusal};
use futures_util::{StreamExt as _, stream};
use tokio::time::sleep;

use crate::error::Error;
use crate::event::EventStream;
use crate::service::Answering;

/// How long is waited before the clock is read again: it can be set while a stream is open.
const LOOK: Duration = Duration::from_secs(60);

/// The stream of a caller. When the caller's credentials expire or are revoked it ends with the refusal that every call
/// then gets, which each binding writes in its own form; events that come later are not sent.
pub(super) fn until_expiry(caller: &Principal, events: EventStream) -> EventStream {
    if caller.until().is_none() && !caller.is_revocable() {
        return events;
    }
    let end = Box::pin(end_of_credentials(caller));
    Box::pin(stream::unfold(Some((events, end)), |open| async move {
        let (mut events, mut end) = open?;
        tokio::select! {
            biased;
            refusal = &mut end => Some((Err(refusal.into()), None)),
            next = events.next() => Some((next?, Some((events, end)))),
        }
    }))
}

/// A call that ends with the refusal when its caller is revoked while it waits. The task that it is about goes on: it
/// belongs to the name of the caller, and others with that name may work with it.
pub(super) fn unless_revoked<T: Send + 'static>(
    caller: &Principal,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Answering<T> {
    if !caller.is_revocable() {
        return Box::pin(work);
    }
    let revoked = caller.revoked();
    Box::pin(async move {
        tokio::select! {
            biased;
            () = revoked => Err(Refusal::revoked().into()),
            done = work => done,
        }
    })
}

/// Ends when the credentials of a caller expire or are revoked, with the refusal that every call then gets. It never ends
/// where they do neither.
pub fn end_of_credentials(caller: &Principal) -> impl Future<Output = Refusal> + Send + 'static {
    let until = caller.until();
    let revoked = caller.revoked();
    let expired = async move {
        let Some(until) = until else {
            return std::future::pending().await;
        };
        while let Ok(left) = until.duration_since(SystemTime::now())
            && !left.is_zero()
        {
            sleep(left.min(LOOK)).await;
        }
    };
    async move {
        tokio::select! {
            biased;
            () = revoked => Refusal::revoked(),
            () = expired => Refusal::over(),
        }
    }
}
