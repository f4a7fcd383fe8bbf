//! Descriptions of targets as data, from which references and type declarations in other languages are made.
//!
//! A [`Description`] comes from `#[target]`, the types of its members from
//! [`FromValue::describe`](crate::FromValue::describe). A [`Schema`] gathers all that is reachable from some
//! descriptions and prints it: as TypeScript for programs, as Markdown for people.
//!
//! ```
//! use capnweb::describe::Schema;
//! use capnweb::{Error, Interface, Result, target};
//!
//! struct Shop;
//!
//! /// What the page may call.
//! #[target]
//! impl Shop {
//!     /// What an item costs.
//!     ///
//!     /// # Errors
//!     ///
//!     /// - `not_found`: it is not sold here
//!     pub fn price(&self, item: String, currency: Option<String>) -> Result<f64> {
//!         let _ = currency;
//!         Err(Error::range_error(format!("no {item} here")).with_code("not_found"))
//!     }
//! }
//!
//! let declarations = Schema::of([<Shop as Interface>::describe()]).typescript();
//! assert!(declarations.contains("price(item: string, currency?: string | null): Promise<number>;"));
//! assert!(declarations.contains(r#"export type ShopErrorCode = "not_found";"#));
//! ```

use std::any::type_name;
use std::borrow::Cow;
use std::fmt;

use crate::stub::Interface;

mod reference;
mod schema;
mod typescript;

#[cfg(test)]
#[path = "describe_tests.rs"]
mod tests;

pub use schema::Schema;

/// A target's name, members and their types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// The name of the type.
    pub name: Cow<'static, str>,
    pub docs: Cow<'static, str>,
    /// Methods and getters, in the order written.
    pub members: Vec<MemberDescription>,
}

/// A method or a getter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberDescription {
    /// Its name on the wire.
    pub name: Cow<'static, str>,
    /// Its documentation, without what `errors` says.
    pub docs: Cow<'static, str>,
    /// `None` for a getter.
    pub parameters: Option<Vec<Parameter>>,
    pub gives: Type,
    /// What it may fail with, as its documentation lists it.
    pub errors: Vec<ErrorDescription>,
}

/// A parameter of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    pub name: Cow<'static, str>,
    /// Its type; an [`Type::Optional`] one may be left out.
    pub takes: Type,
}

/// An error that a caller can tell from others, by its `code`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorDescription {
    /// The `code` property of the error.
    pub code: String,
    pub when: String,
}

/// An object of data, with its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Structure {
    /// The name of the type; one without a name is written out wherever it is used.
    pub name: Cow<'static, str>,
    pub docs: Cow<'static, str>,
    /// In the order written.
    pub fields: Vec<Field>,
}

/// A field of a [`Structure`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Its name on the wire.
    pub name: Cow<'static, str>,
    pub docs: Cow<'static, str>,
    /// Its type; an [`Type::Optional`] one may be missing.
    pub holds: Type,
}

/// A string that is one of a few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The name of the type.
    pub name: Cow<'static, str>,
    pub docs: Cow<'static, str>,
    /// The strings, each with its documentation.
    pub variants: Vec<(Cow<'static, str>, Cow<'static, str>)>,
}

/// A type, as the other side sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    Any,
    Void,
    Boolean,
    Number,
    /// A whole number of 64 bits: a number, or a bigint where a number would not be exact.
    Integer,
    String,
    /// One of some strings.
    Choice(Reference<Choice>),
    /// An integer of any size.
    BigInt,
    /// A point in time.
    Date,
    Bytes,
    Error,
    Url,
    Headers,
    Request,
    Response,
    Blob,
    Optional(Box<Type>),
    Array(Box<Type>),
    /// A map from strings.
    Record(Box<Type>),
    /// An object of data.
    Object(Reference<Structure>),
    /// A capability to an object of that type.
    Stub(Reference<Description>),
    /// A capability to an object nothing is known about.
    AnyStub,
    Function {
        takes: Vec<Type>,
        gives: Box<Type>,
    },
    /// Any number of arguments, as the last parameter of a callback.
    Rest(Box<Type>),
    /// A stream to read.
    Readable(Box<Type>),
    /// A stream to write.
    Writable,
}

/// A named type, described when asked: types may mention themselves.
///
/// Two are equal when they are of the same Rust type.
#[derive(Clone, Copy)]
pub struct Reference<T> {
    path: &'static str,
    describe: fn() -> T,
}

impl<T> Reference<T> {
    /// Refers to the description of `Of`.
    pub fn new<Of: ?Sized>(describe: fn() -> T) -> Self {
        Self {
            path: type_name::<Of>(),
            describe,
        }
    }

    pub fn describe(&self) -> T {
        (self.describe)()
    }

    /// What tells its type from others of the same name.
    pub(crate) fn path(&self) -> &'static str {
        self.path
    }
}

impl Reference<Description> {
    /// Refers to the description of a target.
    pub fn to<Of: Interface + ?Sized>() -> Self {
        Self::new::<Of>(Of::describe)
    }
}

impl<T> PartialEq for Reference<T> {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl<T> Eq for Reference<T> {}

impl<T> fmt::Debug for Reference<T> {
    /// The name alone: what it refers to may refer back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.rsplit("::").next().unwrap_or(self.path);
        f.write_str(name)
    }
}

impl Description {
    /// A description without members.
    pub fn new(name: impl Into<Cow<'static, str>>, docs: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            docs: docs.into(),
            members: Vec::new(),
        }
    }

    /// With one more method. Its errors are the list under the heading `# Errors` of its documentation,
    /// each item beginning with a code: ``- `not_found`: there is no such thing``.
    pub fn method(
        self,
        name: impl Into<Cow<'static, str>>,
        docs: impl Into<Cow<'static, str>>,
        parameters: Vec<Parameter>,
        gives: Type,
    ) -> Self {
        self.member(name.into(), docs.into(), Some(parameters), gives)
    }

    /// With one more getter. Its errors are listed like those of a method.
    pub fn getter(
        self,
        name: impl Into<Cow<'static, str>>,
        docs: impl Into<Cow<'static, str>>,
        gives: Type,
    ) -> Self {
        self.member(name.into(), docs.into(), None, gives)
    }

    fn member(
        mut self,
        name: Cow<'static, str>,
        docs: Cow<'static, str>,
        parameters: Option<Vec<Parameter>>,
        gives: Type,
    ) -> Self {
        let (docs, errors) = take_errors(docs);
        self.members.push(MemberDescription {
            name,
            docs,
            parameters,
            gives,
            errors,
        });
        self
    }
}

impl Parameter {
    pub fn new(name: impl Into<Cow<'static, str>>, takes: Type) -> Self {
        Self {
            name: name.into(),
            takes,
        }
    }
}

impl Structure {
    /// A structure without fields. Without a name it is written out wherever it is used.
    pub fn new(name: impl Into<Cow<'static, str>>, docs: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            docs: docs.into(),
            fields: Vec::new(),
        }
    }

    /// With one more field.
    pub fn field(
        mut self,
        name: impl Into<Cow<'static, str>>,
        docs: impl Into<Cow<'static, str>>,
        holds: Type,
    ) -> Self {
        self.fields.push(Field {
            name: name.into(),
            docs: docs.into(),
            holds,
        });
        self
    }
}

impl Choice {
    /// A choice of nothing yet.
    pub fn new(name: impl Into<Cow<'static, str>>, docs: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            docs: docs.into(),
            variants: Vec::new(),
        }
    }

    /// With one more string.
    pub fn variant(
        mut self,
        name: impl Into<Cow<'static, str>>,
        docs: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.variants.push((name.into(), docs.into()));
        self
    }
}

/// Takes the list of errors out of a member's documentation. Prose under the heading stays where it is.
fn take_errors(docs: Cow<'static, str>) -> (Cow<'static, str>, Vec<ErrorDescription>) {
    let Some((before, section)) = docs.split_once("# Errors\n") else {
        return (docs, Vec::new());
    };
    if !(before.is_empty() || before.ends_with('\n')) {
        return (docs, Vec::new());
    }
    let (section, after) = match section.find("\n# ") {
        Some(end) => section.split_at(end),
        None => (section, ""),
    };
    let mut errors: Vec<ErrorDescription> = Vec::new();
    for line in section.lines().map(str::trim) {
        let item = line
            .strip_prefix("- `")
            .and_then(|item| item.split_once('`'));
        match (item, errors.last_mut()) {
            (Some((code, when)), _) => errors.push(ErrorDescription {
                code: code.to_owned(),
                when: when.trim_start_matches([':', ' ']).to_owned(),
            }),
            (None, _) if line.is_empty() => {}
            // An item goes on in the next line.
            (None, Some(last)) => last.when = format!("{} {line}", last.when),
            (None, None) => return (docs, Vec::new()),
        }
    }
    let docs = format!("{}{after}", before.trim_end()).trim().to_owned();
    (docs.into(), errors)
}
