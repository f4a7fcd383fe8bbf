//! The macros of `capnweb`, which re-exports them; depend on that crate.
//!
//! They write what one would write by hand, and nothing that one could not: an `impl Target` that
//! decodes arguments and calls methods, a client struct with one method for each, and a description.
//!
//! # Layout
//!
//! - `names`: what Rust names become on the wire, and which may not be used there.
//! - `member`: one exposed method or getter, read from its signature and checked.
//! - `generate`: the code both forms of `#[target]` share: dispatch, client, description.
//! - `target_trait`, `target_impl`: the two forms.
//! - `values`: the derives.

use proc_macro::TokenStream;
use syn::parse_macro_input;

mod generate;
mod member;
mod names;
mod target_impl;
mod target_trait;
mod values;

/// Makes an object that peers can call, from a trait or from an inherent impl.
///
/// # On an impl
///
/// The `pub` methods with `&self` or `self: Arc<Self>` can be called by every holder of a stub. The rest of the
/// block is left alone; methods that are public in Rust but not for peers go in a block of their own.
///
/// ```
/// use capnweb::{Result, Stub, target};
///
/// pub struct Greeter {
///     greeting: String,
/// }
///
/// /// Greets people.
/// #[target]
/// impl Greeter {
///     pub fn new(greeting: &str) -> Self {
///         Self { greeting: greeting.to_owned() }
///     }
///
///     /// Greets one person, or the world.
///     pub async fn greet(&self, name: Option<String>) -> Result<String> {
///         Ok(format!("{}, {}!", self.greeting, name.as_deref().unwrap_or("world")))
///     }
///
///     #[getter]
///     pub fn greeting(&self) -> &str {
///         &self.greeting
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let greeter: Stub<Greeter> = Greeter::new("Hello").into_stub();
/// assert_eq!(greeter.greet("Ada").await?, "Hello, Ada!");
/// assert_eq!(greeter.greeting().await?, "Hello");
/// # Ok::<(), capnweb::Error>(()) }).unwrap();
/// ```
///
/// It gives `Target` and `Interface` for the type, `into_stub`, conversions into `Stub`, `Capability`
/// and `Value`, and lets methods return the type itself: their callers get a stub.
///
/// The client struct, here `GreeterClient`, is `pub`; `#[target(pub(crate))]` makes it less so, which
/// the compiler asks for when a method mentions types that are less public.
///
/// # On a trait
///
/// When there are several implementations, or none on this side, the methods come from a trait, and
/// the stub is a `Stub<dyn Trait>`. Implementations write plain `async fn` and plain methods.
///
/// ```
/// use capnweb::{Result, Stub, target};
///
/// #[target]
/// pub trait Clock {
///     /// Milliseconds since 1970.
///     fn now(&self) -> f64;
///
///     /// Waits.
///     async fn sleep(&self, milliseconds: f64) -> Result<()>;
/// }
///
/// struct Stopped;
///
/// impl Clock for Stopped {
///     fn now(&self) -> f64 {
///         0.0
///     }
///
///     async fn sleep(&self, _milliseconds: f64) -> Result<()> {
///         Ok(())
///     }
/// }
///
/// let clock: Stub<dyn Clock> = Stopped.into_stub();
/// ```
///
/// `dyn Clock` is a name for the type of object and nothing more: all methods need `Self: Sized`, so
/// there is nothing to call on a `&dyn Clock`.
///
/// # Members
///
/// - Parameters are types that implement `FromValue`. A missing argument is `undefined`, which only an
///   `Option` (and a `Value`) accepts. An argument of the wrong type is answered with a `TypeError` that
///   names it; the method does not run.
/// - Results are types that implement `Output`: data, stubs, callbacks, streams, and a `Result` of them
///   with any error that converts into `capnweb::Error`.
/// - `#[getter]` makes a property of a method without parameters.
/// - `snake_case` becomes `camelCase` on the wire; `#[method(name = "…")]` and `#[getter(name = "…")]`
///   say otherwise. Names that JavaScript keeps to itself do not compile.
/// - Documentation goes with the description. A list under the heading `# Errors`, each item beginning with
///   a code as in ``- `not_found`: there is no such thing``, is what a member fails with.
/// - An async method runs to its end even when its result was released. One that is marked
///   `#[method(cancel)]` is dropped at its next wait when its result is released and nothing was pipelined on
///   it, or when the session ends.
/// - Plain methods run while the session reads its messages, so they should be quick; async ones run up
///   to their first wait, in the order the calls arrived, and go on beside others.
///
/// # The client
///
/// `Stub<T>` has the same methods. A parameter of type `T` accepts a `T`, a `Promise<T>` or a reference
/// to one; of type `Option<T>` also a bare `T` or its promise. Each gives a `Promise` of what the
/// method's result is at the receiving end.
#[proc_macro_attribute]
pub fn target(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as generate::TargetArguments);
    let tokens = match parse_macro_input!(item as syn::Item) {
        syn::Item::Trait(item) => target_trait::expand(&arguments, item),
        syn::Item::Impl(item) => target_impl::expand(&arguments, item),
        other => {
            let message = "#[target] goes on a trait or on the `impl` block of a type";
            let error = syn::Error::new_spanned(&other, message).into_compile_error();
            quote::quote!(#error #other)
        }
    };
    tokens.into()
}

/// Reads the type from a value.
///
/// A struct with named fields is an object: a missing field is `undefined`, one of another name is
/// ignored, and an error names its field. A struct with one unnamed field is what that field is. An
/// enum without data is a string.
///
/// Names become `camelCase`; `#[value(rename = "…")]` on a field or variant says otherwise.
///
/// ```
/// use capnweb::{FromValue, IntoValue, Value};
///
/// #[derive(Debug, PartialEq, FromValue, IntoValue)]
/// struct Message {
///     author_name: String,
///     #[value(rename = "type")]
///     kind: Kind,
///     reply_to: Option<MessageId>,
/// }
///
/// #[derive(Debug, PartialEq, FromValue, IntoValue)]
/// struct MessageId(String);
///
/// #[derive(Debug, PartialEq, FromValue, IntoValue)]
/// enum Kind {
///     Note,
///     FriendRequest,
/// }
///
/// let value = Value::object([("authorName", "Ada"), ("type", "friendRequest")]);
/// let message = Message { author_name: "Ada".to_owned(), kind: Kind::FriendRequest, reply_to: None };
/// assert_eq!(Message::from_value(value).unwrap(), message);
/// ```
#[proc_macro_derive(FromValue, attributes(value))]
pub fn from_value(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as syn::DeriveInput);
    values::from_value(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Turns the type into a value, in the form that [`FromValue`](macro@FromValue) reads; a field that is
/// `undefined` is left out.
///
/// It gives `From<T> for Value`, and `Output`, so that methods may return the type. What their callers
/// get is a `T` again, so the type also needs `FromValue`, derived or written by hand.
#[proc_macro_derive(IntoValue, attributes(value))]
pub fn into_value(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as syn::DeriveInput);
    values::into_value(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
