//! The messages of a conversation, each under an id of its own: that of the task, a dot, and which it is.

use std::fmt;

use a2a::types::Task;

use crate::content;
use crate::run;
use crate::types::Message;

/// Which message of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// What its caller asked for.
    Input,
    /// What came of it, counted from 0.
    Output(usize),
}

impl Resource {
    /// All that there are of a task.
    pub(crate) fn all(task: &Task) -> impl Iterator<Item = Self> {
        let input = run::input(task).map(|_| Self::Input);
        let outputs = run::output(task, "").len();
        input.into_iter().chain((0..outputs).map(Self::Output))
    }

    /// What a word means.
    pub(crate) fn named(word: &str) -> Option<Self> {
        match word.split_once('-') {
            None => (word == "input").then_some(Self::Input),
            Some(("output", number)) => number.parse().ok().map(Self::Output),
            Some(_) => None,
        }
    }

    /// The message, if there is such a one.
    pub(crate) fn read(self, task: &Task, whole: &str) -> Option<Message> {
        match self {
            Self::Input => {
                let input = run::input(task)?;
                let at = run::created_at(task);
                Some(content::message("user".to_owned(), &input.parts, at))
            }
            Self::Output(number) => {
                let output = run::output(task, run::agent_name(task, whole));
                output.into_iter().nth(number)
            }
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input => f.write_str("input"),
            Self::Output(number) => write!(f, "output-{number}"),
        }
    }
}
