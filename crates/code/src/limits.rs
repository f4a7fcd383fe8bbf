//! Bounds of an outline.

use std::time::Duration;

/// How much of a text is looked at, and how much is kept of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Longest text that is parsed.
    pub bytes: usize,
    pub symbols: usize,
    pub imports: usize,
    /// Most pairs of a caller and a called name.
    pub calls: usize,
    /// Longest name that is kept; longer ones are left out.
    pub name_bytes: usize,
    /// Time for parsing, and again for walking the tree.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 512 << 10,
            symbols: 1_000,
            imports: 200,
            calls: 2_000,
            name_bytes: 200,
            time: Duration::from_millis(500),
        }
    }
}
