//! The changes of a run: events folded into its task, and the batch that commits them.

use bytes::Bytes;
use dial::trace;
use store::{Batch, Commit, Follow, NewEvent, Row};

use super::{Incoming, Run, Wants};
use crate::error::Error;
use crate::event::Chunk;
use crate::fold;
use crate::server::id;
use crate::server::journal::{self, NOTES, RUNNING, SENDS, Sender, TASKS, WEBHOOKS};
use crate::server::live::Reply;
use crate::server::replay::Ticket;
use crate::types::{
    Artifact, Event as Payload, Message, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState,
    TaskStatus, TaskStatusUpdateEvent,
};

/// The content of the next commit, and the callers to answer after it.
#[derive(Default)]
pub(super) struct Pending {
    events: Vec<NewEvent>,
    sends: Vec<Row>,
    notes: Vec<Row>,
    /// The number of agent updates in it.
    pub(super) updates: usize,
    /// Whether the task ends with it.
    pub(super) ends: bool,
    pub(super) recorded: Vec<Recorded>,
    /// Messages that are refused because of a change in it. The refusal is sent after the commit, since only then is its
    /// reason true.
    pub(super) refused: Vec<(Incoming, Error)>,
    /// Webhooks, each with the trace of the message that registered it.
    pub(super) webhooks: Vec<(Row, Option<trace::Scope>)>,
}

/// A message of a caller that is recorded with the commit.
pub(super) struct Recorded {
    pub(super) ticket: Option<Ticket>,
    pub(super) reply: Option<Reply>,
    /// The generation after which the answer begins; 0 for a task that it opened.
    pub(super) after: i64,
    pub(super) begun: Begun,
}

/// The first reply to that caller.
pub(super) enum Begun {
    /// None until the task is settled after this generation.
    Rest(i64),
    /// This snapshot, or without one the task after the commit.
    Task(Option<Box<Task>>),
    /// A snapshot, and the events after it. The subscription is made before the commit, so that the events reach it from
    /// memory instead of being read from disk.
    Stream(Option<Box<Task>>, Box<Follow>),
}

impl Run {
    pub(super) fn set_status(&mut self, state: TaskState, message: Option<Message>) {
        self.open();
        // The same state again, without a message, is no event.
        let bare = |status: &TaskStatus| status.state == state && status.message.is_none();
        let now = self.task.as_ref().and_then(|task| task.status.as_ref());
        if message.is_none() && now.is_some_and(bare) {
            return;
        }
        let status = self.status(state, message);
        self.append(status_update(status), None, None);
    }

    pub(super) fn add_artifact(&mut self, mut artifact: Artifact, chunk: Chunk) {
        self.open();
        if artifact.artifact_id.is_empty() {
            artifact.artifact_id = id::random();
        }
        let update = TaskArtifactUpdateEvent {
            artifact: Some(artifact),
            append: chunk.appends(),
            last_chunk: chunk.is_last(),
            ..TaskArtifactUpdateEvent::default()
        };
        self.append(Payload::ArtifactUpdate(update), None, None);
    }

    /// Adds a note of the agent to the next commit. It opens the task if there is none.
    pub(super) fn keep(&mut self, key: &str, note: Bytes) {
        self.open();
        self.pending
            .notes
            .push(journal::note(&self.task_id, key, note));
    }

    /// Adds a further message of the caller to the history; the task is WORKING again.
    pub(super) fn record_received(&mut self, incoming: Incoming) {
        let message = self.claim(&incoming);
        let status = self.status(TaskState::Working, None);
        let sender = Sender::of(&incoming.asked.caller);
        self.append(status_update(status), Some(&message), Some(sender));
        self.inbox.push_back(incoming.asked.clone());
        let after = self.task.as_ref().map_or(0, |task| task.generation);
        self.expect(incoming, after);
    }

    /// Opens the task, SUBMITTED, with the message that asked for it, if that has not happened yet.
    fn open(&mut self) {
        let Some(incoming) = self.first.take() else {
            return;
        };
        let created = Task {
            id: self.task_id.to_string(),
            context_id: self.context_id.to_string(),
            status: Some(self.status(TaskState::Submitted, None)),
            history: vec![self.claim(&incoming)],
            ..Task::default()
        };
        self.task = Some(Task::default());
        let sender = Sender::of(&incoming.asked.caller);
        self.append(Payload::Task(created), None, Some(sender));
        self.expect(incoming, 0);
    }

    /// The message with the ids of the task, as its history holds it.
    fn claim(&self, incoming: &Incoming) -> Message {
        Message {
            task_id: self.task_id.to_string(),
            context_id: self.context_id.to_string(),
            ..incoming.asked.message.clone()
        }
    }

    /// Notes the caller that waits for the message to be recorded, and the generation after which its answer begins. A
    /// new task begins after 0 and needs no snapshot: its first event is the whole task.
    fn expect(&mut self, incoming: Incoming, after: i64) {
        let cursor = after.unsigned_abs();
        if let Some(ticket) = &incoming.ticket {
            let now = self.server.now().millis();
            self.pending
                .sends
                .push(ticket.row(&self.task_id, after, now));
        }
        if let Some(registration) = incoming.webhook {
            let webhook = registration.of(&self.task_id, cursor);
            let trace = incoming.asked.trace.clone();
            self.pending.webhooks.push((webhook.row(), trace));
        }
        let begun = match incoming.wants {
            Wants::Rest => Begun::Rest(after),
            Wants::Begin => Begun::Task(self.snapshot(after)),
            Wants::Stream => {
                let follow = self.server.store.follow(&self.stream, cursor);
                Begun::Stream(self.snapshot(after), Box::new(follow))
            }
        };
        self.pending.recorded.push(Recorded {
            ticket: incoming.ticket,
            reply: incoming.reply,
            after,
            begun,
        });
    }

    fn snapshot(&self, after: i64) -> Option<Box<Task>> {
        self.task.clone().filter(|_| after > 0).map(Box::new)
    }

    fn append(&mut self, payload: Payload, received: Option<&Message>, sender: Option<Sender>) {
        let Some(task) = &mut self.task else { return };
        let mut event = StreamResponse { payload };
        let generation = task.generation + 1;
        match &mut event.payload {
            Payload::Task(task) => task.generation = generation,
            Payload::StatusUpdate(update) => update.generation = generation,
            Payload::ArtifactUpdate(update) => update.generation = generation,
            Payload::Message(_) | Payload::Unset => return,
        }
        fold::apply(task, &event, received);
        self.pending.ends = task.state().is_terminal();
        self.pending
            .events
            .push(journal::record(task, event, received, sender));
    }

    fn status(&self, state: TaskState, message: Option<Message>) -> TaskStatus {
        let message = message.map(|mut message| {
            self.sign(&mut message);
            message
        });
        TaskStatus {
            state,
            message,
            timestamp: Some(self.server.now()),
        }
    }

    /// Hands the pending changes to the journal as one batch, if there are any.
    pub(super) fn commit(&mut self) -> Option<Commit> {
        if self.pending.events.is_empty() && self.pending.notes.is_empty() {
            return None;
        }
        let task = self.task.as_ref()?;
        if !self.listed {
            self.server.live.enter(&self.task_id, self.mailbox());
            self.listed = true;
        }
        let events = std::mem::take(&mut self.pending.events);
        let after = task.generation.unsigned_abs() - events.len() as u64;
        let mut batch = Batch::new();
        if !events.is_empty() {
            batch = batch.append(&self.stream, after, events);
            // Parts of an artifact change nothing that lists show or sort by.
            let row = Some((task.state(), journal::updated(task)));
            if self.row != row {
                self.row = row;
                batch = batch.put(&TASKS, journal::row(&self.scope, task, Bytes::new()));
            }
        }
        let works = !task.is_settled();
        if works && !self.marked {
            batch = batch.put(
                &RUNNING,
                Row {
                    key: self.task_id.to_string(),
                    columns: Vec::new(),
                    body: self.scope.as_str().to_owned().into(),
                },
            );
        } else if !works && self.marked {
            batch = batch.delete(&RUNNING, &self.task_id);
        }
        self.marked = works;
        if task.state().is_terminal() {
            batch = batch.finish(&self.stream, self.server.now().millis());
        }
        for send in self.pending.sends.drain(..) {
            batch = batch.put(&SENDS, send);
        }
        for note in self.pending.notes.drain(..) {
            batch = batch.put(&NOTES, note);
        }
        for (webhook, _) in &self.pending.webhooks {
            batch = batch.put(&WEBHOOKS, webhook.clone());
        }
        Some(self.server.store.commit(batch))
    }
}

fn status_update(status: TaskStatus) -> Payload {
    Payload::StatusUpdate(TaskStatusUpdateEvent {
        status: Some(status),
        ..TaskStatusUpdateEvent::default()
    })
}
