//! Where candidates come from without a model.
//!
//! - `literal`: the numbers of a program, and steps of them
//! - `edit`: all programs that are one small change away
//! - `choice`: named options that a program or its comments list
//! - `cross`: parts of one candidate in another
//! - `vector`: declared parameters as points of a unit cube

use serde::{Deserialize, Serialize};

use crate::candidate::{Content, Edit, Replacement};
use crate::component::Component;
use crate::syntax::Parsed;

pub(crate) mod choice;
pub(crate) mod cross;
pub(crate) mod edit;
pub(crate) mod literal;
pub(crate) mod vector;

/// What made a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Operator {
    /// The version in force at the beginning.
    Initial,
    /// One option in the place of another.
    Choice,
    /// A first-order edit: a statement deleted, an operator replaced, and the like.
    Edit,
    /// Steps of numbers.
    Literal,
    /// The last step that was an improvement, once more and longer.
    Stride,
    /// Parts of another good candidate.
    Cross,
    /// A point of the declared parameters.
    Vector,
    /// A person, an agent or a model.
    Outside,
}

impl Operator {
    pub fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Choice => "choice",
            Self::Edit => "edit",
            Self::Literal => "literal",
            Self::Stride => "stride",
            Self::Cross => "cross",
            Self::Vector => "vector",
            Self::Outside => "outside",
        }
    }
}

/// A candidate that others are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parent<'a> {
    pub(crate) component: &'a Component,
    pub(crate) content: &'a Content,
    pub(crate) files: &'a [Parsed],
}

impl<'a> Parent<'a> {
    /// Each file with the number of its first block.
    pub(crate) fn parsed(&self) -> impl Iterator<Item = (usize, &'a Parsed)> {
        let component = self.component;
        let files = self.files.iter().enumerate();
        files.map(move |(index, file)| (component.first_block(index), file))
    }
}

/// The replacement of a range of a file, if the range lies in a block.
pub(crate) fn replacement(
    first: usize,
    file: &Parsed,
    range: std::ops::Range<usize>,
    text: impl Into<String>,
) -> Option<Replacement> {
    let (block, range) = file.place(range)?;
    Some(Replacement {
        block: first + block,
        from: range.start,
        to: range.end,
        text: text.into(),
    })
}

/// An edit of replacements in any order. None if two of them overlap.
pub(crate) fn edit_of(mut replacements: Vec<Replacement>) -> Option<Edit> {
    replacements.sort();
    let overlaps =
        |pair: &[Replacement]| matches!(pair, [a, b] if a.block == b.block && b.from < a.to);
    if replacements.is_empty() || replacements.windows(2).any(overlaps) {
        return None;
    }
    Some(Edit {
        replacements,
        values: Vec::new(),
    })
}
