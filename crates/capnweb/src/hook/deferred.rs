//! A hook on a value that is still to come in this process: operations queue until it is here.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Hook, Operation, Waiter};
use crate::error::Error;
use crate::trampoline::{self, Job};

/// A local promise.
pub(crate) struct Deferred {
    state: Mutex<State>,
}

enum State {
    Pending(Vec<Waiting>),
    /// What it became. May itself be a promise, which then gets the operations directly.
    Resolved(Hook),
}

enum Waiting {
    Operation(Operation, Resolver),
    Settle(Waiter),
}

/// The duty to resolve a [`Deferred`]. Dropping it breaks the promise.
pub(crate) struct Resolver(Option<Arc<Deferred>>);

/// A promise and the duty to resolve it.
pub(crate) fn deferred() -> (Arc<Deferred>, Resolver) {
    let deferred = Arc::new(Deferred { state: Mutex::new(State::Pending(Vec::new())) });
    (deferred.clone(), Resolver(Some(deferred)))
}

impl Deferred {
    pub(crate) fn outcome(&self) -> Option<Hook> {
        match &*self.lock() {
            State::Pending(_) => None,
            State::Resolved(hook) => Some(hook.clone()),
        }
    }

    pub(crate) fn apply(&self, operation: Operation) -> Hook {
        let mut state = self.lock();
        match &mut *state {
            State::Pending(waiting) => {
                let (promise, resolver) = deferred();
                waiting.push(Waiting::Operation(operation, resolver));
                Hook::Promise(promise)
            }
            State::Resolved(hook) => {
                let hook = hook.clone();
                drop(state);
                hook.apply(operation)
            }
        }
    }

    pub(crate) fn settle(&self, waiter: Waiter) {
        let mut state = self.lock();
        match &mut *state {
            State::Pending(waiting) => waiting.push(Waiting::Settle(waiter)),
            State::Resolved(hook) => {
                let hook = hook.clone();
                drop(state);
                hook.settle(waiter);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // Plain data, whole at every step: a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands `hook` to everyone waiting, in the order they came. Late-comers queue behind them until
    /// all are served, so that calls keep their order.
    fn serve(&self, hook: &Hook) {
        loop {
            let waiting = {
                let mut state = self.lock();
                match &mut *state {
                    State::Pending(waiting) if waiting.is_empty() => {
                        *state = State::Resolved(hook.clone());
                        return;
                    }
                    State::Pending(waiting) => std::mem::take(waiting),
                    State::Resolved(_) => return,
                }
            };
            for waiting in waiting {
                match waiting {
                    Waiting::Operation(operation, resolver) => resolver.resolve(hook.apply(operation)),
                    Waiting::Settle(waiter) => hook.settle(waiter),
                }
            }
        }
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let State::Resolved(hook) = std::mem::replace(state, State::Pending(Vec::new())) {
            trampoline::run(Job::DropHook(hook));
        }
    }
}

impl Resolver {
    /// Makes the promise what `hook` is.
    pub(crate) fn resolve(mut self, hook: Hook) {
        self.finish(hook);
    }

    fn finish(&mut self, hook: Hook) {
        let Some(deferred) = self.0.take() else { return };
        // Nobody waits yet, the usual case of a call that finished at once: no job needed.
        {
            let mut state = deferred.lock();
            if matches!(&*state, State::Pending(waiting) if waiting.is_empty()) {
                *state = State::Resolved(hook);
                return;
            }
        }
        trampoline::run(Job::Run(Box::new(move || deferred.serve(&hook))));
    }
}

impl Drop for Resolver {
    fn drop(&mut self) {
        if self.0.is_some() {
            self.finish(Hook::Broken(Error::new("the call ended without an answer")));
        }
    }
}
