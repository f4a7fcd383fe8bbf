//! Between Rust types and values: what a parameter accepts, what a result becomes.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use bytes::Bytes;
use num_bigint::BigInt;

use crate::describe::Type;
use crate::error::{Error, Result};
use crate::expression::{Raw, RegExp};
use crate::promise::{Pipelined, Promise};
use crate::stream::{ReadableStream, WritableStream};
use crate::stub::{Capability, Interface, Stub};
use crate::value::{Blob, Date, Object, Request, Response, Value};

/// A type that a received value can become. The error is a `TypeError` that says what was expected.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a value",
    note = "derive `capnweb::FromValue` for it; a parameter that is an object is a `Stub<…>`"
)]
pub trait FromValue: Sized {
    /// Converts a value in which no promise is left.
    fn from_value(value: Value) -> Result<Self>;

    /// What callers in other languages should pass.
    fn describe() -> Type {
        Type::Any
    }
}

/// A type that a method can return: data, a stub, or a [`Result`] of either.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a method",
    note = "derive `capnweb::IntoValue` and `capnweb::FromValue` for it, or return a `Stub` of it"
)]
pub trait Output {
    /// What the caller gets.
    type Received: FromValue;

    /// The value to send, or the error.
    fn into_outcome(self) -> Result<Value>;
}

/// The arguments of a call: a tuple, or a list of values.
pub trait IntoArguments {
    /// The values, in order.
    fn into_arguments(self) -> Vec<Value>;
}

/// What can be passed where a `T` is expected: a `T`, or the promise of one. Where an `Option<T>` is
/// expected, also a bare `T` or its promise.
pub trait Argument<T> {
    /// The value to send.
    fn into_value(self) -> Value;
}

impl<T: Into<Value>> Argument<T> for T {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl<T> Argument<T> for Promise<T> {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl<T> Argument<T> for &Promise<T> {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl<T: Interface + ?Sized> Argument<Stub<T>> for &Stub<T> {
    fn into_value(self) -> Value {
        self.clone().into()
    }
}

impl Argument<String> for &str {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl<T: Into<Value>> Argument<Option<T>> for T {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl<T> Argument<Option<T>> for Promise<T> {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl<T> Argument<Option<T>> for &Promise<T> {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl<T: Interface + ?Sized> Argument<Option<Stub<T>>> for &Stub<T> {
    fn into_value(self) -> Value {
        self.clone().into()
    }
}

impl Argument<Option<String>> for &str {
    fn into_value(self) -> Value {
        self.into()
    }
}

fn expected(what: &str, got: &Value) -> Error {
    Error::type_error(format!("expected {what}, got {}", got.describe_kind()))
}

/// Types that stand for themselves in both directions.
macro_rules! plain {
    ($($type:ty: $kind:expr, $what:literal, $pattern:pat => $value:expr;)*) => {
        $(
            impl FromValue for $type {
                fn from_value(value: Value) -> Result<Self> {
                    match value {
                        $pattern => Ok($value),
                        other => Err(expected($what, &other)),
                    }
                }

                fn describe() -> Type {
                    $kind
                }
            }

            output!($type);
        )*
    };
}

/// Results that reach the caller as the type they were.
macro_rules! output {
    ($type:ty) => {
        impl Output for $type {
            type Received = $type;

            fn into_outcome(self) -> Result<Value> {
                Ok(self.into())
            }
        }
    };
}

plain! {
    bool: Type::Boolean, "a boolean", Value::Bool(value) => value;
    f64: Type::Number, "a number", Value::Number(value) => value;
    String: Type::String, "a string", Value::String(text) => text;
    BigInt: Type::BigInt, "a bigint", Value::BigInt(value) => *value;
    Date: Type::Date, "a Date", Value::Date(date) => date;
    Bytes: Type::Bytes, "bytes", Value::Bytes(bytes, _) => bytes;
    Object: Type::Record(Box::new(Type::Any)), "an object", Value::Object(object) => object;
    Error: Type::Error, "an Error", Value::Error(error) => error;
    RegExp: Type::Any, "a RegExp", Value::RegExp(regexp) => *regexp;
    Request: Type::Request, "a Request", Value::Request(request) => *request;
    Response: Type::Response, "a Response", Value::Response(response) => *response;
    Blob: Type::Blob, "a Blob", Value::Blob(blob) => blob;
    WritableStream: Type::Writable, "a WritableStream", Value::Writable(stream) => stream;
}

output!(Capability);

impl From<WritableStream> for Value {
    fn from(stream: WritableStream) -> Self {
        Self::Writable(stream)
    }
}

impl<T> From<ReadableStream<T>> for Value {
    fn from(stream: ReadableStream<T>) -> Self {
        Self::Readable(stream.cast())
    }
}

macro_rules! integers {
    ($($kind:expr => $($type:ty),*;)*) => {
        $($(
            impl FromValue for $type {
                fn from_value(value: Value) -> Result<Self> {
                    let wide = match &value {
                        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 => {
                            *number as i128
                        }
                        Value::BigInt(number) => i128::try_from(&**number)
                            .map_err(|_| Error::range_error("the integer is out of range"))?,
                        other => return Err(expected("an integer", other)),
                    };
                    Self::try_from(wide).map_err(|_| {
                        Error::range_error(format!("expected an integer from {} to {}, got {wide}", Self::MIN, Self::MAX))
                    })
                }

                fn describe() -> Type {
                    $kind
                }
            }

            output!($type);
        )*)*
    };
}

integers! {
    Type::Number => i8, i16, i32, u8, u16, u32;
    Type::Integer => i64, isize, u64, usize;
}

impl FromValue for f32 {
    fn from_value(value: Value) -> Result<Self> {
        f64::from_value(value).map(|number| number as f32)
    }

    fn describe() -> Type {
        Type::Number
    }
}

output!(f32);

impl FromValue for Value {
    fn from_value(value: Value) -> Result<Self> {
        Ok(value)
    }
}

impl Output for Value {
    type Received = Value;

    fn into_outcome(self) -> Result<Value> {
        Ok(self)
    }
}

impl FromValue for () {
    fn from_value(_value: Value) -> Result<Self> {
        Ok(())
    }

    fn describe() -> Type {
        Type::Void
    }
}

output!(());

impl Output for &str {
    type Received = String;

    fn into_outcome(self) -> Result<Value> {
        Ok(self.into())
    }
}

impl Output for Raw {
    type Received = Value;

    fn into_outcome(self) -> Result<Value> {
        Ok(self.into())
    }
}

impl Output for Pipelined {
    type Received = Value;

    fn into_outcome(self) -> Result<Value> {
        Ok(self.into())
    }
}

impl<T: FromValue> Output for Promise<T> {
    type Received = T;

    fn into_outcome(self) -> Result<Value> {
        Ok(self.into())
    }
}

impl<T: Interface + ?Sized> Output for Stub<T> {
    type Received = Stub<T>;

    fn into_outcome(self) -> Result<Value> {
        Ok(self.into())
    }
}

impl<T: FromValue> FromValue for Option<T> {
    /// `undefined`, `null` and an argument that is not there are all `None`.
    fn from_value(value: Value) -> Result<Self> {
        if value.is_nullish() {
            Ok(None)
        } else {
            T::from_value(value).map(Some)
        }
    }

    fn describe() -> Type {
        Type::Optional(Box::new(T::describe()))
    }
}

impl<T: Output> Output for Option<T> {
    type Received = Option<T::Received>;

    fn into_outcome(self) -> Result<Value> {
        self.map_or(Ok(Value::Undefined), T::into_outcome)
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(value: Value) -> Result<Self> {
        let items = match value {
            Value::Array(items) => items,
            other => return Err(expected("an array", &other)),
        };
        let convert = |(index, item)| {
            T::from_value(item).map_err(|error: Error| {
                Error::of(
                    error.kind(),
                    format!("element {index}: {}", error.message()),
                )
            })
        };
        items.into_iter().enumerate().map(convert).collect()
    }

    fn describe() -> Type {
        Type::Array(Box::new(T::describe()))
    }
}

impl<T: Output> Output for Vec<T> {
    type Received = Vec<T::Received>;

    fn into_outcome(self) -> Result<Value> {
        Ok(Value::Array(
            self.into_iter()
                .map(T::into_outcome)
                .collect::<Result<_>>()?,
        ))
    }
}

macro_rules! records {
    ($($map:ident),*) => {
        $(
            impl<T: FromValue> FromValue for $map<String, T> {
                fn from_value(value: Value) -> Result<Self> {
                    let convert = |(name, value): (String, Value)| match T::from_value(value) {
                        Ok(value) => Ok((name, value)),
                        Err(error) => Err(Error::of(error.kind(), format!("field '{name}': {}", error.message()))),
                    };
                    Object::from_value(value)?.into_iter().map(convert).collect()
                }

                fn describe() -> Type {
                    Type::Record(Box::new(T::describe()))
                }
            }

            impl<T: Output> Output for $map<String, T> {
                type Received = $map<String, T::Received>;

                fn into_outcome(self) -> Result<Value> {
                    let fields = self.into_iter().map(|(name, value)| Ok((name, value.into_outcome()?)));
                    Ok(Value::Object(fields.collect::<Result<_>>()?))
                }
            }

            impl<T: Into<Value>> From<$map<String, T>> for Value {
                fn from(map: $map<String, T>) -> Self {
                    Value::object(map)
                }
            }
        )*
    };
}

records!(BTreeMap, HashMap);

impl FromIterator<(String, Value)> for Value {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(fields: I) -> Self {
        Self::Object(fields.into_iter().collect())
    }
}

impl<T: FromValue> FromValue for ReadableStream<T> {
    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Readable(stream) => Ok(stream.cast()),
            other => Err(expected("a ReadableStream", &other)),
        }
    }

    fn describe() -> Type {
        Type::Readable(Box::new(T::describe()))
    }
}

impl<T: FromValue> Output for ReadableStream<T> {
    type Received = ReadableStream<T>;

    fn into_outcome(self) -> Result<Value> {
        Ok(self.into())
    }
}

impl<T: Output, E: Into<Error>> Output for Result<T, E> {
    type Received = T::Received;

    fn into_outcome(self) -> Result<Value> {
        self.map_err(Into::into).and_then(T::into_outcome)
    }
}

/// A function of the other side, with the types of its arguments and its result.
///
/// `A` is a tuple. A JavaScript function passed as an argument arrives as one of these; one made with
/// [`Callback::new`] can be passed to a peer.
pub struct Callback<A = Vec<Value>, R = Value> {
    capability: Capability,
    types: PhantomData<fn(A) -> R>,
}

impl<A: IntoArguments, R> Callback<A, R> {
    pub fn call(&self, arguments: A) -> Promise<R> {
        self.capability.invoke(arguments).cast()
    }

    pub fn capability(&self) -> &Capability {
        &self.capability
    }
}

impl<A: FromArguments + 'static, R: FromValue> Callback<A, R> {
    /// A callback to a function of this process.
    pub fn new<F, O>(function: F) -> Self
    where
        F: Fn(A) -> O + Send + Sync + 'static,
        O: Future<Output: Output<Received = R>> + Send + 'static,
    {
        let function = std::sync::Arc::new(function);
        let capability = Capability::from_fn(move |arguments| {
            let function = function.clone();
            async move {
                let arguments = A::from_arguments(arguments.rest())?;
                function(arguments).await.into_outcome()
            }
        });
        Self {
            capability,
            types: PhantomData,
        }
    }
}

impl<A, R> Clone for Callback<A, R> {
    fn clone(&self) -> Self {
        Self {
            capability: self.capability.clone(),
            types: PhantomData,
        }
    }
}

impl<A, R> fmt::Debug for Callback<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback")
    }
}

impl<A, R> From<Callback<A, R>> for Value {
    fn from(callback: Callback<A, R>) -> Self {
        Self::Stub(callback.capability)
    }
}

impl<A: FromArguments, R: FromValue> FromValue for Callback<A, R> {
    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Stub(capability) => Ok(Self {
                capability,
                types: PhantomData,
            }),
            other => Err(expected("a function", &other)),
        }
    }

    fn describe() -> Type {
        Type::Function {
            takes: A::describe(),
            gives: Box::new(R::describe()),
        }
    }
}

impl<A: FromArguments, R: FromValue> Output for Callback<A, R> {
    type Received = Self;

    fn into_outcome(self) -> Result<Value> {
        Ok(self.into())
    }
}

/// A tuple of parameters, as a callback takes them.
pub trait FromArguments: Sized {
    /// Converts the arguments of one call.
    fn from_arguments(arguments: Vec<Value>) -> Result<Self>;

    fn describe() -> Vec<Type>;
}

impl FromArguments for Vec<Value> {
    fn from_arguments(arguments: Vec<Value>) -> Result<Self> {
        Ok(arguments)
    }

    fn describe() -> Vec<Type> {
        vec![Type::Rest(Box::new(Type::Any))]
    }
}

impl IntoArguments for Vec<Value> {
    fn into_arguments(self) -> Vec<Value> {
        self
    }
}

impl IntoArguments for () {
    fn into_arguments(self) -> Vec<Value> {
        Vec::new()
    }
}

impl FromArguments for () {
    fn from_arguments(_arguments: Vec<Value>) -> Result<Self> {
        Ok(())
    }

    fn describe() -> Vec<Type> {
        Vec::new()
    }
}

macro_rules! tuples {
    ($(($($name:ident),+);)*) => {
        $(
            #[expect(non_snake_case, reason = "the types lend their names to the values")]
            impl<$($name: Into<Value>),+> IntoArguments for ($($name,)+) {
                fn into_arguments(self) -> Vec<Value> {
                    let ($($name,)+) = self;
                    vec![$($name.into()),+]
                }
            }

            impl<$($name: FromValue),+> FromArguments for ($($name,)+) {
                fn from_arguments(arguments: Vec<Value>) -> Result<Self> {
                    let mut arguments = arguments.into_iter();
                    Ok(($($name::from_value(arguments.next().unwrap_or_default())?,)+))
                }

                fn describe() -> Vec<Type> {
                    vec![$($name::describe()),+]
                }
            }
        )*
    };
}

tuples! {
    (A);
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
    (A, B, C, D, E, F);
    (A, B, C, D, E, F, G);
    (A, B, C, D, E, F, G, H);
}
