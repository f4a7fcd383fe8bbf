//! A project beside a secret file that no operation may read or change.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;
use tools::{Error, Limits, Lines, Project, ProjectPath, Query, Text, Written};

/// Content of the file outside; it must never be returned.
pub(crate) const SECRET: &str = "SECRET";

pub(crate) struct Bed {
    _folder: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) project: Project,
    before: BTreeMap<PathBuf, Vec<u8>>,
}

impl Bed {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside");
        fs::create_dir_all(outside.join("deep")).unwrap();
        for name in ["secret.txt", "deep/secret.txt"] {
            fs::write(outside.join(name), SECRET).unwrap();
        }
        let root = folder.path().join("workspace");
        let project = Project::with_limits(&root, limits).unwrap();
        Self {
            before: tree(&outside),
            _folder: folder,
            root,
            outside,
            project,
        }
    }

    /// Writes a file directly, without the project.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn link(&self, to: impl AsRef<Path>, name: &str) {
        symlink(to, self.root.join(name)).unwrap();
    }

    pub(crate) fn read(&self, text: &str) -> Result<Text, Error> {
        self.project.read(&ProjectPath::parse(text)?, Lines::all())
    }

    pub(crate) fn write(&self, text: &str, content: &str) -> Result<Written, Error> {
        self.project
            .write(&ProjectPath::parse(text)?, content, None)
    }

    pub(crate) fn diff(&self, text: &str, content: &str) -> Result<String, Error> {
        self.project.diff(&ProjectPath::parse(text)?, content)
    }

    /// The paths and line numbers of the hits of a search.
    pub(crate) fn find(&self, query: &Query) -> Vec<String> {
        let found = self.project.search(query, &|| false).unwrap();
        let hits = found.hits.iter();
        hits.map(|hit| format!("{}:{}:{}", hit.path, hit.line, hit.text))
            .collect()
    }

    /// Tries every operation with this path. Returns all text that was read.
    pub(crate) fn try_all(&self, text: &str) -> String {
        let mut seen = String::new();
        seen.extend(self.read(text).map(|it| it.content));
        seen.extend(self.diff(text, "by the test\n"));
        if let Ok(path) = ProjectPath::parse(text) {
            let mut query = Query::new(SECRET);
            query.path = path;
            let found = self.project.search(&query, &|| false);
            seen.extend(found.into_iter().flat_map(|it| it.hits).map(|hit| hit.text));
        }
        let _ = self.write(text, "by the test\n");
        if let Ok(path) = ProjectPath::parse(text) {
            seen.extend(self.project.stamp(&path));
            let listed = self.project.list(&path, None, 100);
            let listed = listed.into_iter().flat_map(|it| it.entries);
            seen.extend(listed.map(|it| it.path.to_string()));
            if let Ok(here) = ProjectPath::parse("moved-by-the-test") {
                let _ = self.project.rename(&path, &here, None);
                let _ = self.project.rename(&here, &path, None);
            }
            let _ = self.project.delete(&path, None);
        }
        seen
    }

    /// Asserts that the files outside are unchanged.
    pub(crate) fn check_outside(&self) {
        assert_eq!(tree(&self.outside), self.before);
        let mut around = Vec::from_iter(tree(self.root.parent().unwrap()).into_keys());
        around.retain(|path| !path.starts_with(&self.root) && !path.starts_with(&self.outside));
        assert_eq!(around, Vec::<PathBuf>::new());
    }
}

/// All files below a folder. Symlinks are not followed.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap();
        if kind.is_dir() {
            files.extend(tree(&path));
            files.insert(path, Vec::new());
        } else if kind.is_file() {
            let content = fs::read(&path).unwrap();
            files.insert(path, content);
        }
    }
    files
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names =
        Vec::from_iter(entries.map(|it| it.unwrap().file_name().into_string().unwrap()));
    names.sort();
    names
}

/// Runs an operation with a time limit, because a failure could hang.
pub(crate) fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    wait.recv_timeout(Duration::from_secs(20))
        .expect("it does not hang")
}
