//! NameMap by name, where the names are kept elsewhere.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// A map from names to numbers that does not hold the names: whoever asks shows them. Eight bytes for
/// each, of which half are the name's hash, so that growing does not look at the names.
#[derive(Debug, Default)]
pub(super) struct NameMap {
    slots: HashTable<Slot>,
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    number: u32,
}

impl Slot {
    /// The table uses the highest bits and the lowest ones.
    fn spread(&self) -> u64 {
        u64::from(self.hash) << 32 | u64::from(self.hash)
    }

    fn is(&self, hash: u32, has_name: impl Fn(u32) -> bool) -> bool {
        self.hash == hash && has_name(self.number)
    }
}

impl NameMap {
    /// The number for a name, given whether a number has that name.
    pub(super) fn find(&self, name: &str, has_name: impl Fn(u32) -> bool) -> Option<u32> {
        let sought = self.slot(name, 0);
        let found = self
            .slots
            .find(sought.spread(), |slot| slot.is(sought.hash, &has_name));
        found.map(|slot| slot.number)
    }

    /// Adds a name that is not there.
    pub(super) fn insert(&mut self, name: &str, number: u32) {
        let slot = self.slot(name, number);
        self.slots.insert_unique(slot.spread(), slot, Slot::spread);
    }

    /// Takes out a name.
    pub(super) fn remove(&mut self, name: &str, has_name: impl Fn(u32) -> bool) -> Option<u32> {
        let sought = self.slot(name, 0);
        let is = |slot: &Slot| slot.is(sought.hash, &has_name);
        let entry = self.slots.find_entry(sought.spread(), is).ok()?;
        let (slot, _) = entry.remove();
        Some(slot.number)
    }

    /// All numbers, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.slots.iter().map(|slot| slot.number)
    }

    fn slot(&self, name: &str, number: u32) -> Slot {
        let hash = self.hasher.hash_one(name) as u32;
        Slot { hash, number }
    }
}
