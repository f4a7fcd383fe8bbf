//! What comes of a question: a stream of deltas, and the whole that they add up to.

use std::ops::{Add, AddAssign};

use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::limits::MAX_REPLY;
use crate::request::{Call, Message, Said};

/// An answer while it comes. It holds any number of deltas, and then one [`Delta::End`] or one error, and then
/// nothing. Nothing is asked before it is polled; to drop it is to cancel.
pub type Deltas = BoxStream<'static, Result<Delta, Error>>;

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Delta {
    /// More of the text.
    Text(String),
    /// More of what the model says of how it came to its answer.
    Reasoning(String),
    /// Something came that says nothing by itself, such as a part of a call: the model is at work.
    Working,
    /// A call, whole.
    Call(Call),
    /// What only the model understands, to be shown to it again with its calls; see [`Said::thoughts`].
    Thought(String),
    /// What the answer has cost so far; a later one takes the place of an earlier one.
    Usage(Usage),
    /// It is all said.
    End(End),
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The model has said what it had to say.
    Said,
    /// The model waits for what comes of its calls.
    Calls,
    /// It became as long as it may be; there would be more.
    Length,
    /// It was kept from saying more, by itself or by whoever runs it.
    Withheld,
}

/// How much was read and written, in the tokens of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Usage {
    /// What it was given to read.
    pub input: u64,
    /// What it wrote, with what it thought.
    pub output: u64,
}

impl Usage {
    /// So much read, and so much written.
    pub fn new(input: u64, output: u64) -> Self {
        Self { input, output }
    }

    /// All of it.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// In words.
    pub text: String,
    /// How the model came to it, if it says so.
    pub reasoning: String,
    /// What it asks to be called.
    pub calls: Vec<Call>,
    /// What only the model understands.
    pub thoughts: Vec<String>,
    /// What it cost, if that was said.
    pub usage: Option<Usage>,
    /// Why it ended.
    pub end: End,
}

impl Reply {
    /// Waits for all of an answer.
    pub async fn of(mut deltas: Deltas) -> Result<Self, Error> {
        let mut reply = Self::default();
        while let Some(delta) = deltas.next().await {
            if reply.take(delta?)? {
                return Ok(reply);
            }
        }
        Err(Error::Cut("it has no end".to_owned()))
    }

    /// Takes a piece; whether it was the last.
    fn take(&mut self, delta: Delta) -> Result<bool, Error> {
        match delta {
            Delta::Text(text) => append(&mut self.text, &text)?,
            Delta::Reasoning(text) => append(&mut self.reasoning, &text)?,
            Delta::Working => {}
            Delta::Call(call) => self.calls.push(call),
            Delta::Thought(thought) => self.thoughts.push(thought),
            Delta::Usage(usage) => self.usage = Some(usage),
            Delta::End(end) => {
                self.end = end;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The answer as something that was said, for the next question.
    pub fn into_message(self) -> Message {
        Message::Model(Said {
            text: self.text,
            calls: self.calls,
            thoughts: self.thoughts,
        })
    }

    /// The text as the value it stands for, where one was asked for by a schema.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_str(self.text.trim()).map_err(|error| Error::Malformed(error.to_string()))
    }
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            thoughts: Vec::new(),
            usage: None,
            end: End::Said,
        }
    }
}

fn append(whole: &mut String, more: &str) -> Result<(), Error> {
    if whole.len().saturating_add(more.len()) > MAX_REPLY {
        return Err(Error::Malformed(format!(
            "it is longer than {MAX_REPLY} bytes"
        )));
    }
    whole.push_str(more);
    Ok(())
}
