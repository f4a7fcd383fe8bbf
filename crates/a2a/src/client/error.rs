//! The errors of a call, seen from the caller.

use std::time::Duration;

use serde_json::Value;

use crate::error::Code;
use crate::types::wire::Violation;

/// Why a call has no answer, or not the one that was hoped for.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The agent answered with an error.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The agent, or who stands before it, wants to know who calls, or does not let this caller in.
    #[error("not allowed ({status}): {message}")]
    Unauthorized {
        /// The status of HTTP: 401 or 403.
        status: u16,
        message: String,
    },
    /// No connection could be made, so that nothing was sent.
    #[error("{address} cannot be reached: {why}")]
    Unreachable { address: String, why: String },
    /// The connection broke during the call. It is unknown whether the call was performed.
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// There was no reply in time.
    #[error("no reply within {0:?}")]
    Late(Duration),
    /// There was a reply, and it makes no sense.
    #[error("the reply cannot be understood: {0}")]
    Unclear(String),
    /// The card cannot be used: it is malformed, its signature is missing or wrong, or it lists no binding and version of ours.
    #[error("the agent's card cannot be used: {0}")]
    Card(String),
    /// The settings make no sense.
    #[error("{0}")]
    Settings(String),
}

/// What an agent said when it refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message} [{reason}]")]
#[non_exhaustive]
pub struct Refusal {
    /// The code, as JSON-RPC numbers it.
    pub code: i32,
    /// The word that programs decide by: `TASK_NOT_FOUND`.
    pub reason: String,
    pub message: String,
    /// The typed details, each an object with its `@type`.
    pub details: Vec<Value>,
}

impl Error {
    pub(crate) fn unclear(why: impl Into<String>) -> Self {
        Self::Unclear(why.into())
    }

    pub(crate) fn lost(why: impl std::fmt::Display) -> Self {
        Self::Lost(why.to_string())
    }

    pub(crate) fn unreachable(
        address: impl std::fmt::Display,
        why: impl std::fmt::Display,
    ) -> Self {
        Self::Unreachable {
            address: address.to_string(),
            why: why.to_string(),
        }
    }

    /// What the agent said, if it is the agent that refused.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Whether the agent gave this reason.
    pub fn is(&self, reason: &str) -> bool {
        self.refusal().is_some_and(|it| it.reason == reason)
    }

    /// Whether another attempt may succeed. A call that ran into its time limit is not repeated.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Lost(_)) || self.is("UNAVAILABLE")
    }
}

impl Refusal {
    /// Reads a refusal: the reason that the details give, or else the one that belongs to the code.
    pub(crate) fn new(code: Option<Code>, message: String, details: Vec<Value>) -> Self {
        let said = details.iter().find_map(|detail| detail["reason"].as_str());
        let by_reason = |reason| Code::ALL.iter().find(|code| code.reason == reason);
        let known = said.and_then(by_reason).copied().or(code);
        let reason = said.or(known.map(|code| code.reason));
        Self {
            code: known.map_or(0, |code| code.json_rpc),
            reason: reason.unwrap_or("UNKNOWN").to_owned(),
            message,
            details,
        }
    }

    /// The refusal in an error of JSON-RPC.
    pub(crate) fn of_json_rpc(error: &Value) -> Self {
        let number = error["code"].as_i64().unwrap_or_default();
        let code = Code::ALL
            .iter()
            .find(|code| i64::from(code.json_rpc) == number);
        let details = match &error["data"] {
            Value::Array(details) => details.clone(),
            Value::Null => Vec::new(),
            detail => vec![detail.clone()],
        };
        let message = error["message"].as_str().unwrap_or("no reason given");
        Self {
            // Unknown codes are kept.
            code: i32::try_from(number).unwrap_or_default(),
            ..Self::new(code.copied(), message.to_owned(), details)
        }
    }

    /// Field by field, where fields are to blame.
    pub fn violations(&self) -> Vec<Violation> {
        let lists = self.details.iter();
        let lists = lists.filter_map(|detail| detail["fieldViolations"].as_array());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        lists
            .flatten()
            .map(|it| Violation {
                field: text(&it["field"]),
                description: text(&it["description"]),
            })
            .collect()
    }
}

impl From<Refusal> for Error {
    /// What every wire says in its own way is one error: who calls is not known, or may not.
    fn from(refusal: Refusal) -> Self {
        let status = match &*refusal.reason {
            "UNAUTHENTICATED" => Some(401),
            "UNAUTHORIZED" => Some(403),
            _ => None,
        };
        if let Some(status) = status {
            let message = refusal.message;
            return Self::Unauthorized { status, message };
        }
        Self::Refused(Box::new(refusal))
    }
}
