//! How large a picture may be, and how long its analysis may take.

use std::time::Duration;

/// Limits on a picture and on the work for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of the file.
    pub bytes: usize,
    /// The pixels of the decoded picture. 16 million are 80 MB of memory while shapes are found.
    pub pixels: u64,
    /// The longer side in pixels.
    pub side: u32,
    /// The time for one analysis.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 12 << 20,
            pixels: 16_000_000,
            side: 16_384,
            time: Duration::from_secs(30),
        }
    }
}
