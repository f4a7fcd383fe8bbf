//! Evaluating expressions: ids are looked up, calls in an expression are started.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::account::Account;
use crate::error::{Error, ErrorKind, Result};
use crate::expression::{
    Capture, ErrorExpression, Expression, Plain, Reference, RequestExpression, ResponseExpression,
    is_prototype_member,
};
use crate::hook::{Action, Hook, Path};
use crate::map::MapBudget;
use crate::stream::{ReadableStream, WritableStream};
use crate::value::{Body, Date, Object, Request, Response, Value};

/// The meaning of ids in an expression: a session's tables, or the variables of a mapped function.
pub(crate) trait Tables {
    fn account(&self) -> &Account;

    /// Our own object, as `import`, `pipeline` and `remap` name it.
    fn export(&mut self, id: i64) -> Result<Hook>;

    /// Performs an operation in the order in which expressions name them; gives its answer.
    fn apply(&mut self, hook: &Hook, path: Path, action: Action) -> Result<Hook>;

    /// The value that stands for a hook named by `pipeline`.
    fn pipelined(&mut self, hook: Hook) -> Value;

    fn map_budget(&mut self) -> Result<MapBudget>;

    /// A capability of the peer.
    fn import_stub(&mut self, id: i64) -> Result<Hook>;

    /// A promise of the peer.
    fn import_promise(&mut self, id: i64) -> Result<Hook>;

    /// The readable end of a pipe the peer made.
    fn readable(&mut self, id: i64) -> Result<ReadableStream>;

    /// A promise of the Blob that comes in `content`.
    fn blob(&mut self, mime: String, content: ReadableStream) -> Result<Hook>;
}

/// The value of an expression. An error is the peer's fault and ends its session.
pub(crate) fn evaluate(expression: Expression, tables: &mut impl Tables) -> Result<Value> {
    Ok(match expression {
        Expression::Null => Value::Null,
        Expression::Undefined => Value::Undefined,
        Expression::Bool(value) => Value::Bool(value),
        Expression::Number(value) => Value::Number(value),
        Expression::String(text) => Value::String(text),
        Expression::BigInt(value) => Value::BigInt(value),
        Expression::Date(milliseconds) => Value::Date(Date { milliseconds }),
        Expression::Bytes(bytes, container) => Value::Bytes(bytes, container),
        Expression::RegExp(regexp) => Value::RegExp(regexp),
        Expression::Url(href) => Value::Url(href),
        Expression::Headers(pairs) => Value::Headers(pairs),
        Expression::Raw(raw) => Value::Raw(raw),
        Expression::Array(items) => Value::Array(evaluate_all(items, tables)?),
        Expression::Object(fields) => {
            let mut object = Object::new();
            for (name, field) in *fields {
                // Evaluated even when it is dropped, so that the capabilities in it are released.
                let value = evaluate(field, tables)?;
                if !is_hidden(&name) {
                    object.insert(name, value);
                }
            }
            Value::Object(object)
        }
        Expression::Error(error) => Value::Error(evaluate_error(*error, tables)?),
        Expression::Request(request) => {
            Value::Request(Box::new(evaluate_request(*request, tables)?))
        }
        Expression::Response(response) => {
            Value::Response(Box::new(evaluate_response(*response, tables)?))
        }
        Expression::Blob(blob) => {
            let content = tables.readable(blob.readable)?;
            Value::Promise(tables.blob(blob.mime, content)?.into())
        }
        Expression::Readable(id) => Value::Readable(tables.readable(id)?),
        Expression::Writable(id) => {
            let hook = tables.import_stub(id)?;
            Value::Writable(WritableStream::from_hook(hook, tables.account().clone()))
        }
        Expression::Export(id) => Value::Stub(tables.import_stub(id)?.into()),
        Expression::Promise(id) => Value::Promise(tables.import_promise(id)?.into()),
        Expression::Import(reference) => Value::Stub(follow(*reference, tables)?.into()),
        Expression::Pipeline(reference) => {
            let hook = follow(*reference, tables)?;
            tables.pipelined(hook)
        }
        Expression::Remap(remap) => {
            let hook = tables.export(remap.id)?;
            check_path(&remap.path, tables)?;
            let mut captures = Vec::with_capacity(remap.captures.len());
            for capture in remap.captures {
                captures.push(match capture {
                    Capture::Import(id) => tables.export(id)?,
                    Capture::Export(id) => tables.import_stub(id)?,
                });
            }
            let budget = tables.map_budget()?;
            let action = Action::Map {
                captures,
                instructions: Arc::clone(&remap.instructions),
                budget,
            };
            Value::Promise(tables.apply(&hook, remap.path, action)?.into())
        }
    })
}

/// The value of an expression that holds no ids.
pub(crate) fn plain(expression: Expression) -> Value {
    evaluate(expression, &mut NoTables(Account::default())).unwrap_or_else(Value::Error)
}

fn evaluate_all(items: Vec<Expression>, tables: &mut impl Tables) -> Result<Vec<Value>> {
    items
        .into_iter()
        .map(|item| evaluate(item, tables))
        .collect()
}

fn follow(reference: Reference, tables: &mut impl Tables) -> Result<Hook> {
    let hook = tables.export(reference.id)?;
    let path = reference.path.unwrap_or_default();
    check_path(&path, tables)?;
    match reference.args {
        Some(args) => {
            let arguments = evaluate_all(args, tables)?;
            tables.apply(&hook, path, Action::Call(arguments))
        }
        None if path.is_empty() => Ok(hook),
        None => tables.apply(&hook, path, Action::Get),
    }
}

/// Each step may run a getter, inside the one before; a peer must not choose how deep that goes.
fn check_path(path: &Path, tables: &impl Tables) -> Result<()> {
    let longest = tables.account().limits().max_depth;
    if path.len() <= longest {
        return Ok(());
    }
    Err(Error::range_error(format!(
        "a property path is longer than {longest} steps"
    )))
}

fn evaluate_error(error: ErrorExpression, tables: &mut impl Tables) -> Result<Error> {
    let mut props = IndexMap::new();
    for (name, prop) in error.props.unwrap_or_default() {
        // Evaluated even when it is dropped, so that the capabilities in it are released.
        let value = evaluate(prop, tables)?;
        if !is_hidden(&name) && !matches!(name.as_str(), "name" | "message" | "stack") {
            props.insert(name, value);
        }
    }
    Ok(Error::from_parts(
        ErrorKind::from_name(&error.name),
        error.message,
        error.stack,
        props,
    ))
}

fn evaluate_request(request: RequestExpression, tables: &mut impl Tables) -> Result<Request> {
    let mut extra = request.init;
    let method = match extra.shift_remove("method") {
        Some(Plain::String(method)) => method,
        None => "GET".to_owned(),
        Some(_) => return Err(Error::type_error("a request's method must be a string")),
    };
    extra.shift_remove("duplex");
    let body = match request.body {
        Some(body) => evaluate_body(body, tables)?,
        None => Body::Empty,
    };
    Ok(Request {
        url: request.url,
        method,
        headers: request.headers,
        body,
        extra,
    })
}

fn evaluate_response(response: ResponseExpression, tables: &mut impl Tables) -> Result<Response> {
    let mut extra = response.init;
    let status = match extra.shift_remove("status") {
        Some(Plain::Number(status)) if (100.0..1000.0).contains(&status) => status as u16,
        None => 200,
        Some(_) => {
            return Err(Error::range_error(
                "a response's status must be a number of three digits",
            ));
        }
    };
    let status_text = match extra.shift_remove("statusText") {
        Some(Plain::String(text)) => text,
        None => String::new(),
        Some(_) => {
            return Err(Error::type_error(
                "a response's statusText must be a string",
            ));
        }
    };
    let body = evaluate_body(response.body, tables)?;
    Ok(Response {
        status,
        status_text,
        headers: response.headers,
        body,
        extra,
    })
}

fn evaluate_body(body: Expression, tables: &mut impl Tables) -> Result<Body> {
    match evaluate(body, tables)? {
        Value::Null => Ok(Body::Empty),
        Value::String(text) => Ok(Body::Text(text)),
        Value::Bytes(bytes, _) => Ok(Body::Bytes(bytes)),
        Value::Readable(stream) => Ok(Body::Stream(stream)),
        other => Err(Error::type_error(format!(
            "a body must be null, a string, bytes or a stream, not {}",
            other.describe_kind()
        ))),
    }
}

/// Names a received object or error may not carry, because in JavaScript they would shadow what every
/// object has.
fn is_hidden(name: &str) -> bool {
    is_prototype_member(name) || name == "toJSON"
}

/// For expressions that were made here and hold no ids.
struct NoTables(Account);

impl NoTables {
    fn refuse<T>() -> Result<T> {
        Err(Error::internal("plain data holds an id"))
    }
}

impl Tables for NoTables {
    fn account(&self) -> &Account {
        &self.0
    }

    fn export(&mut self, _id: i64) -> Result<Hook> {
        Self::refuse()
    }

    fn apply(&mut self, _hook: &Hook, _path: Path, _action: Action) -> Result<Hook> {
        Self::refuse()
    }

    fn pipelined(&mut self, hook: Hook) -> Value {
        Value::Promise(hook.into())
    }

    fn map_budget(&mut self) -> Result<MapBudget> {
        Self::refuse()
    }

    fn import_stub(&mut self, _id: i64) -> Result<Hook> {
        Self::refuse()
    }

    fn import_promise(&mut self, _id: i64) -> Result<Hook> {
        Self::refuse()
    }

    fn readable(&mut self, _id: i64) -> Result<ReadableStream> {
        Self::refuse()
    }

    fn blob(&mut self, _mime: String, _content: ReadableStream) -> Result<Hook> {
        Self::refuse()
    }
}
