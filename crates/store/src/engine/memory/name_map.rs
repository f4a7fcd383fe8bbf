//! A hash map from names to numbers that does not store the names.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// A map from names to numbers. The names stay with the numbered things, so the caller passes a function that
/// compares a number's name. An entry is eight bytes; half of it is the name's hash, so that growing the map
/// does not read the names. A `HashMap` would store every name a second time.
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
    /// The 64-bit hash for the table, which uses its highest and its lowest bits.
    fn spread(&self) -> u64 {
        u64::from(self.hash) << 32 | u64::from(self.hash)
    }

    fn is(&self, hash: u32, has_name: impl Fn(u32) -> bool) -> bool {
        self.hash == hash && has_name(self.number)
    }
}

impl NameMap {
    /// The number of a name. `has_name` says whether a number has that name.
    pub(super) fn find(&self, name: &str, has_name: impl Fn(u32) -> bool) -> Option<u32> {
        let sought = self.slot(name, 0);
        let found = self
            .slots
            .find(sought.spread(), |slot| slot.is(sought.hash, &has_name));
        found.map(|slot| slot.number)
    }

    /// Adds a name. It must not be in the map.
    pub(super) fn insert(&mut self, name: &str, number: u32) {
        let slot = self.slot(name, number);
        self.slots.insert_unique(slot.spread(), slot, Slot::spread);
    }

    /// Removes a name and returns its number.
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
