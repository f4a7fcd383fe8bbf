//! The memory of signed requests that were accepted.

use std::collections::{BTreeMap, HashSet};

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use super::SignatureFault;

/// How many requests of one key are remembered. Beyond that further ones are refused: to forget one would let it be sent
/// again. Each takes about 100 bytes.
const MAX_REMEMBERED: usize = 65_536;

/// The requests of one key that were seen, each for as long as its signature would be accepted.
#[derive(Default)]
pub(super) struct Seen(Mutex<Memory>);

#[derive(Default)]
struct Memory {
    marks: HashSet<Mark>,
    /// The same, by the last second at which each counts.
    ends: BTreeMap<u64, Vec<Mark>>,
}

/// Half of a SHA-256, so that long nonces cost no more than short ones.
type Mark = [u8; 16];

impl Seen {
    /// Remembers a request by its nonce or its signed text until this second, unless it was seen before.
    pub(super) fn remember(
        &self,
        unique: &str,
        is_nonce: bool,
        until: u64,
        now: u64,
    ) -> Result<(), SignatureFault> {
        let whole = Sha256::new()
            .chain_update([u8::from(is_nonce)])
            .chain_update(unique)
            .finalize();
        let mut mark = Mark::default();
        mark.copy_from_slice(&whole[..16]);

        let memory = &mut *self.0.lock();
        memory.forget_before(now);
        if memory.marks.contains(&mark) {
            return Err(SignatureFault::Replayed);
        }
        if memory.marks.len() >= MAX_REMEMBERED {
            return Err(SignatureFault::Full);
        }
        memory.marks.insert(mark);
        memory.ends.entry(until).or_default().push(mark);
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.lock().marks.len()
    }
}

impl Memory {
    fn forget_before(&mut self, now: u64) {
        let left = self.ends.split_off(&now);
        for marks in std::mem::replace(&mut self.ends, left).into_values() {
            for mark in marks {
                self.marks.remove(&mark);
            }
        }
    }
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seen").finish_non_exhaustive()
    }
}
