//! Streams end when the credentials of their caller expire.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use access::{Principal, Refusal};
use futures_util::{StreamExt as _, stream};
use tokio::time::sleep;

use crate::event::EventStream;

/// How long is waited before the clock is read again: it can be set while a stream is open.
const LOOK: Duration = Duration::from_secs(60);

/// The stream of a caller. When the caller's credentials expire it ends with the refusal that every call then gets,
/// which each binding writes in its own form; events that come later are not sent.
pub(super) fn until_expiry(caller: &Principal, events: EventStream) -> EventStream {
    let Some(until) = caller.until() else {
        return events;
    };
    let expiry: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
        while let Ok(left) = until.duration_since(SystemTime::now())
            && !left.is_zero()
        {
            sleep(left.min(LOOK)).await;
        }
    });
    Box::pin(stream::unfold(Some((events, expiry)), |open| async move {
        let (mut events, mut expiry) = open?;
        tokio::select! {
            biased;
            () = &mut expiry => Some((Err(Refusal::over().into()), None)),
            next = events.next() => Some((next?, Some((events, expiry)))),
        }
    }))
}
