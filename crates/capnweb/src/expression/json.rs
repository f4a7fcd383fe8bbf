//! A JSON tokenizer, as strict as `JSON.parse`.
//!
//! The parser looks at the next byte with [`Reader::peek`] and asks for the token it expects; another token is
//! a syntax error.
//!
//! Why not `serde_json`:
//!
//! - A visitor cannot look ahead. Whether an array is data, `[[...]]`, or a form such as `["bigint", "1"]`, and
//!   which form, is decided by its first element, and each form has its own rules for further elements. With
//!   serde the whole text would have to become a tree first, which costs a second set of allocations for every
//!   message.
//! - JavaScript accepts what serde_json refuses. A lone surrogate escape (`"\ud800"`) is valid for `JSON.parse`
//!   and sent by JavaScript peers; here it becomes U+FFFD. A number beyond the range of a double is infinite.
//! - Depth is bounded by the session's limits and counted by the protocol's rule, where serde_json has a fixed
//!   recursion limit. [`Reader::skip`] checks ignored elements of any depth without recursion.
//! - Errors quote the offending value ([`Reader::excerpt`]) in the words of the reference implementation, and
//!   the text's syntax is reported before any fault of meaning, as `JSON.parse` would.
//! - Strings without escapes are borrowed from the frame, and values that are only forwarded stay text
//!   (`Raw`), which needs byte offsets.
//!
//! The tests compare it with frames of the official package, and the fuzzer runs it on random bytes.

use std::borrow::Cow;

use super::parse::ParseError;

/// A place in a JSON text. Between calls it stands at a token, never at white space.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Stands at the first token of `text`.
    pub(crate) fn new(text: &'a str) -> Self {
        let mut reader = Self { text, at: 0 };
        reader.skip_white_space();
        reader
    }

    /// The offset in bytes, to come back to in an error.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// The first byte of the next token; 0, which begins none, at the end.
    pub(crate) fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Refuses anything behind the value just read.
    pub(crate) fn end(&self) -> Result<(), ParseError> {
        if self.at == self.text.len() {
            Ok(())
        } else {
            Err(self.syntax("unexpected text after the value"))
        }
    }

    /// Enters an array. Whether there is a first element.
    pub(crate) fn enter_array(&mut self) -> Result<bool, ParseError> {
        self.expect(b'[', "expected an array")?;
        Ok(!self.take(b']'))
    }

    /// Goes on behind an element. Whether there is another.
    pub(crate) fn next_element(&mut self) -> Result<bool, ParseError> {
        if self.take(b',') {
            return Ok(true);
        }
        self.expect(b']', "expected `,` or `]`")?;
        Ok(false)
    }

    /// Enters an object. Whether there is a first member; it is to be read with [`Reader::key`].
    pub(crate) fn enter_object(&mut self) -> Result<bool, ParseError> {
        self.expect(b'{', "expected an object")?;
        Ok(!self.take(b'}'))
    }

    /// Goes on behind a member. Whether there is another.
    pub(crate) fn next_member(&mut self) -> Result<bool, ParseError> {
        if self.take(b',') {
            return Ok(true);
        }
        self.expect(b'}', "expected `,` or `}`")?;
        Ok(false)
    }

    /// A member's name. Its value is next.
    pub(crate) fn key(&mut self) -> Result<Cow<'a, str>, ParseError> {
        let key = self.string()?;
        self.expect(b':', "expected `:`")?;
        Ok(key)
    }

    /// `true`, `false` or `null`, whichever `word` says.
    pub(crate) fn literal(&mut self, word: &'static str) -> Result<(), ParseError> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.unexpected("expected a value"));
        }
        self.at += word.len();
        self.skip_white_space();
        Ok(())
    }

    /// A string, borrowed from the text unless it holds an escape.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, ParseError> {
        if self.peek() != b'"' {
            return Err(self.unexpected("expected a string"));
        }
        self.at += 1;
        let run = self.plain_run();
        let text = if self.peek() == b'"' {
            Cow::Borrowed(run)
        } else {
            Cow::Owned(self.escaped(run)?)
        };
        self.at += 1;
        self.skip_white_space();
        Ok(text)
    }

    /// A number. One too large for a double is infinite, as in JavaScript.
    pub(crate) fn number(&mut self) -> Result<f64, ParseError> {
        let start = self.at;
        let negative = self.peek() == b'-';
        self.at += usize::from(negative);
        let mut integer: u64 = 0;
        let digits = self.at;
        while let digit @ b'0'..=b'9' = self.peek() {
            integer = integer
                .wrapping_mul(10)
                .wrapping_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        let count = self.at - digits;
        if count == 0 {
            return Err(self.unexpected("expected a value"));
        }
        if count > 1 && self.text.as_bytes()[digits] == b'0' {
            self.at = digits + 1;
            return Err(self.unexpected("unexpected digit after 0"));
        }
        // Fifteen digits always fit a double exactly.
        let value = if count <= 15 && !matches!(self.peek(), b'.' | b'e' | b'E') {
            let value = integer as f64;
            if negative { -value } else { value }
        } else {
            self.fraction_and_exponent()?;
            let text = &self.text[start..self.at];
            text.parse().expect("every JSON number is one in Rust")
        };
        self.skip_white_space();
        Ok(value)
    }

    /// Steps over one value of any kind, checking that it is JSON. Arrays and objects may nest
    /// however deep.
    pub(crate) fn skip(&mut self) -> Result<(), ParseError> {
        // Whether each thing we are in is an object.
        let mut inside: Vec<bool> = Vec::new();
        loop {
            let entered = match self.peek() {
                b'[' => self.enter_array()?.then_some(false),
                b'{' => self.enter_object()?.then_some(true),
                _ => self.skip_scalar().map(|()| None)?,
            };
            inside.extend(entered);
            if entered.is_none() {
                while let Some(object) = inside.last() {
                    let more = if *object {
                        self.next_member()?
                    } else {
                        self.next_element()?
                    };
                    if more {
                        break;
                    }
                    inside.pop();
                }
            }
            match inside.last() {
                Some(true) => drop(self.key()?),
                Some(false) => {}
                None => return Ok(()),
            }
        }
    }

    /// What stands at `start`, for an error: one value, cut to 100 characters.
    pub(crate) fn excerpt(&self, start: usize) -> &'a str {
        const LONGEST: usize = 100;
        let rest = &self.text[start..];
        let cut = rest
            .char_indices()
            .nth(LONGEST)
            .map_or(rest.len(), |(at, _)| at);
        // A value that ends beyond the cut reads as unfinished, so that the whole cut is taken.
        let mut value = Reader::new(&rest[..cut]);
        match value.skip() {
            Ok(()) => rest[..value.at].trim_end(),
            Err(_) => &rest[..cut],
        }
    }

    /// A complaint about the place we stand at.
    pub(crate) fn unexpected(&self, problem: &'static str) -> ParseError {
        if self.at >= self.text.len() {
            self.syntax("unexpected end")
        } else {
            self.syntax(problem)
        }
    }

    fn syntax(&self, problem: &'static str) -> ParseError {
        ParseError::Syntax {
            problem,
            offset: self.at,
        }
    }

    fn skip_scalar(&mut self) -> Result<(), ParseError> {
        match self.peek() {
            b'"' => self.string().map(drop),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.number().map(drop),
        }
    }

    /// Takes one punctuation mark and the white space behind it, if it stands here.
    fn take(&mut self, mark: u8) -> bool {
        let here = self.peek() == mark;
        if here {
            self.at += 1;
            self.skip_white_space();
        }
        here
    }

    fn expect(&mut self, mark: u8, problem: &'static str) -> Result<(), ParseError> {
        if self.take(mark) {
            Ok(())
        } else {
            Err(self.unexpected(problem))
        }
    }

    fn skip_white_space(&mut self) {
        while let b' ' | b'\t' | b'\n' | b'\r' = self.peek() {
            self.at += 1;
        }
    }

    /// Takes what needs no translation, up to the next quote, backslash or control character.
    fn plain_run(&mut self) -> &'a str {
        let start = self.at;
        self.at += plain_length(&self.text.as_bytes()[start..]);
        &self.text[start..self.at]
    }

    /// The rest of a string that begins with `run`; stops at its closing quote.
    fn escaped(&mut self, run: &str) -> Result<String, ParseError> {
        let mut text = String::from(run);
        loop {
            match self.peek() {
                b'"' => return Ok(text),
                b'\\' => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                _ => return Err(self.unexpected("control character in a string")),
            }
            text.push_str(self.plain_run());
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let escaped = match self.peek() {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode_escape();
            }
            _ => return Err(self.unexpected("unknown escape")),
        };
        self.at += 1;
        Ok(escaped)
    }

    /// Joins a pair of surrogates; a lone one becomes U+FFFD, since a Rust string cannot hold it.
    fn unicode_escape(&mut self) -> Result<char, ParseError> {
        let unit = self.four_hex_digits()?;
        if !(0xD800..0xDC00).contains(&unit) {
            return Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            let behind_first = self.at;
            self.at += 2;
            let second = self.four_hex_digits()?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // The second escape is a character of its own and is read again.
            self.at = behind_first;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn four_hex_digits(&mut self) -> Result<u32, ParseError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = char::from(self.peek()).to_digit(16);
            unit = unit * 16 + digit.ok_or_else(|| self.unexpected("expected four hex digits"))?;
            self.at += 1;
        }
        Ok(unit)
    }

    /// Steps over what may follow the integer part of a number.
    fn fraction_and_exponent(&mut self) -> Result<(), ParseError> {
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if let b'e' | b'E' = self.peek() {
            self.at += 1;
            if let b'+' | b'-' = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), ParseError> {
        if !self.peek().is_ascii_digit() {
            return Err(self.unexpected("expected a digit"));
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }
}

/// How many bytes stand before the first that a JSON string must escape.
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    // Most strings of a message are names, and end within these bytes.
    const SHORT: usize = 16;
    // Whole chunks are looked at without branches, which the compiler turns into vector code.
    const CHUNK: usize = 32;
    let mut length = 0;
    while length < SHORT
        && let Some(word) = bytes[length..].first_chunk()
    {
        match first_special(u64::from_le_bytes(*word)) {
            Some(place) => return length + place,
            None => length += size_of::<u64>(),
        }
    }
    let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    for chunk in bytes[length..].chunks_exact(CHUNK) {
        if chunk.iter().fold(false, |any, byte| any | special(byte)) {
            break;
        }
        length += CHUNK;
    }
    let rest = &bytes[length..];
    length + rest.iter().position(special).unwrap_or(rest.len())
}

/// The place of the first of eight bytes, the lowest first, that a JSON string must escape.
fn first_special(word: u64) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    // The high bit of each byte that is less than `limit`. A byte behind one that is may be marked wrongly, because of the
    // borrow; so only the first mark counts.
    let less = |word: u64, limit: u64| word.wrapping_sub(limit * ONES) & !word & HIGH;
    let is = |byte: u8| less(word ^ (u64::from(byte) * ONES), 1);
    let marks = less(word, 0x20) | is(b'"') | is(b'\\');
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}
