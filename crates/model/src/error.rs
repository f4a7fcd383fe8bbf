//! Why a model or an embedder gave no answer, or only a part of one.

use std::time::Duration;

use crate::layer::Spent;

/// Why there is no answer. Each completes "could not get an answer: ...".
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The key is missing, wrong, or not good for this model. Nothing but another key helps.
    #[error("not authorised: {0}")]
    Auth(String),
    /// Too much was asked for in too short a time.
    #[error("asked too often: {message}")]
    RateLimited {
        /// When to ask again, if that was said.
        retry_after: Option<Duration>,
        /// What was said.
        message: String,
    },
    /// The request will not be served as it is: the model is unknown, or it was given too much.
    #[error("refused: {0}")]
    Refused(String),
    /// Something is wrong at the other end.
    #[error("it failed over there: {0}")]
    Server(String),
    /// Nobody answers there.
    #[error("nobody answers: {0}")]
    Unreachable(String),
    /// What came is no answer: not of the protocol, or not of the schema that was asked for.
    #[error("not an answer: {0}")]
    Malformed(String),
    /// The answer broke off.
    #[error("the answer broke off: {0}")]
    Cut(String),
    /// There are no tokens, or there is no money, left to go on.
    #[error("the budget is spent: {0}")]
    Budget(Spent),
    /// It took too long.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// This model cannot do that at all.
    #[error("not possible with this model: {0}")]
    Unsupported(String),
}

impl Error {
    /// Whether the same question could be answered if it were asked again a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Server(_)
            | Self::Unreachable(_)
            | Self::Cut(_)
            | Self::TimedOut(_) => true,
            Self::Auth(_)
            | Self::Refused(_)
            | Self::Malformed(_)
            | Self::Budget(_)
            | Self::Unsupported(_) => false,
        }
    }

    /// A word that programs decide by.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Auth(_) => "auth",
            Self::RateLimited { .. } => "rate-limited",
            Self::Refused(_) => "refused",
            Self::Server(_) => "server",
            Self::Unreachable(_) => "unreachable",
            Self::Malformed(_) => "malformed",
            Self::Cut(_) => "cut",
            Self::Budget(_) => "budget",
            Self::TimedOut(_) => "timed-out",
            Self::Unsupported(_) => "unsupported",
        }
    }
}
