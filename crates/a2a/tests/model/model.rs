//! The states of the world, what can happen next, and what must hold.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use a2a::types::TaskState;
use stateright::{Model, Property};

use crate::agent_control::Order;
use crate::client::{Answer, Request, Start};
use crate::happening::{Action, Bounds, Fault};
use crate::rules::Rule;
use crate::sight::{Sight, Status};
use crate::world::World;

/// The model of a task and of the server that runs it, for the model checker.
pub(crate) struct TaskModel {
    bounds: Bounds,
    fault: Fault,
}

/// The world after some events.
///
/// While nothing is on its way to the journal, a run holds nothing that its journal, its agent and its callers do not
/// show; so worlds that look the same are the same. While something is, what has happened meanwhile counts, too.
#[derive(Clone)]
pub(crate) struct State {
    past: Arc<[Action]>,
    /// How many of these events came before the journal was last at rest.
    settled: usize,
    sight: Arc<Sight>,
}

impl State {
    fn of(model: &TaskModel, past: Vec<Action>, settled: usize) -> Self {
        let mut world = World::new(model.bounds, model.fault);
        if let Some((last, before)) = past.split_last() {
            before.iter().for_each(|action| world.meet(*action));
            // What was seen before is needed to tell what has changed, and was checked already.
            world.look();
            world.sight.broken.clear();
            world.meet(*last);
            world.look();
        }
        let settled = match world.sight.waiting.is_empty() {
            true => past.len(),
            false => settled,
        };
        Self {
            past: past.into(),
            settled,
            sight: Arc::new(world.sight),
        }
    }

    fn unsettled(&self) -> &[Action] {
        &self.past[self.settled..]
    }

    fn keeps(&self, rule: Rule) -> bool {
        !self.sight.broken.contains(&rule)
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.unsettled() == other.unsettled() && self.sight == other.sight
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.unsettled().hash(state);
        self.sight.hash(state);
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {:#?}", self.past, self.sight)
    }
}

impl TaskModel {
    pub(crate) fn new(bounds: Bounds, fault: Fault) -> Self {
        Self { bounds, fault }
    }
}

impl Model for TaskModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::of(self, Vec::new(), 0)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        // What comes after a broken rule says nothing new, unless another one is to be broken.
        if state.sight.broken.is_empty() || self.fault != Fault::None {
            actions.extend(state.sight.actions());
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let past = state.past.iter().copied().chain([action]).collect();
        Some(State::of(self, past, state.settled))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("what was committed stays", |_, it: &State| {
                it.keeps(Rule::NothingLost)
            }),
            Property::always("a task has one end", |_, it: &State| it.keeps(Rule::OneEnd)),
            Property::always("every cursor gives the rest", |_, it: &State| {
                it.keeps(Rule::FromEveryCursor)
            }),
            Property::always("a reader misses and repeats nothing", |_, it: &State| {
                it.keeps(Rule::Followed)
            }),
            Property::always("what an agent says is told once", |_, it: &State| {
                it.keeps(Rule::SaidOnce)
            }),
            Property::always("a message is kept once", |_, it: &State| {
                it.keeps(Rule::MessagesKept)
            }),
            Property::always("a message reaches the agent once", |_, it: &State| {
                it.keeps(Rule::MessagesReach)
            }),
            Property::always("cancelling and ending agree", |_, it: &State| {
                it.keeps(Rule::CancelledOrNot)
            }),
            Property::always("who waits is told", |_, it: &State| {
                it.keeps(Rule::ToldAtLast)
            }),
            Property::always("a task is worked on or rests", |_, it: &State| {
                it.keeps(Rule::WorkedOn)
            }),
            Property::always("what is worked on is listed", |_, it: &State| {
                it.keeps(Rule::Listed)
            }),
            Property::always("a message opens one task", |_, it: &State| {
                it.keeps(Rule::OneTask)
            }),
            Property::always("a task is the fold of its events", |_, it: &State| {
                it.keeps(Rule::Folded)
            }),
            Property::always("no error comes unasked", |_, it: &State| {
                it.keeps(Rule::NoOtherError)
            }),
            // What the model would be too small without.
            Property::sometimes("a cancellation ends a task", |_, it: &State| {
                it.sight
                    .answers(Request::Cancel)
                    .any(|answer| matches!(answer, Answer::Task(..)))
            }),
            Property::sometimes("a task that is to end completes", |_, it: &State| {
                let late = Answer::NotCancelable(TaskState::Completed);
                it.sight
                    .answers(Request::Cancel)
                    .any(|answer| *answer == late)
                    && it.sight.turns.iter().any(|turn| turn.cancelled)
            }),
            Property::sometimes("an agent's time is up", |_, it: &State| {
                it.past.last() == Some(&Action::TimeIsUp)
            }),
            Property::sometimes("a message waits for the agent", |_, it: &State| {
                let kept = it.sight.got.iter().flat_map(|got| &got.messages).count();
                kept > it.sight.turns.len() && it.sight.is_quiet()
            }),
            Property::sometimes("a message answers a question", |_, it: &State| {
                let [first, second] = &it.sight.turns[..] else {
                    return false;
                };
                first.taken.contains(&Order::Ask) && second.message == "1"
            }),
            Property::sometimes("a message comes too late", |_, it: &State| {
                it.sight
                    .answers(Request::Message(1))
                    .any(|answer| *answer == Answer::Over)
            }),
            Property::sometimes(
                "a stream is gone on with",
                |_, it: &State| matches!(&it.sight.reader, Some((Start::After(1..), heard)) if !heard.events.is_empty()),
            ),
            Property::sometimes("a restart ends a task", |_, it: &State| {
                it.sight.state == TaskState::Failed && it.sight.starts.len() > 1 && it.sight.up
            }),
            Property::sometimes("a task goes on after a restart", |_, it: &State| {
                it.sight.got.is_some() && it.sight.starts.len() > 1 && it.sight.at_work().is_some()
            }),
            Property::sometimes("what was committed unanswered is found", |_, it: &State| {
                let lost = it
                    .sight
                    .calls
                    .first()
                    .is_some_and(|(_, status)| *status == Status::Lost);
                let found = |answer: &Answer| matches!(answer, Answer::Task(..));
                lost && it.sight.answers(Request::Open).any(found)
            }),
        ]
    }
}
