//! Vectors of records: scanned in eighths of their size, compared exactly where it matters.

use pulp::{Arch, Simd, WithSimd};

use crate::index::Slot;

/// The vectors of a space, all of one embedder.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    dimensions: usize,
    /// As they are, by slot; a record without one is zero everywhere.
    exact: Vec<f32>,
    /// Each number as a byte, 127 being the largest of its vector.
    coarse: Vec<i8>,
    /// What a byte stands for, by slot; 0 for a record without a vector.
    scale: Vec<f32>,
    count: usize,
}

impl Vectors {
    /// How many records have one.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether a record has one.
    pub(crate) fn has(&self, slot: Slot) -> bool {
        self.scale
            .get(slot as usize)
            .is_some_and(|scale| *scale > 0.0)
    }

    /// Takes a vector in. One of another length than those before is not, since it cannot be compared with them.
    pub(crate) fn insert(&mut self, slot: Slot, vector: &[f32]) -> bool {
        if self.dimensions == 0 {
            self.dimensions = vector.len();
        }
        let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        if vector.len() != self.dimensions || !largest.is_normal() {
            return false;
        }
        let (place, width) = (slot as usize, self.dimensions);
        if self.scale.len() <= place {
            self.scale.resize(place + 1, 0.0);
            self.exact.resize((place + 1) * width, 0.0);
            self.coarse.resize((place + 1) * width, 0);
        }
        if self.scale[place] == 0.0 {
            self.count += 1;
        }
        self.scale[place] = largest / 127.0;
        self.exact[place * width..][..width].copy_from_slice(vector);
        let coarse = &mut self.coarse[place * width..][..width];
        for (byte, x) in coarse.iter_mut().zip(vector) {
            *byte = (x / largest * 127.0).round() as i8;
        }
        true
    }

    /// Takes a vector out.
    pub(crate) fn remove(&mut self, slot: Slot) {
        if self.has(slot) {
            let width = self.dimensions;
            self.scale[slot as usize] = 0.0;
            self.exact[slot as usize * width..][..width].fill(0.0);
            self.coarse[slot as usize * width..][..width].fill(0);
            self.count -= 1;
        }
    }

    /// How near every record is, roughly: by slot, none for those without a vector.
    pub(crate) fn scan(&self, vector: &[f32]) -> Vec<Option<f32>> {
        if vector.len() != self.dimensions || self.dimensions == 0 {
            return Vec::new();
        }
        let largest = vector
            .iter()
            .fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let asked: Vec<i8> = vector
            .iter()
            .map(|x| (x / largest * 127.0).round() as i8)
            .collect();
        let scan = Scan {
            vectors: self,
            asked: &asked,
            unit: largest / 127.0,
        };
        // The widest registers that the machine has: which they are is known only now.
        Arch::new().dispatch(scan)
    }

    /// How near a record is, exactly.
    pub(crate) fn near(&self, slot: Slot, vector: &[f32]) -> Option<f32> {
        if !self.has(slot) || vector.len() != self.dimensions {
            return None;
        }
        let row = &self.exact[slot as usize * self.dimensions..][..self.dimensions];
        Some(row.iter().zip(vector).map(|(a, b)| a * b).sum())
    }
}

/// A scan, compiled for several kinds of registers.
struct Scan<'a> {
    vectors: &'a Vectors,
    asked: &'a [i8],
    /// What a byte of what is asked stands for.
    unit: f32,
}

impl WithSimd for Scan<'_> {
    type Output = Vec<Option<f32>>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _registers: S) -> Self::Output {
        let Vectors {
            coarse,
            scale,
            dimensions,
            ..
        } = self.vectors;
        let mut near = Vec::with_capacity(scale.len());
        for (row, scale) in coarse.chunks_exact(*dimensions).zip(scale) {
            let product = product(row, self.asked) as f32;
            near.push((*scale > 0.0).then_some(product * self.unit * scale));
        }
        near
    }
}

/// The product of two rows. Written so that the compiler sees that it can take many at once.
#[inline(always)]
fn product(one: &[i8], other: &[i8]) -> i32 {
    let mut sum = 0;
    for (a, b) in one.iter().zip(other) {
        sum += i32::from(*a) * i32::from(*b);
    }
    sum
}
