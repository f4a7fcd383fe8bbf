//! Errors of operations, and their form in ACP.

use http::StatusCode;
use serde_json::{Value, json};

use crate::types::{Code, Problem};

/// Why an operation failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It does not exist, or belongs to another caller. The two look the same, so that ids cannot be probed.
    #[error("{kind} {name:?} not found")]
    NotFound {
        /// `agent`, `run`, `session` or `resource`.
        kind: &'static str,
        name: String,
    },
    /// The state of the run does not allow the operation.
    #[error("{0}")]
    Forbidden(String),
    /// A field of the request is not valid.
    #[error("{field}: {problem}")]
    Invalid {
        /// The path of the field.
        field: String,
        problem: String,
    },
    /// The request is not JSON, or contradicts itself.
    #[error("{0}")]
    Malformed(String),
    /// The reply would exceed a limit.
    #[error("{0}")]
    TooMuch(String),
    /// An error of the task server.
    #[error(transparent)]
    Agent(#[from] a2a::Error),
}

impl Error {
    pub fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// A [`NotFound`](Self::NotFound) error. The name comes from the caller, so it is cut at [`MAX_ID`](crate::limits::MAX_ID)
    /// characters.
    pub(crate) fn missing(kind: &'static str, name: &str) -> Self {
        let name = name.chars().take(crate::limits::MAX_ID).collect();
        Self::NotFound { kind, name }
    }

    /// The HTTP status of the response.
    pub fn status(&self) -> StatusCode {
        use a2a::Error as TaskError;
        match self {
            Self::NotFound { .. } => StatusCode::NOT_FOUND,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::TooMuch(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Agent(error) => match error {
                TaskError::InvalidParams { .. } | TaskError::ContentTypeNotSupported(_) => {
                    StatusCode::UNPROCESSABLE_ENTITY
                }
                // The state of the run does not allow the operation.
                TaskError::TaskNotCancelable { .. }
                | TaskError::TaskGenerationMismatch { .. }
                | TaskError::UnsupportedOperation(_) => StatusCode::FORBIDDEN,
                error => {
                    let status = StatusCode::from_u16(error.code().http);
                    status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
                }
            },
        }
    }

    /// The error object of replies and events.
    pub fn problem(&self) -> Problem {
        Problem {
            data: self.data(),
            ..Problem::of(self.status(), &self.to_string())
        }
    }

    /// The same error with the field names of the ACP request. The task server names `message.parts`; the part that it read
    /// is at `place` in the request.
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

    /// The `data` of the error object: the faulty fields, if the error names any, or the missing permission.
    fn data(&self) -> Option<Value> {
        let fault = |field: &str, problem: &str| json!({ "field": field, "problem": problem });
        if let Self::Agent(error @ a2a::Error::Unauthorized(_)) = self {
            let metadata = error.metadata().into_iter();
            let permission = metadata.map(|(name, value)| (name.to_owned(), value.into()));
            let permission: serde_json::Map<String, Value> = permission.collect();
            return (!permission.is_empty()).then(|| permission.into());
        }
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
    /// The error object for an HTTP status.
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
