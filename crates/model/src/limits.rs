//! How much is read from a model.

/// The longest text of one reply, in bytes.
pub const MAX_REPLY: usize = 16 << 20;

/// The longest quotation of a provider in an error, in bytes.
pub const MAX_QUOTE: usize = 400;

/// The beginning of a text, for an error that quotes it.
pub(crate) fn quote(text: &str) -> String {
    let text = text.trim();
    let end = text.floor_char_boundary(MAX_QUOTE);
    match end < text.len() {
        true => format!("{}…", &text[..end]),
        false => text.to_owned(),
    }
}

/// The longest frame of a streamed reply, in bytes.
pub const MAX_FRAME: usize = 16 << 20;

/// The longest body of an error response that is read, in bytes.
pub const MAX_ERROR: usize = 64 << 10;

/// The largest response with vectors, in bytes.
pub const MAX_VECTORS: usize = 64 << 20;

/// The most calls in one reply.
pub const MAX_CALLS: usize = 128;
