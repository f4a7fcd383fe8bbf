//! The ids that the server makes.

use uuid::Uuid;

use crate::types::{ContextId, TaskId, Timestamp};

/// An unguessable id, for messages, artifacts and webhooks.
pub(crate) fn random() -> String {
    text(Uuid::new_v4())
}

/// The id of a task that is opened now: unguessable, and sorted after the ids of earlier tasks, so that tasks made
/// together lie together in an index.
pub(crate) fn task(now: Timestamp) -> TaskId {
    let millis = now.millis();
    let seconds = millis.div_euclid(1_000).unsigned_abs();
    let nanos = millis.rem_euclid(1_000) as u32 * 1_000_000;
    let moment = uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos);
    text(Uuid::new_v7(moment)).into()
}

fn text(id: Uuid) -> String {
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    id.hyphenated().encode_lower(&mut text).to_owned()
}

/// The id of a context that the server opens: label, second, millisecond and 80 random bits. The millisecond, in two
/// letters, keeps contexts that are opened together beside each other in an index, as ids of tasks do.
pub(crate) fn context(label: &str, now: Timestamp) -> ContextId {
    let mut id = String::with_capacity(label.len() + 40);
    id.push_str(label);
    id.push('-');
    let letter = |bits: i64| char::from(LETTERS[(bits & 31) as usize]);
    let millisecond = now.millis().rem_euclid(1_000);
    let now = now.to_string();
    let second = now.split(['.', 'Z']).next().unwrap_or_default();
    id.extend(second.chars().filter(char::is_ascii_alphanumeric));
    id.push('-');
    id.extend([letter(millisecond >> 5), letter(millisecond)]);
    let random = Uuid::new_v4().as_u128();
    // Eighty bits, without the ones that hold the version and variant of the UUID.
    let random = random & ((1 << 60) - 1) | random >> 80 << 60;
    id.extend((0..16).map(|place| char::from(LETTERS[(random >> (place * 5) & 31) as usize])));
    id.into()
}

/// Letters and digits without those that look alike.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
