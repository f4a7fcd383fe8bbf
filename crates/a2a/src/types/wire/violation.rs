//! Parts that the protocol requires and a message lacks.

use std::fmt;

/// A required field that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The place, from the message that was checked: `message.parts[1].content`.
    pub field: String,
    /// What is wrong there.
    pub description: String,
}

/// Where a check is, as a chain on the stack: nothing is allocated while all is well.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    /// A field of a message, or a value of a map by its key.
    Field(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    pub(crate) fn report(&self, found: &mut Vec<Violation>, description: impl Into<String>) {
        found.push(Violation {
            field: self.to_string(),
            description: description.into(),
        });
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(Path::Root, name) => f.write_str(name),
            Path::Field(parent, name) => write!(f, "{parent}.{name}"),
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}
