//! The chain of the audit trail: each line is kept with a hash over it and all lines before it, so that a line that was
//! removed, altered or inserted shows.
//!
//! A link is the hash in hexadecimal digits, a space, and the line. Who can write the file and knows the whole chain can
//! make a new one; the hash of the last link, noted elsewhere, shows that too.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;

/// How long the hash of a link is when it is written.
const WRITTEN: usize = 64;

/// The end of a chain, to which the next line is added. The default is a chain without links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain([u8; 32]);

/// A link that does not follow the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line was altered, removed or inserted here")]
pub struct BrokenChain;

impl Chain {
    /// The chain that ends with the link of this hash, in hexadecimal digits.
    pub fn read(text: &str) -> Option<Self> {
        if text.len() != WRITTEN || !text.is_ascii() {
            return None;
        }
        let mut hash = [0; 32];
        for (at, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Self(hash))
    }

    /// The hash of the last link, in hexadecimal digits.
    pub fn head(&self) -> String {
        let mut text = String::with_capacity(WRITTEN);
        for byte in self.0 {
            // A String takes every text.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// Adds a line; gives the link to keep.
    pub fn add(&mut self, line: &str) -> String {
        self.step(line);
        let mut link = self.head();
        link.push(' ');
        link.push_str(line);
        link
    }

    /// Checks that a link is the next one; gives its line.
    pub fn follow<'a>(&mut self, link: &'a str) -> Result<&'a str, BrokenChain> {
        let (hash, line) = parts(link).ok_or(BrokenChain)?;
        self.step(line);
        match Self::read(hash) {
            Some(hash) if hash == *self => Ok(line),
            _ => Err(BrokenChain),
        }
    }

    fn step(&mut self, line: &str) {
        let hash = Sha256::new().chain_update(self.0).chain_update(line);
        self.0 = hash.finalize().into();
    }
}

/// The line of a link, unchecked.
pub fn line(link: &str) -> Option<&str> {
    parts(link).map(|(_, line)| line)
}

fn parts(link: &str) -> Option<(&str, &str)> {
    let (hash, line) = link.split_at_checked(WRITTEN)?;
    Some((hash, line.strip_prefix(' ')?))
}
