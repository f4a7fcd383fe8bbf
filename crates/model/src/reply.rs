//! Replies: a stream of deltas, and the whole they add up to.

use std::ops::{Add, AddAssign};

use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::limits::MAX_REPLY;
use crate::request::{AssistantMessage, Call, Message};

/// A reply as it arrives: any number of deltas, then exactly one [`Delta::End`] or one error, then the end of the
/// stream. The request is sent at the first poll; dropping the stream cancels it.
pub type Deltas = BoxStream<'static, Result<Delta, Error>>;

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Delta {
    /// The next part of the text.
    Text(String),
    /// The next part of the reasoning, where the model shows it.
    Reasoning(String),
    /// A piece without content of its own, such as a part of a call. It shows that the model is at work, so that time
    /// limits between pieces start again.
    Working,
    Call(Call),
    /// Opaque data of the model, to be sent back to it with its calls; see [`AssistantMessage::thoughts`].
    Thought(String),
    /// The usage so far; a later one replaces an earlier one.
    Usage(Usage),
    End(End),
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The reply is complete.
    Said,
    /// The request was not understood, or cannot be done. The text says why; nothing was done.
    Declined,
    /// The model waits for the results of its calls.
    Calls,
    /// The length limit was reached; there would be more.
    Length,
    /// The model or its provider withheld the rest (safety filter, refusal).
    Withheld,
}

/// Tokens read and written, as the model counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Usage {
    pub input: u64,
    /// Includes the tokens of reasoning.
    pub output: u64,
}

impl Usage {
    pub fn new(input: u64, output: u64) -> Self {
        Self { input, output }
    }

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

/// A whole reply, collected from its deltas.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub text: String,
    /// Empty where the model does not show it.
    pub reasoning: String,
    pub calls: Vec<Call>,
    pub thoughts: Vec<String>,
    /// `None` where the provider does not say.
    pub usage: Option<Usage>,
    pub end: End,
}

impl Reply {
    /// Collects a stream into the whole reply.
    pub async fn of(mut deltas: Deltas) -> Result<Self, Error> {
        let mut reply = Self::default();
        while let Some(delta) = deltas.next().await {
            if reply.take(delta?)? {
                return Ok(reply);
            }
        }
        Err(Error::Cut(
            "the stream ended without an end marker".to_owned(),
        ))
    }

    /// Adds a piece; returns whether it was the last.
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

    /// The reply as a message of the conversation, for the next request.
    pub fn into_message(self) -> Message {
        Message::Model(AssistantMessage {
            text: self.text,
            calls: self.calls,
            thoughts: self.thoughts,
        })
    }

    /// The text parsed as JSON, for requests with an output schema.
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
            "the reply is longer than {MAX_REPLY} bytes"
        )));
    }
    whole.push_str(more);
    Ok(())
}
