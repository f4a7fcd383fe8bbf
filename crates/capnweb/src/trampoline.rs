//! Runs follow-up work after the current step instead of inside it (a trampoline).
//!
//! Two problems have this one solution:
//!
//! - A peer decides how long chains of promises and objects get. Resolving or dropping such a chain by
//!   recursion would let it decide the depth of our stack. So both become a [`Job`]: a job started while
//!   another one runs on this thread waits in a queue until that one returns.
//! - A session changes under its lock. Dropping a hook there could run a destructor or a callback of the
//!   application, which may call a stub of the same session and deadlock. [`scope`] holds all jobs back until
//!   its closure has returned and the lock is free.
//!
//! The queue is thread-local, first in, first out: waiters of a promise are called in order, and a release is
//! sent after the messages that were queued before it. The outermost [`scope`] or [`run`] on a thread empties
//! it, also after a panic, so no job is left behind on a thread. A job that panics is reported and dropped, and
//! the next one runs.
//!
//! Jobs are not spawned as tasks, because their order on the thread is part of the protocol (`resolve` before
//! `release`), and because dropping has to work without a runtime.
//!
//! Rule for changes: every `Drop` that can drop another hook, value, target or stream goes through [`run`], and
//! every lock of a session is taken inside a [`scope`].

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::connection::Link;
use crate::hook::Hook;
use crate::stream::Source;
use crate::target::Target;
use crate::value::Value;

#[cfg(test)]
#[path = "trampoline_tests.rs"]
mod tests;

/// Work to do, or a value to drop, after the current step.
pub(crate) enum Job {
    Run(Box<dyn FnOnce()>),
    DropHook(Hook),
    DropResolution(Hook, Arc<Link>),
    DropValue(Value),
    DropTarget(Arc<dyn Target>),
    DropSource(Source),
    Release(crate::hook::import::Release),
}

impl Job {
    fn perform(self) {
        match self {
            Self::Run(work) => work(),
            Self::DropHook(hook) => drop(hook),
            Self::DropResolution(hook, link) => drop((hook, link)),
            Self::DropValue(value) => drop(value),
            Self::DropTarget(target) => drop(target),
            Self::DropSource(source) => drop(source),
            Self::Release(release) => release.perform(),
        }
    }
}

thread_local! {
    /// The queue of the running scope; `None` when no scope is running on this thread.
    static WAITING: RefCell<Option<VecDeque<Job>>> = const { RefCell::new(None) };
}

/// Performs `job` now, or right after the job that is running on this thread.
pub(crate) fn run(job: Job) {
    let job = WAITING
        .try_with(|waiting| match &mut *waiting.borrow_mut() {
            Some(queue) => {
                queue.push_back(job);
                None
            }
            None => Some(job),
        })
        // The thread is ending and its queue is gone: drop the job.
        .unwrap_or(None);
    if let Some(job) = job {
        scope(|| job.perform());
    }
}

/// Runs `work` now, and the jobs it queues right after it, unless an outer scope will run them.
pub(crate) fn scope<T>(work: impl FnOnce() -> T) -> T {
    let outermost = WAITING.with(|waiting| {
        let mut waiting = waiting.borrow_mut();
        let idle = waiting.is_none();
        if idle {
            *waiting = Some(VecDeque::new());
        }
        idle
    });
    if !outermost {
        return work();
    }
    let drain = Drain;
    let result = work();
    drop(drain);
    result
}

/// Empties the queue when dropped, so that a panic in the work does not leave the thread holding it.
struct Drain;

impl Drop for Drain {
    fn drop(&mut self) {
        loop {
            let job = WAITING.with(|waiting| {
                let mut waiting = waiting.borrow_mut();
                let job = waiting.as_mut().and_then(VecDeque::pop_front);
                if job.is_none() {
                    *waiting = None;
                }
                job
            });
            match job {
                // A destructor of the application may panic. The panic hook has reported it; the other jobs must
                // still run.
                Some(job) => drop(catch_unwind(AssertUnwindSafe(|| job.perform()))),
                None => return,
            }
        }
    }
}
