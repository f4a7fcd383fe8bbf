//! Reads an expression from JSON text in one pass, straight into its typed form.

use indexmap::IndexMap;

use super::form::Form;
use super::json::Reader;
use super::{ByteContainer, Capture, Expression, Plain};
use crate::limits::Limits;
use crate::weight::{self, TooHeavy};

/// Why a text is not a message. The text of the error is meant for the peer that sent it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text is not JSON.
    #[error("invalid JSON at byte {offset}: {problem}")]
    Syntax {
        /// What was found or missed.
        problem: &'static str,
        /// Where, counted in bytes from 0.
        offset: usize,
    },
    /// The text is JSON but none of the eight messages; carries its beginning.
    #[error("bad RPC message: {0}")]
    Message(String),
    /// An array that is no form of the protocol; carries its beginning.
    #[error("unknown special value: {0}")]
    Special(String),
    /// A form with invalid content; carries the whole message.
    #[error("{0}")]
    Content(String),
    /// The text of a bigint is no integer; carries its beginning.
    #[error("Cannot convert {0} to a BigInt")]
    BigInt(String),
    /// The text is longer than this many bytes.
    #[error("Incoming message exceeds maximum size of {0} bytes.")]
    TooLarge(usize),
    /// The text is large, and holds so many values that they would take too much memory.
    #[error("{0}")]
    TooHeavy(TooHeavy),
    /// Something stands at this depth, or deeper.
    #[error("Deserialization exceeded maximum allowed message depth of {0}.")]
    TooDeep(usize),
    /// A bigint has more than this many characters.
    #[error("Deserialized bigint exceeds maximum length of {0} digits.")]
    BigIntTooLong(usize),
}

impl ParseError {
    /// The class of error the reference reports for the same mistake.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Syntax { .. } | Self::BigInt(_) => "SyntaxError",
            Self::Message(_) => "Error",
            Self::Special(_)
            | Self::Content(_)
            | Self::TooLarge(_)
            | Self::TooHeavy(_)
            | Self::TooDeep(_)
            | Self::BigIntTooLong(_) => "TypeError",
        }
    }
}

impl Expression {
    /// Reads one expression that is the whole of `text`.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self, ParseError> {
        Parser::parse(text, limits, |parser| parser.expression(0))
    }
}

/// Reads expressions from one text.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) max_bigint_digits: usize,
    max_depth: usize,
}

impl<'a> Parser<'a> {
    /// The deepest nesting read under any limits: each level takes some stack, and a peer must not be able to
    /// exhaust it.
    const DEEPEST: usize = 512;

    /// Reads what `read` expects to be the whole of `text`.
    pub(crate) fn parse<T>(
        text: &'a str,
        limits: &Limits,
        read: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if text.len() > limits.max_message_bytes {
            return Err(ParseError::TooLarge(limits.max_message_bytes));
        }
        weight::check_growth(text.as_bytes(), limits.max_growth).map_err(ParseError::TooHeavy)?;
        let mut parser = Self {
            reader: Reader::new(text),
            max_depth: limits.max_depth.min(Self::DEEPEST),
            max_bigint_digits: limits.max_bigint_digits,
        };
        let read = read(&mut parser).and_then(|value| parser.reader.end().map(|()| value));
        read.map_err(|error| syntax_error(text).unwrap_or(error))
    }

    /// The next value, which must be a tagged array. Hands `read` the tag, and the array
    /// to go on with; `misshapen` is what to call it when it is not as it should be.
    pub(crate) fn tagged<T>(
        &mut self,
        misshapen: fn(String) -> ParseError,
        read: impl FnOnce(&mut Form<'_, 'a>, &str) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let start = self.reader.offset();
        let array = self.reader.peek() == b'[' && self.reader.enter_array()?;
        if !array || self.reader.peek() != b'"' {
            return Err(misshapen(self.reader.excerpt(start).to_owned()));
        }
        let tag = self.reader.string()?;
        read(&mut Form::new(self, start, misshapen), &tag)
    }

    /// The next value, which stands at `depth`.
    // Inlined so that a scalar is made where it will stay; to move one costs more than to read it.
    #[inline(always)]
    pub(crate) fn expression(&mut self, depth: usize) -> Result<Expression, ParseError> {
        self.check_depth(depth)?;
        let reader = &mut self.reader;
        Ok(match reader.peek() {
            b'"' => Expression::String(reader.string()?.into_owned()),
            b'[' => return self.array(depth),
            b'{' => return self.object(depth),
            b't' => reader.literal("true").map(|()| Expression::Bool(true))?,
            b'f' => reader.literal("false").map(|()| Expression::Bool(false))?,
            b'n' => reader.literal("null").map(|()| Expression::Null)?,
            _ => Expression::Number(reader.number()?),
        })
    }

    /// A real array in its wrapping, or one of the tagged forms.
    fn array(&mut self, depth: usize) -> Result<Expression, ParseError> {
        let start = self.reader.offset();
        if !self.reader.enter_array()? {
            return Err(ParseError::Special(self.reader.excerpt(start).to_owned()));
        }
        match self.reader.peek() {
            b'[' => {
                let elements = self.elements(|it| it.expression(depth + 1))?;
                Form::new(self, start, ParseError::Special).end()?;
                Ok(Expression::Array(elements))
            }
            b'"' => {
                let tag = self.reader.string()?;
                Form::new(self, start, ParseError::Special).special(&tag, depth)
            }
            _ => Err(ParseError::Special(self.reader.excerpt(start).to_owned())),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Expression, ParseError> {
        let members = self.members(|it| it.expression(depth + 1))?;
        Ok(Expression::Object(Box::new(members)))
    }

    fn check_depth(&self, depth: usize) -> Result<(), ParseError> {
        if depth >= self.max_depth {
            Err(ParseError::TooDeep(self.max_depth))
        } else {
            Ok(())
        }
    }

    /// A bare array, each element of it read by `read`.
    pub(super) fn elements<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut elements = Vec::new();
        let mut more = self.reader.enter_array()?;
        while more {
            elements.push(read(self)?);
            more = self.reader.next_element()?;
        }
        Ok(elements)
    }

    /// An object, each value of it read by `read`.
    pub(super) fn members<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<IndexMap<String, T>, ParseError> {
        let mut members = IndexMap::new();
        let mut more = self.reader.enter_object()?;
        while more {
            let key = self.reader.key()?.into_owned();
            members.insert(key, read(self)?);
            more = self.reader.next_member()?;
        }
        Ok(members)
    }

    /// JSON that holds no expressions.
    pub(super) fn plain(&mut self, depth: usize) -> Result<Plain, ParseError> {
        self.check_depth(depth)?;
        let reader = &mut self.reader;
        Ok(match reader.peek() {
            b'"' => Plain::String(reader.string()?.into_owned()),
            b'[' => Plain::Array(self.elements(|it| it.plain(depth + 1))?),
            b'{' => Plain::Object(self.members(|it| it.plain(depth + 1))?),
            b't' => reader.literal("true").map(|()| Plain::Bool(true))?,
            b'f' => reader.literal("false").map(|()| Plain::Bool(false))?,
            b'n' => reader.literal("null").map(|()| Plain::Null)?,
            _ => Plain::Number(reader.number()?),
        })
    }

    /// A capability that a recorded function uses.
    pub(super) fn capture(&mut self) -> Result<Capture, ParseError> {
        let unknown = |capture| ParseError::Content(format!("unknown map capture: {capture}"));
        self.tagged(unknown, |form, tag| {
            let capture = match tag {
                "import" => Capture::Import(form.id()?),
                "export" => Capture::Export(form.id()?),
                _ => return Err(form.misshapen()),
            };
            form.end()?;
            Ok(capture)
        })
    }

    /// What a request or a response carries; `of` names which.
    pub(super) fn body(&mut self, depth: usize, of: &str) -> Result<Expression, ParseError> {
        let body = self.expression(depth)?;
        let fits = matches!(
            body,
            Expression::Null
                | Expression::String(_)
                | Expression::Bytes(_, ByteContainer::Uint8Array)
                | Expression::Readable(_)
        );
        let misfit = || ParseError::Content(format!("{of} body must be of type ReadableStream."));
        if fits { Ok(body) } else { Err(misfit()) }
    }
}

/// The syntax error in `text`, if there is one. Text that is not JSON is reported as such before any other
/// fault, since other implementations parse all of the text first.
fn syntax_error(text: &str) -> Option<ParseError> {
    let mut reader = Reader::new(text);
    reader.skip().and_then(|()| reader.end()).err()
}
