//! What a target is, as data: the source of references and type declarations in other languages.

use std::borrow::Cow;

/// A target's name, members and their types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// The name of the type.
    pub name: Cow<'static, str>,
    /// Its documentation.
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
    /// Its documentation.
    pub docs: Cow<'static, str>,
    /// `None` for a getter.
    pub parameters: Option<Vec<Parameter>>,
    /// What it gives.
    pub gives: Type,
}

/// A parameter of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its type; an [`Type::Optional`] one may be left out.
    pub takes: Type,
}

/// A type, as the other side sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    /// Anything.
    Any,
    /// Nothing: `undefined`.
    Void,
    /// A boolean.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// One of these strings.
    Choice(Vec<Cow<'static, str>>),
    /// An integer of any size.
    BigInt,
    /// A point in time.
    Date,
    /// A byte array.
    Bytes,
    /// An error.
    Error,
    /// A URL.
    Url,
    /// HTTP headers.
    Headers,
    /// An HTTP request.
    Request,
    /// An HTTP response.
    Response,
    /// A Blob.
    Blob,
    /// May be missing.
    Optional(Box<Type>),
    /// A list.
    Array(Box<Type>),
    /// A map from strings.
    Record(Box<Type>),
    /// An object with these fields.
    Object(Vec<(Cow<'static, str>, Type)>),
    /// A capability to an object of that type.
    Stub(Cow<'static, str>),
    /// A callback.
    Function {
        /// Its parameters.
        takes: Vec<Type>,
        /// Its result.
        gives: Box<Type>,
    },
    /// A stream to read.
    Readable(Box<Type>),
    /// A stream to write.
    Writable,
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

    /// With one more method.
    pub fn method(
        mut self,
        name: impl Into<Cow<'static, str>>,
        docs: impl Into<Cow<'static, str>>,
        parameters: Vec<Parameter>,
        gives: Type,
    ) -> Self {
        let member = MemberDescription {
            name: name.into(),
            docs: docs.into(),
            parameters: Some(parameters),
            gives,
        };
        self.members.push(member);
        self
    }

    /// With one more getter.
    pub fn getter(
        mut self,
        name: impl Into<Cow<'static, str>>,
        docs: impl Into<Cow<'static, str>>,
        gives: Type,
    ) -> Self {
        self.members.push(MemberDescription {
            name: name.into(),
            docs: docs.into(),
            parameters: None,
            gives,
        });
        self
    }
}

impl Parameter {
    /// A parameter.
    pub fn new(name: impl Into<Cow<'static, str>>, takes: Type) -> Self {
        Self {
            name: name.into(),
            takes,
        }
    }
}
