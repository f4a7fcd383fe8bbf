//! What the code that the macros write calls. Not for use by hand: it may change in any release.

use std::borrow::Cow;
use std::cell::RefCell;

use crate::convert::FromValue;
use crate::describe::Type;
use crate::error::{Error, Result};
use crate::value::{Object, Value};

/// Reads a field; the error names it.
pub fn field<T: FromValue>(name: &str, value: Value) -> Result<T> {
    T::from_value(value)
        .map_err(|error| Error::of(error.kind(), format!("field '{name}': {}", error.message())))
}

/// Sets a field, unless it is `undefined`: then it is left out.
pub fn insert(object: &mut Object, name: &str, value: impl Into<Value>) {
    match value.into() {
        Value::Undefined => {}
        value => drop(object.insert(name, value)),
    }
}

/// Describes a struct. Inside the description of itself, a recursive one is [`Type::Any`].
pub fn describe_object(
    path: &'static str,
    fields: impl FnOnce() -> Vec<(Cow<'static, str>, Type)>,
) -> Type {
    thread_local! {
        /// The structs that are being described, outermost first.
        static OUTER: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }
    if OUTER.with_borrow(|outer| outer.contains(&path)) {
        return Type::Any;
    }
    OUTER.with_borrow_mut(|outer| outer.push(path));
    let described = Type::Object(fields());
    OUTER.with_borrow_mut(Vec::pop);
    described
}
