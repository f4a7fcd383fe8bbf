//! A hook on an object or promise of a peer: operations become messages.

use std::sync::{Arc, OnceLock};

use super::{Hook, Operation, Waiter, circle};
use crate::connection::Link;
use crate::trampoline::{self, Job};

/// An id in our import table: positive when we chose it, negative when the peer did, 0 its main object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ImportId(pub(crate) i64);

/// Our hold on one entry of the import table. The table holds it weakly; when the last clone of the
/// hook is gone, the entry is released.
pub(crate) struct Import {
    link: Arc<Link>,
    id: ImportId,
    /// Tells this hold from an older one on the same id whose release has not been performed yet.
    generation: u64,
    promise: bool,
    /// Set once, under the session's lock, when a promise is answered or the session ends.
    resolution: OnceLock<Hook>,
}

impl Import {
    pub(crate) fn new(
        link: Arc<Link>,
        id: ImportId,
        generation: u64,
        kind: ImportKind,
    ) -> Arc<Self> {
        let promise = kind == ImportKind::Promise;
        Arc::new(Self {
            link,
            id,
            generation,
            promise,
            resolution: OnceLock::new(),
        })
    }

    pub(crate) fn id(&self) -> ImportId {
        self.id
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// Whether it stands for a value the peer still owes us, rather than for an object.
    pub(crate) fn is_promise(&self) -> bool {
        self.promise
    }

    pub(crate) fn resolution(&self) -> Option<Hook> {
        self.resolution.get().cloned()
    }

    /// Gives what it has become. For the session alone, under its lock.
    pub(crate) fn resolve(self: &Arc<Self>, hook: Hook) -> Hook {
        let itself =
            |hook: &Hook| matches!(hook, Hook::Import(import) if Arc::ptr_eq(import, self));
        circle::resolve(hook, itself, |hook| {
            // A second resolution cannot come: the first one removed the entry.
            let _ = self.resolution.set(hook.clone());
            hook
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImportKind {
    /// An object of the peer.
    Stub,
    /// A value the peer owes us.
    Promise,
}

pub(crate) fn apply(import: &Arc<Import>, operation: Operation) -> Hook {
    import.link.push(import, operation)
}

pub(crate) fn settle(import: &Arc<Import>, waiter: Waiter) {
    import.link.pull(import, waiter);
}

impl Drop for Import {
    fn drop(&mut self) {
        // Either job holds the link: the session may be locked here, and the end of the link ends the
        // session, which locks it.
        let link = self.link.clone();
        match self.resolution.take() {
            // A peer can chain promises to any length: put off, never recurse.
            Some(hook) => trampoline::run(Job::DropResolution(hook, link)),
            None => {
                trampoline::run(Job::Release(Release {
                    link,
                    id: self.id,
                    generation: self.generation,
                }));
            }
        }
    }
}

/// The duty to tell the peer that an import is no longer used.
pub(crate) struct Release {
    link: Arc<Link>,
    id: ImportId,
    generation: u64,
}

impl Release {
    pub(crate) fn perform(self) {
        self.link.release(self.id, self.generation);
    }
}
