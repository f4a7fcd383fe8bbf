//! Bounds of the operations on a project.

use std::time::Duration;

/// How much one operation on a project may read, write and return.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest file that is read.
    pub file_bytes: u64,
    /// Most bytes that one read returns; `next` says where the following read begins.
    pub answer_bytes: usize,
    /// Largest content that is written.
    pub write_bytes: usize,
    /// Longest diff; a longer one is an error, because an approval must show all of it.
    pub diff_bytes: usize,
    /// Time for finding a minimal diff; after it a longer but correct one is returned.
    pub diff_time: Duration,
    /// Most files and folders that one search visits.
    pub entries: usize,
    /// Deepest nesting of folders that a search follows.
    pub depth: usize,
    /// Largest file that is searched; larger ones are counted as skipped.
    pub searched_file_bytes: u64,
    /// Most bytes that one search reads in all.
    pub searched_bytes: u64,
    pub search_time: Duration,
    /// Most lines that a search returns.
    pub hits: usize,
    /// Longest line that is returned; of a longer one the part around the hit.
    pub hit_bytes: usize,
    /// Longest query, and longest glob.
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
