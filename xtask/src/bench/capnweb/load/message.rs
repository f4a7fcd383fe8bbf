//! The messages a load generator must tell apart, read without parsing what they carry.

use crate::error::{Error, Result};

/// A message from the server; expressions stay text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    Push(&'a str),
    Stream(&'a str),
    Pull(i64),
    Resolve(i64, &'a str),
    Release(i64),
}

impl<'a> Message<'a> {
    pub(super) fn parse(text: &'a [u8]) -> Result<Message<'a>> {
        let unexpected = || {
            let shown = &text[..text.len().min(200)];
            Error::Answer(String::from_utf8_lossy(shown).into_owned())
        };
        let text = std::str::from_utf8(text).map_err(|_| unexpected())?;
        read(text).ok_or_else(unexpected)
    }
}

fn read(text: &str) -> Option<Message<'_>> {
    let inside = text.strip_prefix("[\"")?.strip_suffix(']')?;
    let (tag, rest) = inside.split_once("\",")?;
    let id_and_more = || {
        let (id, more) = rest.split_once(',')?;
        Some((id.parse().ok()?, more))
    };
    match tag {
        "push" => Some(Message::Push(rest)),
        "stream" => Some(Message::Stream(rest)),
        "pull" => Some(Message::Pull(rest.parse().ok()?)),
        "resolve" => id_and_more().map(|(id, value)| Message::Resolve(id, value)),
        "release" => id_and_more().map(|(id, _count)| Message::Release(id)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
