//! An agent's view of one message: what it was sent, and what it does about it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use access::Principal;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::id;
use crate::types::{
    Artifact, Message, Part, Role, SendMessageConfiguration, Struct, Task, TaskState,
};

/// One message to be answered. Clones stand for the same turn.
///
/// Updates become events in the order in which they are made. They are committed together as soon as
/// the agent waits for something; nobody sees one before that.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) request: Arc<Request>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) cancelled: CancellationToken,
}

/// What the agent was asked.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) message: Message,
    pub(super) task: Option<Task>,
    pub(super) task_id: String,
    pub(super) context_id: String,
    pub(super) configuration: SendMessageConfiguration,
    pub(super) metadata: Option<Struct>,
    pub(super) caller: Principal,
    pub(super) extensions: Vec<String>,
}

/// No more updates are taken: the task has ended, or the answer was a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task is over")]
pub struct Over;

impl Turn {
    /// The message to answer.
    pub fn message(&self) -> &Message {
        &self.request.message
    }

    /// The text of the message: its text parts, in order.
    pub fn text(&self) -> String {
        let texts = self.request.message.parts.iter().filter_map(Part::as_text);
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The task that the message continues, as it was when the message came.
    pub fn task(&self) -> Option<&Task> {
        self.request.task.as_ref()
    }

    /// The id of the task: the one continued, or the one the first update will open.
    pub fn task_id(&self) -> &str {
        &self.request.task_id
    }

    /// The context of the message.
    pub fn context_id(&self) -> &str {
        &self.request.context_id
    }

    /// What the caller wants of the answer.
    pub fn configuration(&self) -> &SendMessageConfiguration {
        &self.request.configuration
    }

    /// What the caller sent beside the message.
    pub fn metadata(&self) -> Option<&Struct> {
        self.request.metadata.as_ref()
    }

    /// Who asks.
    pub fn caller(&self) -> &Principal {
        &self.request.caller
    }

    /// The extensions the caller understands, by URI.
    pub fn extensions(&self) -> &[String] {
        &self.request.extensions
    }

    /// Ends when the caller wants the task to end.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// A message of the agent's in this context.
    pub fn say(&self, text: impl Into<String>) -> Message {
        Message {
            message_id: id::random(),
            role: Role::Agent,
            parts: vec![Part::text(text)],
            ..Message::default()
        }
    }

    /// Answers with a message and nothing else. In a turn that has a task, the task completes with
    /// it.
    pub async fn reply(&self, message: Message) -> Result<(), Over> {
        self.outbox.push(Update::Reply(message)).await
    }

    /// Gives the task a state, and maybe something to say. A state that ends the task ends the turn.
    pub async fn status(&self, state: TaskState, message: Option<Message>) -> Result<(), Over> {
        self.outbox.push(Update::Status(state, message)).await
    }

    /// The task is being worked on.
    pub async fn working(&self) -> Result<(), Over> {
        self.status(TaskState::Working, None).await
    }

    /// The task is done.
    pub async fn complete(&self) -> Result<(), Over> {
        self.status(TaskState::Completed, None).await
    }

    /// The task cannot be done.
    pub async fn fail(&self, reason: impl Into<String>) -> Result<(), Over> {
        self.status(TaskState::Failed, Some(self.say(reason))).await
    }

    /// The agent will not do it.
    pub async fn reject(&self, reason: impl Into<String>) -> Result<(), Over> {
        self.status(TaskState::Rejected, Some(self.say(reason)))
            .await
    }

    /// Asks the caller. The turn should then end: the answer comes as a message of its own.
    pub async fn ask(&self, question: impl Into<String>) -> Result<(), Over> {
        self.status(TaskState::InputRequired, Some(self.say(question)))
            .await
    }

    /// Hands over something made. An artifact of the same id is replaced.
    pub async fn artifact(&self, artifact: Artifact) -> Result<(), Over> {
        self.chunk(artifact, Chunk::Whole).await
    }

    /// Hands over a part of something that is still being made.
    pub async fn chunk(&self, artifact: Artifact, chunk: Chunk) -> Result<(), Over> {
        self.outbox.push(Update::Artifact(artifact, chunk)).await
    }

    /// Ends when all updates so far are committed: what was said before cannot be lost any more.
    pub async fn committed(&self) -> Result<(), Over> {
        self.outbox.committed().await
    }
}

/// Which part of an artifact it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// All of it.
    Whole,
    /// The first part; more will come.
    First,
    /// A further part; more will come.
    More,
    /// The last part, appended to the others.
    Last,
}

impl Chunk {
    pub(super) fn appends(self) -> bool {
        matches!(self, Self::More | Self::Last)
    }

    pub(super) fn is_last(self) -> bool {
        matches!(self, Self::Last | Self::Whole)
    }
}

/// Something an agent did.
#[derive(Debug)]
pub(super) enum Update {
    Reply(Message),
    Status(TaskState, Option<Message>),
    Artifact(Artifact, Chunk),
}

/// What an agent did and nobody has taken yet. The agent waits when there is too much of it.
#[derive(Debug)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    /// Wakes the run that takes the updates.
    filled: Notify,
    /// How far the run that takes the updates has come.
    done: watch::Sender<Done>,
    limit: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    updates: VecDeque<Update>,
    made: u64,
    over: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// How many updates are committed, of all that were made.
    count: u64,
    /// Nobody will take any more.
    ended: bool,
}

impl Outbox {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            filled: Notify::new(),
            done: watch::Sender::default(),
            limit,
        }
    }

    async fn push(&self, update: Update) -> Result<(), Over> {
        self.room().await?;
        let mut waiting = self.lock();
        if waiting.over {
            return Err(Over);
        }
        waiting.over = update.ends_the_turn();
        waiting.updates.push_back(update);
        waiting.made += 1;
        if waiting.updates.len() == 1 {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Ends when there is room for another update.
    async fn room(&self) -> Result<(), Over> {
        let full = || self.lock().updates.len() >= self.limit;
        if !full() {
            return Ok(());
        }
        let mut done = self.done.subscribe();
        while full() {
            if done.borrow_and_update().ended {
                return Err(Over);
            }
            done.changed().await.map_err(|_| Over)?;
        }
        Ok(())
    }

    async fn committed(&self) -> Result<(), Over> {
        let made = self.lock().made;
        let mut done = self.done.subscribe();
        let done = done.wait_for(|done| done.ended || done.count >= made).await;
        match done {
            Ok(done) if done.count >= made => Ok(()),
            _ => Err(Over),
        }
    }

    /// Ends when there is something to take.
    pub(super) async fn filled(&self) {
        self.filled.notified().await;
    }

    pub(super) fn take(&self) -> VecDeque<Update> {
        let updates = std::mem::take(&mut self.lock().updates);
        // An agent that waits for room may go on while these are being committed.
        if updates.len() >= self.limit {
            self.done.send_modify(|_| {});
        }
        updates
    }

    /// So many more updates are committed.
    pub(super) fn commit(&self, count: usize) {
        if count > 0 {
            self.done.send_modify(|done| done.count += count as u64);
        }
    }

    /// Refuses all that comes from here on.
    pub(super) fn close(&self) {
        self.lock().over = true;
        self.done.send_modify(|done| done.ended = true);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Update {
    fn ends_the_turn(&self) -> bool {
        match self {
            Self::Reply(_) => true,
            Self::Status(state, _) => state.is_terminal(),
            Self::Artifact(..) => false,
        }
    }
}
