//! How much is taken from a model.

/// The longest text that is put together of one answer, in bytes.
pub const MAX_REPLY: usize = 16 << 20;

/// The longest text of a model's that an error repeats, in bytes.
pub const MAX_QUOTE: usize = 400;

/// The beginning of a text, for an error that repeats it.
pub(crate) fn quote(text: &str) -> String {
    let text = text.trim();
    let end = text.floor_char_boundary(MAX_QUOTE);
    match end < text.len() {
        true => format!("{}…", &text[..end]),
        false => text.to_owned(),
    }
}

/// The longest piece of an answer, in bytes.
pub const MAX_FRAME: usize = 16 << 20;

/// The most that is read of what a provider says about an error, in bytes.
pub const MAX_ERROR: usize = 64 << 10;

/// The largest answer with vectors, in bytes.
pub const MAX_VECTORS: usize = 64 << 20;

/// The most calls that a model can ask for at once.
pub const MAX_CALLS: usize = 128;
