//! Ids the server makes.

use uuid::Uuid;

use crate::types::Timestamp;

/// An id that nobody can guess: for tasks, messages, artifacts and webhooks.
pub(crate) fn random() -> String {
    Uuid::new_v4().to_string()
}

/// The id of a context that the server opens: it says which agent and when, and nobody can guess it.
pub(crate) fn context(label: &str, now: &Timestamp) -> String {
    let when: String = now
        .to_string()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    format!("{label}-{when}-{}", Uuid::new_v4().simple())
}
