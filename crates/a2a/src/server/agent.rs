//! The trait that an agent implements: the only thing the task server knows of it.

use std::sync::Arc;

use futures_core::future::BoxFuture;

use super::turn::Turn;
use crate::error::Error;
use crate::types::{Message, Task, TaskId};

/// Answers messages. One value serves all tasks at the same time; the state of a task is in its [`Turn`].
///
/// The server calls [`answer`](Self::answer) for each message that a task gets, one at a time for each task and many at
/// once for different tasks. The agent makes updates through the turn; each is committed before callers see it. What the agent
/// keeps in memory between two messages may be lost at any time: after a restart it finds the task as it was committed,
/// and nothing else.
///
/// The order of calls for one task: `answer`, once or more; after a restart first `after_restart`, if the task was being
/// worked on; at the very end `ended`, when the last state is committed. An agent that keeps anything for a task drops it in
/// `ended`, which comes also for tasks that were cancelled while they waited, or that an earlier process worked on. Without
/// it, waiting tasks would leak.
///
/// Cancelling is the future being dropped, after a grace period in which the turn's token tells the agent. An agent that
/// spawns work must therefore own it by something that the future holds.
pub trait Agent: Send + Sync + 'static {
    /// Answers one message: with a message alone, or with updates of a task.
    ///
    /// The future is dropped when the task is cancelled and the agent does not end by itself in
    /// time. To return without an ending completes the task, unless it waits for input.
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>>;

    /// The agent of a tenant, where this one stands for several; without one this agent answers itself.
    fn tenant(&self, name: &str) -> Option<Arc<dyn Agent>> {
        let _ = name;
        None
    }

    /// The task that a message answers which names a conversation and no task: a task of the caller that waits for input,
    /// if the message reads as an answer to it. None: the message opens a task.
    fn continues(
        &self,
        caller: &access::Principal,
        message: &Message,
    ) -> BoxFuture<'static, Option<TaskId>> {
        let _ = (caller, message);
        Box::pin(std::future::ready(None))
    }

    /// Decides about a task that was being worked on when the last process ended.
    fn after_restart(&self, task: &Task) -> AfterRestart {
        let _ = task;
        AfterRestart::Fail
    }

    /// Called when a task has ended and that is committed: state kept for it can be dropped. The task may have been worked
    /// on in an earlier process only.
    fn ended(&self, task: &TaskId) {
        let _ = task;
    }

    /// The prefix of the context id that a message without one gets, instead of the server's label.
    fn label(&self, message: &Message) -> Option<String> {
        let _ = message;
        None
    }
}

/// What is done with a task that was being worked on when the last process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRestart {
    /// The task ends FAILED, with a message that says why.
    Fail,
    /// [`Agent::answer`] is called again, with the last message of the caller and the task as it was
    /// left.
    Resume,
}

/// The reason why an agent could not do its work: the task ends FAILED and tells its caller.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    pub(super) reason: String,
    /// The error that the call gets instead, if no task was opened yet.
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

    /// The agent does not accept the message: the call itself fails with this error and no task is opened, unless the
    /// agent has made an update before.
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
