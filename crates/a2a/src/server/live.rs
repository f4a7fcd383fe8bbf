//! The tasks somebody works on, and how to reach whoever does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use store::Follow;
use tokio::sync::{mpsc, watch};

use super::run::Command;
use crate::types::{Message, Task};

/// The last state in which a task had ended or waited for its caller.
pub(super) type Settled = Option<Arc<Task>>;

/// How the answer to a message begins.
pub(super) enum Started {
    /// With a message, which is all of it.
    Message(Message),
    /// With a task.
    Task(Box<Opened>),
}

/// A task that has taken a message.
pub(super) struct Opened {
    pub(super) id: String,
    pub(super) context: String,
    /// What follows this generation is the answer.
    pub(super) generation: u64,
    /// The task at that point, unless it is its own first event.
    pub(super) snapshot: Option<Task>,
    /// What follows, for a caller that wants a stream.
    pub(super) follow: Option<Follow>,
    pub(super) settled: watch::Receiver<Settled>,
}

/// The way to a run.
#[derive(Clone)]
pub(super) struct Handle {
    commands: mpsc::Sender<Command>,
}

impl Handle {
    pub(super) fn new(commands: mpsc::Sender<Command>) -> Self {
        Self { commands }
    }
}

/// All runs that have a task, by its id.
#[derive(Default)]
pub(super) struct Live {
    runs: Mutex<HashMap<String, Handle>>,
}

/// Why a command did not reach a run; it is handed back.
pub(super) enum Unsent {
    /// Nobody works on the task.
    Idle(Command),
    /// Too many wait already.
    Busy,
}

impl Live {
    pub(super) fn enter(&self, task: &str, handle: Handle) {
        self.lock().insert(task.to_owned(), handle);
    }

    /// Hands a command to the run of a task. Under one lock with [`leave`](Self::leave): a command
    /// that was taken is obeyed.
    pub(super) fn send(&self, task: &str, command: Command) -> Result<(), Unsent> {
        let runs = self.lock();
        let Some(handle) = runs.get(task) else {
            return Err(Unsent::Idle(command));
        };
        match handle.commands.try_send(command) {
            Ok(()) => Ok(()),
            Err(mpsc::error::TrySendError::Full(_)) => Err(Unsent::Busy),
            Err(mpsc::error::TrySendError::Closed(command)) => Err(Unsent::Idle(command)),
        }
    }

    /// Enters a run that is made only when there is none. Hands the command to whoever is there.
    pub(super) fn send_or_enter(
        &self,
        task: &str,
        command: Command,
        make: impl FnOnce(Command) -> Handle,
    ) -> Result<(), Unsent> {
        match self.send(task, command) {
            Err(Unsent::Idle(command)) => {
                let mut runs = self.lock();
                match runs.get(task).filter(|handle| !handle.commands.is_closed()) {
                    // Somebody was quicker.
                    Some(handle) => handle.commands.try_send(command).map_err(|_| Unsent::Busy),
                    None => {
                        runs.insert(task.to_owned(), make(command));
                        Ok(())
                    }
                }
            }
            other => other,
        }
    }

    /// Takes a run off the list if, with nobody sending, it has nothing left to do.
    pub(super) fn leave(&self, task: &str, idle: impl FnOnce() -> bool) -> bool {
        let mut runs = self.lock();
        let leaves = idle();
        if leaves {
            runs.remove(task);
        }
        leaves
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Handle>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
