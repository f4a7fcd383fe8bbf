//! Printing values as messages; every capability gets an entry in the tables.
//!
//! When a message cannot be finished its table entries are removed again, so a value that cannot be sent
//! leaves no trace.

use std::sync::Arc;

use num_bigint::BigInt;

use super::{Effect, Effects, ExportId, Session};
use crate::connection::Link;
use crate::error::{Error, Result};
use crate::expression::{ByteContainer, Capture, Expression, PathPart, Plain, is_absolute, print};
use crate::hook::deferred::deferred;
use crate::hook::import::{ImportId, ImportKind};
use crate::hook::{Action, Hook, Operation};
use crate::promise::Pipelined;
use crate::stream::{ReadableStream, WritableStream};
use crate::value::{Body, Request, Response, Value};

#[cfg(test)]
#[path = "serialize_tests.rs"]
mod tests;

/// Prints one message and makes the table entries it needs.
pub(super) struct Serializer<'a> {
    session: &'a mut Session,
    link: &'a Arc<Link>,
    text: String,
    entered: Entered,
    committed: bool,
}

/// The table entries that a message has made so far.
#[derive(Default)]
struct Entered {
    /// Exports, and whether the peer expects their value unasked.
    exports: Vec<(ExportId, Expects)>,
    pipes: Vec<(ImportId, ReadableStream)>,
    /// Streams to pump once the message is finished.
    operations: Vec<Effect>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    Nothing,
    Value,
}

/// A position in the text and the entries, to roll back to.
#[derive(Clone, Copy)]
struct Mark {
    text: usize,
    exports: usize,
    pipes: usize,
    operations: usize,
}

/// The message that ends a session. It holds no capability, so it needs no tables.
pub(super) fn abort_message(error: &Error) -> String {
    let plain = Value::Error(error.clone()).to_plain_expression();
    let expression = plain.unwrap_or_else(|| Expression::String(error.message().to_owned()));
    crate::message::Message::Abort(expression).print()
}

impl<'a> Serializer<'a> {
    pub(super) fn new(session: &'a mut Session, link: &'a Arc<Link>) -> Self {
        Self {
            session,
            link,
            text: String::with_capacity(64),
            entered: Entered::default(),
            committed: false,
        }
    }

    pub(super) fn open(&mut self, verb: &str) {
        self.text.push_str("[\"");
        self.text.push_str(verb);
        self.text.push_str("\",");
    }

    pub(super) fn id(&mut self, id: i64) {
        print::write_integer(&mut self.text, id);
        self.text.push(',');
    }

    /// Ends the message. The pipes it uses are announced before it.
    pub(super) fn finish(mut self, effects: &mut Effects) -> String {
        self.text.push(']');
        self.committed = true;
        let entered = std::mem::take(&mut self.entered);
        effects.extend(entered.operations);
        for (export, expects) in entered.exports {
            if expects == Expects::Value
                && let Some(entry) = self.session.exports.get_mut(&export)
            {
                entry.answer = super::AnswerState::Owed;
                self.session.unanswered += 1;
                effects.push(Effect::Answer {
                    export,
                    hook: entry.hook.clone(),
                });
            }
        }
        for (id, from) in entered.pipes {
            self.session.send("[\"pipe\"]".to_owned());
            let hook = self.session.hold(self.link, id);
            effects.push(Effect::Pump {
                from,
                to: WritableStream::from_hook(hook, self.session.account.clone()),
            });
        }
        std::mem::take(&mut self.text)
    }

    /// The operation of a `push` or `stream`.
    pub(super) fn operation(&mut self, import: ImportId, operation: Operation) -> Result<()> {
        self.write_operation(import, operation)?;
        self.check_size()
    }

    /// The peer would end the session over a message that is too long.
    fn check_size(&self) -> Result<()> {
        if self.text.len() >= self.session.account.limits().max_sent_bytes() {
            return Err(Error::range_error("the value is too large to be sent"));
        }
        Ok(())
    }

    fn check_depth(&self, depth: usize) -> Result<()> {
        if depth >= self.session.account.limits().max_depth {
            return Err(Error::type_error("the value nests too deeply to be sent"));
        }
        Ok(())
    }

    fn write_operation(&mut self, import: ImportId, operation: Operation) -> Result<()> {
        match operation.action {
            Action::Get => {
                self.reference("pipeline", import, &operation.path);
                self.text.push(']');
                Ok(())
            }
            Action::Call(arguments) => {
                self.reference("pipeline", import, &operation.path);
                self.text.push_str(",[");
                for (index, argument) in arguments.iter().enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    self.value(argument, 1)?;
                }
                self.text.push_str("]]");
                Ok(())
            }
            Action::Map {
                captures,
                instructions,
                ..
            } => {
                self.reference("remap", import, &operation.path);
                self.text.push_str(",[");
                for (index, hook) in captures.into_iter().enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    let capture = match self.home(&hook) {
                        Some(id) => Capture::Import(id.0),
                        None => Capture::Export(self.enter(hook, Expects::Nothing)?.0),
                    };
                    print::write_capture(&mut self.text, capture);
                }
                self.text.push_str("],[");
                for (index, instruction) in instructions.iter().enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    instruction.write_to(&mut self.text);
                }
                self.text.push_str("]]");
                Ok(())
            }
        }
    }

    fn reference(&mut self, verb: &str, import: ImportId, path: &[PathPart]) {
        self.text.push_str("[\"");
        self.text.push_str(verb);
        self.text.push_str("\",");
        print::write_integer(&mut self.text, import.0);
        self.text.push(',');
        print::write_path(&mut self.text, path);
    }

    /// The value of a `resolve`.
    pub(super) fn root(&mut self, value: &Value) -> Result<()> {
        if let Value::Stub(capability) = value
            && self.home(capability.hook()).is_some()
        {
            // A JavaScript peer cannot take its own object as the whole result; it can take a new
            // capability of ours that leads back to it.
            let id = self.enter(capability.hook().clone(), Expects::Nothing)?;
            self.tagged("export", id.0);
            return Ok(());
        }
        self.value(value, 0)?;
        self.check_size()
    }

    /// The value of a `reject`.
    pub(super) fn error_root(&mut self, error: &Error) {
        let mark = self.mark();
        let result = match error.thrown_value() {
            Some(thrown) => self.value(thrown, 0),
            None => self.error(error, 0),
        };
        if result.and_then(|()| self.check_size()).is_err() {
            self.back_to(mark);
            self.text
                .push_str("[\"error\",\"Error\",\"the error could not be sent\"]");
        }
    }

    fn value(&mut self, value: &Value, depth: usize) -> Result<()> {
        self.check_depth(depth)?;
        self.check_size()?;
        if let Value::BigInt(integer) = value
            && is_longer(integer, self.session.account.limits().max_bigint_digits)
        {
            return Err(Error::range_error("the bigint is too long to be sent"));
        }
        match value {
            Value::Undefined => self.text.push_str("[\"undefined\"]"),
            Value::Null => self.text.push_str("null"),
            Value::Bool(true) => self.text.push_str("true"),
            Value::Bool(false) => self.text.push_str("false"),
            Value::Number(number) => print::write_number(&mut self.text, *number),
            Value::String(text) => print::write_string(&mut self.text, text),
            Value::BigInt(_) | Value::Date(_) | Value::RegExp(_) | Value::Headers(_) => {
                if let Some(expression) = value.to_plain_expression() {
                    expression.write_to(&mut self.text);
                }
            }
            Value::Url(href) => {
                if !is_absolute(href) {
                    return Err(Error::type_error("the URL is not absolute"));
                }
                self.text.push_str("[\"url\",");
                print::write_string(&mut self.text, href);
                self.text.push(']');
            }
            Value::Bytes(bytes, container) => {
                if !bytes.len().is_multiple_of(container.element_size()) {
                    return Err(Error::range_error(format!(
                        "{} bytes fill no {}",
                        bytes.len(),
                        container.name()
                    )));
                }
                print::write_bytes(&mut self.text, bytes, *container);
            }
            Value::Raw(raw) => self.text.push_str(raw.as_str()),
            Value::Array(items) => {
                self.text.push_str("[[");
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    self.value(item, depth + 1)?;
                }
                self.text.push_str("]]");
            }
            Value::Object(object) => {
                self.text.push('{');
                for (index, (name, value)) in object.iter().enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    print::write_string(&mut self.text, name);
                    self.text.push(':');
                    self.value(value, depth + 1)?;
                }
                self.text.push('}');
            }
            Value::Error(error) => self.error(error, depth)?,
            Value::Request(request) => self.request(request, depth)?,
            Value::Response(response) => self.response(response, depth)?,
            Value::Blob(blob) => {
                self.check_depth(depth + 1)?;
                self.text.push_str("[\"blob\",");
                print::write_string(&mut self.text, &blob.mime);
                self.text.push(',');
                self.readable(&ReadableStream::from_bytes(blob.bytes.clone()))?;
                self.text.push(']');
            }
            Value::Readable(stream) => self.readable(stream)?,
            Value::Writable(stream) => {
                let hook = stream
                    .hook()
                    .ok_or_else(|| Error::type_error("the WritableStream is already closed"))?;
                let id = self.enter(hook, Expects::Nothing)?;
                self.tagged("writable", id.0);
            }
            Value::Stub(capability) => self.stub(capability.hook())?,
            Value::Promise(promise) => self.promise(promise, depth)?,
        }
        Ok(())
    }

    fn promise(&mut self, promise: &Pipelined, depth: usize) -> Result<()> {
        let hook = promise.hook().shortened();
        let path = promise.path();
        if let Some(id) = self.home(&hook) {
            self.pipeline(id, path);
            return Ok(());
        }
        match hook {
            Hook::Value(settled) if path.is_empty() => return self.value(settled.value(), depth),
            Hook::Target(_) | Hook::Writer(_) if path.is_empty() => self.stub(&hook)?,
            hook => {
                let hook = if path.is_empty() {
                    hook
                } else {
                    self.follow_later(hook, path.to_vec())
                };
                let id = self.enter(hook, Expects::Value)?;
                self.tagged("promise", id.0);
            }
        }
        Ok(())
    }

    /// Follows a path. It may lead to another session, which must not be locked while ours is, so the rest is
    /// an effect.
    fn follow_later(&mut self, hook: Hook, path: Vec<PathPart>) -> Hook {
        let (promise, resolver) = deferred();
        let account = self.session.account.clone();
        let operation = Operation {
            path,
            action: Action::Get,
            account,
            permit: None,
        };
        self.entered.operations.push(Effect::Apply {
            hook,
            operation,
            resolver,
        });
        Hook::Promise(promise)
    }

    fn stub(&mut self, hook: &Hook) -> Result<()> {
        match self.home(hook) {
            Some(id) => self.tagged("import", id.0),
            None => {
                let id = self.enter(hook.clone(), Expects::Nothing)?;
                self.tagged("export", id.0);
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, id: ImportId, path: &[PathPart]) {
        if path.is_empty() {
            self.tagged("pipeline", id.0);
        } else {
            self.reference("pipeline", id, path);
            self.text.push(']');
        }
    }

    fn readable(&mut self, stream: &ReadableStream) -> Result<()> {
        let source = stream
            .take()
            .ok_or_else(|| Error::type_error("the ReadableStream was already read or sent"))?;
        if self.session.calls == super::Calls::Impossible {
            return Err(Error::type_error(
                "a stream cannot be sent in the answer of an HTTP batch",
            ));
        }
        let id = self.session.next_asked(1, ImportKind::Stub);
        self.entered.pipes.push((id, source));
        self.tagged("readable", id.0);
        Ok(())
    }

    fn error(&mut self, error: &Error, depth: usize) -> Result<()> {
        let replaced = self.session.redacted(error);
        // A stack is only shown by the redaction's choice, not because another peer told it to us.
        let stack = replaced.as_ref().and_then(Error::stack);
        let error = replaced.as_ref().unwrap_or(error);
        self.text.push_str("[\"error\",");
        print::write_string(&mut self.text, error.kind().name());
        self.text.push(',');
        print::write_string(&mut self.text, error.message());
        let mut first = true;
        for (name, value) in error.props() {
            // A property that cannot be sent is left out; the error still goes.
            let mark = self.mark();
            if first {
                self.text.push(',');
                self.stack_or_null(stack);
                self.text.push_str(",{");
            } else {
                self.text.push(',');
            }
            print::write_string(&mut self.text, name);
            self.text.push(':');
            match self.value(value, depth + 1) {
                Ok(()) => first = false,
                Err(_) => self.back_to(mark),
            }
        }
        if !first {
            self.text.push('}');
        } else if stack.is_some() {
            self.text.push(',');
            self.stack_or_null(stack);
        }
        self.text.push(']');
        Ok(())
    }

    fn stack_or_null(&mut self, stack: Option<&str>) {
        match stack {
            Some(stack) => print::write_string(&mut self.text, stack),
            None => self.text.push_str("null"),
        }
    }

    fn request(&mut self, request: &Request, depth: usize) -> Result<()> {
        self.text.push_str("[\"request\",");
        print::write_string(&mut self.text, &request.url);
        self.text.push_str(",{");
        let mut fields = Fields::default();
        if request.method != "GET" {
            fields.name(&mut self.text, "method");
            print::write_string(&mut self.text, &request.method);
        }
        self.headers(&mut fields, &request.headers);
        if !matches!(request.body, Body::Empty) {
            fields.name(&mut self.text, "body");
            self.body(&request.body, depth + 1)?;
            fields.name(&mut self.text, "duplex");
            self.text.push_str("\"half\"");
        }
        self.extra(&mut fields, &request.extra, depth + 1)?;
        self.text.push_str("}]");
        Ok(())
    }

    fn response(&mut self, response: &Response, depth: usize) -> Result<()> {
        self.text.push_str("[\"response\",");
        self.body(&response.body, depth + 1)?;
        self.text.push_str(",{");
        let mut fields = Fields::default();
        if response.status != 200 {
            fields.name(&mut self.text, "status");
            print::write_integer(&mut self.text, i64::from(response.status));
        }
        if !response.status_text.is_empty() {
            fields.name(&mut self.text, "statusText");
            print::write_string(&mut self.text, &response.status_text);
        }
        self.headers(&mut fields, &response.headers);
        self.extra(&mut fields, &response.extra, depth + 1)?;
        self.text.push_str("}]");
        Ok(())
    }

    fn body(&mut self, body: &Body, depth: usize) -> Result<()> {
        self.check_depth(depth)?;
        match body {
            Body::Empty => self.value(&Value::Null, depth),
            Body::Text(text) => {
                print::write_string(&mut self.text, text);
                Ok(())
            }
            Body::Bytes(bytes) => self.value(
                &Value::Bytes(bytes.clone(), ByteContainer::Uint8Array),
                depth,
            ),
            Body::Stream(stream) => self.readable(stream),
        }
    }

    fn headers(&mut self, fields: &mut Fields, headers: &[(String, String)]) {
        if !headers.is_empty() {
            fields.name(&mut self.text, "headers");
            print::write_pairs(&mut self.text, headers);
        }
    }

    fn extra(
        &mut self,
        fields: &mut Fields,
        extra: &indexmap::IndexMap<String, Plain>,
        depth: usize,
    ) -> Result<()> {
        for (name, value) in extra {
            self.check_plain_depth(value, depth)?;
            fields.name(&mut self.text, name);
            print::write_plain(&mut self.text, value);
        }
        Ok(())
    }

    fn check_plain_depth(&self, value: &Plain, depth: usize) -> Result<()> {
        self.check_depth(depth)?;
        match value {
            Plain::Null | Plain::Bool(_) | Plain::Number(_) | Plain::String(_) => Ok(()),
            Plain::Array(items) => items
                .iter()
                .try_for_each(|item| self.check_plain_depth(item, depth + 1)),
            Plain::Object(fields) => fields
                .values()
                .try_for_each(|value| self.check_plain_depth(value, depth + 1)),
        }
    }

    fn tagged(&mut self, tag: &str, id: i64) {
        self.text.push_str("[\"");
        self.text.push_str(tag);
        self.text.push_str("\",");
        print::write_integer(&mut self.text, id);
        self.text.push(']');
    }

    /// The peer's own name for what the hook stands for, when it is the peer's.
    fn home(&self, hook: &Hook) -> Option<ImportId> {
        match hook.shortened() {
            Hook::Import(import) if Arc::ptr_eq(import.link(), self.link) => Some(import.id()),
            _ => None,
        }
    }

    fn enter(&mut self, hook: Hook, expects: Expects) -> Result<ExportId> {
        if self.session.exports.len() >= self.session.account.limits().max_exports {
            return Err(Error::range_error("the peer holds too many capabilities"));
        }
        let id = self.session.export(hook);
        self.entered.exports.push((id, expects));
        Ok(id)
    }

    fn mark(&self) -> Mark {
        Mark {
            text: self.text.len(),
            exports: self.entered.exports.len(),
            pipes: self.entered.pipes.len(),
            operations: self.entered.operations.len(),
        }
    }

    /// Removes the text and the entries made since `mark`. None of it was sent, so the ids are free again.
    fn back_to(&mut self, mark: Mark) {
        self.text.truncate(mark.text);
        self.entered.operations.truncate(mark.operations);
        for (id, _) in self.entered.exports.drain(mark.exports..) {
            self.session.exports.remove(&id);
            self.session.last_sent += 1;
        }
        for (id, _) in self.entered.pipes.drain(mark.pipes..) {
            self.session.imports.remove(&id);
            self.session.last_asked -= 1;
        }
    }
}

impl Drop for Serializer<'_> {
    fn drop(&mut self) {
        if !self.committed {
            self.back_to(Mark {
                text: 0,
                exports: 0,
                pipes: 0,
                operations: 0,
            });
        }
    }
}

/// Whether the text of an integer has more than so many characters, its sign included.
fn is_longer(integer: &BigInt, characters: usize) -> bool {
    // The bits tell the number of digits but for one or two, and are there already.
    let digits = integer.bits() as f64 * std::f64::consts::LOG10_2;
    let limit = characters as f64;
    digits > limit - 2.0 && (digits > limit + 1.0 || integer.to_string().len() > characters)
}

/// Commas between the fields of an object.
#[derive(Default)]
struct Fields {
    any: bool,
}

impl Fields {
    fn name(&mut self, text: &mut String, name: &str) {
        if std::mem::replace(&mut self.any, true) {
            text.push(',');
        }
        print::write_string(text, name);
        text.push(':');
    }
}
