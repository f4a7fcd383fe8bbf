//! Writes an expression as the JSON text `JSON.stringify` would give.

use std::fmt::Write;

use indexmap::IndexMap;

use super::json::plain_length;
use super::{
    ByteContainer, Capture, ErrorExpression, Expression, PathPart, Plain, Reference, Remap,
    RequestExpression, ResponseExpression, base64,
};

impl Expression {
    pub fn print(&self) -> String {
        let mut out = String::with_capacity(128);
        self.write_to(&mut out);
        out
    }

    /// Appends its text. It recurses for each level of nesting, so the code that builds an expression must bound
    /// its depth.
    pub fn write_to(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Undefined => out.push_str(r#"["undefined"]"#),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(number) => write_number(out, *number),
            Self::String(text) => write_string(out, text),
            Self::BigInt(integer) => {
                write!(out, r#"["bigint","{integer}"]"#).expect("a String takes everything");
            }
            Self::Date(time) => write_form(out, "date", |out| match time {
                Some(milliseconds) if milliseconds.is_finite() => write_finite(out, *milliseconds),
                _ => out.push_str("null"),
            }),
            Self::Bytes(bytes, container) => write_bytes(out, bytes, *container),
            Self::Array(elements) => {
                out.push('[');
                write_expressions(out, elements);
                out.push(']');
            }
            Self::Object(members) => write_object(out, members, |out, value| value.write_to(out)),
            Self::Error(error) => write_form(out, "error", |out| write_error(out, error)),
            Self::RegExp(regexp) => write_form(out, "regexp", |out| {
                write_string(out, &regexp.source);
                if !regexp.flags.is_empty() {
                    out.push(',');
                    write_string(out, &regexp.flags);
                }
            }),
            Self::Url(href) => write_form(out, "url", |out| write_string(out, href)),
            Self::Headers(headers) => write_form(out, "headers", |out| write_pairs(out, headers)),
            Self::Request(request) => write_form(out, "request", |out| write_request(out, request)),
            Self::Response(response) => {
                write_form(out, "response", |out| write_response(out, response));
            }
            Self::Blob(blob) => write_form(out, "blob", |out| {
                write_string(out, &blob.mime);
                out.push(',');
                write_form(out, "readable", |out| write_integer(out, blob.readable));
            }),
            Self::Readable(id) => write_form(out, "readable", |out| write_integer(out, *id)),
            Self::Writable(id) => write_form(out, "writable", |out| write_integer(out, *id)),
            Self::Export(id) => write_form(out, "export", |out| write_integer(out, *id)),
            Self::Promise(id) => write_form(out, "promise", |out| write_integer(out, *id)),
            Self::Import(it) => write_form(out, "import", |out| write_reference(out, it)),
            Self::Pipeline(it) => write_form(out, "pipeline", |out| write_reference(out, it)),
            Self::Remap(remap) => write_form(out, "remap", |out| write_remap(out, remap)),
            Self::Raw(raw) => out.push_str(raw.as_str()),
        }
    }
}

/// Writes an integer in decimal digits.
pub(crate) fn write_integer(out: &mut String, integer: i64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    let mut rest = integer.unsigned_abs();
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if integer < 0 {
        out.push('-');
    }
    out.push_str(str::from_utf8(&digits[first..]).expect("digits are ASCII"));
}

/// Writes a bare array, each item of it by `write`.
fn write_list<T>(out: &mut String, items: &[T], write: impl Fn(&mut String, &T)) {
    out.push('[');
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

/// Writes an array that begins with `tag`; `write` adds what follows the first comma.
pub(crate) fn write_form(out: &mut String, tag: &str, write: impl FnOnce(&mut String)) {
    out.push_str("[\"");
    out.push_str(tag);
    out.push_str("\",");
    write(out);
    out.push(']');
}

/// Writes a finite number as JavaScript does. Minus zero loses its sign, as it does there.
pub(crate) fn write_bytes(out: &mut String, bytes: &[u8], container: ByteContainer) {
    write_form(out, "bytes", |out| {
        out.push('"');
        base64::write(out, bytes);
        out.push('"');
        if container != ByteContainer::Uint8Array {
            out.push(',');
            write_string(out, container.name());
        }
    });
}

pub(crate) fn write_number(out: &mut String, number: f64) {
    match number {
        f64::INFINITY => out.push_str(r#"["inf"]"#),
        f64::NEG_INFINITY => out.push_str(r#"["-inf"]"#),
        number if number.is_nan() => out.push_str(r#"["nan"]"#),
        number => write_finite(out, number),
    }
}

fn write_finite(out: &mut String, number: f64) {
    const EXACT: f64 = (1_i64 << 53) as f64;
    let integer = number as i64;
    if number.abs() < EXACT && integer as f64 == number {
        write_integer(out, integer);
    } else {
        out.push_str(ryu_js::Buffer::new().format_finite(number));
    }
}

/// Writes a number where no form may stand. JSON has no infinity, but a number too large reads as
/// one.
fn write_plain_number(out: &mut String, number: f64) {
    match number {
        f64::INFINITY => out.push_str("1e999"),
        f64::NEG_INFINITY => out.push_str("-1e999"),
        _ if number.is_nan() => out.push_str("null"),
        _ => write_finite(out, number),
    }
}

pub(crate) fn write_string(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, escaped) = rest.split_at(plain_length(rest.as_bytes()));
        out.push_str(plain);
        let Some(byte) = escaped.bytes().next() else {
            break;
        };
        out.push('\\');
        match byte {
            b'"' | b'\\' => out.push(char::from(byte)),
            0x08 => out.push('b'),
            b'\t' => out.push('t'),
            b'\n' => out.push('n'),
            0x0C => out.push('f'),
            b'\r' => out.push('r'),
            _ => {
                out.push_str("u00");
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
        rest = &escaped[1..];
    }
    out.push('"');
}

fn write_object<T>(
    out: &mut String,
    members: &IndexMap<String, T>,
    write: impl Fn(&mut String, &T),
) {
    out.push('{');
    write_members(out, members, write);
    out.push('}');
}

/// Writes the members without their braces.
fn write_members<T>(
    out: &mut String,
    members: &IndexMap<String, T>,
    write: impl Fn(&mut String, &T),
) {
    for (position, (key, value)) in members.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write_string(out, key);
        out.push(':');
        write(out, value);
    }
}

fn write_error(out: &mut String, error: &ErrorExpression) {
    write_string(out, &error.name);
    out.push(',');
    write_string(out, &error.message);
    if let Some(stack) = &error.stack {
        out.push(',');
        write_string(out, stack);
    } else if error.props.is_some() {
        out.push_str(",null");
    }
    if let Some(props) = &error.props {
        out.push(',');
        write_object(out, props, |out, value| value.write_to(out));
    }
}

pub(crate) fn write_pairs(out: &mut String, pairs: &[(String, String)]) {
    write_list(out, pairs, |out, (name, value)| {
        out.push('[');
        write_string(out, name);
        out.push(',');
        write_string(out, value);
        out.push(']');
    });
}

fn write_request(out: &mut String, request: &RequestExpression) {
    write_string(out, &request.url);
    out.push(',');
    write_init(out, &request.headers, request.body.as_ref(), &request.init);
}

fn write_response(out: &mut String, response: &ResponseExpression) {
    response.body.write_to(out);
    out.push(',');
    write_init(out, &response.headers, None, &response.init);
}

fn write_init(
    out: &mut String,
    headers: &[(String, String)],
    body: Option<&Expression>,
    rest: &IndexMap<String, Plain>,
) {
    out.push('{');
    write_members(out, rest, write_plain);
    let mut separator = if rest.is_empty() { "" } else { "," };
    if !headers.is_empty() {
        out.push_str(separator);
        out.push_str(r#""headers":"#);
        write_pairs(out, headers);
        separator = ",";
    }
    if let Some(body) = body {
        out.push_str(separator);
        out.push_str(r#""body":"#);
        body.write_to(out);
    }
    out.push('}');
}

pub(crate) fn write_plain(out: &mut String, plain: &Plain) {
    match plain {
        Plain::Null => out.push_str("null"),
        Plain::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Plain::Number(number) => write_plain_number(out, *number),
        Plain::String(text) => write_string(out, text),
        Plain::Array(elements) => write_list(out, elements, write_plain),
        Plain::Object(members) => write_object(out, members, write_plain),
    }
}

pub(crate) fn write_path(out: &mut String, path: &[PathPart]) {
    write_list(out, path, |out, part| match part {
        PathPart::Name(name) => write_string(out, name),
        PathPart::Number(number) => write_plain_number(out, *number),
    });
}

fn write_expressions(out: &mut String, expressions: &[Expression]) {
    write_list(out, expressions, |out, expression| expression.write_to(out));
}

fn write_reference(out: &mut String, reference: &Reference) {
    write_integer(out, reference.id);
    if reference.path.is_some() || reference.args.is_some() {
        out.push(',');
        write_path(out, reference.path.as_deref().unwrap_or_default());
    }
    if let Some(args) = &reference.args {
        out.push(',');
        write_expressions(out, args);
    }
}

pub(crate) fn write_capture(out: &mut String, capture: Capture) {
    let (tag, id) = match capture {
        Capture::Import(id) => ("import", id),
        Capture::Export(id) => ("export", id),
    };
    write_form(out, tag, |out| write_integer(out, id));
}

fn write_remap(out: &mut String, remap: &Remap) {
    write_integer(out, remap.id);
    out.push(',');
    write_path(out, &remap.path);
    out.push(',');
    write_list(out, &remap.captures, |out, capture| {
        write_capture(out, *capture)
    });
    out.push(',');
    write_expressions(out, &remap.instructions);
}
