//! What answers: the one trait between the protocol and whatever thinks.

use std::sync::Arc;

use futures_core::future::BoxFuture;

use super::turn::Turn;
use crate::error::Error;
use crate::types::{Message, Task, TaskId};

/// Something that answers messages. It is shared by all tasks; what belongs to one is in its
/// [`Turn`].
pub trait Agent: Send + Sync + 'static {
    /// Answers one message: with a message alone, or with updates of a task.
    ///
    /// The future is dropped when the task is cancelled and the agent does not end by itself in
    /// time. To return without an ending completes the task, unless it waits for input.
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>>;

    /// Who answers under a tenant in its stead, where it stands for several agents.
    fn tenant(&self, name: &str) -> Option<Arc<dyn Agent>> {
        let _ = name;
        None
    }

    /// What becomes of a task that was being worked on when the process ended.
    fn after_restart(&self, task: &Task) -> AfterRestart {
        let _ = task;
        AfterRestart::Fail
    }

    /// A task has ended: whatever is kept for it can go. It may not have been worked on in this process.
    fn ended(&self, task: &TaskId) {
        let _ = task;
    }

    /// What the id of a context that a message opens begins with, if the message says more than the
    /// server's own label.
    fn label(&self, message: &Message) -> Option<String> {
        let _ = message;
        None
    }
}

/// What becomes of a task that was being worked on when the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRestart {
    /// It ends FAILED, and says why.
    Fail,
    /// [`Agent::answer`] is called again, with the last message of the caller and the task as it was
    /// left.
    Resume,
}

/// Why an agent could not do what it was asked to: the task ends FAILED and says so to the caller.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    pub(super) reason: String,
    /// What the caller is told instead, as long as there is no task.
    pub(super) refusal: Option<Box<Error>>,
}

impl Failure {
    /// A failure with a reason for the caller to read.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            refusal: None,
        }
    }

    /// The message is not one the agent takes: as long as nothing was done about it the call itself
    /// fails, and no task comes of it.
    pub fn refusal(error: Error) -> Self {
        Self {
            reason: error.to_string(),
            refusal: Some(Box::new(error)),
        }
    }
}

/// The task has ended, or the answer was a message: no more updates are taken.
impl From<super::turn::Over> for Failure {
    fn from(over: super::turn::Over) -> Self {
        Self::new(over.to_string())
    }
}
