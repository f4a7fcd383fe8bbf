//! The origin of a handle: how its object is got in each session.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use super::supervise::{Core, Live};
use crate::hook::Hook;
use crate::settle;
use crate::stub::Capability;

/// The root of a session, or what is derived from it.
#[derive(Clone)]
pub(super) enum Origin {
    Root,
    Derived(Arc<Node>),
}

/// One derivation, shared by the clones of its handle.
pub(super) struct Node {
    id: u64,
    parent: Origin,
    derive: Box<dyn Fn(&Capability) -> Capability + Send + Sync>,
    core: Weak<Core>,
}

impl Origin {
    pub(super) fn derived(
        core: &Arc<Core>,
        parent: Self,
        derive: impl Fn(&Capability) -> Capability + Send + Sync + 'static,
    ) -> Self {
        static IDS: AtomicU64 = AtomicU64::new(0);
        Self::Derived(Arc::new(Node {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            parent,
            derive: Box::new(derive),
            core: Arc::downgrade(core),
        }))
    }

    /// The object in a session, derived now if it was not before.
    pub(super) fn in_session(&self, live: &Live) -> Capability {
        match self {
            Self::Root => live.root().clone(),
            Self::Derived(node) => {
                let derived = live.derived().entry(node.id).or_default().clone();
                // Outside of the lock, since it is the application's code.
                derived
                    .get_or_init(|| {
                        let got = (node.derive)(&node.parent.in_session(live));
                        // Asked for, so that it is known here when it cannot be got.
                        settle::hook(got.hook(), &got.account(), Box::new(drop));
                        got
                    })
                    .clone()
            }
        }
    }

    /// What could not be derived is derived again at its next use, and so is what it was derived from.
    pub(super) fn forget_if_broken(&self, live: &Live) {
        let Self::Derived(node) = self else { return };
        let derived = live.derived().get(&node.id).cloned();
        let broken = derived
            .as_ref()
            .and_then(|derived| derived.get())
            .is_some_and(|derived| matches!(derived.hook().shortened(), Hook::Broken(_)));
        if broken {
            let forgotten = live.derived().remove(&node.id);
            drop(forgotten);
            node.parent.forget_if_broken(live);
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let live = self.core.upgrade().and_then(|core| core.present());
        if let Some(live) = live {
            // Released outside of the lock.
            let released = live.derived().remove(&self.id);
            drop(released);
        }
    }
}
