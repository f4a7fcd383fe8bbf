//! Running a handler: it starts at once inside the layers of its session, continues as a task, and ends early
//! when its time is over or, for a cancellable method, when its result is released.

use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::task::coop::unconstrained;

use super::deferred::{Resolver, Unwanted, deferred, deferred_while_wanted};
use super::{Hook, not_a_function};
use crate::account::Account;
use crate::error::{Error, Result};
use crate::expression::PathPart;
use crate::layer::{Call, Handler, Layers};
use crate::permit::CallPermit;
use crate::target::{Reply, ReplyInner, WhenReleased};
use crate::value::Value;

#[cfg(test)]
#[path = "handler_tests.rs"]
mod tests;

/// The layers and the time limit of a handler.
pub(super) struct Terms {
    /// The layers around it, and the call as they see it.
    around: Option<(Layers, Call)>,
    limit: Option<Duration>,
}

impl Terms {
    /// The terms of a call. Only calls of a peer have a permit, and only they have layers and a limit.
    pub(super) fn of(permit: Option<&CallPermit>, call: impl FnOnce() -> Call) -> Self {
        let layers = permit.and_then(CallPermit::layers).cloned();
        Self {
            around: layers.map(|layers| (layers, call())),
            limit: permit.and_then(CallPermit::time_limit),
        }
    }
}

/// Runs a handler up to its first wait at once, so that calls start in the order they came; the rest continues
/// as a task.
pub(super) fn run(
    begin: impl FnOnce() -> Reply + Send + 'static,
    terms: Terms,
    account: &Account,
    permit: Option<CallPermit>,
) -> Hook {
    let limit = terms.limit;
    if let Some((layers, call)) = terms.around {
        let (promise, resolver, unwanted) = deferred_while_wanted();
        let innermost = inside(begin, limit, unwanted, account.clone());
        let mut chain = layers.around(call, Box::pin(innermost));
        if let Some(hook) = poll_once(&mut chain, account) {
            return hook;
        }
        account.spawn(go_on(chain, resolver, account.clone(), permit));
        return Hook::Promise(promise);
    }
    let Ok(reply) = catch_unwind(AssertUnwindSafe(begin)) else {
        return Hook::Broken(panicked());
    };
    let (mut future, when_released) = match reply.0 {
        ReplyInner::Ready(result) => return Hook::from_result(result, account),
        ReplyInner::NoSuchMethod(name) => return Hook::Broken(no_such_method(name)),
        ReplyInner::Future(future, when_released) => (future, when_released),
    };
    if let Some(hook) = poll_once(&mut future, account) {
        return hook;
    }
    let (promise, resolver, unwanted) = match (when_released, limit) {
        (WhenReleased::RunsOn, None) => {
            let (promise, resolver) = deferred();
            account.spawn(go_on(future, resolver, account.clone(), permit));
            return Hook::Promise(promise);
        }
        (WhenReleased::RunsOn, Some(_)) => {
            let (promise, resolver) = deferred();
            (promise, resolver, None)
        }
        (WhenReleased::Stops, _) => {
            let (promise, resolver, unwanted) = deferred_while_wanted();
            (promise, resolver, Some(unwanted))
        }
    };
    let future = until(future, limit, unwanted, account.clone());
    account.spawn(go_on(future, resolver, account.clone(), permit));
    Hook::Promise(promise)
}

/// The answer, when the first poll gives it.
fn poll_once(future: &mut Handler, account: &Account) -> Option<Hook> {
    let mut waiting = std::task::Context::from_waker(Waker::noop());
    // Do not use the budget of the task that reads frames: once used up it would make a handler wait at a lock
    // that is free, and later calls might begin earlier.
    let mut future = unconstrained(future.as_mut());
    let mut poll = || Pin::new(&mut future).poll(&mut waiting);
    match catch_unwind(AssertUnwindSafe(&mut poll)) {
        Ok(Poll::Ready(result)) => Some(Hook::from_result(result, account)),
        Ok(Poll::Pending) => None,
        Err(_) => Some(Hook::Broken(panicked())),
    }
}

async fn go_on(
    future: impl Future<Output = Result<Value>>,
    resolver: Resolver,
    account: Account,
    permit: Option<CallPermit>,
) {
    let result = AssertUnwindSafe(future).catch_unwind().await;
    drop(permit);
    resolver.resolve(match result {
        Ok(result) => Hook::from_result(result, &account),
        Err(_) => Hook::Broken(panicked()),
    });
}

/// The handler as the innermost layer sees it: it begins when polled, and a panic is an error.
async fn inside(
    begin: impl FnOnce() -> Reply,
    limit: Option<Duration>,
    mut unwanted: Unwanted,
    account: Account,
) -> Result<Value> {
    let run = async {
        match begin().0 {
            ReplyInner::Ready(result) => result,
            ReplyInner::NoSuchMethod(name) => Err(no_such_method(name)),
            ReplyInner::Future(future, WhenReleased::RunsOn) => {
                until(future, limit, None, account).await
            }
            // Released while the layers ran: do not begin the work.
            ReplyInner::Future(_, WhenReleased::Stops)
                if unwanted.try_recv() == Err(TryRecvError::Closed) =>
            {
                Err(cancelled())
            }
            ReplyInner::Future(future, WhenReleased::Stops) => {
                until(future, limit, Some(unwanted), account).await
            }
        }
    };
    let result = AssertUnwindSafe(run).catch_unwind().await;
    result.unwrap_or_else(|_| Err(panicked()))
}

/// Runs a handler until it ends, its time is over or its result is released, and drops it then.
async fn until(
    handler: Pin<Box<dyn Future<Output = Result<Value>> + Send>>,
    limit: Option<Duration>,
    unwanted: Option<Unwanted>,
    account: Account,
) -> Result<Value> {
    let late = async {
        match limit {
            Some(limit) => {
                tokio::time::sleep(limit).await;
                Error::timed_out(limit)
            }
            None => pending().await,
        }
    };
    let released = async {
        match unwanted {
            Some(unwanted) => tokio::select! {
                _ = unwanted => {}
                () = account.ended() => {}
            },
            None => pending().await,
        }
    };
    tokio::select! {
        biased;
        result = handler => result,
        () = released => Err(cancelled()),
        error = late => Err(error),
    }
}

/// The error that layers see for a call that was dropped because its result was released. The peer does not
/// see it: it has released the call.
fn cancelled() -> Error {
    Error::new("the call was cancelled because its result was released").with_code(Error::CANCELLED)
}

fn no_such_method(name: Option<String>) -> Error {
    not_a_function(name.map(PathPart::Name).as_ref())
}

/// The error that a peer gets for a panic, without the panic's text.
pub(super) fn panicked() -> Error {
    Error::internal("the handler panicked")
}
