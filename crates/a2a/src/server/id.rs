//! Ids the server makes.

use uuid::Uuid;

use crate::types::Timestamp;

/// An id that nobody can guess: for tasks, messages, artifacts and webhooks.
pub(crate) fn random() -> String {
    Uuid::new_v4().to_string()
}

/// The id of a context that the server opens: it says which agent and when, and nobody can guess it.
pub(crate) fn context(label: &str, now: Timestamp) -> String {
    let mut id = String::with_capacity(label.len() + 40);
    id.push_str(label);
    id.push('-');
    let now = now.to_string();
    let second = now.split(['.', 'Z']).next().unwrap_or_default();
    id.extend(second.chars().filter(char::is_ascii_alphanumeric));
    id.push('-');
    let random = Uuid::new_v4().as_u128();
    // Eighty bits, none of them those that tell what kind of id it was.
    let random = random & ((1 << 60) - 1) | random >> 80 << 60;
    id.extend((0..16).map(|place| char::from(LETTERS[(random >> (place * 5) & 31) as usize])));
    id
}

/// No two of them look alike.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
