//! What can be wrong with rules and records.

use std::fmt;

/// Why rules were not loaded, or a record not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file is not in its format.
    #[error("{name}: {problem}")]
    Form { name: String, problem: String },
    /// A rule says something that is not understood.
    #[error("rule {rule:?}: {problem}")]
    Rule { rule: String, problem: String },
    /// A rule does not do what its examples say.
    #[error("rule {rule:?}: example {number} of {list:?} {fault}")]
    Example {
        rule: String,
        /// `match` or `not_match`.
        list: &'static str,
        /// From 1.
        number: usize,
        fault: String,
    },
    /// An event of a journal is in no form that is known.
    #[error("event {sequence} of {stream}: {problem}")]
    Record {
        stream: String,
        sequence: u64,
        problem: String,
    },
}

impl Error {
    pub(crate) fn form(name: &str, problem: &impl fmt::Display) -> Self {
        Self::Form {
            name: name.to_owned(),
            problem: problem.to_string(),
        }
    }

    pub(crate) fn rule(rule: &str, problem: impl Into<String>) -> Self {
        Self::Rule {
            rule: rule.to_owned(),
            problem: problem.into(),
        }
    }

    pub(crate) fn record(stream: &str, sequence: u64, problem: &impl fmt::Display) -> Self {
        Self::Record {
            stream: stream.to_owned(),
            sequence,
            problem: problem.to_string(),
        }
    }
}
