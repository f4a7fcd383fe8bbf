//! The folder that evaluators work in, and commands in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tools::sandbox::Sandbox;
use tools::terminal::{CommandLine, Ended, RunningCommand, Shell, Stream};
use tools::{Project, ProjectPath};

use crate::error::Error;

/// How long a command that is to end may take for it.
const GRACE: Duration = Duration::from_millis(200);

/// The most output of a command that is kept, in bytes.
const OUTPUT: usize = 1 << 20;

/// Bounds of a command.
const PROCESSES: u64 = 256;
const FILE: u64 = 512 << 20;
const MEMORY: u64 = 4 << 30;

/// A writable folder outside of the project, and the sandbox of the commands in it. They read the project and cannot change it.
/// Dropping it removes the folder.
#[derive(Debug)]
pub(crate) struct Bench {
    shell: Shell,
    project: Project,
    pub(crate) folder: PathBuf,
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Bench {
    /// Makes an empty folder for work below one that has nothing else in it.
    pub(crate) fn open(below: &Path, mut sandbox: Sandbox) -> Result<Self, Error> {
        // A process that was killed leaves its folder, and what it ran may take a moment to end there.
        let _ = std::fs::remove_dir_all(below);
        let folder = below.join(uuid::Uuid::new_v4().simple().to_string());
        std::fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
        let folder = folder
            .canonicalize()
            .map_err(Error::file("open", &folder))?;
        let project = Project::open(&folder).map_err(|it| Error::Evaluator(it.to_string()))?;
        sandbox.bounds.grace = GRACE;
        sandbox.bounds.processes = PROCESSES;
        sandbox.bounds.file_bytes = FILE;
        sandbox.bounds.data_bytes = MEMORY;
        // One thread for each library: evaluations beside each other would disturb each other's times.
        let single = [
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
            "NUMEXPR_NUM_THREADS",
        ];
        let home = folder.display().to_string();
        let fixed = single.map(|it| (it, "1")).into_iter().chain([
            ("PYTHONDONTWRITEBYTECODE", "1"),
            ("PYTHONHASHSEED", "0"),
            ("PYTHONUNBUFFERED", "1"),
            ("HOME", home.as_str()),
        ]);
        for (name, value) in fixed {
            sandbox.environment.retain(|it| it.0 != name);
            sandbox
                .environment
                .push((name.to_owned(), value.to_owned()));
        }
        Ok(Self {
            shell: Shell::new(project.clone(), sandbox),
            project,
            folder,
        })
    }

    /// Writes a file of the folder. A candidate may have put links into it: none is followed to outside.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<PathBuf, Error> {
        let failed = |it: tools::Error| Error::Evaluator(it.to_string());
        let place = ProjectPath::parse(path).map_err(failed)?;
        self.project.write(&place, text, None).map_err(failed)?;
        Ok(self.folder.join(path))
    }

    /// Reads a file of the folder that a command wrote, if it is one and is not too long.
    pub(crate) fn read(&self, name: &str, most: u64) -> Option<Vec<u8>> {
        let path = self.folder.join(name);
        let found = std::fs::symlink_metadata(&path).ok()?;
        // No process of the command is left that could put a link here in between.
        (found.is_file() && found.len() <= most)
            .then(|| std::fs::read(path).ok())
            .flatten()
    }

    /// Removes a file of the folder; a link and not where it leads.
    pub(crate) fn remove(&self, name: &str) {
        let _ = std::fs::remove_file(self.folder.join(name));
    }

    /// Starts a command of these arguments, without network.
    pub(crate) async fn start(&self, arguments: &[String]) -> Result<RunningCommand, Error> {
        let line = arguments
            .iter()
            .map(|it| quoted(it))
            .collect::<Vec<_>>()
            .join(" ");
        self.start_line(&format!("exec {line}")).await
    }

    pub(crate) async fn start_line(&self, line: &str) -> Result<RunningCommand, Error> {
        let command = CommandLine::new(line);
        self.shell
            .start(&command)
            .await
            .map_err(|it| Error::Evaluator(it.to_string()))
    }

    /// Runs a command to its end, or until its time is over.
    pub(crate) async fn run(&self, line: &str, time: Duration) -> Result<Output, Error> {
        let mut running = self.start_line(line).await?;
        let mut output = Output::default();
        let read = async {
            while let Ok(Some(piece)) = running.next().await {
                let to = match piece.stream {
                    Stream::Out => &mut output.out,
                    Stream::Err => &mut output.err,
                };
                to.extend_from_slice(&piece.bytes);
                let over = to.len().saturating_sub(OUTPUT);
                to.drain(..over);
            }
        };
        output.late = tokio::time::timeout(time, read).await.is_err();
        if output.late {
            running.stop().await;
        }
        let ended = running
            .finish()
            .await
            .map_err(|it| Error::Evaluator(it.to_string()))?;
        output.ended = Some(ended);
        Ok(output)
    }
}

/// What a command wrote, and how it ended.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
    pub(crate) late: bool,
    pub(crate) ended: Option<Ended>,
}

/// The lines that a running command writes.
#[derive(Debug)]
pub(crate) struct Lines {
    running: RunningCommand,
    read: Vec<u8>,
    pub(crate) errors: Vec<u8>,
}

impl Lines {
    pub(crate) fn new(running: RunningCommand) -> Self {
        Self {
            running,
            read: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// The next line; none when the command has closed its output.
    pub(crate) async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.read.iter().position(|it| *it == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Some(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            if self.read.len() > 4 * OUTPUT {
                return None;
            }
            let piece = self.running.next().await.ok()??;
            match piece.stream {
                Stream::Out => self.read.extend_from_slice(&piece.bytes),
                Stream::Err => {
                    self.errors.extend_from_slice(&piece.bytes);
                    let over = self.errors.len().saturating_sub(8 << 10);
                    self.errors.drain(..over);
                }
            }
        }
    }

    /// Ends the command and waits for the end of all that it started.
    pub(crate) async fn end(mut self) {
        self.running.stop().await;
        let _ = self.running.finish().await;
    }
}

/// A word for the shell that stands for itself.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
