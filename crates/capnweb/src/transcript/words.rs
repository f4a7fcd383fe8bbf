//! An expression in words: one line, however long, deep or strange it is.

use std::fmt::{self, Write as _};

use indexmap::IndexMap;

use super::{Id, Side};
use crate::expression::{Capture, Expression, PathPart, Plain, Reference, Remap};

/// How many characters a line has at most,
const LINE: usize = 240;
/// and the name of a call in it.
const SHORT: usize = 48;
/// How much of a text is shown,
const TEXT: usize = 48;
/// how many elements of a list,
const ITEMS: usize = 8;
/// and how deep lists in lists are shown.
const DEPTH: usize = 4;

/// A line that is being written. What does not fit is left out, and marked so; what would do something to a
/// terminal is written as an escape.
pub(super) struct Words {
    /// Who speaks: ids mean something else to each side.
    from: Side,
    text: String,
    /// How many characters still fit; `None` once something did not.
    room: Option<usize>,
    depth: usize,
}

impl Words {
    pub(super) fn new(from: Side) -> Self {
        Self {
            from,
            text: String::new(),
            room: Some(LINE),
            depth: 0,
        }
    }

    pub(super) fn short(from: Side) -> Self {
        Self {
            room: Some(SHORT),
            ..Self::new(from)
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn put(&mut self, words: fmt::Arguments<'_>) {
        // Writing to a string cannot fail; a full line swallows the rest.
        let _ = self.write_fmt(words);
    }

    pub(super) fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Null => self.put(format_args!("null")),
            Expression::Undefined => self.put(format_args!("undefined")),
            Expression::Bool(value) => self.put(format_args!("{value}")),
            Expression::Number(value) => self.number(*value),
            Expression::String(text) => self.literal(text),
            Expression::BigInt(value) if value.bits() > 128 => {
                self.put(format_args!("a bigint of {} bits", value.bits()));
            }
            Expression::BigInt(value) => self.put(format_args!("{value}n")),
            Expression::Date(Some(milliseconds)) => {
                self.put(format_args!("Date("));
                self.number(*milliseconds);
                self.put(format_args!(")"));
            }
            Expression::Date(None) => self.put(format_args!("an invalid Date")),
            Expression::Bytes(bytes, container) => {
                let name = container.name();
                self.put(format_args!("{name} of {} bytes", bytes.len()));
            }
            Expression::Array(items) => self.nested("[", "]", |words| words.list(items)),
            Expression::Object(members) => self.nested("{", "}", |words| words.members(members)),
            Expression::Error(error) => {
                self.put(format_args!("{}(", shown(&error.name)));
                self.literal(&error.message);
                self.put(format_args!(")"));
                if let Some(props) = error.props.as_ref().filter(|props| !props.is_empty()) {
                    self.nested(" {", "}", |words| words.members(props));
                }
            }
            Expression::RegExp(regexp) => {
                let (source, flags) = (shown(&regexp.source), shown(&regexp.flags));
                self.put(format_args!("/{source}/{flags}"));
            }
            Expression::Url(href) => self.put(format_args!("URL {}", shown(href))),
            Expression::Headers(pairs) => {
                self.put(format_args!("Headers of {} lines", pairs.len()))
            }
            Expression::Request(request) => {
                let method = match request.init.get("method") {
                    Some(Plain::String(method)) => method.as_str(),
                    _ => "GET",
                };
                self.put(format_args!(
                    "Request {} {}",
                    shown(method),
                    shown(&request.url)
                ));
                self.body(request.body.as_ref());
            }
            Expression::Response(response) => {
                let status = match response.init.get("status") {
                    Some(Plain::Number(status)) => *status,
                    _ => 200.0,
                };
                self.put(format_args!("Response "));
                self.number(status);
                self.body(Some(&response.body));
            }
            Expression::Blob(blob) => {
                let pipe = self.own(blob.readable);
                self.put(format_args!("Blob {} from pipe {pipe}", shown(&blob.mime)));
            }
            Expression::Readable(id) => {
                let id = self.own(*id);
                self.put(format_args!("readable {id}"));
            }
            Expression::Writable(id) => {
                let id = self.own(*id);
                self.put(format_args!("writable {id}"));
            }
            Expression::Export(id) => {
                let id = self.own(*id);
                self.put(format_args!("stub {id}"));
            }
            Expression::Promise(id) => {
                let id = self.own(*id);
                self.put(format_args!("promise {id}"));
            }
            Expression::Import(reference) => {
                self.put(format_args!("stub of "));
                self.reference(reference);
            }
            Expression::Pipeline(reference) => self.reference(reference),
            Expression::Remap(remap) => self.remap(remap),
            Expression::Raw(raw) => self.literal(raw.as_str()),
        }
    }

    /// A text in quotes, shortened.
    pub(super) fn literal(&mut self, text: &str) {
        let cut = cut(text);
        self.put(format_args!("\"{cut}\""));
        if cut.len() < text.len() {
            self.put(format_args!("… ({} bytes)", text.len()));
        }
    }

    pub(super) fn path(&mut self, path: &[PathPart]) {
        for part in path {
            match part {
                PathPart::Name(name) => self.put(format_args!(".{}", shown(name))),
                PathPart::Number(number) => {
                    self.put(format_args!("["));
                    self.number(*number);
                    self.put(format_args!("]"));
                }
            }
        }
    }

    fn reference(&mut self, reference: &Reference) {
        self.put(format_args!("{}", Id::held(self.from, reference.id)));
        self.path(reference.path.as_deref().unwrap_or_default());
        if let Some(arguments) = &reference.args {
            self.nested("(", ")", |words| words.list(arguments));
        }
    }

    fn remap(&mut self, remap: &Remap) {
        self.put(format_args!("{}", Id::held(self.from, remap.id)));
        self.path(&remap.path);
        let steps = remap.instructions.len();
        self.put(format_args!(".map(a function of {steps} steps"));
        for capture in &remap.captures {
            let id = match capture {
                Capture::Import(id) => Id::held(self.from, *id),
                Capture::Export(id) => self.own(*id),
            };
            self.put(format_args!(", with {id}"));
        }
        self.put(format_args!(")"));
    }

    /// Something the speaker made: a capability, a promise, a pipe.
    fn own(&self, number: i64) -> Id {
        Id {
            of: self.from,
            number,
        }
    }

    fn body(&mut self, body: Option<&Expression>) {
        if let Some(body) = body.filter(|body| !matches!(body, Expression::Null)) {
            self.put(format_args!(" with "));
            self.expression(body);
        }
    }

    fn number(&mut self, number: f64) {
        self.put(format_args!("{}", ryu_js::Buffer::new().format(number)));
    }

    fn nested(&mut self, open: &str, close: &str, inside: impl FnOnce(&mut Self)) {
        self.put(format_args!("{open}"));
        if self.depth < DEPTH {
            self.depth += 1;
            inside(self);
            self.depth -= 1;
        } else {
            self.put(format_args!("…"));
        }
        self.put(format_args!("{close}"));
    }

    fn list(&mut self, items: &[Expression]) {
        for (index, item) in items.iter().take(ITEMS).enumerate() {
            self.comma(index);
            self.expression(item);
        }
        self.rest(items.len());
    }

    fn members(&mut self, members: &IndexMap<String, Expression>) {
        for (index, (name, value)) in members.iter().take(ITEMS).enumerate() {
            self.comma(index);
            self.put(format_args!("{}: ", shown(name)));
            self.expression(value);
        }
        self.rest(members.len());
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.put(format_args!(", "));
        }
    }

    fn rest(&mut self, length: usize) {
        if length > ITEMS {
            self.put(format_args!(", … {} more", length - ITEMS));
        }
    }
}

impl fmt::Write for Words {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let Some(room) = self.room else {
            return Ok(());
        };
        for (index, character) in text.chars().enumerate() {
            if index == room {
                self.text.push('…');
                self.room = None;
                return Ok(());
            }
            match character {
                '"' | '\'' | '\\' => self.text.push(character),
                // What would move the cursor, turn the line around or hide.
                character => self.text.extend(character.escape_debug()),
            }
        }
        self.room = Some(room - text.chars().count());
        Ok(())
    }
}

/// Something of a peer's choosing, shortened.
pub(super) fn shown(text: &str) -> impl fmt::Display + '_ {
    struct Shown<'a>(&'a str);

    impl fmt::Display for Shown<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let cut = cut(self.0);
            f.write_str(cut)?;
            if cut.len() < self.0.len() {
                f.write_str("…")?;
            }
            Ok(())
        }
    }

    Shown(text)
}

fn cut(text: &str) -> &str {
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
