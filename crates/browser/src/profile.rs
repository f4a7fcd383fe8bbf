//! The folder of one run of Chromium: cookies, caches and files on their way. It ends with the run.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Prefix of the names of profiles and of their locks.
const PREFIX: &str = "profile-";
const LOCK: &str = ".lock";

/// Settings of Chromium that are no flags: it connects to the search engine of its address line in advance, so that is none;
/// and it guesses no next pages.
const PREFERENCES: &str = r#"{
  "default_search_provider_data": { "template_url_data": {
    "keyword": "none", "short_name": "none", "url": "http://search.invalid/?q={searchTerms}", "id": "7", "prepopulate_id": 0
  } },
  "net": { "network_prediction_options": 2 },
  "search": { "suggest_enabled": false },
  "alternate_error_pages": { "enabled": false }
}"#;

/// A profile folder, removed when it is dropped.
///
/// Beside it lies a file that is locked as long as this process lives. A profile with a lock that can be taken was left by a
/// process that was killed; the next start removes it.
#[derive(Debug)]
pub(crate) struct Profile {
    folder: PathBuf,
    lock_path: PathBuf,
    /// Held for its lock and not read.
    _lock: File,
}

impl Profile {
    /// Makes a profile in a folder, and removes those that other processes left there.
    pub(crate) fn make(parent: &Path) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(parent)?;
        sweep(parent);
        let name = format!("{PREFIX}{}", uuid::Uuid::new_v4().simple());
        let folder = parent.join(&name);
        let lock_path = parent.join(format!("{name}{LOCK}"));
        let lock = File::create_new(&lock_path)?;
        lock.try_lock().map_err(io::Error::from)?;
        let profile = Self {
            folder,
            lock_path,
            _lock: lock,
        };
        for part in ["chromium/Default", "downloads", "uploads"] {
            builder.create(profile.folder.join(part))?;
        }
        fs::write(profile.chromium().join("Default/Preferences"), PREFERENCES)?;
        Ok(profile)
    }

    /// The folder for Chromium's own data.
    pub(crate) fn chromium(&self) -> PathBuf {
        self.folder.join("chromium")
    }

    /// Where downloads lie until they are whole.
    pub(crate) fn downloads(&self) -> PathBuf {
        self.folder.join("downloads")
    }

    /// Where copies of files lie that are given to a page.
    pub(crate) fn uploads(&self) -> PathBuf {
        self.folder.join("uploads")
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        remove(&self.folder);
        let _ = fs::remove_file(&self.lock_path);
    }
}

/// Removes the profiles of processes that have ended.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().and_then(|it| it.strip_suffix(LOCK)) else {
            continue;
        };
        if !name.starts_with(PREFIX) {
            continue;
        }
        let taken = File::open(entry.path()).map(|lock| lock.try_lock());
        if !matches!(taken, Ok(Err(TryLockError::WouldBlock))) {
            remove(&parent.join(name));
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes a folder into which processes that are about to end may still write.
fn remove(folder: &Path) {
    for _ in 0..100 {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            _ => return,
        }
    }
    tracing::warn!(folder = %folder.display(), "browser: could not remove a profile folder");
}
