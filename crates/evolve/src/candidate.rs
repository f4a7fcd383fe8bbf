//! Candidates: what a component may become, and the edits between them.

use serde::{Deserialize, Serialize};

use crate::component::Component;
use crate::parameter::Value;
use crate::source::MARKER;
use crate::syntax::{self, Parsed};

#[cfg(test)]
#[path = "candidate_tests.rs"]
mod tests;

/// The texts of the blocks and the values of the parameters of one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Content {
    pub blocks: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
}

/// A change of a part of a block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Replacement {
    pub block: usize,
    /// The bytes that are replaced, counted from the beginning of the block.
    pub from: usize,
    pub to: usize,
    pub text: String,
}

/// The way from a candidate to its child.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    /// In the order of the text, without overlaps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replacements: Vec<Replacement>,
    /// Parameters by their index, with their new values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(usize, Value)>,
}

/// Why an edit gives no candidate. Nothing is evaluated for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    #[error("the edit leaves the block or cuts a letter")]
    Outside,
    #[error("there is no parameter {0}, or the value is out of its bounds")]
    Value(usize),
    #[error("a block must not contain \"EVOLVE-BLOCK-\"")]
    Marker,
    #[error("the program would be longer than {0} bytes")]
    Long(usize),
    #[error("the program cannot be parsed")]
    Syntax,
}

impl Content {
    /// The content after an edit. It is not checked beyond what the edit itself says.
    pub(crate) fn edited(&self, edit: &Edit) -> Option<Self> {
        let mut content = self.clone();
        for it in edit.replacements.iter().rev() {
            let block = content.blocks.get_mut(it.block)?;
            block.get(it.from..it.to)?;
            block.replace_range(it.from..it.to, &it.text);
        }
        for (index, value) in &edit.values {
            *content.values.get_mut(*index)? = value.clone();
        }
        Some(content)
    }
}

/// Checks a content against its component: bounds, markers, length, syntax. `faults` is how many faults of syntax the
/// component has itself, as a grammar sees it. Returns the hash that the candidate is known by.
pub(crate) fn check(
    component: &Component,
    content: &Content,
    faults: usize,
) -> Result<String, Unfit> {
    for (index, parameter) in component.parameters.iter().enumerate() {
        let value = content.values.get(index);
        if !value.is_some_and(|it| parameter.domain.holds(it)) {
            return Err(Unfit::Value(index));
        }
    }
    if content.blocks.iter().any(|it| it.contains(MARKER)) {
        return Err(Unfit::Marker);
    }
    let files = component.parse(content);
    let length: usize = files.iter().map(|it| it.text.len()).sum();
    if length > component.longest {
        return Err(Unfit::Long(component.longest));
    }
    if files.iter().map(Parsed::faults).sum::<usize>() > faults {
        return Err(Unfit::Syntax);
    }
    let values = match content.values.is_empty() {
        true => String::new(),
        false => format!("{:?}", content.values),
    };
    Ok(syntax::fingerprint(files.iter(), &values))
}
