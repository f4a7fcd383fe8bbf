//! What the tests share: copies of folders, and how they are run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evolve::Report;
use evolve::folder::{FolderOptions, FolderRun};
use tempfile::TempDir;
use tools::sandbox::{Helper, Sandbox, SandboxKind};

/// The longest that a run may take on a busy machine.
const TIME: Duration = Duration::from_secs(120);

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_evolve-folder");

/// A copy of a folder, and a place for data.
pub(crate) struct Place {
    _temporary: TempDir,
    pub(crate) folder: PathBuf,
    pub(crate) data: PathBuf,
}

impl Place {
    pub(crate) fn of(name: &str) -> Self {
        let place = Self::empty(name);
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../conformance/evolve")
            .join(name);
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), place.folder.join(entry.file_name())).unwrap();
            }
        }
        place
    }

    /// A folder of these two programs.
    pub(crate) fn with(program: &str, evaluator: &str) -> Self {
        let place = Self::empty("own");
        fs::write(place.folder.join("initial_program.py"), program).unwrap();
        fs::write(place.folder.join("evaluator.py"), evaluator).unwrap();
        fs::write(
            place.folder.join("config.yaml"),
            "evaluator:\n  timeout: 1\n",
        )
        .unwrap();
        place
    }

    fn empty(name: &str) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join(name);
        fs::create_dir(&folder).unwrap();
        Self {
            data: temporary.path().join("data"),
            folder,
            _temporary: temporary,
        }
    }

    pub(crate) fn options(&self, budget: usize, seed: u64) -> FolderOptions {
        let path = std::env::var("PATH").unwrap();
        let helper = Helper {
            program: PROGRAM.into(),
            arguments: vec!["sandbox".to_owned()],
        };
        let mut sandbox = Sandbox::new(
            SandboxKind::detect(Some(&path)),
            helper,
            self.data.join("scratch"),
        );
        sandbox.environment.push(("PATH".to_owned(), path));
        let mut options = FolderOptions::new(&self.folder, &self.data, sandbox);
        options.budget = Some(budget);
        options.seed = Some(seed);
        options.random = false;
        options
    }

    pub(crate) async fn run(&self, budget: usize, seed: u64) -> Result<Report, evolve::Error> {
        finish(&self.options(budget, seed)).await
    }

    /// The names of all files in the folder, with those below it.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        list(&self.folder, &self.folder, &mut names);
        names.sort();
        names
    }
}

pub(crate) async fn finish(options: &FolderOptions) -> Result<Report, evolve::Error> {
    let mut run = FolderRun::open(options)?;
    tokio::time::timeout(TIME, run.finish(|_, _| {}))
        .await
        .expect("the run takes too long")
}

fn list(root: &Path, folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => list(root, &path, names),
            false => names.push(path.strip_prefix(root).unwrap().display().to_string()),
        }
    }
}
