//! Errors of the commands that call an agent: message, hint, exit code.

use std::fmt;
use std::path::{Path, PathBuf};

use a2a::client::Error;
use serde_json::{Value, json};

use crate::config;
use crate::signals::Signal;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(in crate::command) enum Failure {
    #[error(transparent)]
    Call(#[from] Error),
    /// A file cannot be read or written.
    #[error("{}: {why}", path.display())]
    File { path: PathBuf, why: String },
    /// The arguments are wrong.
    #[error("{0}")]
    Usage(String),
    /// The task did not end in time.
    #[error("task {0} has not ended in time; it is still running")]
    Waiting(String),
    /// The user interrupted it.
    #[error("interrupted")]
    Signal(Signal),
}

impl From<config::Error> for Failure {
    /// What is wrong with the settings for outbound connections.
    fn from(error: config::Error) -> Self {
        match error {
            config::Error::Read { path, source } => Self::file(&path, &source),
            config::Error::CaCert { path, problem } => Self::file(&path, &problem),
            error => Self::Usage(error.to_string()),
        }
    }
}

impl Failure {
    pub(in crate::command) fn file(path: &Path, why: &impl fmt::Display) -> Self {
        Self::File {
            path: path.to_owned(),
            why: why.to_string(),
        }
    }

    /// The exit code of the process.
    pub(in crate::command) fn exit_code(&self) -> u8 {
        match self {
            Self::Call(Error::Unreachable { .. } | Error::Lost(_)) => 3,
            Self::Call(Error::Unauthorized { .. }) => 4,
            Self::Call(Error::Late(_)) | Self::Waiting(_) => 5,
            Self::Usage(_) | Self::Call(Error::Settings(_)) => 2,
            Self::Signal(signal) => signal.exit_code(),
            _ => 1,
        }
    }

    /// A code for programs, in the JSON output.
    fn code(&self) -> &str {
        match self {
            Self::Call(Error::Refused(refusal)) => &refusal.reason,
            Self::Call(Error::Unreachable { .. }) => "UNREACHABLE",
            Self::Call(Error::Lost(_)) => "CONNECTION_LOST",
            Self::Call(Error::Unauthorized { .. }) => "UNAUTHORIZED",
            Self::Call(Error::Late(_)) | Self::Waiting(_) => "TIMEOUT",
            Self::Call(Error::Card(_)) => "INVALID_CARD",
            Self::Usage(_) | Self::Call(Error::Settings(_)) => "USAGE",
            Self::Call(_) => "INVALID_REPLY",
            Self::File { .. } => "FILE",
            Self::Signal(_) => "INTERRUPTED",
        }
    }

    /// What the user can try.
    pub(in crate::command) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Call(Error::Unreachable { .. }) => {
                "is the agent running? `monas` starts one at http://127.0.0.1:8080; --agent-card sets another address"
            }
            Self::Call(Error::Unauthorized { .. }) => {
                "set credentials with --bearer or --api-key; `monas card get` shows the schemes of the agent"
            }
            Self::Call(Error::Late(_)) => "wait longer with --timeout, or do not wait with --async",
            Self::Waiting(task) => {
                return Some(format!("`monas task get {task}` shows how it stands"));
            }
            Self::Call(Error::Card(why)) if why.contains("wanted") => {
                "leave out --transport and --a2a-version to use what the agent offers"
            }
            Self::Call(Error::Card(why)) if why.contains("sign") => {
                "check --trusted-keys: none of these keys signed the card"
            }
            Self::Call(error) if error.is("TASK_NOT_FOUND") => {
                "`monas task list` shows what there is"
            }
            Self::Call(error) if error.is("UNSUPPORTED_OPERATION") => {
                "`monas card get` shows what the agent can do"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// The error as JSON.
    pub(in crate::command) fn json(&self) -> Value {
        let a2a = match self {
            Self::Call(Error::Refused(refusal)) => Some(refusal.code),
            _ => None,
        };
        let mut error = json!({ "code": self.code(), "message": self.to_string() });
        if let Some(hint) = self.hint() {
            error["hint"] = hint.into();
        }
        if let Some(code) = a2a {
            error["a2aCode"] = code.into();
        }
        json!({ "error": error })
    }
}
