//! What can go wrong with a call, and how ACP says so.

use http::StatusCode;
use serde_json::{Value, json};

use crate::types::{Code, Problem};

/// Why a call failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing of this kind and name, or it is not the caller's: the two look the same from outside.
    #[error("{kind} {name:?} not found")]
    NotFound {
        /// An agent, a run, a session, a resource.
        kind: &'static str,
        /// Which one.
        name: String,
    },
    /// The run is in no state for it.
    #[error("{0}")]
    Forbidden(String),
    /// The request is not one that the operation understands.
    #[error("{field}: {problem}")]
    Invalid {
        /// The field that is to blame.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The request contradicts itself, or is not written as one.
    #[error("{0}")]
    Malformed(String),
    /// What is asked for is more than one answer can hold.
    #[error("{0}")]
    TooMuch(String),
    /// What the task server says.
    #[error(transparent)]
    Agent(#[from] a2a::Error),
}

impl Error {
    /// This is wrong with this field.
    pub fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// There is no such thing. What a peer wrote is not repeated at any length.
    pub(crate) fn missing(kind: &'static str, name: &str) -> Self {
        let name = name.chars().take(crate::limits::MAX_ID).collect();
        Self::NotFound { kind, name }
    }

    /// The status of the response.
    pub fn status(&self) -> StatusCode {
        use a2a::Error as Said;
        match self {
            Self::NotFound { .. } => StatusCode::NOT_FOUND,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::TooMuch(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Agent(error) => match error {
                Said::InvalidParams { .. } | Said::ContentTypeNotSupported(_) => {
                    StatusCode::UNPROCESSABLE_ENTITY
                }
                // What cannot be done to a run in its state.
                Said::TaskNotCancelable { .. }
                | Said::TaskGenerationMismatch { .. }
                | Said::UnsupportedOperation(_) => StatusCode::FORBIDDEN,
                error => {
                    let status = StatusCode::from_u16(error.code().http);
                    status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
                }
            },
        }
    }

    /// As replies and events have it.
    pub fn problem(&self) -> Problem {
        Problem {
            data: self.data(),
            ..Problem::of(self.status(), &self.to_string())
        }
    }

    /// The same in words of ACP, where the task server blames the parts of a message: the one at `place` was read.
    pub(crate) fn about(self, place: &str) -> Self {
        let Self::Agent(a2a::Error::InvalidParams {
            message,
            mut violations,
        }) = self
        else {
            return self;
        };
        for it in &mut violations {
            if let Some(below) = it.field.strip_prefix("message.parts") {
                it.field = format!("{place}.content{below}");
            }
        }
        Self::Agent(a2a::Error::InvalidParams {
            message,
            violations,
        })
    }

    /// Field by field, where fields are to blame.
    fn data(&self) -> Option<Value> {
        let fault = |field: &str, problem: &str| json!({ "field": field, "problem": problem });
        let faults: Vec<Value> = match self {
            Self::Invalid { field, problem } => vec![fault(field, problem)],
            Self::Agent(a2a::Error::InvalidParams { violations, .. }) => violations
                .iter()
                .map(|it| fault(&it.field, &it.description))
                .collect(),
            _ => Vec::new(),
        };
        (!faults.is_empty()).then(|| json!({ "faults": faults }))
    }
}

impl Problem {
    /// What a status says in words of ACP.
    pub(crate) fn of(status: StatusCode, message: &str) -> Self {
        let code = match status {
            StatusCode::NOT_FOUND => Code::NotFound,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Code::ServerError,
            status if status.is_client_error() => Code::InvalidInput,
            _ => Code::ServerError,
        };
        Self {
            code,
            message: message.to_owned(),
            data: None,
        }
    }
}
