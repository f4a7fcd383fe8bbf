//! The errors of the project's commands.

use std::io;
use std::process::ExitStatus;

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Why a command ended without doing its job. The text finishes "could not …" for its reader.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line has a word we do not know, or misses one.
    #[error("{0}; see `cargo xtask help`")]
    Usage(String),

    /// A file or a process could not be reached.
    #[error("{doing}: {source}")]
    Io {
        doing: String,
        #[source]
        source: io::Error,
    },

    /// A program we started did not end well.
    #[error("`{command}` ended with {status}")]
    Command { command: String, status: ExitStatus },

    /// A program printed nothing for too long; what it had started was killed.
    #[error("`{command}` printed nothing for ten minutes, and its programs were killed")]
    Stalled { command: String },

    /// A tool is neither there nor can we install it.
    #[error("{tool} is missing and could not be installed ({why}); install it with: {install}")]
    Missing {
        tool: &'static str,
        why: String,
        install: &'static str,
    },

    /// A check ran and found what it looks for, one finding in each line.
    #[error("{0}")]
    Found(String),

    /// A program answered something we cannot make sense of.
    #[error("unexpected answer: {0}")]
    Answer(String),

    /// The failure has been shown to the user already; only the exit code is left to set.
    #[error("failed")]
    Reported,
}

/// Says what was being done when an input or output operation failed.
pub(crate) trait Doing<T> {
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::Io {
            doing: doing(),
            source,
        })
    }
}
