//! Data that stands ready to be sent.

use std::sync::Arc;

use super::json::Reader;
use super::{Expression, ParseError};
use crate::limits::Limits;

#[cfg(test)]
#[path = "raw_tests.rs"]
mod tests;

/// An expression that was printed before. It holds no ids, so it means the same to every peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw(Arc<str>);

impl Raw {
    /// Prints `expression` once for many peers. `None` when it holds an id, which would mean
    /// something else to each of them.
    pub(crate) fn print(expression: &Expression) -> Option<Self> {
        (!expression.holds_ids()).then(|| Self(expression.print().into()))
    }

    /// JSON, every part of which is data: the text stays as it is, but for its arrays.
    ///
    /// # Errors
    ///
    /// When it is no JSON, or nests deeper than a message may.
    pub fn from_json(json: &str) -> Result<Self, ParseError> {
        let mut wrapping = Wrapping {
            json,
            reader: Reader::new(json),
            written: String::with_capacity(json.len() + 32),
            copied: 0,
        };
        wrapping.value(0)?;
        wrapping.reader.end()?;
        wrapping.copy(json.len());
        Ok(Self(wrapping.written.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The expression it was printed from.
    pub(crate) fn parse(&self) -> Expression {
        let limits = Limits {
            max_message_bytes: usize::MAX,
            max_bigint_digits: usize::MAX,
            max_growth: usize::MAX,
            ..Limits::default()
        };
        Expression::parse(&self.0, &limits)
            .expect("it was printed by us, from an expression within the limits")
    }
}

/// Copies JSON and wraps its arrays, as real arrays are on the wire.
struct Wrapping<'a> {
    json: &'a str,
    reader: Reader<'a>,
    written: String,
    /// How much of the text is written.
    copied: usize,
}

impl Wrapping<'_> {
    fn value(&mut self, depth: usize) -> Result<(), ParseError> {
        let deepest = Limits::default().max_depth;
        if depth >= deepest {
            return Err(ParseError::TooDeep(deepest));
        }
        match self.reader.peek() {
            b'[' => {
                self.copy(self.reader.offset());
                self.written.push('[');
                let mut more = self.reader.enter_array()?;
                while more {
                    self.value(depth + 1)?;
                    more = self.reader.next_element()?;
                }
                self.copy(self.reader.offset());
                self.written.push(']');
            }
            b'{' => {
                let mut more = self.reader.enter_object()?;
                while more {
                    self.reader.key()?;
                    self.value(depth + 1)?;
                    more = self.reader.next_member()?;
                }
            }
            // Nothing else nests.
            _ => self.reader.skip()?,
        }
        Ok(())
    }

    fn copy(&mut self, end: usize) {
        self.written.push_str(&self.json[self.copied..end]);
        self.copied = end;
    }
}
