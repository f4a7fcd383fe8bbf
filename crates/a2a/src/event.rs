//! An event of a task as its subscribers get it: encoded once for each wire, shared by all.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
#[cfg(feature = "http")]
use capnweb::expression::Raw;
use futures_core::stream::BoxStream;

use crate::error::Error;
use crate::fold;
use crate::generation::{Generations, Hide as _};
use crate::types::wire::WireMessage as _;
use crate::types::{Event as Payload, StreamResponse, Task, TaskState};

/// How a request and its reply are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Protobuf,
}

/// What happened to a task, or the one message that is the whole answer.
#[derive(Debug)]
pub struct Event {
    response: StreamResponse,
    /// Without its generation, as most callers get it.
    plain: Encoded,
    /// With its generation.
    whole: Encoded,
}

/// An event in each form in which it was asked for.
#[derive(Debug, Default)]
struct Encoded {
    json: OnceLock<Bytes>,
    protobuf: OnceLock<Bytes>,
    /// As an expression of Cap'n Web, if it is one.
    #[cfg(feature = "http")]
    expression: OnceLock<Option<Raw>>,
}

/// Which part of an artifact an agent hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// The whole artifact, in one piece.
    Whole,
    /// The first part; more will come.
    First,
    /// A further part; more will come.
    More,
    /// The last part, appended to the others.
    Last,
}

impl Chunk {
    pub(crate) fn appends(self) -> bool {
        matches!(self, Self::More | Self::Last)
    }

    pub(crate) fn is_last(self) -> bool {
        matches!(self, Self::Last | Self::Whole)
    }
}

/// Events in order, in portions: what is there at one moment is written at once.
pub type EventStream = BoxStream<'static, Result<Vec<Arc<Event>>, Error>>;

impl Event {
    /// Nothing is encoded until someone asks.
    pub fn new(response: impl Into<StreamResponse>) -> Self {
        Self {
            response: response.into(),
            plain: Encoded::default(),
            whole: Encoded::default(),
        }
    }

    pub fn response(&self) -> &StreamResponse {
        &self.response
    }

    /// Where the task was after it: the cursor to go on from. A message has none.
    pub fn cursor(&self) -> Option<u64> {
        let generation = match &self.response.payload {
            Payload::Task(task) => task.generation,
            Payload::StatusUpdate(update) => update.generation,
            Payload::ArtifactUpdate(update) => update.generation,
            Payload::Message(_) | Payload::Unset => 0,
        };
        u64::try_from(generation)
            .ok()
            .filter(|&generation| generation > 0)
    }

    /// The state the task has after it, if it says so.
    pub fn state(&self) -> Option<TaskState> {
        match &self.response.payload {
            Payload::Task(task) => task.status.as_ref().map(|status| status.state),
            Payload::StatusUpdate(update) => update.status.as_ref().map(|status| status.state),
            _ => None,
        }
    }

    /// Takes the event into the task it is about. What its caller said is not in the events.
    pub fn apply_to(&self, task: &mut Task) {
        fold::apply(task, &self.response, None);
    }

    /// The event in that form. The bytes are made at the first call and shared after it.
    pub fn encode(&self, format: Format, generations: Generations) -> Bytes {
        let encoded = self.encoded(generations);
        let cell = match format {
            Format::Json => &encoded.json,
            Format::Protobuf => &encoded.protobuf,
        };
        let bytes = cell.get_or_init(|| match generations {
            Generations::Shown => write(&self.response, format),
            Generations::Hidden => {
                let mut plain = self.response.clone();
                plain.hide_generations();
                write(&plain, format)
            }
        });
        bytes.clone()
    }

    fn encoded(&self, generations: Generations) -> &Encoded {
        match generations {
            Generations::Shown => &self.whole,
            Generations::Hidden => &self.plain,
        }
    }

    /// The event as an expression of Cap'n Web, which is printed from the JSON at the first call and shared after it.
    #[cfg(feature = "http")]
    pub(crate) fn expression(
        &self,
        generations: Generations,
        print: impl FnOnce(&Bytes) -> Option<Raw>,
    ) -> Option<Raw> {
        let cell = &self.encoded(generations).expression;
        cell.get_or_init(|| print(&self.encode(Format::Json, generations)))
            .clone()
    }
}

fn write(response: &StreamResponse, format: Format) -> Bytes {
    match format {
        Format::Json => response.to_json(),
        Format::Protobuf => response.to_protobuf(),
    }
}
