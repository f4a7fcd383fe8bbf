//! How the engine fails.

use std::io;
use std::path::PathBuf;

/// A failure of a run, or a refusal of what it was given. A candidate that fails is no error: it is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The markers of a file do not match.
    #[error("read the blocks of {path}: line {line}: {fault}")]
    Markers {
        path: String,
        line: usize,
        fault: &'static str,
    },
    /// A folder or a component that cannot be run as it is.
    #[error("read {path}: {problem}")]
    Folder { path: PathBuf, problem: String },
    /// The program at the beginning gets no valid score, so that nothing can be compared with it.
    #[error("evaluate the initial program: {0}")]
    Initial(String),
    /// The evaluator could not be run at all: a fault of the machine or the sandbox, not of a candidate.
    #[error("run the evaluator: {0}")]
    Evaluator(String),
    /// The record of a run does not fit to itself.
    #[error("read the record of the run in {path}: line {line}: {problem}")]
    Record {
        path: PathBuf,
        line: usize,
        problem: String,
    },
    /// Another process works on this run.
    #[error("take the run in {0}: another process works on it; wait for its end, or stop it")]
    Busy(PathBuf),
    /// A proposal cannot take this step.
    #[error("{0}")]
    Refused(String),
    #[error("{doing} {path}: {source}")]
    File {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn file(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            doing,
            path,
            source,
        }
    }
}
