//! Changes of a file, line by line, for a client that has the file as it was.

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::path::ProjectPath;

/// One change of lines. Lines are counted from 1, in the file as it is when the delta is applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDelta {
    /// The file, below /project.
    pub path: String,
    pub operation: DeltaOperation,
    /// The first line that is deleted or replaced, or the line before which the content is inserted.
    pub line_start: usize,
    /// The last line that is deleted or replaced; `line_start` of an insertion.
    pub line_end: usize,
    /// The new lines, with their line ends; empty for a deletion.
    pub content: String,
}

/// What a [`FileDelta`] does with its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeltaOperation {
    Insert,
    Delete,
    Replace,
}

/// The deltas from one text to another, in the order in which they are applied: the last lines first, so that no delta
/// moves the lines of a later one.
pub fn deltas(path: &ProjectPath, old: &str, new: &str) -> Vec<FileDelta> {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(old), lines(new));
    let changes = capture_diff_slices(Algorithm::Myers, &old, &new);
    let delta = |operation, start: usize, count: usize, content: &[&str]| FileDelta {
        path: path.to_string(),
        operation,
        line_start: start + 1,
        line_end: start + count.max(1),
        content: content.concat(),
    };
    let changes = changes.into_iter().rev().filter_map(|change| match change {
        DiffOp::Equal { .. } => None,
        DiffOp::Delete {
            old_index, old_len, ..
        } => Some(delta(DeltaOperation::Delete, old_index, old_len, &[])),
        DiffOp::Insert {
            old_index,
            new_index,
            new_len,
        } => {
            let content = &new[new_index..new_index + new_len];
            Some(delta(DeltaOperation::Insert, old_index, 0, content))
        }
        DiffOp::Replace {
            old_index,
            old_len,
            new_index,
            new_len,
        } => {
            let content = &new[new_index..new_index + new_len];
            Some(delta(DeltaOperation::Replace, old_index, old_len, content))
        }
    });
    changes.collect()
}

/// A text after a delta; none if the text does not have its lines.
pub fn apply_delta(text: &str, delta: &FileDelta) -> Option<String> {
    let lines = lines(text);
    let start = delta.line_start.checked_sub(1)?;
    let end = match delta.operation {
        DeltaOperation::Insert => start,
        DeltaOperation::Delete | DeltaOperation::Replace => delta.line_end,
    };
    let (before, after) = (lines.get(..start)?, lines.get(end..)?);
    (start <= end).then(|| [before.concat(), delta.content.clone(), after.concat()].concat())
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}
