//! Errors, in the one form that also travels: a JavaScript error with a class, a message
//! and properties.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;

use crate::hook::settled::holds_hooks;
use crate::trampoline::{self, Job};
use crate::value::Value;

/// A failed call, as the callee raised it or as the session did.
///
/// This is both what a [`Target`](crate::Target) returns and what a caller gets, so an error that
/// crosses three sessions is still the same error. Cloning is cheap.
///
/// A Rust error that is not meant for the peer goes through [`Error::internal`]: the peer reads
/// "internal error", the source stays here for the log.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    stack: Option<String>,
    props: IndexMap<String, Value>,
    /// Set when something other than an error was thrown: that value itself.
    thrown: Option<Value>,
    /// Never leaves the process.
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// The classes of error that JavaScript tells apart; any other name arrives as [`ErrorKind::Error`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    #[default]
    Error,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    UriError,
    AggregateError,
}

impl Error {
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(ErrorKind::Error, message)
    }

    /// An error of a given class.
    pub fn of(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            stack: None,
            props: IndexMap::new(),
            thrown: None,
            source: None,
        }))
    }

    /// A `TypeError`: the value is of the wrong kind.
    pub fn type_error(message: impl Into<String>) -> Self {
        Self::of(ErrorKind::TypeError, message)
    }

    /// A `RangeError`: the value is of the right kind and out of bounds.
    pub fn range_error(message: impl Into<String>) -> Self {
        Self::of(ErrorKind::RangeError, message)
    }

    /// A fault of ours. The peer is told no more than "internal error"; `source` is for the log.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(Arc::new(Inner {
            kind: ErrorKind::Error,
            message: "internal error".to_owned(),
            stack: None,
            props: IndexMap::new(),
            thrown: None,
            source: Some(Arc::from(source.into())),
        }))
    }

    /// The code of the error that layers see for a call that was dropped because its result was released.
    pub(crate) const CANCELLED: &str = "cancelled";

    /// A call took too long.
    pub(crate) fn timed_out(limit: Duration) -> Self {
        Self::new(format!("the call did not finish within {limit:?}")).with_code("timeout")
    }

    /// The resolver was dropped without an answer, most likely because its program is stopping. The code tells
    /// the caller that it is unknown whether the call was done.
    pub(crate) fn abandoned() -> Self {
        Self::new("the call ended without an answer").with_code(ABANDONED)
    }

    /// Something thrown that is no error, as JavaScript allows. It reaches the caller as it is.
    pub fn thrown(value: Value) -> Self {
        let message = match &value {
            Value::String(text) => text.clone(),
            other => format!("{} was thrown", other.describe_kind()),
        };
        Self::new(message).edit(|inner| inner.thrown = Some(value))
    }

    /// What was thrown, when it was no error.
    pub fn thrown_value(&self) -> Option<&Value> {
        self.0.thrown.as_ref()
    }

    /// Adds the machine-readable `code` property, which is what programs should look at.
    pub fn with_code(self, code: impl Into<Value>) -> Self {
        self.with_prop("code", code)
    }

    /// Adds an own property. It is sent with the error.
    pub fn with_prop(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.edit(|inner| {
            inner.props.insert(name.into(), value.into());
        })
    }

    pub fn with_cause(self, cause: impl Into<Value>) -> Self {
        self.with_prop("cause", cause)
    }

    /// With a stack. It is sent only when it is on an error that
    /// [`Options::redact`](crate::Options::redact) gives.
    pub fn with_stack(self, stack: impl Into<String>) -> Self {
        self.edit(|inner| inner.stack = Some(stack.into()))
    }

    fn edit(mut self, edit: impl FnOnce(&mut Inner)) -> Self {
        edit(Arc::make_mut(&mut self.0));
        self
    }

    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The stack the peer chose to send, if any.
    pub fn stack(&self) -> Option<&str> {
        self.0.stack.as_deref()
    }

    /// Own properties in order, `cause` and `errors` among them.
    pub fn props(&self) -> &IndexMap<String, Value> {
        &self.0.props
    }

    pub fn prop(&self, name: &str) -> Option<&Value> {
        self.0.props.get(name)
    }

    /// The `code` property when it is a string.
    pub fn code(&self) -> Option<&str> {
        match self.prop("code") {
            Some(Value::String(code)) => Some(code),
            _ => None,
        }
    }

    /// Whether both are one error, rather than two alike.
    #[cfg(feature = "client")]
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn from_parts(
        kind: ErrorKind,
        message: String,
        stack: Option<String>,
        props: IndexMap<String, Value>,
    ) -> Self {
        Self(Arc::new(Inner {
            kind,
            message,
            stack,
            props,
            thrown: None,
            source: None,
        }))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // A peer can chain errors through their properties to any length: queue the drop, never recurse.
        for value in self
            .props
            .drain(..)
            .map(|(_, value)| value)
            .chain(self.thrown.take())
        {
            if holds_hooks(&value) {
                trampoline::run(Job::DropValue(value));
            }
        }
    }
}

impl ErrorKind {
    /// The class's name in JavaScript.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "Error",
            Self::EvalError => "EvalError",
            Self::RangeError => "RangeError",
            Self::ReferenceError => "ReferenceError",
            Self::SyntaxError => "SyntaxError",
            Self::TypeError => "TypeError",
            Self::UriError => "URIError",
            Self::AggregateError => "AggregateError",
        }
    }

    /// The class of that name; a name JavaScript does not know is a plain `Error`.
    pub fn from_name(name: &str) -> Self {
        match name {
            "EvalError" => Self::EvalError,
            "RangeError" => Self::RangeError,
            "ReferenceError" => Self::ReferenceError,
            "SyntaxError" => Self::SyntaxError,
            "TypeError" => Self::TypeError,
            "URIError" => Self::UriError,
            "AggregateError" => Self::AggregateError,
            _ => Self::Error,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.kind.name(), self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Error");
        out.field("kind", &self.0.kind)
            .field("message", &self.0.message);
        if !self.0.props.is_empty() {
            out.field("props", &self.0.props);
        }
        if let Some(source) = &self.0.source {
            out.field("source", source);
        }
        out.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.source {
            Some(source) => Some(&**source),
            None => None,
        }
    }
}

/// The `code` of a call that its callee dropped.
pub(crate) const ABANDONED: &str = "abandoned";

/// The result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;
