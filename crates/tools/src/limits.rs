//! How much of everything there may be.

use std::time::Duration;

/// What one operation in a project may take and give.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Of a file that is read.
    pub file_bytes: u64,
    /// Of what one reading gives; the rest is for the next.
    pub answer_bytes: usize,
    /// Of what is written into a file.
    pub write_bytes: usize,
    /// Of a diff; one that is longer cannot be shown.
    pub diff_bytes: usize,
    /// How long may be looked for a short diff; a longer one is found at once.
    pub diff_time: Duration,
    /// How many files and folders one search may look at.
    pub entries: usize,
    /// How many folders may lie in each other.
    pub depth: usize,
    /// Of a file that is searched; larger ones are passed over.
    pub searched_file_bytes: u64,
    /// Of all that one search reads.
    pub searched_bytes: u64,
    /// How long one search may take.
    pub search_time: Duration,
    /// How many lines a search may find.
    pub hits: usize,
    /// Of a line that was found; what is around the hit is shown.
    pub hit_bytes: usize,
    /// Of what is searched for, and of the pattern of names.
    pub query_bytes: usize,
}

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 16 * MIB as u64,
            answer_bytes: 128 * KIB,
            write_bytes: 8 * MIB,
            diff_bytes: 120 * KIB,
            diff_time: Duration::from_secs(2),
            entries: 50_000,
            depth: 64,
            searched_file_bytes: 4 * MIB as u64,
            searched_bytes: 256 * MIB as u64,
            search_time: Duration::from_secs(20),
            hits: 1_000,
            hit_bytes: 400,
            query_bytes: KIB,
        }
    }
}
