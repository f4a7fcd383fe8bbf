//! Keeps a promise from being resolved to itself, or to something that waits for it: nobody could
//! ever wait that out, and looking for what it has become would never end.

use std::sync::{Mutex, PoisonError};

use super::Hook;
use super::deferred::Deferred;
use crate::error::Error;
use crate::trampoline;

/// One promise at a time, in all sessions: two that are resolved to each other at the same moment
/// would each still look free of circles.
static RESOLVING: Mutex<()> = Mutex::new(());

/// Lets a promise become `hook`, or a failure when `hook` waits for that very promise. `become_it` makes
/// it so before anyone else resolves a promise; it runs under a lock and only changes the promise.
pub(super) fn resolve<T>(
    hook: Hook,
    itself: impl Fn(&Hook) -> bool,
    become_it: impl FnOnce(Hook) -> T,
) -> T {
    let waits = match &hook {
        Hook::Promise(_) => true,
        Hook::Import(import) => import.is_promise(),
        Hook::Target(_)
        | Hook::Value(_)
        | Hook::Writer(_)
        | Hook::Broken(_)
        | Hook::Variable(_) => false,
    };
    if !waits {
        return become_it(hook);
    }
    // What is dropped on the way is dropped after the lock.
    trampoline::scope(|| {
        let _resolving = RESOLVING.lock().unwrap_or_else(PoisonError::into_inner);
        if itself(&awaited(&hook)) {
            become_it(Hook::Broken(Error::type_error(
                "a promise was resolved to itself",
            )))
        } else {
            become_it(hook)
        }
    })
}

/// What has to happen first before `hook` is settled: a promise that only its owner can resolve, or
/// nothing any more.
fn awaited(hook: &Hook) -> Hook {
    let mut passed = Vec::new();
    let mut hook = hook.shortened();
    while let Hook::Promise(promise) = &hook {
        let Some(next) = promise.behind() else { break };
        passed.push(promise.clone());
        hook = next.shortened();
    }
    // The next search goes straight to the end, or a long queue would cost its square.
    if let Hook::Promise(end) = &hook {
        passed
            .iter()
            .for_each(|promise| Deferred::stand_behind(promise, end));
    }
    hook
}
