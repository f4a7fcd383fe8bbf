//! Describes the frames between two peers in words, for a person who watches a session from outside.
//!
//! Sessions do not use it. Its one user is `monas tap`, a proxy that prints the traffic of a connection; it is
//! here, not there, because it follows the two tables of a session by the same rules as `session`.
//!
//! ```
//! use capnweb::transcript::{Side, Transcript};
//!
//! let mut transcript = Transcript::new();
//! let frame = transcript.read(Side::Client, r#"["push",["pipeline",0,["price"],["tea"]]]"#);
//! assert_eq!(frame.to_string(), r#"client  push c1: main.price("tea")"#);
//! let frame = transcript.read(Side::Server, r#"["resolve",1,2.5]"#);
//! assert_eq!(frame.to_string(), "server  resolve c1 (main.price): 2.5");
//! ```
//!
//! Ids are written so that they mean the same in both directions: `c1` is the first thing the client pushed,
//! `s-1` the first capability the server sent, `main` the main object of the side that is spoken to.

use std::collections::HashMap;
use std::fmt;

use crate::expression::{Expression, ParseError, Reference};
use crate::limits::Limits;
use crate::message::Message;

mod words;

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;

use words::{Words, shown};

/// A side of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one that connected.
    Client,
    /// The one that was connected to.
    Server,
}

impl Side {
    /// The one it talks to.
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    fn letter(self) -> char {
        match self {
            Self::Client => 'c',
            Self::Server => 's',
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Client => "client",
            Self::Server => "server",
        })
    }
}

/// Reads the frames of one session in the order they pass, and says what each one is.
///
/// It follows the numbers that messages do not write down, and remembers what was asked for until it is
/// answered, so much of it at least as fits a bound.
#[derive(Debug, Default)]
pub struct Transcript {
    pushed: [i64; 2],
    /// What was pushed and not released, in a few words.
    asked: HashMap<Id, String>,
}

/// How many pushes are remembered.
const REMEMBERED: usize = 10_000;

/// What a frame is, in one line of bounded length that is safe to print.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    pub from: Side,
    /// The name of the message, such as `push`; `None` when the frame is none of the protocol's.
    pub kind: Option<&'static str>,
    /// How long it is.
    pub bytes: usize,
    /// What it says: ids, the method, shortened arguments.
    pub text: String,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            from, kind, text, ..
        } = self;
        write!(f, "{from}  {} {text}", kind.unwrap_or("malformed"))
    }
}

/// Something in a table, named by the side that gave it its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Id {
    of: Side,
    number: i64,
}

impl Id {
    /// What the speaker names in its own words: what it pushed, or what the other side sent it.
    fn held(by: Side, number: i64) -> Self {
        let of = if number > 0 { by } else { by.other() };
        Self { of, number }
    }

    /// What the speaker offers: its answers to what the other side pushed, or what it sent itself.
    fn offered(by: Side, number: i64) -> Self {
        Self::held(by.other(), number)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => f.write_str("main"),
            number => write!(f, "{}{number}", self.of.letter()),
        }
    }
}

impl Transcript {
    /// Of a session that begins.
    pub fn new() -> Self {
        Self::default()
    }

    /// Describes the next frame. Invalid frames are described too.
    pub fn read(&mut self, from: Side, frame: &str) -> Frame {
        let (kind, text) = match Message::parse(frame, &Limits::default()) {
            Ok(message) => {
                let (kind, text) = self.message(from, &message);
                (Some(kind), text)
            }
            Err(error) => {
                let mut words = Words::new(from);
                words.put(format_args!("{error}"));
                // That one shows the frame already.
                if !matches!(error, ParseError::Message(_)) {
                    words.put(format_args!(" in {}", shown(frame)));
                }
                (None, words.finish())
            }
        };
        Frame {
            from,
            kind,
            bytes: frame.len(),
            text,
        }
    }

    fn message(&mut self, from: Side, message: &Message) -> (&'static str, String) {
        let mut words = Words::new(from);
        let kind = match message {
            Message::Push(expression) => {
                self.push(from, expression, &mut words);
                "push"
            }
            Message::Stream(expression) => {
                self.push(from, expression, &mut words);
                "stream"
            }
            Message::Pipe => {
                let id = self.next_pushed(from);
                words.put(format_args!("{id}"));
                "pipe"
            }
            Message::Pull(id) => {
                self.name(Id::held(from, *id), &mut words);
                "pull"
            }
            Message::Resolve(id, value) => {
                self.name(Id::offered(from, *id), &mut words);
                words.put(format_args!(": "));
                words.expression(value);
                "resolve"
            }
            Message::Reject(id, reason) => {
                self.name(Id::offered(from, *id), &mut words);
                words.put(format_args!(": "));
                words.expression(reason);
                "reject"
            }
            Message::Release(id, count) => {
                let id = Id::held(from, *id);
                self.name(id, &mut words);
                if *count != 1 {
                    words.put(format_args!(" {count} times"));
                }
                self.asked.remove(&id);
                "release"
            }
            Message::Abort(reason) => {
                words.expression(reason);
                "abort"
            }
        };
        (kind, words.finish())
    }

    fn push(&mut self, from: Side, expression: &Expression, words: &mut Words) {
        let id = self.next_pushed(from);
        words.put(format_args!("{id}: "));
        words.expression(expression);
        let reference = match expression {
            Expression::Pipeline(reference) | Expression::Import(reference) => reference,
            _ => return,
        };
        if self.asked.len() < REMEMBERED {
            self.asked.insert(id, target(from, reference));
        }
    }

    fn next_pushed(&mut self, from: Side) -> Id {
        let last = &mut self.pushed[from as usize];
        *last += 1;
        Id {
            of: from,
            number: *last,
        }
    }

    /// An id, and what was asked for by it where that is known.
    fn name(&self, id: Id, words: &mut Words) {
        words.put(format_args!("{id}"));
        if let Some(asked) = self.asked.get(&id) {
            words.put(format_args!(" ({asked})"));
        }
    }
}

/// What a call is on, without its arguments.
fn target(from: Side, reference: &Reference) -> String {
    let mut words = Words::short(from);
    words.put(format_args!("{}", Id::held(from, reference.id)));
    words.path(reference.path.as_deref().unwrap_or_default());
    words.finish()
}
