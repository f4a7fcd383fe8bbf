//! What can happen, how often, and what can go wrong.

use crate::agent_control::Order;
use crate::client::Way;

/// One event of the modelled world, chosen by the model checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// The message that opens the task is sent.
    Open,
    /// The same message is sent again.
    Again,
    /// A further message is sent to the task.
    Message,
    Cancel,
    /// The agent does something.
    Does(Order),
    /// What waits for the journal is committed.
    Commit,
    /// The time of an agent that was told to end is up.
    TimeIsUp,
    /// The task is followed: from where a reader left off, or from now on.
    Follow,
    /// The reader is cut off.
    Cut,
    /// The process ends and another one begins.
    Kill(Waiting),
}

/// What becomes of a commit when the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Waiting {
    Lost,
    /// It is committed, and the process dies before it learns so.
    Kept,
}

/// How often what makes the model larger may happen, and how it is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bounds {
    pub(crate) way: Way,
    pub(crate) resumes: bool,
    pub(crate) again: usize,
    pub(crate) says: usize,
    pub(crate) asks: usize,
    pub(crate) fails: usize,
    pub(crate) messages: usize,
    pub(crate) cancels: usize,
    pub(crate) follows: usize,
    pub(crate) cuts: usize,
    pub(crate) kills: usize,
}

impl Bounds {
    /// One message that is answered without a word.
    pub(crate) const NONE: Self = Self {
        way: Way::Begin,
        resumes: false,
        again: 0,
        says: 0,
        asks: 0,
        fails: 0,
        messages: 0,
        cancels: 0,
        follows: 0,
        cuts: 0,
        kills: 0,
    };
}

/// A mistake at the borders of the server: in what its journal keeps over a restart, and in what a reader asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    ForgetsEvents,
    ForgetsWhatRuns,
    ForgetsWhatWasSent,
    SkipsAnEvent,
    RepeatsAnEvent,
}
