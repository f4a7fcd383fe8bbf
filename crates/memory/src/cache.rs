//! Results that are kept with the version of the space they were computed from.

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// How long a result is used: the confidence of records changes with time, slowly.
const FRESH: Duration = Duration::from_secs(300);

/// Lookups of a cache since the start, and its size now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    pub hits: u64,
    pub misses: u64,
    pub bytes: usize,
}

/// Results by their question.
///
/// A result stays valid as long as the version of its space is the same; the version changes with every change that the
/// result could show. So nothing has to be removed when something is written. When the cache is full it is emptied:
/// results are cheap, and a list of the least recently used would cost more than it saves.
pub(crate) struct Cache<K, V> {
    kept: Mutex<Kept<K, V>>,
    most_entries: usize,
    most_bytes: usize,
    hits: AtomicU64,
    misses: AtomicU64,
}

struct Kept<K, V> {
    entries: FxHashMap<K, Entry<V>>,
    bytes: usize,
}

struct Entry<V> {
    version: (u64, u64),
    made: Instant,
    bytes: usize,
    value: Arc<V>,
}

impl<K: Hash + Eq, V> Cache<K, V> {
    pub(crate) fn new(most_entries: usize, most_bytes: usize) -> Self {
        Self {
            kept: Mutex::new(Kept {
                entries: FxHashMap::default(),
                bytes: 0,
            }),
            most_entries,
            most_bytes,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// The result of this version.
    pub(crate) fn get(&self, key: &K, version: (u64, u64)) -> Option<Arc<V>> {
        let found = {
            let kept = self.kept.lock();
            let entry = kept.entries.get(key);
            let entry = entry.filter(|it| it.version == version && it.made.elapsed() < FRESH);
            entry.map(|it| Arc::clone(&it.value))
        };
        let counter = if found.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// Keeps a result that was computed from this version and is about so many bytes large.
    pub(crate) fn put(&self, key: K, version: (u64, u64), bytes: usize, value: Arc<V>) {
        if bytes > self.most_bytes {
            return;
        }
        let mut kept = self.kept.lock();
        if let Some(before) = kept.entries.remove(&key) {
            kept.bytes -= before.bytes;
        }
        if kept.entries.len() >= self.most_entries || kept.bytes + bytes > self.most_bytes {
            kept.entries.clear();
            kept.bytes = 0;
        }
        kept.bytes += bytes;
        let made = Instant::now();
        kept.entries.insert(
            key,
            Entry {
                version,
                made,
                bytes,
                value,
            },
        );
    }

    /// Drops everything, also what could not be found any longer.
    pub(crate) fn clear(&self) {
        let mut kept = self.kept.lock();
        kept.entries.clear();
        kept.bytes = 0;
    }

    pub(crate) fn counts(&self) -> CacheCounts {
        CacheCounts {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            bytes: self.kept.lock().bytes,
        }
    }
}
