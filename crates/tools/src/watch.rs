//! Watching the folder of a project: files that this program or others touch.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::{Project, TEMPORARY};

/// How long further touches are gathered after the first.
const GATHER: Duration = Duration::from_millis(30);

/// The most paths that are remembered; with more, anything may have changed.
const MOST: usize = 1_000;

/// Files that were touched since the last time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// These files or folders, which may be gone.
    Paths(BTreeSet<ProjectPath>),
    /// More than was counted, or what the system did not tell.
    Anything,
}

/// A folder that the operating system watches. It ends when this is dropped.
///
/// Paths are hints: they say where to look, and what is there is read beneath the open folder of the project as always.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    /// Held: the system watches as long as it is there.
    _watcher: RecommendedWatcher,
}

#[derive(Debug, Default)]
struct Shared {
    pending: Mutex<Pending>,
    some: Notify,
}

#[derive(Debug, Default)]
struct Pending {
    paths: BTreeSet<ProjectPath>,
    anything: bool,
}

impl Project {
    /// Watches the folder and those below it. An error if the system cannot, as when it watches too many already.
    pub fn watch(&self) -> Result<Watch, Error> {
        let location = self.location()?;
        let shared = Arc::new(Shared::default());
        let (root, to) = (location.clone(), shared.clone());
        let watching = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            to.take(&root, event)
        })
        .and_then(|mut it| {
            it.watch(&location, RecursiveMode::Recursive)?;
            Ok(it)
        })
        .map_err(|error| Error::Folder {
            folder: location.display().to_string(),
            source: std::io::Error::other(error),
        })?;
        Ok(Watch {
            shared,
            _watcher: watching,
        })
    }
}

impl Watch {
    /// Waits until something is touched, and a moment longer for what belongs to it.
    pub async fn touched(&mut self) -> Touched {
        self.shared.some.notified().await;
        tokio::time::sleep(GATHER).await;
        let mut pending = self.shared.lock();
        let Pending { paths, anything } = std::mem::take(&mut *pending);
        match anything {
            true => Touched::Anything,
            false => Touched::Paths(paths),
        }
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, root: &Path, event: notify::Result<notify::Event>) {
        let mut pending = self.lock();
        match event {
            Ok(event) if event.need_rescan() => pending.anything = true,
            Ok(event) if is_change(event.kind) => {
                let paths = event.paths.iter().filter_map(|it| within(root, it));
                pending.paths.extend(paths);
            }
            // Reading is no change; the readers of this program would wake themselves.
            Ok(_) => return,
            Err(_) => pending.anything = true,
        }
        if pending.paths.len() > MOST {
            pending.paths.clear();
            pending.anything = true;
        }
        let some = pending.anything || !pending.paths.is_empty();
        drop(pending);
        if some {
            self.some.notify_one();
        }
    }
}

fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

/// The path within the project; none for those that are not shown: `.git`, and files that are still being written.
fn within(root: &Path, path: &Path) -> Option<ProjectPath> {
    let path: PathBuf = path.strip_prefix(root).ok()?.to_owned();
    let text = path.to_str()?;
    let mut names = text.split('/');
    if names.any(|it| it == ".git" || it.starts_with(TEMPORARY)) {
        return None;
    }
    match text.is_empty() {
        true => Some(ProjectPath::root()),
        false => ProjectPath::parse(text).ok(),
    }
}
