//! How an operation of memory fails.

use crate::reason::Lacking;
use crate::record::RecordId;
use crate::rules::NotAdmitted;

/// Why an operation failed. A failed operation has changed nothing.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A lasting record needs a complete reason.
    #[error("keep this: its reason is incomplete: {0}")]
    Reason(#[from] Lacking),
    /// A part of the content is empty or too long.
    #[error("remember this: {what} {problem}")]
    Content {
        what: &'static str,
        problem: &'static str,
    },
    /// The handle lacks the right; `needed` says what has it.
    #[error("{what} in {space}: {needed}")]
    Denied {
        what: &'static str,
        space: String,
        needed: &'static str,
    },
    /// The rules of the space do not admit the record.
    #[error("keep this: {0}")]
    Rules(#[from] NotAdmitted),
    #[error("find record {0}: there is none with this id")]
    Unknown(RecordId),
    /// The caller sees the record and does not own it.
    #[error("forget record {0}: it belongs to another caller")]
    NotOwner(RecordId),
    /// An invalid question, name, or line of an import.
    #[error("use {what}: {problem}")]
    Input { what: String, problem: String },
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("use the memory: it is closed")]
    Closed,
}

impl Error {
    /// Whether there is no space left to write. Reading goes on.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Store(store::Error::Full))
    }
}
