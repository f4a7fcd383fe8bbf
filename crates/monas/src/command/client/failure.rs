//! Errors of the commands that ask a server: message, hint, exit code.

use std::fmt;
use std::path::{Path, PathBuf};

use a2a::client::Error;
use a2a::types::TaskState;
use serde_json::{Value, json};

use super::print;
use crate::command::request;
use crate::config;
use crate::signals::Signal;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Call(#[from] Error),
    /// A request that is not of A2A.
    #[error(transparent)]
    Request(#[from] request::Failure),
    /// What a command does in this process, such as reading the data without a server.
    #[error("could not {0}")]
    Local(crate::Error),
    /// The server has no agent of this id.
    #[error("there is no agent {agent:?} at {server}")]
    NoAgent { agent: String, server: String },
    /// A file cannot be read or written.
    #[error("{}: {why}", path.display())]
    File { path: PathBuf, why: String },
    /// The arguments are wrong.
    #[error("{0}")]
    Usage(String),
    /// The task did not end in time.
    #[error("task {0} has not ended in time; it is still running")]
    Waiting(String),
    /// With `--fail`: the task came to another end than the user hoped for, or waits.
    #[error("task {id} is {}", print::word(*state))]
    Unfinished { id: String, state: TaskState },
    /// The user interrupted it.
    #[error("interrupted")]
    Signal(Signal),
}

impl From<config::Error> for Failure {
    /// The faults of the settings for outbound connections.
    fn from(error: config::Error) -> Self {
        match error {
            config::Error::Read { path, source } => Self::file(&path, &source),
            config::Error::CaCert { path, problem } => Self::file(&path, &problem),
            error => Self::Usage(error.to_string()),
        }
    }
}

impl From<crate::Error> for Failure {
    fn from(error: crate::Error) -> Self {
        match error {
            crate::Error::Operator(failure) => Self::Request(failure),
            error => Self::Local(error),
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

    /// The exit code of the process. `docs/command-line.md` has the table.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Call(Error::Unreachable { .. } | Error::Lost(_)) => 3,
            Self::Call(Error::Unauthorized { .. }) => 4,
            Self::Call(Error::Late(_)) | Self::Waiting(_) => 5,
            Self::Unfinished { .. } => 6,
            Self::Usage(_) | Self::Call(Error::Settings(_)) => 2,
            Self::Request(failure) => failure.exit_code(),
            Self::Local(error) => error.exit_code(),
            Self::Signal(signal) => signal.exit_code(),
            _ => 1,
        }
    }

    /// A code for programs, in the JSON output.
    fn code(&self) -> &str {
        use request::Failure as Request;
        match self {
            Self::Call(Error::Refused(refusal)) => &refusal.reason,
            Self::Call(Error::Unreachable { .. })
            | Self::Request(Request::Unreachable { .. })
            | Self::Local(crate::Error::NoData { .. }) => "UNREACHABLE",
            Self::Call(Error::Lost(_)) => "CONNECTION_LOST",
            Self::Call(Error::Unauthorized { .. })
            | Self::Request(Request::Unauthorized { .. }) => "UNAUTHORIZED",
            Self::Call(Error::Late(_)) | Self::Waiting(_) | Self::Request(Request::Late { .. }) => {
                "TIMEOUT"
            }
            Self::Call(Error::Card(_)) => "INVALID_CARD",
            Self::Usage(_) | Self::Call(Error::Settings(_)) | Self::Request(Request::Flag(_)) => {
                "USAGE"
            }
            Self::Request(Request::Refused { .. }) => "REFUSED",
            Self::Call(_) => "INVALID_REPLY",
            Self::Local(_) => "FAILED",
            Self::NoAgent { .. } => "AGENT_NOT_FOUND",
            Self::File { .. } => "FILE",
            Self::Unfinished { .. } => "TASK_UNFINISHED",
            Self::Signal(_) => "INTERRUPTED",
        }
    }

    /// What the user can try.
    pub(in crate::command) fn hint(&self) -> Option<String> {
        use request::Failure as Request;
        let hint = match self {
            Self::Call(Error::Unreachable { why, .. })
            | Self::Request(Request::Unreachable { problem: why, .. }) => {
                of_connection(why).unwrap_or(NOT_RUNNING)
            }
            Self::Call(Error::Lost(why)) => of_connection(why)?,
            Self::Local(crate::Error::NoData { .. }) => NOT_RUNNING,
            Self::NoAgent { .. } => "`monas agents` lists the agents of a server",
            Self::Call(Error::Unauthorized { .. })
            | Self::Request(Request::Unauthorized { .. }) => {
                "the server that runs on your data needs no flags; for another, set credentials with --bearer (`monas token` makes a token \
                 where the server's data is), --basic, --api-key or --client-cert; `monas card get` shows the schemes of the agent"
            }
            Self::Call(Error::Late(_)) => "wait longer with --timeout, or do not wait with --async",
            Self::Request(Request::Late { .. }) => "wait longer with --timeout",
            Self::Waiting(task) => {
                return Some(format!(
                    "`monas task subscribe {task}` follows it, `monas task get {task}` shows how it stands"
                ));
            }
            Self::Unfinished { id, state } if state.is_interrupted() => {
                return Some(format!("answer with: monas send --task-id {id} ANSWER"));
            }
            Self::Unfinished { id, .. } => {
                return Some(format!("`monas why {id}` says why"));
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
                match error.to_string().contains("task") {
                    true => {
                        "the task has ended; send a message without --task-id to begin another one"
                    }
                    false => "`monas card get` shows what the agent can do",
                }
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

const NOT_RUNNING: &str = "is the server running? `monas` starts one at http://127.0.0.1:8080; --server URL (or MONAS_SERVER) names another, \
     and -a URL an agent of any make";

/// What the text of a failed connection tells about TLS. The words are those of rustls and hyper.
fn of_connection(why: &str) -> Option<&'static str> {
    let known = [
        (
            "CaUsedAsEndEntity",
            "the server's certificate is that of a certificate authority (CA:TRUE), which no client accepts for a server: make one \
             with basicConstraints=CA:FALSE (openssl req -x509 ... -addext basicConstraints=critical,CA:FALSE)",
        ),
        (
            "UnknownIssuer",
            "the certificate is signed by an authority that is not trusted here: --ca-cert FILE names it",
        ),
        (
            "NotValidForName",
            "the certificate is for another name: ask the server by a name in its certificate",
        ),
        (
            "Expired",
            "the certificate has expired: the server needs a new one",
        ),
        (
            "invalid HTTP version",
            "the port does not answer in HTTP; if it speaks TLS, write https:// instead of http://",
        ),
        (
            "InvalidContentType",
            "the port does not answer in TLS; if it speaks plain HTTP, write http:// instead of https://",
        ),
    ];
    let found = known.into_iter().find(|(word, _)| why.contains(word));
    found.map(|(_, hint)| hint)
}
