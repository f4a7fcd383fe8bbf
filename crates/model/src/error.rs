//! Why a model or an embedder gave no reply, or only a part of one.

use std::time::Duration;

use crate::layer::Spent;

/// Why there is no reply. Each completes "could not get an answer: ...".
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The API key is missing, wrong, or not valid for this model. Only another key helps.
    #[error("API key missing or rejected: {0}")]
    Auth(String),
    /// The provider limits the rate of requests or tokens.
    #[error("rate limited: {message}")]
    RateLimited {
        /// How long to wait, if the provider said so.
        retry_after: Option<Duration>,
        message: String,
    },
    /// The account at the provider has nothing left to spend. Asking again does not help.
    #[error("the account at the provider has no quota left: {0}")]
    Quota(String),
    /// The provider refuses this request: the model is unknown, or the input is too large.
    #[error("request refused: {0}")]
    Refused(String),
    /// The provider failed (a status of 500 and above, or an error inside a reply).
    #[error("the provider failed: {0}")]
    Server(String),
    /// There is no connection. Nothing was sent.
    #[error("provider unreachable: {0}")]
    Unreachable(String),
    /// The reply does not follow the protocol of the provider, or the schema of the request.
    #[error("malformed reply: {0}")]
    Malformed(String),
    /// The reply ended before its end.
    #[error("the reply was cut off: {0}")]
    Cut(String),
    /// The tokens or the money of the budget are spent.
    #[error("the budget is spent: {0}")]
    Budget(Spent),
    /// There was no reply, or no next piece of it, within this time.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// This model has no such ability.
    #[error("not supported by this model: {0}")]
    Unsupported(String),
}

#[cfg(feature = "providers")]
impl From<dial::Error> for Error {
    fn from(error: dial::Error) -> Self {
        let text = crate::limits::quote(&error.to_string());
        match error {
            dial::Error::Interrupted(_) => Self::Cut(text),
            dial::Error::TooLarge(_) => Self::Malformed(text),
            error if error.is_unsent() => Self::Unreachable(text),
            _ => Self::Refused(text),
        }
    }
}

impl Error {
    /// Whether the same request may succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Server(_)
            | Self::Unreachable(_)
            | Self::Cut(_)
            | Self::TimedOut(_) => true,
            Self::Auth(_)
            | Self::Quota(_)
            | Self::Refused(_)
            | Self::Malformed(_)
            | Self::Budget(_)
            | Self::Unsupported(_) => false,
        }
    }

    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Auth(_) => "auth",
            Self::RateLimited { .. } => "rate-limited",
            Self::Quota(_) => "quota",
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
