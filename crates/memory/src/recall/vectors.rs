//! The vectors of a space, and the scan for the nearest ones.
//!
//! Every vector is kept twice: as `f32`, and quantised to one byte for each number, where 127 stands for the largest number
//! of that vector. A search scans all quantised vectors, which are a quarter of the memory traffic and let one
//! instruction multiply many numbers; the nearest few hundred are then compared exactly with the `f32` ones. The scan can
//! misplace near equals, so the caller takes more candidates than it needs.
//!
//! Why no approximate index (HNSW): for 100,000 records of 384 numbers the vectors add about 5 ms of CPU to a
//! question (docs/benchmarks.md); a graph index would cost memory and time for every write, has to be rebuilt or stored, and loses
//! recall. Why `pulp`: the loop is compiled for several register widths, and the widest one that the machine has is
//! chosen at run time, without `unsafe` code of ours and without a build for one kind of CPU.
//!
//! Vectors are expected to have length 1 (embedders give them so), so that the dot product is the cosine.

use pulp::{Arch, Simd, WithSimd};

use crate::index::Slot;

/// The vectors of a space, all of one embedder.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    dimensions: usize,
    /// By slot; zeros for a record without a vector.
    exact: Vec<f32>,
    /// The quantised vectors, in the same order.
    coarse: Vec<i8>,
    /// The value of one quantisation step, by slot; 0 for a record without a vector.
    scale: Vec<f32>,
    count: usize,
}

impl Vectors {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn has(&self, slot: Slot) -> bool {
        self.scale
            .get(slot as usize)
            .is_some_and(|scale| *scale > 0.0)
    }

    /// Adds a vector. Returns false for one that cannot be compared: another length than the first, or not finite.
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

    pub(crate) fn remove(&mut self, slot: Slot) {
        if self.has(slot) {
            let width = self.dimensions;
            self.scale[slot as usize] = 0.0;
            self.exact[slot as usize * width..][..width].fill(0.0);
            self.coarse[slot as usize * width..][..width].fill(0);
            self.count -= 1;
        }
    }

    /// The approximate similarity of every record, by slot; negative infinity for those without a vector. What was in `near`
    /// is dropped. It stays empty for a vector of another length.
    pub(crate) fn scan(&self, vector: &[f32], near: &mut Vec<f32>) {
        near.clear();
        if vector.len() != self.dimensions || self.dimensions == 0 {
            return;
        }
        let largest = vector
            .iter()
            .fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let asked: Vec<i16> = vector
            .iter()
            .map(|x| i16::from((x / largest * 127.0).round() as i8))
            .collect();
        let scan = Scan {
            vectors: self,
            asked: &asked,
            unit: largest / 127.0,
            near,
        };
        // Chooses the widest registers of this machine.
        Arch::new().dispatch(scan);
    }

    /// The exact similarity of a record.
    pub(crate) fn near(&self, slot: Slot, vector: &[f32]) -> Option<f32> {
        if !self.has(slot) || vector.len() != self.dimensions {
            return None;
        }
        let row = &self.exact[slot as usize * self.dimensions..][..self.dimensions];
        Some(row.iter().zip(vector).map(|(a, b)| a * b).sum())
    }
}

/// The scan, compiled for several register widths.
struct Scan<'a> {
    vectors: &'a Vectors,
    /// The question, quantised, and widened as the products need it.
    asked: &'a [i16],
    /// The value of one quantisation step of the question.
    unit: f32,
    near: &'a mut Vec<f32>,
}

impl WithSimd for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _registers: S) {
        let Vectors {
            coarse,
            scale,
            dimensions,
            ..
        } = self.vectors;
        let rows = coarse.chunks_exact(*dimensions).zip(scale);
        self.near.extend(rows.map(|(row, scale)| {
            let product = product(row, self.asked) as f32;
            match *scale > 0.0 {
                true => product * self.unit * scale,
                false => f32::NEG_INFINITY,
            }
        }));
    }
}

/// The dot product of two rows. A plain loop over slices, which the compiler vectorises.
#[inline(always)]
fn product(one: &[i8], other: &[i16]) -> i32 {
    let mut sum = 0;
    for (a, b) in one.iter().zip(other) {
        sum += i32::from(*a) * i32::from(*b);
    }
    sum
}
