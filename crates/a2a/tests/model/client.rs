//! Who calls: what was asked, what was answered, and a stream that is followed over cuts.

use std::sync::{Arc, Mutex};

use a2a::error::Error;
use a2a::event::{Event, EventStream};
use a2a::types::{Event as Payload, Part, TaskState};
use futures_util::StreamExt as _;
use tokio::task::JoinHandle;

/// What a caller wants of its first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Way {
    /// The task as soon as it exists.
    Begin,
    /// The task once it rests.
    Rest,
    /// What happens to the task.
    Stream,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Request {
    /// The message that opens the task, once or again.
    Open,
    /// A further message of this number.
    Message(usize),
    Cancel,
}

/// An answer, as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    /// The task at a generation.
    Task(TaskState, i64),
    /// What happens to the task is told to the follower.
    Streamed,
    NotCancelable(TaskState),
    /// The task has ended.
    Over,
    /// The agent gave no answer.
    Nothing,
    /// An error that no rule allows.
    Wrong(String),
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        match error {
            Error::TaskNotCancelable { state, .. } => Self::NotCancelable(state),
            Error::UnsupportedOperation(_) => Self::Over,
            Error::InvalidAgentResponse(_) => Self::Nothing,
            other => Self::Wrong(other.to_string()),
        }
    }
}

pub(crate) struct Call {
    pub(crate) asked: Request,
    pub(crate) state: CallState,
}

pub(crate) enum CallState {
    Waits(JoinHandle<Answer>),
    Answered(Answer),
    /// The process ended before it answered.
    Lost,
}

/// An event as a reader has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Told {
    pub(crate) cursor: u64,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// The task in this state.
    Task(TaskState),
    Status(TaskState),
    /// What an agent said bears its number.
    Said(String),
}

impl Told {
    pub(crate) fn new(event: &Event) -> Self {
        let text = |parts: &[Part]| parts.iter().filter_map(Part::as_text).collect();
        let what = match &event.response().payload {
            Payload::Task(_) => What::Task(event.state().unwrap_or_default()),
            Payload::StatusUpdate(_) => What::Status(event.state().unwrap_or_default()),
            Payload::ArtifactUpdate(update) => {
                What::Said(text(&update.artifact.as_ref().expect("an artifact").parts))
            }
            other => panic!("no event of a task: {other:?}"),
        };
        Self {
            cursor: event.cursor().expect("events of tasks bear a cursor"),
            what,
        }
    }

    pub(crate) fn state(&self) -> Option<TaskState> {
        match &self.what {
            What::Task(state) | What::Status(state) => Some(*state),
            What::Said(_) => None,
        }
    }
}

/// Where a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Start {
    After(u64),
    /// With the task as it is.
    Now,
}

/// What has come by a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Heard {
    pub(crate) events: Vec<Told>,
    pub(crate) end: Option<End>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum End {
    Over,
    Refused(Answer),
    Failed(String),
}

/// A stream that is being read.
pub(crate) struct Reader {
    pub(crate) from: Start,
    heard: Arc<Mutex<Heard>>,
    reading: JoinHandle<()>,
}

impl Reader {
    /// Reads, in the runtime that this is called in.
    pub(crate) fn begin(
        from: Start,
        stream: impl Future<Output = Result<EventStream, Error>> + Send + 'static,
    ) -> Self {
        let heard = Arc::<Mutex<Heard>>::default();
        let filled = heard.clone();
        let reading = tokio::spawn(async move {
            let end = match stream.await {
                Ok(stream) => read(stream, &filled).await,
                Err(error) => End::Refused(error.into()),
            };
            lock(&filled).end = Some(end);
        });
        Self {
            from,
            heard,
            reading,
        }
    }

    pub(crate) fn heard(&self) -> Heard {
        lock(&self.heard).clone()
    }

    /// The last event it has, counting those it did not want.
    pub(crate) fn cursor(&self) -> Option<u64> {
        let last = lock(&self.heard).events.last().map(|told| told.cursor);
        match self.from {
            Start::After(cursor) => Some(last.unwrap_or(cursor)),
            Start::Now => last,
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

async fn read(mut stream: EventStream, heard: &Mutex<Heard>) -> End {
    while let Some(portion) = stream.next().await {
        match portion {
            Ok(events) => {
                let events = events.iter().map(|event| Told::new(event));
                lock(heard).events.extend(events);
            }
            Err(error) => return End::Failed(error.to_string()),
        }
    }
    End::Over
}

fn lock(heard: &Mutex<Heard>) -> std::sync::MutexGuard<'_, Heard> {
    heard.lock().expect("nothing panics here")
}
