//! The runs of tasks that are being worked on, and their mailboxes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::Follow;
use tokio::sync::{Notify, oneshot};

use super::run::Command;
use crate::error::Error;
use crate::types::{ContextId, Message, Task, TaskId};

/// The first reply to a message, in the form that its caller wants.
pub(super) enum Started {
    /// A message, which is the whole answer.
    Message(Message),
    /// The task: as it was opened, or once it is settled.
    Task(Box<Task>),
    /// The task, and a stream of its events.
    Stream(Box<Opened>),
}

/// The caller that waits for the first reply.
pub(super) type Reply = oneshot::Sender<Result<Started, Error>>;

/// A task that has taken a message, for a caller that wants a stream.
pub(super) struct Opened {
    pub(super) id: TaskId,
    pub(super) context: ContextId,
    /// The task when it took the message, unless that is its own first event.
    pub(super) snapshot: Option<Box<Task>>,
    /// The events after that.
    pub(super) follow: Box<Follow>,
}

/// The queue of commands to a run. Bounded.
pub(super) struct Mailbox {
    commands: Mutex<VecDeque<Command>>,
    arrived: Notify,
    limit: usize,
}

impl Mailbox {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            commands: Mutex::default(),
            arrived: Notify::new(),
            limit,
        })
    }

    /// Ends when there is a command to take.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    pub(super) fn take(&self) -> VecDeque<Command> {
        std::mem::take(&mut *lock(&self.commands))
    }

    fn is_empty(&self) -> bool {
        lock(&self.commands).is_empty()
    }

    /// Gives `None` when the mailbox is full.
    fn put(&self, command: Command) -> Option<()> {
        let mut commands = lock(&self.commands);
        if commands.len() >= self.limit {
            return None;
        }
        commands.push_back(command);
        self.arrived.notify_one();
        Some(())
    }
}

/// The mailboxes of all runs that have a task, by its id. A task is listed here exactly while a run may write it.
#[derive(Default)]
pub(super) struct Live {
    runs: Mutex<HashMap<TaskId, Arc<Mailbox>>>,
}

impl Live {
    pub(super) fn enter(&self, task: &TaskId, mailbox: Arc<Mailbox>) {
        lock(&self.runs).insert(task.clone(), mailbox);
    }

    /// Hands a command to the run of a task; when there is none, to one that is made for it. Under one
    /// lock with [`leave`](Self::leave): a command that was taken is obeyed.
    pub(super) fn send_or_enter(
        &self,
        task: &TaskId,
        command: Command,
        make: impl FnOnce(Command) -> Result<Arc<Mailbox>, Error>,
    ) -> Result<(), Error> {
        let mut runs = lock(&self.runs);
        if let Some(mailbox) = runs.get(task) {
            let busy = || Error::Unavailable(format!("too many calls wait for task {task:?}"));
            return mailbox.put(command).ok_or_else(busy);
        }
        runs.insert(task.clone(), make(command)?);
        Ok(())
    }

    /// Takes a run off the list, unless a command has just arrived in its mailbox.
    pub(super) fn leave(&self, task: &TaskId, mailbox: &Mailbox) -> bool {
        let mut runs = lock(&self.runs);
        let leaves = mailbox.is_empty();
        if leaves {
            runs.remove(task);
        }
        leaves
    }

    /// Takes a run off the list although commands may wait in its mailbox: its run answers them with an error.
    pub(super) fn abandon(&self, task: &TaskId) {
        lock(&self.runs).remove(task);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
