//! A hook on an object or promise of a peer: operations become messages.

use std::sync::{Arc, OnceLock};

use tokio::sync::oneshot;

use super::handler::{self, Terms};
use super::settled::show;
use super::{Action, Hook, Operation, Waiter, circle};
use crate::connection::Link;
use crate::error::{Error, Result};
use crate::layer::{Call, CallKind};
use crate::peer::Peer;
use crate::permit::CallPermit;
use crate::target::Reply;
use crate::trampoline::{self, Job};
use crate::value::Value;

/// An id in our import table: positive when we chose it, negative when the peer did, 0 its main object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ImportId(pub(crate) i64);

/// The application's hold on one entry of the import table. The table refers to it weakly; when the last clone
/// of the hook is dropped, the entry is released.
pub(crate) struct Import {
    link: Arc<Link>,
    id: ImportId,
    /// Distinguishes this hold from an older one on the same id with a release still queued.
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

    /// Sets the resolution and returns it. Only the session calls this, under its lock.
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

pub(crate) fn apply(import: &Arc<Import>, mut operation: Operation) -> Hook {
    let permit = operation.permit.take();
    if permit.as_ref().and_then(CallPermit::layers).is_none() {
        return import.link.push(import, operation);
    }
    let account = operation.account.clone();
    let terms = Terms::of(permit.as_ref(), || forwarded(&operation));
    let import = import.clone();
    // Cancellable, so that the first peer's release reaches the second peer.
    let begin = move || Reply::future(forward(import, operation)).cancellable();
    handler::run(begin, terms, &account, permit)
}

/// An operation of one peer on an object of another, as layers see it.
fn forwarded(operation: &Operation) -> Call {
    let member = operation.path.iter().map(show).collect::<Vec<_>>();
    let member = (!member.is_empty()).then(|| member.join("."));
    let arguments = match &operation.action {
        Action::Call(arguments) => arguments.as_slice(),
        Action::Get | Action::Map { .. } => &[],
    };
    let peer = Peer::new(&operation.account);
    Call::new(None, member, CallKind::Forwarded, arguments, peer)
}

/// Sends the operation and waits for its answer, because layers see the answer. Calls that the first peer
/// pipelines on it wait here meanwhile.
async fn forward(import: Arc<Import>, operation: Operation) -> Result<Value> {
    let hook = import.link.push(&import, operation);
    let (sender, receiver) = oneshot::channel();
    // Sending fails when the call was dropped.
    hook.settle(Box::new(move |result| drop(sender.send(result))));
    let unanswered = |_| Err(Error::new("the call ended without an answer"));
    let result = receiver.await.unwrap_or_else(unanswered);
    // Held until here, so that the answer is not released while it is awaited.
    drop(hook);
    result
}

pub(crate) fn settle(import: &Arc<Import>, waiter: Waiter) {
    import.link.pull(import, waiter);
}

impl Drop for Import {
    fn drop(&mut self) {
        // Both jobs own the link: the session may be locked here, and dropping the last link ends the session, which
        // locks it.
        let link = self.link.clone();
        match self.resolution.take() {
            // A peer can chain promises to any length: queue the drop, never recurse.
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

/// A queued release of an import.
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
