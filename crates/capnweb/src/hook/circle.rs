//! Keeps a promise from being resolved to itself, to a hook that waits for it, or to a value that holds it:
//! waiting for it would never end, and the circle of references would never be dropped.

use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashSet;

use super::Hook;
use super::deferred::Deferred;
use crate::error::Error;
use crate::trampoline;
use crate::value::Value;

#[cfg(test)]
#[path = "circle_tests.rs"]
mod tests;

/// Held while one promise is resolved, across all sessions: two promises resolved to each other at the same
/// time would both look free of circles.
static RESOLVING: Mutex<()> = Mutex::new(());

/// Resolves a promise to `hook`, or to a failure when `hook` waits for that promise. `become_it` changes the
/// promise; it runs under the lock above and does nothing else.
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
    // Hooks dropped by the search are dropped after the lock is released.
    trampoline::scope(|| {
        let _resolving = RESOLVING.lock();
        if leads_to(&hook, itself) {
            become_it(Hook::Broken(Error::type_error(
                "a promise was resolved to itself",
            )))
        } else {
            become_it(hook)
        }
    })
}

/// The number of values after which a search stops and reports a circle.
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

/// The hook that has to be settled before `hook` is: a promise that only its owner can resolve, or `hook`'s own
/// resolution.
fn awaited(hook: &Hook) -> Hook {
    let mut passed = Vec::new();
    let mut hook = hook.shortened();
    while let Hook::Promise(promise) = &hook {
        let Some(next) = promise.behind() else { break };
        passed.push(promise.clone());
        hook = next.shortened();
    }
    // Let the next search skip the way, or a long queue would cost quadratic time.
    if let Hook::Promise(end) = &hook {
        passed
            .iter()
            .for_each(|promise| Deferred::stand_behind(promise, end));
    }
    hook
}
