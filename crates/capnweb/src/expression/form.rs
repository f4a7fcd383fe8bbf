//! Reads the tagged arrays of the protocol, element by element.
//!
//! The shapes accepted are those the reference accepts, so that every message it sends is read and
//! every message it refuses is refused: some forms ignore elements beyond those they know, others
//! do not.

use std::sync::Arc;

use bytes::Bytes;
use indexmap::IndexMap;
use num_bigint::{BigInt, BigUint, Sign};

use super::parse::{ParseError, Parser};
use super::{
    BlobExpression, ByteContainer, ErrorExpression, Expression, PathPart, Plain, Reference, RegExp,
    Remap, RequestExpression, ResponseExpression, base64,
};

/// Names and values of headers.
type Pairs = Vec<(String, String)>;

/// A tagged array while it is read. Each method reads the next element; when there is none, or
/// another kind of thing, the array is misshapen.
#[derive(Debug)]
pub(crate) struct Form<'p, 'a> {
    parser: &'p mut Parser<'a>,
    start: usize,
    misshapen: fn(String) -> ParseError,
}

impl<'p, 'a> Form<'p, 'a> {
    /// Goes on behind the tag of the array that began at `start`. `misshapen` says what to call it
    /// when it is not as it should be.
    pub(super) fn new(
        parser: &'p mut Parser<'a>,
        start: usize,
        misshapen: fn(String) -> ParseError,
    ) -> Self {
        Self {
            parser,
            start,
            misshapen,
        }
    }

    /// The complaint that this array is not as it should be.
    pub(crate) fn misshapen(&self) -> ParseError {
        (self.misshapen)(self.parser.reader.excerpt(self.start).to_owned())
    }

    /// Whether there is another element; it is to be read next.
    pub(crate) fn more(&mut self) -> Result<bool, ParseError> {
        self.parser.reader.next_element()
    }

    /// An integer that a double holds exactly.
    pub(crate) fn id(&mut self) -> Result<i64, ParseError> {
        const LARGEST: f64 = ((1_i64 << 53) - 1) as f64;
        if !self.more()? || !matches!(self.peek(), b'-' | b'0'..=b'9') {
            return Err(self.misshapen());
        }
        let number = self.parser.reader.number()?;
        let id = number as i64;
        if number.abs() <= LARGEST && id as f64 == number {
            Ok(id)
        } else {
            Err(self.misshapen())
        }
    }

    /// Any expression, at `depth`.
    pub(crate) fn expression(&mut self, depth: usize) -> Result<Expression, ParseError> {
        if self.more()? {
            self.parser.expression(depth)
        } else {
            Err(self.misshapen())
        }
    }

    /// Passes over all elements that are left.
    pub(crate) fn ignore_rest(&mut self) -> Result<(), ParseError> {
        while self.more()? {
            self.parser.reader.skip()?;
        }
        Ok(())
    }

    /// Refuses any element that is left.
    pub(super) fn end(&mut self) -> Result<(), ParseError> {
        if self.more()? {
            Err(self.misshapen())
        } else {
            Ok(())
        }
    }

    /// Goes on to the next element, which must be there and begin with `first`.
    fn need(&mut self, first: u8) -> Result<(), ParseError> {
        if !self.more()? {
            return Err(self.misshapen());
        }
        self.stand_at(first)
    }

    /// Refuses the element we stand at unless it begins with `first`.
    fn stand_at(&self, first: u8) -> Result<(), ParseError> {
        if self.peek() == first {
            Ok(())
        } else {
            Err(self.misshapen())
        }
    }

    fn peek(&self) -> u8 {
        self.parser.reader.peek()
    }

    fn string(&mut self) -> Result<String, ParseError> {
        self.need(b'"')?;
        Ok(self.parser.reader.string()?.into_owned())
    }

    /// The form with this tag.
    pub(super) fn special(&mut self, tag: &str, depth: usize) -> Result<Expression, ParseError> {
        match tag {
            "import" => self.reference(depth, Expression::Import),
            "pipeline" => self.reference(depth, Expression::Pipeline),
            "remap" => self.remap(depth),
            "export" => self.id_and_rest(Expression::Export),
            "promise" => self.id_and_rest(Expression::Promise),
            "readable" => self.id_and_rest(Expression::Readable),
            "writable" => self.id_and_rest(Expression::Writable),
            "undefined" => self.undefined(),
            "inf" => self.not_finite(f64::INFINITY),
            "-inf" => self.not_finite(f64::NEG_INFINITY),
            "nan" => self.not_finite(f64::NAN),
            "bigint" => self.bigint(),
            "date" => self.date(),
            "bytes" => self.bytes(),
            "error" => self.error(depth),
            "regexp" => self.regexp(),
            "url" => self.url(),
            "headers" => self.headers(),
            "request" => self.request(depth),
            "response" => self.response(depth),
            "blob" => self.blob(depth),
            _ => Err(self.misshapen()),
        }
    }

    fn id_and_rest(&mut self, form: fn(i64) -> Expression) -> Result<Expression, ParseError> {
        let id = self.id()?;
        self.ignore_rest()?;
        Ok(form(id))
    }

    fn reference(
        &mut self,
        depth: usize,
        form: fn(Box<Reference>) -> Expression,
    ) -> Result<Expression, ParseError> {
        let mut reference = Box::new(Reference {
            id: self.id()?,
            path: None,
            args: None,
        });
        if !self.more()? {
            return Ok(form(reference));
        }
        reference.path = Some(self.path()?);
        if !self.more()? {
            return Ok(form(reference));
        }
        reference.args = Some(self.expressions(depth + 1)?);
        self.end()?;
        Ok(form(reference))
    }

    fn remap(&mut self, depth: usize) -> Result<Expression, ParseError> {
        let id = self.id()?;
        self.need(b'[')?;
        let path = self.path()?;
        self.need(b'[')?;
        let captures = self.parser.elements(Parser::capture)?;
        self.need(b'[')?;
        let instructions = Arc::from(self.expressions(depth + 1)?);
        self.end()?;
        Ok(Expression::Remap(Box::new(Remap {
            id,
            path,
            captures,
            instructions,
        })))
    }

    fn undefined(&mut self) -> Result<Expression, ParseError> {
        self.end()?;
        Ok(Expression::Undefined)
    }

    fn not_finite(&mut self, number: f64) -> Result<Expression, ParseError> {
        self.ignore_rest()?;
        Ok(Expression::Number(number))
    }

    /// The element we stand at, as a property path.
    fn path(&mut self) -> Result<Vec<PathPart>, ParseError> {
        self.stand_at(b'[')?;
        let (start, misshapen) = (self.start, self.misshapen);
        self.parser.elements(|it| match it.reader.peek() {
            b'"' => Ok(PathPart::Name(it.reader.string()?.into_owned())),
            b'-' | b'0'..=b'9' => Ok(PathPart::Number(it.reader.number()?)),
            _ => Err(misshapen(it.reader.excerpt(start).to_owned())),
        })
    }

    /// The element we stand at, as a bare array of expressions at `depth`.
    fn expressions(&mut self, depth: usize) -> Result<Vec<Expression>, ParseError> {
        self.stand_at(b'[')?;
        self.parser.elements(|it| it.expression(depth))
    }

    /// The element we stand at, as raw pairs of a name and a value.
    fn pairs(&mut self) -> Result<Pairs, ParseError> {
        self.stand_at(b'[')?;
        let (start, misshapen) = (self.start, self.misshapen);
        self.parser.elements(|it| {
            let pair = match it.reader.peek() {
                b'[' => it.elements(|it| match it.reader.peek() {
                    b'"' => it.reader.string().map(|part| Some(part.into_owned())),
                    _ => it.reader.skip().map(|()| None),
                })?,
                _ => Vec::new(),
            };
            match <[Option<String>; 2]>::try_from(pair) {
                Ok([Some(name), Some(value)]) => Ok((name, value)),
                _ => Err(misshapen(it.reader.excerpt(start).to_owned())),
            }
        })
    }

    fn bigint(&mut self) -> Result<Expression, ParseError> {
        self.need(b'"')?;
        let text = self.parser.reader.string()?;
        let longest = self.parser.max_bigint_digits;
        if text.len() > longest && text.encode_utf16().count() > longest {
            return Err(ParseError::BigIntTooLong(longest));
        }
        let integer = integer(text.trim());
        let integer =
            integer.ok_or_else(|| ParseError::BigInt(text.chars().take(100).collect()))?;
        self.ignore_rest()?;
        Ok(Expression::BigInt(Box::new(integer)))
    }

    fn date(&mut self) -> Result<Expression, ParseError> {
        if !self.more()? {
            return Err(self.misshapen());
        }
        let milliseconds = match self.peek() {
            b'n' => self.parser.reader.literal("null").map(|()| None)?,
            b'-' | b'0'..=b'9' => Some(self.parser.reader.number()?).filter(|ms| ms.is_finite()),
            _ => return Err(self.misshapen()),
        };
        self.ignore_rest()?;
        Ok(Expression::Date(milliseconds))
    }

    fn bytes(&mut self) -> Result<Expression, ParseError> {
        self.need(b'"')?;
        let text = self.parser.reader.string()?;
        let Some(bytes) = base64::read(&text) else {
            let text = self.parser.reader.excerpt(self.start);
            return Err(ParseError::Content(format!("invalid base64: {text}")));
        };
        if !self.more()? {
            return Ok(Expression::Bytes(
                Bytes::from(bytes),
                ByteContainer::default(),
            ));
        }
        self.stand_at(b'"')?;
        let name = self.parser.reader.string()?;
        let Some(container) = ByteContainer::from_name(&name) else {
            let name: String = name.chars().take(64).collect();
            return Err(ParseError::Content(format!(
                "Unknown bytes type marker: {name}"
            )));
        };
        let (length, size) = (bytes.len(), container.element_size());
        if length % size != 0 {
            return Err(ParseError::Content(format!(
                "Invalid byte length {length} for {name}; expected a multiple of {size}"
            )));
        }
        self.ignore_rest()?;
        Ok(Expression::Bytes(Bytes::from(bytes), container))
    }

    fn error(&mut self, depth: usize) -> Result<Expression, ParseError> {
        let mut error = Box::new(ErrorExpression {
            name: self.string()?,
            message: self.string()?,
            ..ErrorExpression::default()
        });
        if !self.more()? {
            return Ok(Expression::Error(error));
        }
        // Senders write null for no stack; the reference ignores anything but a string.
        match self.peek() {
            b'"' => error.stack = Some(self.parser.reader.string()?.into_owned()),
            _ => self.parser.reader.skip()?,
        }
        if !self.more()? {
            return Ok(Expression::Error(error));
        }
        self.stand_at(b'{')?;
        error.props = Some(self.parser.members(|it| it.expression(depth + 1))?);
        self.ignore_rest()?;
        Ok(Expression::Error(error))
    }

    fn regexp(&mut self) -> Result<Expression, ParseError> {
        let mut regexp = Box::new(RegExp {
            source: self.string()?,
            flags: String::new(),
        });
        if !self.more()? {
            return Ok(Expression::RegExp(regexp));
        }
        self.stand_at(b'"')?;
        regexp.flags = self.parser.reader.string()?.into_owned();
        self.end()?;
        Ok(Expression::RegExp(regexp))
    }

    fn url(&mut self) -> Result<Expression, ParseError> {
        let url = self.string()?;
        self.end()?;
        if !is_absolute(&url) {
            return Err(ParseError::Content("Invalid URL".to_owned()));
        }
        Ok(Expression::Url(url))
    }

    fn headers(&mut self) -> Result<Expression, ParseError> {
        self.need(b'[')?;
        let headers = self.pairs()?;
        self.end()?;
        Ok(Expression::Headers(headers))
    }

    fn request(&mut self, depth: usize) -> Result<Expression, ParseError> {
        let url = self.string()?;
        let mut body = None;
        let (headers, init) = self.init(depth, |parser, key| {
            let ours = key == "body";
            if ours {
                body = Some(parser.body(depth + 1, "Request")?);
            }
            Ok(ours)
        })?;
        if init
            .get("signal")
            .is_some_and(|signal| *signal != Plain::Null)
        {
            let complaint = "Request signal must be of type AbortSignal.";
            return Err(ParseError::Content(complaint.to_owned()));
        }
        self.end()?;
        Ok(Expression::Request(Box::new(RequestExpression {
            url,
            headers,
            body,
            init,
        })))
    }

    fn response(&mut self, depth: usize) -> Result<Expression, ParseError> {
        if !self.more()? {
            return Err(self.misshapen());
        }
        let body = self.parser.body(depth + 1, "Response")?;
        let (headers, init) = self.init(depth, |_, _| Ok(false))?;
        if init
            .get("webSocket")
            .is_some_and(|socket| *socket != Plain::Null)
        {
            let complaint = "Can't deserialize a Response containing a webSocket.";
            return Err(ParseError::Content(complaint.to_owned()));
        }
        self.end()?;
        Ok(Expression::Response(Box::new(ResponseExpression {
            body,
            headers,
            init,
        })))
    }

    /// The headers and the plain rest of an `init` object. `own` is asked first at each member, and
    /// returns whether it has read the value.
    fn init(
        &mut self,
        depth: usize,
        mut own: impl FnMut(&mut Parser<'_>, &str) -> Result<bool, ParseError>,
    ) -> Result<(Pairs, IndexMap<String, Plain>), ParseError> {
        self.need(b'{')?;
        let mut headers = Vec::new();
        let mut rest = IndexMap::new();
        let mut more = self.parser.reader.enter_object()?;
        while more {
            let key = self.parser.reader.key()?;
            if key == "headers" {
                headers = match self.peek() {
                    b'n' => self.parser.reader.literal("null").map(|()| Vec::new())?,
                    _ => self.pairs()?,
                };
            } else if !own(self.parser, &key)? {
                rest.insert(key.into_owned(), self.parser.plain(depth + 1)?);
            }
            more = self.parser.reader.next_member()?;
        }
        Ok((headers, rest))
    }

    fn blob(&mut self, depth: usize) -> Result<Expression, ParseError> {
        let mime = self.string()?;
        let Expression::Readable(readable) = self.expression(depth + 1)? else {
            let complaint = "Blob content must be serialized as a ReadableStream.";
            return Err(ParseError::Content(complaint.to_owned()));
        };
        self.end()?;
        Ok(Expression::Blob(Box::new(BlobExpression {
            mime,
            readable,
        })))
    }
}

/// Whether a text begins like an absolute URL: with a scheme, and a host where the scheme asks for one.
/// The rest is checked by the code that opens the URL.
pub(crate) fn is_absolute(url: &str) -> bool {
    let url = url.trim_matches(|character| character <= ' ');
    let Some((scheme, rest)) = url.split_once(':') else {
        return false;
    };
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_part);
    let wants_host = ["http", "https", "ws", "wss", "ftp"]
        .iter()
        .any(|special| scheme.eq_ignore_ascii_case(special));
    is_scheme && !(wants_host && rest.trim_start_matches(['/', '\\']).is_empty())
}

/// The integer `text` stands for, in the notations of JavaScript's `BigInt()`.
fn integer(text: &str) -> Option<BigInt> {
    let (sign, digits, radix) = match text.as_bytes() {
        [] => return Some(BigInt::ZERO),
        [b'0', b'x' | b'X', ..] => (Sign::Plus, &text[2..], 16),
        [b'0', b'o' | b'O', ..] => (Sign::Plus, &text[2..], 8),
        [b'0', b'b' | b'B', ..] => (Sign::Plus, &text[2..], 2),
        [b'-', ..] => (Sign::Minus, &text[1..], 10),
        [b'+', ..] => (Sign::Plus, &text[1..], 10),
        _ => (Sign::Plus, text, 10),
    };
    // Checked here because the library also takes signs and underscores.
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let magnitude = BigUint::parse_bytes(digits.as_bytes(), radix)?;
    Some(BigInt::from_biguint(sign, magnitude))
}
