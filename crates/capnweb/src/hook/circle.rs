//! Keeps a promise from being resolved to itself, to something that waits for it, or to a value that
//! holds it: nobody could ever wait that out, and a circle of references would never be dropped.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;

use super::Hook;
use super::deferred::Deferred;
use crate::error::Error;
use crate::trampoline;
use crate::value::Value;

#[cfg(test)]
#[path = "circle_tests.rs"]
mod tests;

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
        Hook::Value(settled) => settled.holds_hooks(),
        Hook::Target(_) | Hook::Writer(_) | Hook::Broken(_) | Hook::Variable(_) => false,
    };
    if !waits {
        return become_it(hook);
    }
    // What is dropped on the way is dropped after the lock.
    trampoline::scope(|| {
        let _resolving = RESOLVING.lock().unwrap_or_else(PoisonError::into_inner);
        if leads_to(&hook, itself) {
            become_it(Hook::Broken(Error::type_error(
                "a promise was resolved to itself",
            )))
        } else {
            become_it(hook)
        }
    })
}

/// How many values a search goes through before it gives up and calls what it found a circle.
const TANGLED: usize = 10_000;

/// Whether `hook` waits for what `itself` recognises, or holds it, through any number of values.
fn leads_to(hook: &Hook, itself: impl Fn(&Hook) -> bool) -> bool {
    let mut ahead = vec![hook.clone()];
    let mut seen = FxHashSet::default();
    while let Some(hook) = ahead.pop() {
        let hook = awaited(&hook);
        if itself(&hook) {
            return true;
        }
        if let Hook::Value(settled) = &hook
            && settled.holds_hooks()
            && seen.insert(Arc::as_ptr(settled))
        {
            if seen.len() > TANGLED {
                return true;
            }
            hooks_in(settled.value(), &mut ahead);
        }
    }
    false
}

/// The stubs and promises in a value.
fn hooks_in(value: &Value, into: &mut Vec<Hook>) {
    match value {
        Value::Stub(capability) => into.push(capability.hook().clone()),
        Value::Promise(promise) => into.push(promise.hook().clone()),
        Value::Array(items) => items.iter().for_each(|item| hooks_in(item, into)),
        Value::Object(object) => object.iter().for_each(|(_, value)| hooks_in(value, into)),
        Value::Error(error) => error
            .props()
            .values()
            .for_each(|value| hooks_in(value, into)),
        _ => {}
    }
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
