//! A promise of this process: operations queue until it is resolved.

use std::convert::Infallible;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Hook, Operation, Waiter, circle};
use crate::error::Error;
use crate::trampoline::{self, Job};

/// A promise of this process. It is resolved once, by its [`Resolver`].
pub(crate) struct Deferred {
    state: Mutex<State>,
    /// For a cancellable call: dropped with the promise, which the handler sees as [`Unwanted`].
    wanted: Option<oneshot::Sender<Infallible>>,
}

/// Ready, with an error, when the promise has no holders and no queued operations.
pub(crate) type Unwanted = oneshot::Receiver<Infallible>;

enum State {
    Pending(Vec<Waiting>, Behind),
    /// The resolution. It may itself be a promise, which then gets the operations directly.
    Resolved(Hook),
}

enum Waiting {
    /// Holds the promise itself if the promise is cancellable: the caller may drop the promise after queueing
    /// an operation, and the operation must still be performed.
    Operation(Operation, Resolver, Option<Arc<Deferred>>),
    Settle(Waiter),
}

/// What a pending promise waits for, so that circles are found.
enum Behind {
    /// Only its owner can resolve it.
    Nothing,
    /// It is the answer of an operation that is queued behind this promise.
    Promise(Weak<Deferred>),
    /// It becomes this hook once the queued operations are served.
    Becoming(Hook),
}

/// The duty to resolve a [`Deferred`]. Dropping it breaks the promise.
pub(crate) struct Resolver(Option<Duty>);

enum Duty {
    Certain(Arc<Deferred>),
    /// Only while the promise has holders or queued operations.
    WhileWanted(Weak<Deferred>),
}

/// A promise and the duty to resolve it.
pub(crate) fn deferred() -> (Arc<Deferred>, Resolver) {
    deferred_behind(Behind::Nothing)
}

/// A cancellable promise: the resolver does not keep it alive, and the third value is ready when it is released.
pub(crate) fn deferred_while_wanted() -> (Arc<Deferred>, Resolver, Unwanted) {
    let (wanted, unwanted) = oneshot::channel();
    let deferred = Arc::new(Deferred {
        state: Mutex::new(State::Pending(Vec::new(), Behind::Nothing)),
        wanted: Some(wanted),
    });
    let duty = Duty::WhileWanted(Arc::downgrade(&deferred));
    (deferred, Resolver(Some(duty)), unwanted)
}

fn deferred_behind(behind: Behind) -> (Arc<Deferred>, Resolver) {
    let deferred = Arc::new(Deferred {
        state: Mutex::new(State::Pending(Vec::new(), behind)),
        wanted: None,
    });
    (deferred.clone(), Resolver(Some(Duty::Certain(deferred))))
}

impl Deferred {
    pub(crate) fn outcome(&self) -> Option<Hook> {
        match &*self.lock() {
            State::Pending(..) => None,
            State::Resolved(hook) => Some(hook.clone()),
        }
    }

    /// The hook it waits for, if it waits for more than its owner.
    pub(super) fn behind(&self) -> Option<Hook> {
        match &*self.lock() {
            State::Pending(_, Behind::Promise(promise)) => promise.upgrade().map(Hook::Promise),
            State::Pending(_, Behind::Becoming(hook)) | State::Resolved(hook) => Some(hook.clone()),
            State::Pending(_, Behind::Nothing) => None,
        }
    }

    /// Shortens the way to `end`, the last promise of the chain that it waits for.
    pub(super) fn stand_behind(&self, end: &Arc<Self>) {
        if let State::Pending(_, behind @ Behind::Promise(_)) = &mut *self.lock() {
            *behind = Behind::Promise(Arc::downgrade(end));
        }
    }

    pub(crate) fn apply(self: &Arc<Self>, operation: Operation) -> Hook {
        let mut state = self.lock();
        match &mut *state {
            State::Pending(waiting, _) => {
                let (promise, resolver) = deferred_behind(Behind::Promise(Arc::downgrade(self)));
                let itself = self.wanted.is_some().then(|| self.clone());
                waiting.push(Waiting::Operation(operation, resolver, itself));
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
            State::Pending(waiting, _) => waiting.push(Waiting::Settle(waiter)),
            State::Resolved(hook) => {
                let hook = hook.clone();
                drop(state);
                hook.settle(waiter);
            }
        }
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Fails all waiters, because the session that asked for the promise has ended. A peer can make a call wait
    /// for its own answer; only this ends such a call.
    pub(crate) fn give_up(&self, error: &Error) {
        self.serve(&Hook::Broken(error.clone()));
    }

    /// Hands `hook` to all waiters, in the order they came. Later ones queue behind them until all are served, so
    /// that calls keep their order.
    fn serve(&self, hook: &Hook) {
        loop {
            let waiting = {
                let mut state = self.lock();
                match &mut *state {
                    State::Pending(waiting, _) if waiting.is_empty() => {
                        *state = State::Resolved(hook.clone());
                        return;
                    }
                    State::Pending(waiting, _) => std::mem::take(waiting),
                    State::Resolved(_) => return,
                }
            };
            for waiting in waiting {
                match waiting {
                    Waiting::Operation(operation, resolver, _itself) => {
                        resolver.resolve(hook.apply(operation))
                    }
                    Waiting::Settle(waiter) => hook.settle(waiter),
                }
            }
        }
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if matches!(state, State::Resolved(hook) if hook.is_leaf()) {
            return;
        }
        // A peer can chain promises to any length: queue the drop, never recurse.
        match std::mem::replace(state, State::Pending(Vec::new(), Behind::Nothing)) {
            State::Resolved(hook) => trampoline::run(Job::DropHook(hook)),
            // All waiters were queued by holders that are gone, so drop them.
            State::Pending(waiting, _) if !waiting.is_empty() => {
                trampoline::run(Job::Run(Box::new(move || drop(waiting))));
            }
            State::Pending(..) => {}
        }
    }
}

impl Resolver {
    pub(crate) fn resolve(mut self, hook: Hook) {
        self.finish(hook);
    }

    fn finish(&mut self, hook: Hook) {
        let deferred = match self.0.take() {
            Some(Duty::Certain(deferred)) => Some(deferred),
            Some(Duty::WhileWanted(deferred)) => deferred.upgrade(),
            None => None,
        };
        let Some(deferred) = deferred else {
            return;
        };
        let itself =
            |hook: &Hook| matches!(hook, Hook::Promise(promise) if Arc::ptr_eq(promise, &deferred));
        let becoming = circle::resolve(hook, itself, |hook| {
            let mut state = deferred.lock();
            match &mut *state {
                // No waiters, the usual case of a call that finished at once: no job needed.
                State::Pending(waiting, _) if waiting.is_empty() => {
                    *state = State::Resolved(hook);
                    None
                }
                State::Pending(_, behind) => {
                    *behind = Behind::Becoming(hook.clone());
                    Some(hook)
                }
                State::Resolved(_) => None,
            }
        });
        if let Some(hook) = becoming {
            trampoline::run(Job::Run(Box::new(move || deferred.serve(&hook))));
        }
    }
}

impl Drop for Resolver {
    fn drop(&mut self) {
        if self.0.is_some() {
            self.finish(Hook::Broken(Error::abandoned()));
        }
    }
}
