//! What memory refuses, and what can go wrong beneath it.

use crate::reason::Lacking;
use crate::record::RecordId;

/// Why something did not happen. Nothing was half done.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A lasting record was to be written without a whole reason.
    #[error("keep this: its reason is not sufficient: {0}")]
    Reason(#[from] Lacking),
    /// What was to be remembered cannot be.
    #[error("remember this: {what} {problem}")]
    Content {
        /// The part.
        what: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The handle does not allow it.
    #[error("{what} in {space}: this handle is for {access} only")]
    Denied {
        /// What was tried.
        what: &'static str,
        /// The space.
        space: String,
        /// What the handle is for.
        access: &'static str,
    },
    /// The rules of the space do not allow it.
    #[error("keep this: {0}")]
    Rules(String),
    /// There is no such record.
    #[error("find record {0}")]
    Unknown(RecordId),
    /// A question, a name or a line of an import that makes no sense.
    #[error("use {what}: {problem}")]
    Input {
        /// What it was.
        what: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The embedder failed.
    #[error("embed the question: {0}")]
    Embed(String),
    /// The memory is closed.
    #[error("use the memory: it is closed")]
    Closed,
}
