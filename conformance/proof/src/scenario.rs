//! The language of scenarios: one step a line, `who: what`.
//!
//! | step | what happens |
//! |---|---|
//! | `alice: send "SCRIPT" -> t1` | a message; the answer is waited for and its task called `t1` |
//! | `alice: start "SCRIPT" -> t1` | the same, answered as soon as there is a task |
//! | `alice: stream "SCRIPT" -> t1 s1` | the same, answered with a stream; its first event is read |
//! | `… with bytes "…"`, `with link "…"`, `with data` | a second part of the message |
//! | `… to t1`, `… beside t1` | the message continues a task, or belongs to its context |
//! | `… at 3`, `… history 1`, `… as m1` | only at this generation; so much history; a message's own id |
//! | `alice: get t1 history 1` | the task |
//! | `alice: list beside t1 in completed size 2 after p1 -> p2` | a page of tasks; all words are optional |
//! | `alice: cancel t1` | |
//! | `alice: subscribe t1 from 0 -> s1` | a stream of the task as it is, or from a cursor; its first event is read if it has one |
//! | `alice: read s1 2` | so many events, or all that have happened |
//! | `alice: cut s1`, `alice: resume s1` | the stream is left, and taken up behind the last event |
//! | `alice: push t1 w1`, `push-get t1 w1`, `push-list t1`, `push-delete t1 w1` | webhooks |
//! | `alice: card` | the extended card |
//! | `alice: bad no-parts` | a request that makes no sense, see [`Bad`] |
//! | `agent: go t1` | the agent, which waits at a gate, goes on |
//!
//! A name that stands for nothing is sent as it is: `alice: get unknown` asks for a task that does not exist.
//! So every text that can be read can be run, also after lines were taken out of it. Lines that begin with `#`
//! are for people.

use std::fmt;

mod parse;
mod print;
#[cfg(test)]
#[path = "scenario_tests.rs"]
mod tests;

/// A scenario: its steps, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    pub steps: Vec<Step>,
}

/// One step: an actor and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which client; `agent` for what the agent is told behind the server's back.
    pub who: Name,
    pub what: Operation,
}

/// A word that stands for a client, a task, a stream, a page, a webhook or a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(String);

impl Name {
    /// A name: a small letter, then small letters, digits and dashes.
    pub fn new(text: &str) -> Option<Self> {
        let word = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
        let begins = text.starts_with(|it: char| it.is_ascii_lowercase());
        (begins && text.chars().all(word)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An action of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A message is sent.
    Send(Send),
    /// A task is asked for.
    Get {
        task: Name,
        /// How many of its messages.
        history: Option<u32>,
    },
    List(List),
    /// A task is cancelled.
    Cancel(Name),
    /// A task is followed.
    Subscribe {
        task: Name,
        /// Behind which generation; without one from now on.
        from: Option<u64>,
        /// What the stream is called.
        stream: Option<Name>,
    },
    /// A stream is read.
    Read {
        stream: Name,
        /// At most so many events; otherwise all that have happened.
        count: Option<u32>,
    },
    /// A stream is left.
    Cut(Name),
    /// A stream is taken up again behind the last event that was read.
    Resume(Name),
    /// A webhook is added.
    Push(Webhook),
    /// A webhook is asked for.
    PushGet(Webhook),
    /// The webhooks of a task are listed.
    PushList(Name),
    /// A webhook is removed.
    PushDelete(Webhook),
    /// The extended card is asked for.
    Card,
    /// Something that makes no sense is asked for.
    Bad(Bad),
    /// The agent goes on with a task.
    Go(Name),
}

/// A message, and how it is to be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Send {
    /// The state that is waited for.
    pub how: How,
    /// What the agent is to do: the text of the message.
    pub script: String,
    pub with: Option<With>,
    /// The task that it continues.
    pub to: Option<Name>,
    /// A task of the context that the message belongs to.
    pub beside: Option<Name>,
    /// The generation that the task must have.
    pub at: Option<u32>,
    /// How much history the answer shall have.
    pub history: Option<u32>,
    /// The id of the message; otherwise it has one of its own.
    pub message: Option<Name>,
    /// What the task of the answer is called.
    pub task: Option<Name>,
    /// What the stream is called.
    pub stream: Option<Name>,
}

impl Send {
    /// A script, and nothing special.
    pub fn new(how: How, script: &str) -> Self {
        Self {
            how,
            script: script.to_owned(),
            with: None,
            to: None,
            beside: None,
            at: None,
            history: None,
            message: None,
            task: None,
            stream: None,
        }
    }
}

/// The point until which a sender waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// That the task rests.
    Send,
    /// That there is a task.
    Start,
    Stream,
}

/// A second part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum With {
    /// A file, by its content.
    Bytes(String),
    /// A file, by its address.
    Link(String),
    Data,
}

/// The tasks that are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// Those in the context of this task.
    pub beside: Option<Name>,
    /// Those in this state, as [`STATES`] has it.
    pub state: Option<&'static str>,
    /// How many on a page.
    pub size: Option<u32>,
    pub after: Option<Name>,
    /// What the place behind this page is called.
    pub page: Option<Name>,
}

/// The words for states.
pub const STATES: &[&str] = &[
    "submitted",
    "working",
    "completed",
    "failed",
    "canceled",
    "input-required",
    "rejected",
];

/// A webhook of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub task: Name,
    pub id: Name,
}

macro_rules! bad {
    ($($(#[$doc:meta])* $variant:ident $word:literal,)*) => {
        /// Requests that make no sense.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Bad {
            $($(#[$doc])* $variant,)*
        }

        impl Bad {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// What it is called.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

bad! {
    /// A message without parts.
    NoParts "no-parts",
    /// A message without an id.
    NoMessageId "no-message-id",
    /// A part of a media type that the agent does not take.
    MediaType "media-type",
    /// Less than no history.
    History "history",
    /// A page that is too large.
    PageSize "page-size",
    /// A page token that the server never issued.
    PageToken "page-token",
    /// A task's id that is longer than any.
    LongId "long-id",
    /// A task that has no id.
    NoId "no-id",
}

/// Why a text is no scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct Error {
    /// The number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}
