//! Errors of PostgreSQL, sorted by what the engine does about them.

use std::fmt::Write as _;
use std::sync::Arc;

use tokio_postgres::error::SqlState;

use crate::Error;

/// The reason why a statement, or the transaction that it is part of, was not carried out.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection is gone, or an answer is overdue. Whether a transaction was kept is not known.
    Lost(String),
    /// A deadlock, a conflict between transactions or a wait for a lock that took too long. Nothing was kept; the same
    /// statements may succeed now.
    Again(String),
    /// A condition of the statements did not hold: a fence, a stream that has moved, a key that is taken. Nothing was kept.
    Refused,
    /// An earlier statement of the transaction has failed.
    Aborted,
    /// Anything else. Nothing was kept.
    Failed(Error),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(code) = error.code() else {
            let io = std::error::Error::source(&error)
                .is_some_and(|source| source.is::<std::io::Error>());
            return match error.is_closed() || io {
                true => Self::Lost(told(&error)),
                false => Self::Failed(engine(error)),
            };
        };
        let lost = [
            &SqlState::ADMIN_SHUTDOWN,
            &SqlState::CRASH_SHUTDOWN,
            &SqlState::CANNOT_CONNECT_NOW,
            &SqlState::TOO_MANY_CONNECTIONS,
            &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
            // A server that has become a standby: another of the hosts takes writes now.
            &SqlState::READ_ONLY_SQL_TRANSACTION,
        ];
        let again = [
            &SqlState::T_R_SERIALIZATION_FAILURE,
            &SqlState::T_R_DEADLOCK_DETECTED,
            &SqlState::LOCK_NOT_AVAILABLE,
            &SqlState::QUERY_CANCELED,
        ];
        // `SELECT 1 / count(*)` is how a statement asks for a condition.
        let refused = [&SqlState::DIVISION_BY_ZERO, &SqlState::UNIQUE_VIOLATION];
        match code {
            code if lost.contains(&code) || code.code().starts_with("08") => {
                Self::Lost(told(&error))
            }
            code if again.contains(&code) => Self::Again(told(&error)),
            code if refused.contains(&code) => Self::Refused,
            code if *code == SqlState::IN_FAILED_SQL_TRANSACTION => Self::Aborted,
            code if *code == SqlState::DISK_FULL => Self::Failed(Error::Full),
            _ => Self::Failed(engine(error)),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Failure {
    /// The store's error, for a caller that cannot try again.
    pub(super) fn into_error(self, address: &str) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::Lost(problem) | Self::Again(problem) => Error::Away {
                address: address.to_owned(),
                problem,
            },
            Self::Refused | Self::Aborted => Error::Away {
                address: address.to_owned(),
                problem: "a transaction was refused without a reason that is known".to_owned(),
            },
        }
    }
}

/// An error of the driver as the store's.
pub(super) fn engine(error: tokio_postgres::Error) -> Error {
    Error::Engine {
        source: Arc::new(Told {
            text: told(&error),
            source: error,
        }),
    }
}

/// An error with its causes in one line: the driver's own text is only "db error".
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Told {
    text: String,
    source: tokio_postgres::Error,
}

/// The server's message, or the driver's with its causes.
pub(super) fn told(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        let mut text = format!("{} ({})", said.message(), said.code().code());
        if let Some(detail) = said.detail() {
            let _ = write!(text, ": {detail}");
        }
        return text;
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        let _ = write!(text, ": {source}");
        cause = source.source();
    }
    text
}
