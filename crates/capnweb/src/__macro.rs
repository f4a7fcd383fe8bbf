//! Functions for the code that the macros generate. Not for use by hand: they may change in any release.

use crate::convert::FromValue;
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
