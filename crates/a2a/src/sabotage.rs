//! Requirements of the protocol broken on purpose, so that the proof can show that its tests notice.
//!
//! A requirement is named as the module of its tests, `conformance/proof/tests/it/r03_streaming.rs` for example; a search for
//! `broken("r03_streaming")` finds what is done wrong then. Without the feature `sabotage`, which only the proof's own
//! tests turn on, nothing is ever broken, and what would break it is not compiled.

#[cfg(feature = "http")]
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};

#[cfg(feature = "server")]
use crate::types::{Content, Message, Value};

/// Breaks a requirement, such as `r03_streaming`, in this process from here on. The first one counts.
#[cfg(feature = "sabotage")]
pub fn break_requirement(requirement: &str) {
    // A second call changes nothing: all tests of a process name the same requirement.
    let _ = BROKEN.set(requirement.to_owned());
}

#[cfg(feature = "sabotage")]
static BROKEN: std::sync::OnceLock<String> = std::sync::OnceLock::new();

/// Whether a requirement is broken.
#[cfg(feature = "sabotage")]
pub fn broken(requirement: &str) -> bool {
    BROKEN.get().is_some_and(|broken| broken == requirement)
}

/// Whether credentials are overlooked: all but bearer tokens, when the requirement of authentication schemes is broken.
#[cfg(feature = "http")]
pub(crate) fn overlooks(headers: &HeaderMap) -> bool {
    let is_token = |it: &HeaderValue| it.as_bytes().starts_with(b"Bearer");
    broken("r08_authentication_schemes") && !headers.get(AUTHORIZATION).is_some_and(is_token)
}

/// Takes the data out of a message, or the bytes out of its files, when the requirement about them is broken.
#[cfg(feature = "server")]
pub(crate) fn spoil(message: Option<&mut Message>) {
    for part in message.into_iter().flat_map(|message| &mut message.parts) {
        match &mut part.content {
            Content::Data(data) if broken("r10_structured_data") => *data = Value::default(),
            Content::Raw(bytes) if broken("r11_files") => bytes.clear(),
            _ => {}
        }
    }
}

/// Whether a requirement is broken: none is.
#[cfg(not(feature = "sabotage"))]
pub const fn broken(_: &str) -> bool {
    false
}
