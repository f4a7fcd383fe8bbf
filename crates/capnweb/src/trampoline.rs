//! Runs follow-up work after the current step instead of inside it.
//!
//! A peer chooses how long chains of promises and objects get. Resolving or dropping such a chain by
//! plain recursion would let it choose the depth of our stack, so both go through this queue: work
//! started while other work is running on this thread waits until that returns. The queue also lets
//! a session be changed under its lock without anything of the application's (a destructor, a
//! callback) running there: [`scope`] holds it all back until the lock is free.

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

/// Something to do, or to drop, soon.
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
    /// `None` when nothing is running on this thread.
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
        // The thread is ending and its queue is gone: there is nothing left to wait for.
        .unwrap_or(None);
    if let Some(job) = job {
        scope(|| job.perform());
    }
}

/// Runs `work` now and everything it puts off right after it, unless an outer scope will do that.
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
                // A destructor of the application may panic. That has been reported when it gets here,
                // and must not keep the other jobs waiting for ever.
                Some(job) => drop(catch_unwind(AssertUnwindSafe(|| job.perform()))),
                None => return,
            }
        }
    }
}
