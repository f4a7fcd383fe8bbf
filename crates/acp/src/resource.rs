//! The messages of a session as resources with the ids `TASK.input` and `TASK.output-NUMBER`.

use std::fmt;

use a2a::types::Task;

use crate::content;
use crate::run;
use crate::types::Message;

/// One message of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The message that opened the task.
    Input,
    /// A message of the output, counted from 0.
    Output(usize),
}

impl Resource {
    /// All messages of a task.
    pub(crate) fn all(task: &Task) -> impl Iterator<Item = Self> {
        let input = run::input(task).map(|_| Self::Input);
        let outputs = run::output(task, "").len();
        input.into_iter().chain((0..outputs).map(Self::Output))
    }

    /// Parses the part of the id after the dot.
    pub(crate) fn named(word: &str) -> Option<Self> {
        match word.split_once('-') {
            None => (word == "input").then_some(Self::Input),
            Some(("output", number)) => number.parse().ok().map(Self::Output),
            Some(_) => None,
        }
    }

    /// The message; `None` if the task does not have it.
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
