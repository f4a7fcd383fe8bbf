//! Files of projects that change, whatever changes them: an agent, a person, a command or another program. One watcher of a
//! project serves everyone who follows it.
//!
//! A change of a text has the lines that changed ([`tools::FileDelta`]), from the text that was told last. Of a file that
//! was not told yet, or not kept, it is the way from an empty file; so it can always be applied.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use tokio::sync::{Mutex, broadcast};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;
use tools::{Error, FileDelta, ListingKind, Project, ProjectPath, Touched, Watch};

use crate::api::Failure;
use crate::api::files::on_disk;

#[cfg(test)]
#[path = "changed_tests.rs"]
mod tests;

/// How long after a look the next one follows where the system does not tell what was touched.
const POLL: Duration = Duration::from_millis(700);

/// How often everything is looked at where it does, in case that something was not told.
const CHECK: Duration = Duration::from_secs(60);

/// The most files that are followed, and how deep.
const MOST: usize = 20_000;
const DEPTH: usize = 32;

/// The longest text of which changed lines are told, and how much text is kept for it, in bytes.
const MAX_TEXT: u64 = 256 << 10;
const MAX_KEPT: usize = 32 << 20;

/// How many looks a follower may be behind.
const BEHIND: usize = 256;

/// A file that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedFile {
    pub(crate) path: String,
    /// `created`, `modified` or `deleted`.
    pub(crate) operation: &'static str,
    /// Unknown of a file that is gone.
    pub(crate) size: Option<u64>,
    /// The hash of the text that the deltas begin with; none: they begin with an empty file.
    pub(crate) before: Option<String>,
    /// The hash of the text after them; none: it is no text, or too long.
    pub(crate) after: Option<String>,
    pub(crate) deltas: Vec<FileDelta>,
}

/// The watchers of projects, by the ids of their agents.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangeFeeds(Arc<Mutex<HashMap<String, Weak<ChangeFeed>>>>);

/// A watcher of a project, and those who follow it. It ends with the last of them.
#[derive(Debug)]
struct ChangeFeed {
    told: broadcast::WeakSender<Arc<Vec<ChangedFile>>>,
    _running: AbortOnDropHandle<()>,
}

/// Someone who follows the files of a project.
#[derive(Debug)]
pub(crate) struct ChangeFollower {
    /// Held: without followers the watcher ends.
    _feed: Arc<ChangeFeed>,
    told: broadcast::Receiver<Arc<Vec<ChangedFile>>>,
}

/// News for a follower.
#[derive(Clone, Debug)]
pub(crate) enum Changes {
    Files(Arc<Vec<ChangedFile>>),
    /// The follower was too slow and was not told of some.
    Missed,
    /// The project cannot be read any more.
    Over,
}

impl ChangeFollower {
    pub(crate) async fn next(&mut self) -> Changes {
        match self.told.recv().await {
            Ok(files) => Changes::Files(files),
            Err(broadcast::error::RecvError::Lagged(_)) => Changes::Missed,
            Err(broadcast::error::RecvError::Closed) => Changes::Over,
        }
    }
}

impl ChangeFeeds {
    /// Follows the project of an agent. All changes after this returns are told.
    pub(crate) async fn follow(
        &self,
        agent: &str,
        project: &Project,
    ) -> Result<ChangeFollower, Failure> {
        let mut feeds = self.0.lock().await;
        let known = feeds.get(agent).and_then(Weak::upgrade);
        let known = known.and_then(|feed| Some((feed.told.upgrade()?.subscribe(), feed)));
        if let Some((told, feed)) = known {
            return Ok(ChangeFollower { _feed: feed, told });
        }
        let (sender, told) = broadcast::channel(BEHIND);
        // The system watches before the first look, so that nothing falls between the two.
        let watching = project.clone();
        let watch = on_disk(move || Ok(watching.watch())).await?;
        if let Err(error) = &watch {
            tracing::warn!(agent, %error, "the project is looked at again and again: it cannot be watched");
        }
        let state = Known::new(project.clone());
        let (state, _) = state.look(Touched::Anything).await?;
        let weak = sender.downgrade();
        let running = tokio::spawn(run(state, watch.ok(), sender));
        let feed = Arc::new(ChangeFeed {
            told: weak,
            _running: AbortOnDropHandle::new(running),
        });
        feeds.retain(|_, it| it.strong_count() > 0);
        feeds.insert(agent.to_owned(), Arc::downgrade(&feed));
        Ok(ChangeFollower { _feed: feed, told })
    }
}

/// Looks whenever something is touched, and tells what changed, until the project cannot be read.
async fn run(
    mut state: Known,
    mut watch: Option<Watch>,
    told: broadcast::Sender<Arc<Vec<ChangedFile>>>,
) {
    let mut check = Instant::now() + CHECK;
    loop {
        let touched = match &mut watch {
            Some(watch) => tokio::time::timeout_at(check, watch.touched())
                .await
                .unwrap_or(Touched::Anything),
            None => {
                tokio::time::sleep(POLL).await;
                Touched::Anything
            }
        };
        let (began, whole) = (Instant::now(), touched == Touched::Anything);
        let changes;
        (state, changes) = match state.look(touched).await {
            Ok(looked) => looked,
            Err(failure) => {
                tracing::warn!(
                    why = failure.told().1,
                    "following the files of a project ended"
                );
                return;
            }
        };
        if !changes.is_empty() {
            // Without followers this task is ended.
            let _ = told.send(Arc::new(changes));
        }
        if whole {
            check = Instant::now() + CHECK;
            // A large project may be looked at a tenth of the time.
            tokio::time::sleep(began.elapsed() * 9).await;
        }
    }
}

/// The size of a file, and the time of its last change.
type Status = (u64, Option<SystemTime>);

/// The files of a project as they were seen last.
type Seen = BTreeMap<String, Status>;

/// The files of a project as they were told.
#[derive(Debug)]
struct Known {
    project: Project,
    seen: Seen,
    /// The texts that were told, with their hashes.
    texts: BTreeMap<String, (String, String)>,
    /// Their length.
    kept: usize,
}

impl Known {
    fn new(project: Project) -> Self {
        Self {
            project,
            seen: Seen::new(),
            texts: BTreeMap::new(),
            kept: 0,
        }
    }

    /// Looks at what was touched, beside the threads that serve.
    async fn look(mut self, touched: Touched) -> Result<(Self, Vec<ChangedFile>), Failure> {
        on_disk(move || {
            let changes = self.changes(touched)?;
            Ok((self, changes))
        })
        .await
    }

    fn changes(&mut self, touched: Touched) -> Result<Vec<ChangedFile>, Error> {
        let changed = match touched {
            Touched::Paths(paths) => match self.look_at(&paths) {
                Some(changed) => changed,
                None => self.look_at_all()?,
            },
            Touched::Anything => self.look_at_all()?,
        };
        let changes = changed.into_iter();
        Ok(changes
            .filter_map(|(path, operation)| self.change(path, operation))
            .collect())
    }

    /// Looks at these files; those that are there may have changed. None: a folder is among them, and nothing was taken in.
    fn look_at(&mut self, paths: &BTreeSet<ProjectPath>) -> Option<Vec<(String, &'static str)>> {
        let mut looked = Vec::new();
        for path in paths {
            let name = path.to_string();
            let found = match self.project.list(path, None, 1) {
                Ok(found) => found.entries.into_iter().find(|it| it.path == *path),
                Err(error) if error.code() == "not-found" => {
                    let below = format!("{name}/");
                    let mut after = self.seen.range(below.clone()..);
                    if after.next().is_some_and(|(it, _)| it.starts_with(&below)) {
                        return None;
                    }
                    looked.push((name, None));
                    continue;
                }
                // A file that became a folder, or that may not be read.
                Err(_) => return None,
            };
            match found {
                Some(file) if file.kind == ListingKind::File => {
                    looked.push((name, Some((file.bytes, file.modified))));
                }
                Some(_) => {}
                None => return None,
            }
        }
        let taken = looked.into_iter();
        Some(
            taken
                .filter_map(|(name, now)| self.take(name, now))
                .collect(),
        )
    }

    /// Takes a file in as it is now, or takes one out that is gone.
    fn take(&mut self, name: String, now: Option<Status>) -> Option<(String, &'static str)> {
        let Some(now) = now else {
            return self.seen.remove(&name).map(|_| (name, "deleted"));
        };
        if self.seen.len() >= MOST && !self.seen.contains_key(&name) {
            return None;
        }
        match self.seen.insert(name.clone(), now) {
            None => Some((name, "created")),
            Some(_) => Some((name, "modified")),
        }
    }

    fn look_at_all(&mut self) -> Result<Vec<(String, &'static str)>, Error> {
        let mut now = Seen::new();
        take(&self.project, &ProjectPath::root(), DEPTH, &mut now)?;
        let before = std::mem::replace(&mut self.seen, now);
        let now = &self.seen;
        let changed = now
            .iter()
            .filter_map(|(path, file)| match before.get(path) {
                None => Some((path.clone(), "created")),
                Some(was) if was != file => Some((path.clone(), "modified")),
                Some(_) => None,
            });
        let deleted = before.keys().filter(|path| !now.contains_key(*path));
        let deleted = deleted.map(|path| (path.clone(), "deleted"));
        Ok(changed.chain(deleted).collect())
    }

    /// The change of a file, if there is one.
    fn change(&mut self, path: String, operation: &'static str) -> Option<ChangedFile> {
        let known = self.texts.remove(&path);
        self.kept -= known.as_ref().map_or(0, |(text, _)| text.len());
        let size = self.seen.get(&path).map(|it| it.0);
        let parsed = ProjectPath::parse(&path).ok()?;
        let whole = size.filter(|it| *it <= MAX_TEXT);
        let whole = whole.and_then(|_| self.project.whole(&parsed).ok());
        let Some(whole) = whole else {
            return Some(ChangedFile {
                path,
                operation,
                size,
                before: None,
                after: None,
                deltas: Vec::new(),
            });
        };
        let (old, before) = known.unzip();
        let same = before.as_ref() == Some(&whole.hash);
        let deltas = match same {
            true => Vec::new(),
            false => tools::deltas(&parsed, old.as_deref().unwrap_or_default(), &whole.content),
        };
        self.keep(&path, &whole);
        (!same).then_some(ChangedFile {
            path,
            operation,
            size: Some(whole.content.len() as u64),
            before,
            after: Some(whole.hash),
            deltas,
        })
    }

    fn keep(&mut self, path: &str, whole: &tools::WholeFile) {
        if self.kept + whole.content.len() > MAX_KEPT {
            // The next change of each begins with an empty file.
            self.texts.clear();
            self.kept = 0;
        }
        self.kept += whole.content.len();
        let text = (whole.content.clone(), whole.hash.clone());
        self.texts.insert(path.to_owned(), text);
    }
}

/// Takes the files of a folder in, and those below it.
fn take(project: &Project, path: &ProjectPath, depth: usize, seen: &mut Seen) -> Result<(), Error> {
    for entry in project.list(path, None, usize::MAX)?.entries {
        if seen.len() >= MOST {
            return Ok(());
        }
        let name = entry.path.as_str().rsplit('/').next().unwrap_or_default();
        match entry.kind {
            ListingKind::Folder if depth > 1 && name != ".git" && entry.path != *path => {
                // A folder that goes meanwhile has no files.
                let _ = take(project, &entry.path, depth - 1, seen);
            }
            ListingKind::File => {
                seen.insert(entry.path.to_string(), (entry.bytes, entry.modified));
            }
            _ => {}
        }
    }
    Ok(())
}
