//! Labels of calls, bounded in number against peers that invent names.
//!
//! A peer chooses the names of the members it calls. Only a name that the object's own description has becomes
//! a label; all others of an object share one, and when there are too many labels the rest share one too.

use std::sync::Arc;

use parking_lot::RwLock;
use rustc_hash::FxHashMap;

use crate::layer::{Call, CallKind};

#[cfg(test)]
#[path = "labels_tests.rs"]
mod tests;

/// The label of all names that have none of their own.
pub(super) const OTHER: &str = "other";

/// The interface of calls that are passed on to another session.
const FORWARDED: &str = "forwarded";

/// The most labels, beside the shared one.
const MOST: usize = 1000;

/// A name for calls, and what is kept under it.
#[derive(Debug, Default)]
pub(super) struct Label<T> {
    pub(super) interface: &'static str,
    /// Empty when the object itself is called.
    pub(super) member: String,
    pub(super) kept: T,
}

/// The labels there are.
#[derive(Debug)]
pub(super) struct Labels<T> {
    known: RwLock<Known<T>>,
    most: usize,
    /// For calls that found no room.
    rest: Arc<Label<T>>,
}

#[derive(Debug, Default)]
struct Known<T> {
    by_name: FxHashMap<&'static str, FxHashMap<String, Arc<Label<T>>>>,
    count: usize,
}

impl<T: Default> Default for Labels<T> {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl<T: Default> Labels<T> {
    fn new(most: usize) -> Self {
        let known = Known {
            by_name: FxHashMap::default(),
            count: 0,
        };
        let rest = Label {
            interface: OTHER,
            member: OTHER.to_owned(),
            kept: T::default(),
        };
        Self {
            known: RwLock::new(known),
            most,
            rest: Arc::new(rest),
        }
    }

    /// The label of a call.
    pub(super) fn of(&self, call: &Call) -> Arc<Label<T>> {
        let (interface, member) = match call.kind() {
            CallKind::Forwarded => (FORWARDED, ""),
            CallKind::Absent => (call.interface(), OTHER),
            CallKind::Method | CallKind::Getter | CallKind::Function => {
                (call.interface(), call.member().unwrap_or_default())
            }
        };
        if let Some(label) = self.find(interface, member) {
            return label;
        }
        let of_peers_choice = matches!(call.kind(), CallKind::Method | CallKind::Getter);
        if of_peers_choice && !call.is_described() {
            return self
                .find(interface, OTHER)
                .unwrap_or_else(|| self.insert(interface, OTHER));
        }
        self.insert(interface, member)
    }

    /// All labels that were given so far.
    pub(super) fn all(&self) -> Vec<Arc<Label<T>>> {
        let known = self.known.read();
        let labels = known.by_name.values().flat_map(FxHashMap::values);
        labels.chain([&self.rest]).cloned().collect()
    }

    fn find(&self, interface: &str, member: &str) -> Option<Arc<Label<T>>> {
        let known = self.known.read();
        let members = known.by_name.get(interface);
        let found = members.and_then(|members| members.get(member)).cloned();
        // Without room for another there is no need to know whether it would be one.
        found.or_else(|| (known.count >= self.most).then(|| self.rest.clone()))
    }

    fn insert(&self, interface: &'static str, member: &str) -> Arc<Label<T>> {
        let mut known = self.known.write();
        let Known { by_name, count } = &mut *known;
        if let Some(label) = by_name
            .get(interface)
            .and_then(|members| members.get(member))
        {
            return label.clone();
        }
        if *count >= self.most {
            return self.rest.clone();
        }
        *count += 1;
        let label = Arc::new(Label {
            interface,
            member: member.to_owned(),
            kept: T::default(),
        });
        let members = by_name.entry(interface).or_default();
        members.insert(member.to_owned(), label.clone());
        label
    }
}
