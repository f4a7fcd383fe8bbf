//! Requirements of the protocol broken on purpose, so that the proof can show that its tests notice.
//!
//! Without the feature `sabotage`, which only the proof's own tests turn on, nothing is ever broken, and what
//! would break it is not compiled.

#[cfg(feature = "http")]
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};

#[cfg(feature = "server")]
use crate::types::{Content, Message, Value};

/// Breaks a requirement, such as `r3`, in this process from here on. The first one counts.
#[cfg(feature = "sabotage")]
pub fn break_requirement(requirement: &str) {
    // That one is broken already is for its breaker to know.
    let _ = BROKEN.set(requirement.to_owned());
}

#[cfg(feature = "sabotage")]
static BROKEN: std::sync::OnceLock<String> = std::sync::OnceLock::new();

/// Whether a requirement is broken.
#[cfg(feature = "sabotage")]
pub fn broken(requirement: &str) -> bool {
    BROKEN.get().is_some_and(|broken| broken == requirement)
}

/// Whether credentials are overlooked: all but tokens, when `r8` is broken.
#[cfg(feature = "http")]
pub(crate) fn overlooks(headers: &HeaderMap) -> bool {
    let is_token = |it: &HeaderValue| it.as_bytes().starts_with(b"Bearer");
    broken("r8") && !headers.get(AUTHORIZATION).is_some_and(is_token)
}

/// Takes the data out of a message when `r10` is broken, and the bytes out of its files when `r11` is.
#[cfg(feature = "server")]
pub(crate) fn spoil(message: Option<&mut Message>) {
    for part in message.into_iter().flat_map(|message| &mut message.parts) {
        match &mut part.content {
            Content::Data(data) if broken("r10") => *data = Value::default(),
            Content::Raw(bytes) if broken("r11") => bytes.clear(),
            _ => {}
        }
    }
}

/// Whether a requirement is broken: none is.
#[cfg(not(feature = "sabotage"))]
pub const fn broken(_: &str) -> bool {
    false
}
