//! What can go wrong with a call, and how each binding says so.
//!
//! This is the only place that knows codes. A binding asks for [`Error::code`] and
//! [`Error::details`] and prints them in its own form.

use access::budget::Exceeded;
use access::{Limit, Outcome, Refusal, TooManyCalls};
use serde_json::{Map, Value, json};

use crate::sabotage::broken;
use crate::types::TaskState;
use crate::types::wire::DecodeError;
pub use crate::types::wire::Violation;

/// The domain that [`ErrorInfo`](crate::types::rpc_error::ErrorInfo) names: the namespace of the reasons.
pub const DOMAIN: &str = "a2a-protocol.org";

/// Why a call failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such task, or it is not the caller's: the two look the same from outside.
    #[error("task {0:?} not found")]
    TaskNotFound(String),
    /// The task has ended already.
    #[error("task {task:?} cannot be canceled: it is {}", state.name().unwrap_or("over"))]
    TaskNotCancelable { task: String, state: TaskState },
    /// The card does not offer push notifications.
    #[error("push notifications are not supported")]
    PushNotificationNotSupported,
    /// The operation does not exist here, or not in this situation.
    #[error("unsupported operation: {0}")]
    UnsupportedOperation(String),
    /// The agent does not understand what a part of the message holds.
    #[error("content type {0:?} is not supported")]
    ContentTypeNotSupported(String),
    /// The request itself is written in a form that is not understood.
    #[error("requests of type {0:?} are not supported")]
    MediaTypeNotSupported(String),
    /// The agent's answer is not valid in the protocol.
    #[error("invalid answer of the agent: {0}")]
    InvalidAgentResponse(String),
    /// The card declares an extended card, and none is configured.
    #[error("no extended agent card is configured")]
    ExtendedAgentCardNotConfigured,
    /// The card requires an extension that the caller did not declare.
    #[error("the extension {0} is required: declare it in A2A-Extensions")]
    ExtensionSupportRequired(String),
    /// A version of the protocol that is not spoken here. Without the parameter it is 0.3.
    #[error("protocol version {0:?} is not supported: set A2A-Version to 1.0")]
    VersionNotSupported(String),
    /// The task has moved on since the generation the caller had seen.
    #[error("task {task:?} is at generation {found}, not {expected}")]
    TaskGenerationMismatch {
        task: String,
        /// What the caller expected.
        expected: i64,
        /// Where the task is.
        found: i64,
    },
    /// It is not known who calls.
    #[error("not authenticated: {0}")]
    Unauthenticated(Refusal),
    /// It is known who calls, and they may not.
    #[error("not authorized: {0}")]
    Unauthorized(Refusal),
    /// The body is not well-formed JSON.
    #[error("parse error: {0}")]
    Parse(String),
    /// JSON, but not a request.
    #[error("invalid request: {0}")]
    InvalidRequest(String),
    /// No operation of this name, or at this address.
    #[error("method not found: {0}")]
    MethodNotFound(String),
    /// The operation is at this address, but not for this verb.
    #[error("{verb} is not allowed here: use {allowed}")]
    VerbNotAllowed { verb: String, allowed: String },
    /// The request is not one the operation understands.
    #[error("invalid params: {message}")]
    InvalidParams {
        /// All of it in one sentence.
        message: String,
        /// Field by field, where a field is to blame.
        violations: Vec<Violation>,
    },
    /// The request is larger than the limit.
    #[error("the request is larger than {limit} bytes")]
    TooLarge {
        /// The largest body that is taken, in bytes.
        limit: usize,
    },
    /// The request holds so many values that they would take too much memory.
    #[error("the request is too large: {0}")]
    TooManyValues(String),
    /// The request did not arrive in time.
    #[error("the request took too long to arrive")]
    TooSlow,
    /// The caller makes more calls than it may.
    #[error("{0}")]
    RateLimited(TooManyCalls),
    /// The task used up what its caller, its agent or a call may use.
    #[error("{0}")]
    BudgetExceeded(Exceeded),
    /// The server is stopping, or has too much to do.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// A fault of ours.
    #[error("internal error: {0}")]
    Internal(String),
}

/// One row of the error table: the same situation in every binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The code of a JSON-RPC error.
    pub json_rpc: i32,
    /// The number of a gRPC status.
    pub grpc: i32,
    /// The name of that status, as REST prints it.
    pub status: &'static str,
    /// The status of an HTTP response.
    pub http: u16,
    /// The word that clients decide by.
    pub reason: &'static str,
}

macro_rules! codes {
    ($($error:pat => $json_rpc:literal, $grpc:literal $status:ident, $http:literal, $reason:ident;)*) => {
        impl Error {
            /// What each binding calls it.
            pub fn code(&self) -> Code {
                if broken("r12_errors") {
                    return Self::Internal(String::new()).row();
                }
                self.row()
            }

            fn row(&self) -> Code {
                use Error::*;
                match self {
                    $($error => codes!(@row $json_rpc, $grpc $status, $http, $reason),)*
                }
            }
        }

        impl Code {
            /// The whole table. Where a number or a word stands for several rows, the first is the usual one.
            pub const ALL: &[Self] = &[$(codes!(@row $json_rpc, $grpc $status, $http, $reason)),*];
        }
    };
    (@row $json_rpc:literal, $grpc:literal $status:ident, $http:literal, $reason:ident) => {
        Code {
            json_rpc: $json_rpc,
            grpc: $grpc,
            status: stringify!($status),
            http: $http,
            reason: stringify!($reason),
        }
    };
}

codes! {
    InvalidParams { .. }                  => -32602, 3 INVALID_ARGUMENT, 400, INVALID_PARAMS;
    Internal(_)                           => -32603, 13 INTERNAL, 500, INTERNAL_ERROR;
    TaskNotFound(_)                       => -32001, 5 NOT_FOUND, 404, TASK_NOT_FOUND;
    UnsupportedOperation(_)               => -32004, 9 FAILED_PRECONDITION, 400, UNSUPPORTED_OPERATION;
    TaskNotCancelable { .. }              => -32002, 9 FAILED_PRECONDITION, 400, TASK_NOT_CANCELABLE;
    PushNotificationNotSupported          => -32003, 9 FAILED_PRECONDITION, 400, PUSH_NOTIFICATION_NOT_SUPPORTED;
    ContentTypeNotSupported(_)            => -32005, 3 INVALID_ARGUMENT, 400, CONTENT_TYPE_NOT_SUPPORTED;
    MediaTypeNotSupported(_)              => -32005, 3 INVALID_ARGUMENT, 415, CONTENT_TYPE_NOT_SUPPORTED;
    InvalidAgentResponse(_)               => -32006, 13 INTERNAL, 500, INVALID_AGENT_RESPONSE;
    ExtendedAgentCardNotConfigured        => -32007, 9 FAILED_PRECONDITION, 400, EXTENDED_AGENT_CARD_NOT_CONFIGURED;
    ExtensionSupportRequired(_)           => -32008, 9 FAILED_PRECONDITION, 400, EXTENSION_SUPPORT_REQUIRED;
    VersionNotSupported(_)                => -32009, 9 FAILED_PRECONDITION, 400, VERSION_NOT_SUPPORTED;
    TaskGenerationMismatch { .. }         => -32010, 10 ABORTED, 409, TASK_GENERATION_MISMATCH;
    Unauthenticated(_)                    => -31401, 16 UNAUTHENTICATED, 401, UNAUTHENTICATED;
    Unauthorized(_)                       => -31403, 7 PERMISSION_DENIED, 403, UNAUTHORIZED;
    Parse(_)                              => -32700, 3 INVALID_ARGUMENT, 400, PARSE_ERROR;
    InvalidRequest(_)                     => -32600, 3 INVALID_ARGUMENT, 400, INVALID_REQUEST;
    MethodNotFound(_)                     => -32601, 12 UNIMPLEMENTED, 404, METHOD_NOT_FOUND;
    VerbNotAllowed { .. }                 => -32601, 12 UNIMPLEMENTED, 405, METHOD_NOT_FOUND;
    TooLarge { .. }                       => -32600, 8 RESOURCE_EXHAUSTED, 413, INVALID_REQUEST;
    TooManyValues(_)                      => -32600, 8 RESOURCE_EXHAUSTED, 413, INVALID_REQUEST;
    TooSlow                               => -32600, 4 DEADLINE_EXCEEDED, 408, INVALID_REQUEST;
    RateLimited(_)                        => -31429, 8 RESOURCE_EXHAUSTED, 429, RATE_LIMITED;
    BudgetExceeded(_)                     => -31429, 8 RESOURCE_EXHAUSTED, 429, BUDGET_EXCEEDED;
    Unavailable(_)                        => -32603, 14 UNAVAILABLE, 503, UNAVAILABLE;
}

impl Error {
    /// A request that breaks a rule no single field is to blame for.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::InvalidParams {
            message: message.into(),
            violations: Vec::new(),
        }
    }

    /// A request with one field that will not do.
    pub fn invalid_field(field: &str, description: impl Into<String>) -> Self {
        Self::violated(vec![Violation {
            field: field.to_owned(),
            description: description.into(),
        }])
    }

    /// A request with fields that will not do; there is at least one.
    pub fn violated(violations: Vec<Violation>) -> Self {
        let said = violations
            .iter()
            .map(|Violation { field, description }| format!("{field}: {description}"));
        Self::InvalidParams {
            message: said.collect::<Vec<_>>().join("; "),
            violations,
        }
    }

    /// What the reason is about, as names and values.
    pub fn metadata(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::TaskNotFound(task) => vec![("taskId", task.clone())],
            Self::TaskNotCancelable { task, state } => {
                vec![
                    ("taskId", task.clone()),
                    ("state", state.name().unwrap_or_default().to_owned()),
                ]
            }
            Self::ExtensionSupportRequired(uri) => vec![("extension", uri.clone())],
            Self::RateLimited(limit) => vec![("retryAfterSeconds", limit.seconds().to_string())],
            Self::BudgetExceeded(exceeded) => {
                let mut metadata = vec![("budget", exceeded.setting())];
                let seconds = exceeded.seconds();
                metadata.extend(seconds.map(|it| ("retryAfterSeconds", it.to_string())));
                metadata
            }
            Self::VersionNotSupported(version) => vec![("version", version.clone())],
            Self::TaskGenerationMismatch { task, found, .. } => {
                vec![("taskId", task.clone()), ("generation", found.to_string())]
            }
            Self::Unauthorized(refusal) => match refusal.missing_permission() {
                Some(permission) => vec![("permission", permission.name().to_owned())],
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// What a caller could show to be let in: the values of `WWW-Authenticate`.
    pub fn challenges(&self) -> &[String] {
        match self {
            Self::Unauthenticated(refusal) | Self::Unauthorized(refusal) => refusal.challenges(),
            _ => &[],
        }
    }

    /// How the record of calls has it.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::BudgetExceeded(_) => Outcome::Limited,
            error => Outcome::of_status(error.row().http),
        }
    }

    /// Field by field, where fields are to blame.
    pub fn violations(&self) -> &[Violation] {
        match self {
            Self::InvalidParams { violations, .. } => violations,
            _ => &[],
        }
    }

    /// The typed details, as the JSON bindings print them: an array of `@type` objects.
    pub fn details(&self) -> Value {
        let metadata = self.metadata().into_iter();
        let metadata: Map<String, Value> = metadata
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        // Clients look at the first detail only.
        let mut details = vec![json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": self.code().reason,
            "domain": DOMAIN,
            "metadata": metadata,
        })];
        if !self.violations().is_empty() {
            let violations = self.violations().iter();
            let violations = violations.map(|Violation { field, description }| {
                json!({ "field": field, "description": description })
            });
            let violations: Vec<Value> = violations.collect();
            details.push(json!({
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": violations,
            }));
        }
        details.into()
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        if error.path.is_empty() {
            Self::invalid(error.reason)
        } else {
            Self::invalid_field(&error.path, error.reason)
        }
    }
}

impl From<Limit> for Error {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Calls(limit) => Self::RateLimited(limit),
            Limit::Budget(exceeded) => Self::BudgetExceeded(exceeded),
        }
    }
}

impl From<Exceeded> for Error {
    fn from(exceeded: Exceeded) -> Self {
        Self::BudgetExceeded(exceeded)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        if refusal.is_forbidden() {
            Self::Unauthorized(refusal)
        } else {
            Self::Unauthenticated(refusal)
        }
    }
}

#[cfg(feature = "server")]
impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Closed => Self::Unavailable("the server is stopping".to_owned()),
            store::Error::Away { .. } | store::Error::Fenced => {
                tracing::error!(%error, "the journal failed");
                Self::Unavailable("the journal cannot be reached; try again".to_owned())
            }
            store::Error::Nul { .. } => Self::invalid(format!("could not {error}")),
            store::Error::Full => {
                tracing::error!(%error, "the journal failed");
                Self::Unavailable("the server has no space left to record requests".to_owned())
            }
            // A broken file: the operator is told by the log, the caller that it is our fault.
            error => {
                tracing::error!(%error, "the journal failed");
                Self::Internal("the journal failed".to_owned())
            }
        }
    }
}
