//! Contents of files that were read, for as long as the files are the same.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::{FileStatus, Project, hash};

/// Most bytes of all contents.
const BYTES: usize = 16 << 20;

/// Largest file that is kept: more would be lost than gained by it.
const FILE_BYTES: usize = 2 << 20;

/// Most files that are kept.
const FILES: usize = 2_048;

/// The contents of files of all projects of a server, with their hashes. Clones are the same cache.
///
/// A content is used while the status of its file is the one it was read under: its size, its number and when it was
/// changed, which every write alters. So a change by another program is seen as well as one by a skill. A file that was
/// changed within the last tick of the clock is not kept, since a second change in the same tick could leave the same
/// status ([`FileStatus::is_settled`]).
#[derive(Clone, Default)]
pub struct FileCache(Arc<Inner>);

#[derive(Default)]
struct Inner {
    kept: Mutex<Kept>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// The folder of a project, and a path in it.
type Key = (PathBuf, ProjectPath);

#[derive(Default)]
struct Kept {
    files: HashMap<Key, Entry>,
    bytes: usize,
    /// Counts lookups, so that the file that was not used for longest is known.
    clock: u64,
}

struct Entry {
    status: FileStatus,
    text: HashedText,
    used: u64,
}

/// A text with its hash.
#[derive(Clone, Debug)]
pub(crate) struct HashedText {
    pub(crate) text: Arc<str>,
    pub(crate) hash: Arc<str>,
}

/// Lookups of a [`FileCache`] since the start, and its size now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCacheCounts {
    pub hits: u64,
    pub misses: u64,
    pub bytes: usize,
}

impl FileCache {
    pub fn counts(&self) -> FileCacheCounts {
        FileCacheCounts {
            hits: self.0.hits.load(Ordering::Relaxed),
            misses: self.0.misses.load(Ordering::Relaxed),
            bytes: self.kept().bytes,
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        let kept = self.0.kept.lock();
        kept.unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, key: &Key, status: FileStatus) -> Option<HashedText> {
        let mut kept = self.kept();
        kept.clock += 1;
        let now = kept.clock;
        let entry = kept.files.get_mut(key);
        let found = entry.filter(|it| it.status == status).map(|it| {
            it.used = now;
            it.text.clone()
        });
        let counter = if found.is_some() {
            &self.0.hits
        } else {
            &self.0.misses
        };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    fn put(&self, key: Key, status: FileStatus, text: &HashedText) {
        let mut kept = self.kept();
        kept.remove(&key);
        if text.text.len() > FILE_BYTES || !status.is_settled() {
            return;
        }
        while kept.files.len() >= FILES || kept.bytes + text.text.len() > BYTES {
            let oldest = kept.files.iter().min_by_key(|(_, it)| it.used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            kept.remove(&oldest);
        }
        kept.bytes += text.text.len();
        let entry = Entry {
            status,
            text: text.clone(),
            used: kept.clock,
        };
        kept.files.insert(key, entry);
    }
}

impl Kept {
    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.files.remove(key) {
            self.bytes -= entry.text.text.len();
        }
    }
}

impl fmt::Debug for FileCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FileCache").field(&self.counts()).finish()
    }
}

impl Project {
    /// The same project; its files are kept in this cache when they are read.
    #[must_use]
    pub fn cached_in(self, cache: &FileCache) -> Self {
        self.with_cache(cache.clone())
    }

    /// The text of a file with its hash, from the cache if there is one and the file is the same.
    pub(crate) fn hashed_text(&self, path: &ProjectPath) -> Result<HashedText, Error> {
        let Some(cache) = self.cache() else {
            return self.read_hashed(path);
        };
        // Before the content: a change in between gives the content a status that the file does not have.
        let Some(status) = self.status(path)? else {
            return self.read_hashed(path);
        };
        let key = (self.opened_at().to_owned(), path.clone());
        if let Some(text) = cache.get(&key, status) {
            return Ok(text);
        }
        let text = self.read_hashed(path)?;
        cache.put(key, status, &text);
        Ok(text)
    }

    fn read_hashed(&self, path: &ProjectPath) -> Result<HashedText, Error> {
        let text = self.text(path)?;
        Ok(HashedText {
            hash: hash(text.as_bytes()).into(),
            text: text.into(),
        })
    }
}
