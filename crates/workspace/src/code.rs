//! The files that skills read and write, taken into graph memory by themselves.
//!
//! A skill tells what it did with a file (`tools::FileObserver`), and goes on. Beside the threads that serve, one file after
//! the other is read and its outline found (the crate `code`), and what has changed is written to the memory of the agent
//! (`memory::CodeFile`). Before a caller is shown files, [`CodeIndexer::current`] looks at those that are known: what other
//! programs and people have changed or deleted since is taken in first.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use code::{Language, Limits, Outline, outline};
use memory::{CodeChange, CodeFile, Handle, Memory, Millis, Touch};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
use tools::{DeedKind, Error, FileDeed, FileObserver, ListingKind, Project, ProjectPath};

/// Most files that wait to be looked at. Further ones are left out, and taken in when they are read or written again.
const WAITING: usize = 4_096;

/// Most files of a folder that are taken in when it was moved.
const MOVED: usize = 500;

/// How many files are looked at and written to memory together.
const GROUP: usize = 32;

/// How long a reader waits for files that are being taken in, and how long a server waits when it stops.
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes files into the graph memory of agents. Clones are the same indexer.
///
/// It owns one task, which looks at the files that wait, in groups, each on a blocking thread. A file that is touched again
/// before it was looked at waits once. The task ends when the last clone is dropped; [`close`](Self::close) lets it finish
/// what waits. A crash loses what waits: files that were known are noticed by their status at the next look, new ones when
/// they are touched again.
#[derive(Clone)]
pub struct CodeIndexer(Arc<Inner>);

struct Inner {
    queue: Arc<Queue>,
    _working: AbortOnDropHandle<()>,
}

/// The files that wait, and the projects that they are in.
struct Queue {
    memory: Memory,
    limits: Limits,
    projects: Mutex<BTreeMap<String, Project>>,
    waiting: Mutex<Waiting>,
    wake: Notify,
    /// How many deeds were taken in.
    done: watch::Sender<u64>,
}

#[derive(Default)]
struct Waiting {
    /// By agent and path, with the tasks that touched them.
    files: BTreeMap<(String, String), Vec<Touch>>,
    /// How many deeds were handed in.
    handed_in: u64,
}

impl CodeIndexer {
    /// An indexer for the agents of a memory. Its task runs on the current runtime.
    pub fn start(memory: Memory) -> Self {
        let queue = Arc::new(Queue {
            memory,
            limits: Limits::default(),
            projects: Mutex::default(),
            waiting: Mutex::default(),
            wake: Notify::new(),
            done: watch::Sender::new(0),
        });
        let working = tokio::spawn(work(Arc::clone(&queue)));
        Self(Arc::new(Inner {
            queue,
            _working: AbortOnDropHandle::new(working),
        }))
    }

    /// The project of an agent; its skills tell this indexer what they do.
    #[must_use]
    pub fn observe(&self, agent: &str, project: Project) -> Project {
        let mut projects = lock(&self.0.queue.projects);
        projects.insert(agent.to_owned(), project.clone());
        drop(projects);
        project.observed_by(Arc::new(OfAgent {
            agent: agent.to_owned(),
            queue: Arc::clone(&self.0.queue),
        }))
    }

    /// Waits until the files of an agent are in its memory as they are on disk now.
    pub async fn current(&self, agent: &str) {
        let queue = &self.0.queue;
        self.settled().await;
        let Ok(space) = queue.memory.space(agent) else {
            return;
        };
        let Ok(known) = space.with_files().code_files().await else {
            return;
        };
        let Some(project) = queue.project(agent).filter(|_| !known.is_empty()) else {
            return;
        };
        let looked = tokio::task::spawn_blocking(move || {
            let changed = known.iter().filter(|it| has_changed(&project, it));
            changed.map(|it| it.path.clone()).collect::<Vec<_>>()
        });
        let changed = looked.await.unwrap_or_default();
        if !changed.is_empty() {
            changed
                .into_iter()
                .for_each(|it| queue.hand_in(agent, it, None));
            self.settled().await;
        }
    }

    /// Waits until everything that was handed in is in memory, for a limited time.
    async fn settled(&self) {
        let wanted = lock(&self.0.queue.waiting).handed_in;
        let mut done = self.0.queue.done.subscribe();
        let settled = done.wait_for(|done| *done >= wanted);
        // Later than this the reader gets what is known: it is old, not wrong.
        drop(timeout(PATIENCE, settled).await);
    }

    /// Takes in what waits. The memory must be open.
    pub async fn close(&self) {
        self.settled().await;
    }
}

impl fmt::Debug for CodeIndexer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeIndexer").finish_non_exhaustive()
    }
}

/// The observer of one agent's project.
struct OfAgent {
    agent: String,
    queue: Arc<Queue>,
}

impl FileObserver for OfAgent {
    fn saw(&self, deed: FileDeed) {
        let touch = (deed.kind != DeedKind::Removed).then(|| Touch {
            task: deed.task,
            by: deed.caller,
            wrote: deed.kind == DeedKind::Wrote,
            at: now(),
        });
        self.queue
            .hand_in(&self.agent, deed.path.as_str().to_owned(), touch);
    }
}

impl Queue {
    fn project(&self, agent: &str) -> Option<Project> {
        lock(&self.projects).get(agent).cloned()
    }

    fn hand_in(&self, agent: &str, path: String, touch: Option<Touch>) {
        let mut waiting = lock(&self.waiting);
        let key = (agent.to_owned(), path);
        if waiting.files.len() >= WAITING && !waiting.files.contains_key(&key) {
            tracing::warn!(
                agent,
                path = key.1,
                "not taken into memory: too many files wait"
            );
            return;
        }
        waiting.files.entry(key).or_default().extend(touch);
        waiting.handed_in += 1;
        drop(waiting);
        self.wake.notify_one();
    }
}

/// Takes in what waits, again and again.
async fn work(queue: Arc<Queue>) {
    loop {
        queue.wake.notified().await;
        let (files, until) = {
            let mut waiting = lock(&queue.waiting);
            (std::mem::take(&mut waiting.files), waiting.handed_in)
        };
        let mut agents: BTreeMap<String, Vec<(String, Vec<Touch>)>> = BTreeMap::new();
        for ((agent, path), touches) in files {
            agents.entry(agent).or_default().push((path, touches));
        }
        for (agent, files) in agents {
            for group in files.chunks(GROUP) {
                take_in(&queue, &agent, group.to_vec()).await;
            }
        }
        queue.done.send_replace(until);
    }
}

/// Looks at some files of an agent and writes what has changed.
async fn take_in(queue: &Queue, agent: &str, files: Vec<(String, Vec<Touch>)>) {
    let Some((project, space)) = queue.project(agent).zip(queue.memory.space(agent).ok()) else {
        return;
    };
    let known = known(&space, &files).await;
    let limits = queue.limits.clone();
    let looked = tokio::task::spawn_blocking(move || {
        let looked = files
            .into_iter()
            .map(|(path, touches)| look(&project, &path, touches, &known, &limits));
        looked.collect::<Vec<_>>().concat()
    });
    match looked.await {
        Ok(changes) if changes.is_empty() => {}
        Ok(changes) => {
            if let Err(error) = space.put_code(changes).await {
                tracing::warn!(agent, %error, "files were not taken into memory");
            }
        }
        Err(_) => tracing::error!(agent, "looking at files failed; they are not in memory"),
    }
}

/// The files that are known at these paths, and below them.
async fn known(space: &Handle, files: &[(String, Vec<Touch>)]) -> BTreeMap<String, Arc<CodeFile>> {
    let all = space.with_files().code_files().await.unwrap_or_default();
    let is_at = |file: &CodeFile| {
        let mut paths = files.iter();
        paths.any(|(path, _)| file.path == *path || is_below(&file.path, path))
    };
    let known = all.into_iter().filter(|it| is_at(it));
    known.map(|it| (it.path.clone(), it)).collect()
}

fn is_below(path: &str, folder: &str) -> bool {
    let below = path.strip_prefix(folder);
    below.is_some_and(|it| it.starts_with('/'))
}

/// The changes that a path comes to: a file that is there is put, one that is gone is removed, with those below it.
fn look(
    project: &Project,
    path: &str,
    touches: Vec<Touch>,
    known: &BTreeMap<String, Arc<CodeFile>>,
    limits: &Limits,
) -> Vec<CodeChange> {
    let Ok(parsed) = ProjectPath::parse(path) else {
        return Vec::new();
    };
    let before = known.get(path).map(|it| &**it);
    match read(project, &parsed, before, limits) {
        Ok(Some(file)) => vec![put(file, touches)],
        Ok(None) => {
            let gone = known.keys();
            let gone = gone.filter(|it| *it == path || is_below(it, path));
            let gone = gone.filter(|it| !exists(project, it));
            let gone = gone.map(|it| CodeChange::Remove(it.clone()));
            let moved = below(project, &parsed);
            let moved = moved.into_iter().filter_map(|below| {
                let before = known.get(below.as_str()).map(|it| &**it);
                let file = read(project, &below, before, limits).ok().flatten()?;
                Some(put(file, touches.clone()))
            });
            gone.chain(moved).collect()
        }
        // It is no text, or too large: nothing is known of it any longer.
        Err(_) => vec![CodeChange::Remove(path.to_owned())],
    }
}

fn put(mut file: CodeFile, touches: Vec<Touch>) -> CodeChange {
    file.touches = touches;
    CodeChange::Put(Box::new(file))
}

fn exists(project: &Project, path: &str) -> bool {
    let path = ProjectPath::parse(path);
    path.is_ok_and(|it| matches!(project.status(&it), Ok(Some(_))))
}

/// The files in a folder that have outlines; nothing if it is none.
fn below(project: &Project, path: &ProjectPath) -> Vec<ProjectPath> {
    let listed = project.list(path, Some("*"), MOVED);
    let entries = listed.map(|it| it.entries).unwrap_or_default();
    let files = entries
        .into_iter()
        .filter(|it| it.kind == ListingKind::File);
    let files = files.map(|it| it.path);
    files
        .filter(|it| Language::of(it.as_str()).is_some())
        .collect()
}

/// A file as it is now. None: there is none at this path.
fn read(
    project: &Project,
    path: &ProjectPath,
    before: Option<&CodeFile>,
    limits: &Limits,
) -> Result<Option<CodeFile>, Error> {
    // Before the content, so that a change in between shows at the next look.
    let Some(status) = project.status(path)? else {
        return Ok(None);
    };
    let settled = status.is_settled();
    let file = project.whole(path)?;
    let outline = match (before, Language::of(path.as_str())) {
        (Some(before), _) if before.hash == file.hash => before.outline.clone(),
        (_, Some(language)) => outline(language, &file.content, limits),
        (_, None) => Outline::default(),
    };
    Ok(Some(CodeFile {
        path: path.as_str().to_owned(),
        hash: file.hash,
        size: status.bytes,
        // A file that has just been changed is looked at again.
        modified: if settled { status.changed } else { 0 },
        at: now(),
        outline,
        touches: Vec::new(),
    }))
}

/// Whether a file is another than the known one, or gone.
fn has_changed(project: &Project, known: &CodeFile) -> bool {
    let Ok(path) = ProjectPath::parse(&known.path) else {
        return true;
    };
    match project.status(&path) {
        Ok(Some(status)) => (status.bytes, status.changed) != (known.size, known.modified),
        Ok(None) => true,
        // A folder that cannot be reached for the moment.
        Err(_) => false,
    }
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
