//! What can be seen of the world: by its callers, by its agent, and in its journal.

use std::collections::BTreeSet;

use a2a::types::{Part, Role, Task, TaskState};

use crate::agent_control::{self, Order};
use crate::client::{Answer, CallState, Heard, Request, Start, Told, Way};
use crate::happening::{Action, Bounds, Waiting};
use crate::rules::Rule;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sight {
    pub(crate) left: Bounds,
    pub(crate) opened: bool,
    /// The server serves: it has taken up what was left behind.
    pub(crate) up: bool,
    /// The batches that wait for the journal, each by the number of its events.
    pub(crate) waiting: Vec<usize>,
    /// How many tasks the journal lists.
    pub(crate) tasks: usize,
    /// The state of the first, as the journal lists it.
    pub(crate) state: TaskState,
    /// How many tasks the journal lists among those worked on.
    pub(crate) running: usize,
    /// How many events the journal has.
    pub(crate) last: u64,
    /// The task as a caller gets it.
    pub(crate) got: Option<Got>,
    /// The events from every cursor, and from the one after the last.
    pub(crate) resumed: Vec<Heard>,
    pub(crate) turns: Vec<agent_control::Seen>,
    /// Where the turns of each process begin.
    pub(crate) starts: Vec<usize>,
    /// How often an agent was told to say something.
    pub(crate) said: usize,
    pub(crate) calls: Vec<(Request, Status)>,
    pub(crate) reader: Option<(Start, Heard)>,
    pub(crate) cursor: Option<u64>,
    pub(crate) broken: BTreeSet<Rule>,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    Waits,
    Answered(Answer),
    Lost,
}

impl Status {
    pub(crate) fn of(state: &CallState) -> Self {
        match state {
            CallState::Waits(_) => Self::Waits,
            CallState::Answered(answer) => Self::Answered(answer.clone()),
            CallState::Lost => Self::Lost,
        }
    }
}

/// A task as a caller gets it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Got {
    pub(crate) state: TaskState,
    pub(crate) generation: u64,
    /// The texts of the caller's messages.
    pub(crate) messages: Vec<String>,
    /// What the agent has said.
    pub(crate) said: Vec<String>,
}

impl Got {
    pub(crate) fn new(task: &Task) -> Self {
        let text = |parts: &[Part]| parts.iter().filter_map(Part::as_text).collect::<String>();
        let of_caller = task.history.iter().filter(|it| it.role == Role::User);
        let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
        Self {
            state: task
                .status
                .as_ref()
                .map_or(TaskState::Unspecified, |status| status.state),
            generation: task.generation.unsigned_abs(),
            messages: of_caller.map(|message| text(&message.parts)).collect(),
            said: parts.filter_map(Part::as_text).map(str::to_owned).collect(),
        }
    }
}

impl Sight {
    pub(crate) fn new(left: Bounds) -> Self {
        Self {
            left,
            opened: false,
            up: false,
            waiting: Vec::new(),
            tasks: 0,
            state: TaskState::Unspecified,
            running: 0,
            last: 0,
            got: None,
            resumed: Vec::new(),
            turns: Vec::new(),
            starts: vec![0],
            said: 0,
            calls: Vec::new(),
            reader: None,
            cursor: None,
            broken: BTreeSet::new(),
        }
    }

    /// All events of the journal, as a reader gets them.
    pub(crate) fn journal(&self) -> &[Told] {
        self.resumed.first().map_or(&[], |heard| &heard.events)
    }

    /// Nothing is on its way to the journal, and the server serves.
    pub(crate) fn is_quiet(&self) -> bool {
        self.up && self.waiting.is_empty()
    }

    /// The turns of this process.
    pub(crate) fn turns_now(&self) -> &[agent_control::Seen] {
        &self.turns[self.starts.last().copied().unwrap_or(0)..]
    }

    /// The turns of each process that is no more.
    pub(crate) fn turns_before(&self) -> impl Iterator<Item = &[agent_control::Seen]> {
        self.starts
            .windows(2)
            .map(|start| &self.turns[start[0]..start[1]])
    }

    /// The turn of the agent that is at work.
    pub(crate) fn at_work(&self) -> Option<&agent_control::Seen> {
        self.turns_now().iter().find(|turn| !turn.ended)
    }

    /// Of the calls of a kind, how far they are.
    pub(crate) fn asked(&self, asked: Request) -> impl Iterator<Item = &Status> {
        let same = move |(it, status)| (it == asked).then_some(status);
        self.calls
            .iter()
            .map(|(it, status)| (*it, status))
            .filter_map(same)
    }

    /// Of those, the answers.
    pub(crate) fn answers(&self, asked: Request) -> impl Iterator<Item = &Answer> {
        self.asked(asked).filter_map(|status| match status {
            Status::Answered(answer) => Some(answer),
            Status::Waits | Status::Lost => None,
        })
    }

    /// What can happen next.
    pub(crate) fn actions(&self) -> Vec<Action> {
        let left = &self.left;
        let mut actions = Vec::new();
        let free = self.reader.is_none();
        let can_open = self.up && (left.way != Way::Stream || free);
        let known = self.up && self.tasks > 0;
        let at_work = self.at_work();
        let mut offer = |possible: bool, action: Action| actions.extend(possible.then_some(action));
        offer(can_open && !self.opened, Action::Open);
        offer(can_open && self.opened && left.again > 0, Action::Again);
        offer(known && left.messages > 0, Action::Message);
        offer(known && left.cancels > 0, Action::Cancel);
        offer(known && free && left.follows > 0, Action::Follow);
        offer(!free && left.cuts > 0, Action::Cut);
        offer(!self.waiting.is_empty(), Action::Commit);
        if let Some(turn) = at_work {
            let over = turn.taken.contains(&Order::Complete);
            offer(!over && left.says > 0, Action::Does(Order::Say(self.said)));
            offer(!over && left.asks > 0, Action::Does(Order::Ask));
            offer(!over, Action::Does(Order::Complete));
            offer(left.fails > 0, Action::Does(Order::Fail));
            offer(true, Action::Does(Order::End));
            offer(turn.cancelled, Action::TimeIsUp);
        }
        let killed = self.opened && left.kills > 0;
        offer(killed, Action::Kill(Waiting::Lost));
        offer(
            killed && !self.waiting.is_empty(),
            Action::Kill(Waiting::Kept),
        );
        actions
    }
}
