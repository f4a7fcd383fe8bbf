//! Numbers in an order that only their owner knows.

use std::cmp::Ordering;

/// The most ids in one block: moving half of them costs less than finding the place.
const BLOCK: usize = 512;

/// Ids in order, four bytes each. The order is given with each call, always the same, as a function that
/// compares what an id stands for with what is looked for; what ids stand for is kept elsewhere, once.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// None is empty.
    blocks: Vec<Vec<u32>>,
    len: usize,
}

/// A place between two ids.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    block: usize,
    offset: usize,
}

impl Sorted {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The id that is equal, or the place where it would be.
    pub(super) fn find(&self, compare: impl Fn(u32) -> Ordering) -> Result<u32, Place> {
        let place = self.before(|id| compare(id).is_lt());
        match self.at(place) {
            Some(id) if compare(id).is_eq() => Ok(id),
            _ => Err(place),
        }
    }

    /// The place before which are exactly those ids for which `earlier` is true.
    pub(super) fn before(&self, earlier: impl Fn(u32) -> bool) -> Place {
        let starts = |block: &Vec<u32>| block.first().is_some_and(|&id| earlier(id));
        let block = self.blocks.partition_point(starts).saturating_sub(1);
        let offset = match self.blocks.get(block) {
            Some(block) => block.partition_point(|&id| earlier(id)),
            None => 0,
        };
        Place { block, offset }
    }

    /// Puts an id where [`Sorted::find`] said it would be.
    pub(super) fn insert(&mut self, place: Place, id: u32) {
        self.len += 1;
        let Place { block, offset } = place;
        let Some(ids) = self.blocks.get_mut(block) else {
            self.blocks.push(vec![id]);
            return;
        };
        ids.insert(offset, id);
        if ids.len() > BLOCK {
            // At the end, where most ids come in order, the full block stays full.
            let last = block + 1 == self.blocks.len();
            let ids = &mut self.blocks[block];
            let upper = ids.split_off(if last { BLOCK } else { BLOCK / 2 });
            self.blocks.insert(block + 1, upper);
        }
    }

    /// Takes out the id that is equal.
    pub(super) fn remove(&mut self, compare: impl Fn(u32) -> Ordering) {
        let place = self.before(|id| compare(id).is_lt());
        let Some(Place { block, offset }) = self.settle(place) else {
            return;
        };
        let ids = &mut self.blocks[block];
        if compare(ids[offset]).is_eq() {
            ids.remove(offset);
            self.len -= 1;
            if ids.is_empty() {
                self.blocks.remove(block);
            }
        }
    }

    /// The ids from a place on.
    pub(super) fn from(&self, place: Place) -> impl Iterator<Item = u32> {
        let Place { block, offset } = place;
        let ids = self.blocks.iter().skip(block).flatten();
        ids.skip(offset).copied()
    }

    /// The ids before a place, backwards.
    pub(super) fn back_from(&self, place: Place) -> impl Iterator<Item = u32> {
        let Place { block, offset } = place;
        let part = self.blocks.get(block).map_or(&[][..], |ids| &ids[..offset]);
        let whole = self.blocks[..block].iter().rev();
        let whole = whole.flat_map(|ids| ids.iter().rev());
        part.iter().rev().chain(whole).copied()
    }

    /// The id after a place.
    fn at(&self, place: Place) -> Option<u32> {
        let Place { block, offset } = self.settle(place)?;
        Some(self.blocks[block][offset])
    }

    /// The same place, counted from the block of the id after it.
    fn settle(&self, place: Place) -> Option<Place> {
        let Place { block, offset } = place;
        if offset < self.blocks.get(block)?.len() {
            return Some(place);
        }
        let block = block + 1;
        (block < self.blocks.len()).then_some(Place { block, offset: 0 })
    }
}
