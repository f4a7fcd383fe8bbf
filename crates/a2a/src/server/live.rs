//! The tasks somebody works on, and how to reach whoever does.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::Follow;
use tokio::sync::{Notify, oneshot};

use super::run::Command;
use crate::error::Error;
use crate::types::{ContextId, Message, Task, TaskId};

/// How the answer to a message begins, as its caller wants it.
pub(super) enum Started {
    /// With a message, which is all of it.
    Message(Message),
    /// With a task: as it was opened, or once it rests.
    Task(Box<Task>),
    /// With a task and what happens to it.
    Stream(Box<Opened>),
}

/// Whom to tell how the answer begins.
pub(super) type Reply = oneshot::Sender<Result<Started, Error>>;

/// A task that has taken a message, for a caller that wants a stream.
pub(super) struct Opened {
    pub(super) id: TaskId,
    pub(super) context: ContextId,
    /// The task when it took the message, unless that is its own first event.
    pub(super) snapshot: Option<Box<Task>>,
    /// What happens to it from there.
    pub(super) follow: Box<Follow>,
}

/// Where a run gets what is asked of it.
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

    /// Ends when something has come.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    pub(super) fn take(&self) -> VecDeque<Command> {
        std::mem::take(&mut *lock(&self.commands))
    }

    fn is_empty(&self) -> bool {
        lock(&self.commands).is_empty()
    }

    /// Nothing, when too many wait already.
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

/// All runs that have a task, by its id.
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

    /// Takes a run off the list, unless somebody has just asked something of it.
    pub(super) fn leave(&self, task: &TaskId, mailbox: &Mailbox) -> bool {
        let mut runs = lock(&self.runs);
        let leaves = mailbox.is_empty();
        if leaves {
            runs.remove(task);
        }
        leaves
    }

    /// Takes a run off the list, whatever was asked of it.
    pub(super) fn abandon(&self, task: &TaskId) {
        lock(&self.runs).remove(task);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
