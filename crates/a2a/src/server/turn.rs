//! An agent's view of one message: what it was sent, and the updates that it makes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use access::Principal;
use bytes::Bytes;
use dial::trace;
use store::Store;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{id, journal};
use crate::event::Chunk;
use crate::types::{
    Artifact, Content, ContextId, Message, Part, Role, SendMessageConfiguration, Struct, Task,
    TaskId, TaskState,
};

/// One message to be answered, as its agent sees it. Clones stand for the same turn.
///
/// A turn reads the message, the caller and the task as it was when the message came, and writes updates: a status, an
/// artifact or a part of one, a note, or a message that is the whole answer. Updates go into an outbox, which the
/// run of the task empties. The agent is polled by that run, so all updates it makes without waiting are in
/// the outbox when it yields; they become events in their order, and one commit. Callers see nothing before that commit.
///
/// Each update is `async` because the outbox has a limit: an agent that writes faster than the journal commits waits for
/// room. [`committed`](Self::committed) waits for the journal itself, which an agent needs before it does something
/// outside that must not be done without a record.
///
/// A turn ends in three ways. The agent's future returns: then the task completes, unless it waits for input or has
/// ended. An update ends the task: every later update gets [`Over`]. The caller cancels: [`cancelled`](Self::cancelled)
/// is set, and after the grace period of the limits the future is dropped and the task ends CANCELED without it.
///
/// Notes are private to the agent and lie in the same transaction as the events around them: an agent that is called
/// again after a restart reads them to learn which effects it has had already.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) asked: Arc<TurnInput>,
    pub(super) task: Option<Arc<Task>>,
    pub(super) task_id: TaskId,
    pub(super) context_id: ContextId,
    pub(super) outbox: Arc<Outbox>,
    pub(super) cancelled: CancellationToken,
    pub(super) store: Store,
}

/// The input of a turn: the message, its caller and the caller's wishes.
#[derive(Debug)]
pub(super) struct TurnInput {
    pub(super) message: Message,
    pub(super) configuration: SendMessageConfiguration,
    pub(super) metadata: Option<Struct>,
    pub(super) caller: Principal,
    pub(super) extensions: Vec<String>,
    /// The trace that the message belongs to.
    pub(super) trace: Option<trace::Scope>,
    /// There is no new message: the task is resumed with its last one.
    pub(super) again: bool,
}

/// The task has ended, or the answer was a message: no more updates are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task is over")]
pub struct Over;

impl Turn {
    /// The message to answer.
    pub fn message(&self) -> &Message {
        &self.asked.message
    }

    /// Whether there is no new message: the task is resumed, after a restart or by
    /// [`Server::resume`](super::Server::resume), and the message is the last one of the caller.
    pub fn is_resumed(&self) -> bool {
        self.asked.again
    }

    /// The text of the message: its text parts, in order.
    pub fn text(&self) -> String {
        self.asked.message.text()
    }

    /// The task that the message continues, as it was when the message came.
    pub fn task(&self) -> Option<&Task> {
        self.task.as_deref()
    }

    /// The id of the task: the one continued, or the one the first update will open.
    pub fn task_id(&self) -> &TaskId {
        &self.task_id
    }

    /// The context of the message.
    pub fn context_id(&self) -> &ContextId {
        &self.context_id
    }

    /// The caller's wishes about the answer.
    pub fn configuration(&self) -> &SendMessageConfiguration {
        &self.asked.configuration
    }

    /// The metadata of the request; the message has its own.
    pub fn metadata(&self) -> Option<&Struct> {
        self.asked.metadata.as_ref()
    }

    pub fn caller(&self) -> &Principal {
        &self.asked.caller
    }

    /// The extensions the caller understands, by URI.
    pub fn extensions(&self) -> &[String] {
        &self.asked.extensions
    }

    /// Set when a caller cancels the task.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// A message of the agent, with a new id and one text.
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

    /// Stores a note with the task that only its agent can read: a record of effects that must not be repeated when the
    /// work is begun again after a restart. It is deleted with the task. A note of the same key is replaced.
    pub async fn note(&self, key: impl Into<String>, note: impl Into<Bytes>) -> Result<(), Over> {
        let note = Update::Note(key.into(), note.into());
        self.outbox.push(note).await
    }

    /// The store of the server, for what an agent records beside its tasks.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The committed notes of the task, by key.
    pub async fn notes(&self) -> Result<BTreeMap<String, Bytes>, store::Error> {
        let task = self.task_id.clone();
        self.store
            .read(move |view| journal::notes(view, &task))
            .await
    }

    /// Ends when all updates so far are committed and survive a crash.
    pub async fn committed(&self) -> Result<(), Over> {
        self.outbox.committed().await
    }
}

/// One update of an agent.
#[derive(Debug)]
pub(super) enum Update {
    Reply(Message),
    Status(TaskState, Option<Message>),
    Artifact(Artifact, Chunk),
    Note(String, Bytes),
}

/// The updates of an agent that its run has not taken yet. Bounded: an agent waits when it is full.
#[derive(Debug)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    /// Wakes the run that takes the updates.
    filled: Notify,
    /// Wakes the agent, when updates were taken or committed.
    moved: Notify,
    limit: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    updates: VecDeque<Update>,
    /// The number of updates that were ever made.
    made: u64,
    /// The number of those that are committed.
    committed: u64,
    /// The agent may make no more updates.
    over: bool,
    /// The run has ended: nothing more will be committed.
    closed: bool,
}

impl Outbox {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            filled: Notify::new(),
            moved: Notify::new(),
            limit,
        }
    }

    async fn push(&self, update: Update) -> Result<(), Over> {
        // The task holds it until the turn ends; a turn that holds too much ends where it waits next.
        let _ = access::budget::current().hold(update.size());
        let mut update = Some(update);
        self.when(|waiting| {
            if waiting.over {
                return Some(Err(Over));
            }
            if waiting.updates.len() >= self.limit {
                return None;
            }
            let update = update.take()?;
            waiting.over = update.ends_the_turn();
            waiting.updates.push_back(update);
            waiting.made += 1;
            if waiting.updates.len() == 1 {
                self.filled.notify_one();
            }
            Some(Ok(()))
        })
        .await
    }

    async fn committed(&self) -> Result<(), Over> {
        let made = self.lock().made;
        self.when(|waiting| match waiting.committed >= made {
            true => Some(Ok(())),
            false => waiting.closed.then_some(Err(Over)),
        })
        .await
    }

    /// Waits until `answer` gives one; it is asked again after every change.
    async fn when<T>(&self, mut answer: impl FnMut(&mut Waiting) -> Option<T>) -> T {
        loop {
            if let Some(answer) = answer(&mut self.lock()) {
                return answer;
            }
            let moved = self.moved.notified();
            tokio::pin!(moved);
            // Enabled before the second look: a change between the two looks is not missed.
            moved.as_mut().enable();
            if let Some(answer) = answer(&mut self.lock()) {
                return answer;
            }
            moved.await;
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
            self.moved.notify_waiters();
        }
        updates
    }

    /// So many more updates are committed.
    pub(super) fn commit(&self, count: usize) {
        if count > 0 {
            self.lock().committed += count as u64;
            self.moved.notify_waiters();
        }
    }

    /// Refuses all that comes from here on.
    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.over = true;
        waiting.closed = true;
        drop(waiting);
        self.moved.notify_waiters();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Update {
    /// About how many bytes it holds.
    fn size(&self) -> u64 {
        let size = match self {
            Self::Reply(message) => size_of_parts(&message.parts),
            Self::Status(_, message) => {
                let parts = message.as_ref().map(|it| &it.parts[..]);
                size_of_parts(parts.unwrap_or_default())
            }
            Self::Artifact(artifact, _) => size_of_parts(&artifact.parts),
            Self::Note(key, note) => key.len() + note.len(),
        };
        size as u64
    }

    fn ends_the_turn(&self) -> bool {
        match self {
            Self::Reply(_) => true,
            Self::Status(state, _) => state.is_terminal(),
            Self::Artifact(..) | Self::Note(..) => false,
        }
    }
}

/// About how many bytes these hold.
pub(super) fn size_of_parts(parts: &[Part]) -> usize {
    let content = |part: &Part| match &part.content {
        Content::Text(text) | Content::Url(text) => text.len(),
        Content::Raw(bytes) => bytes.len(),
        Content::Data(value) => serde_json::to_string(value).map_or(0, |it| it.len()),
        Content::Unset => 0,
    };
    parts.iter().map(content).sum()
}
