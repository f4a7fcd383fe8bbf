//! Both sides, what can happen next, and what must hold.

use std::sync::Arc;

use capnweb::Stats;
use stateright::{Model, Property};

use crate::ledger::Broken;
use crate::side::{Bounds, End, Event, Fault, Seen, Side, Step};

/// A side names only ids of the other side that it holds: no use after release.
pub(crate) const NAMED_WHILE_HELD: &str = "a side names only ids that it holds";
pub(crate) const RELEASED_ONCE: &str = "a side releases only ids that it holds";
/// Every pull is answered at most once.
pub(crate) const ANSWERED_ONCE: &str = "an answer follows a pull, once";
/// Neither session finds fault with what the other says.
pub(crate) const KNOWN_TO_BOTH: &str = "no side ends the session";
pub(crate) const GONE_AT_LAST: &str = "objects without holders are dropped in the end";
/// Every pull is answered at least once, or fails with the session.
pub(crate) const TOLD_AT_LAST: &str = "every wait ends";

/// The main objects alone.
const REST: Stats = Stats {
    imports: 1,
    exports: 1,
    pending: 0,
};

/// Two sessions and the frames between them.
pub(crate) struct Sessions {
    start: State,
}

/// The sides. What each has sent and the other has not received is on its way.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) struct State([Arc<Side>; 2]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Caller,
    Callee,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Action {
    Does(Who, Step),
    /// It receives the next frame.
    Receives(Who),
    /// The connection is lost, with all that is on its way. That one side goes on for a while before it
    /// notices is nothing new: it may do the same before the cut, while the other side does nothing.
    Cut,
}

impl Sessions {
    /// Both sides make the mistake.
    pub(crate) fn new(bounds: Bounds, fault: Fault) -> Self {
        let callee = Side::new(bounds.of_callee(), fault);
        let sides = [Side::new(bounds, fault), callee];
        Self {
            start: State(sides),
        }
    }
}

impl State {
    fn seen(&self, who: Who) -> &Seen {
        &self.0[who as usize].seen
    }

    fn both(&self) -> [&Seen; 2] {
        [self.seen(Who::Caller), self.seen(Who::Callee)]
    }

    /// The next frame on its way to `who`.
    fn next_frame(&self, who: Who) -> Option<&Arc<str>> {
        let from = match who {
            Who::Caller => Who::Callee,
            Who::Callee => Who::Caller,
        };
        self.seen(from).sent.get(self.seen(who).received)
    }

    /// Nothing is on its way: the frames have arrived, or both sides know that they never will.
    fn is_quiet(&self) -> bool {
        let ended = self.both().map(|seen| seen.end.is_some());
        let arrived = [Who::Caller, Who::Callee].map(|who| self.next_frame(who).is_none());
        ended == [true; 2] || (ended == [false; 2] && arrived == [true; 2])
    }

    fn keeps(&self, rule: Broken) -> bool {
        self.both().iter().all(|seen| !seen.broken.contains(&rule))
    }

    fn is_gone_at_last(&self) -> bool {
        let after_end = |seen: &&Seen| seen.end.is_some();
        let ended = self.both().into_iter().filter(after_end);
        let nothing_after_end = ended.into_iter().all(|seen| seen.stats == Stats::default());
        let dropped = self.is_quiet() && self.both().iter().all(|seen| !seen.holds);
        let gone = |seen: &&Seen| seen.objects == 0 && (seen.stats == REST || seen.end.is_some());
        nothing_after_end && (!dropped || self.both().iter().all(gone))
    }

    fn is_told_at_last(&self) -> bool {
        let told = |seen: &Seen| seen.waits == 0 && (seen.owed == 0 || seen.end.is_some());
        let quiet = self.is_quiet();
        let due = |seen: &&Seen| quiet || seen.end.is_some();
        self.both().into_iter().filter(due).all(told)
    }
}

impl Model for Sessions {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.start.clone()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for who in [Who::Caller, Who::Callee] {
            let seen = state.seen(who);
            actions.extend(seen.steps.iter().map(|step| Action::Does(who, *step)));
            if seen.end.is_none() && state.next_frame(who).is_some() {
                actions.push(Action::Receives(who));
            }
        }
        if state.both().iter().any(|seen| seen.end.is_none()) {
            actions.push(Action::Cut);
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let (who, event) = match action {
            Action::Does(who, step) => (who, Event::Does(step)),
            Action::Receives(who) => (who, Event::Receives(state.next_frame(who)?.clone())),
            Action::Cut => {
                let sides = state.0.each_ref().map(|side| side.after(Event::Loses));
                return Some(State(sides));
            }
        };
        let mut next = state.clone();
        next.0[who as usize] = state.0[who as usize].after(event);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(NAMED_WHILE_HELD, |_, state: &State| {
                state.keeps(Broken::Named) && state.keeps(Broken::Introduced)
            }),
            Property::always(RELEASED_ONCE, |_, state: &State| {
                state.keeps(Broken::Released)
            }),
            Property::always(ANSWERED_ONCE, |_, state: &State| {
                state.keeps(Broken::Answered)
            }),
            Property::always(KNOWN_TO_BOTH, |_, state: &State| {
                let fault = |seen: &&Seen| matches!(seen.end, Some(End::Fault(_)));
                !state.both().iter().any(fault)
            }),
            Property::always(GONE_AT_LAST, |_, state: &State| state.is_gone_at_last()),
            Property::always(TOLD_AT_LAST, |_, state: &State| state.is_told_at_last()),
            // What the model would be too small without.
            Property::sometimes("a lent object is called", |_, state: &State| {
                state.seen(Who::Caller).pokes > 0
            }),
            Property::sometimes("a made object is called", |_, state: &State| {
                state.seen(Who::Callee).pokes > 0
            }),
            Property::sometimes("an object comes home", |_, state: &State| {
                state.seen(Who::Callee).came_home
            }),
            Property::sometimes("an answer meets a release", |_, state: &State| {
                state.seen(Who::Caller).crossed
            }),
            Property::sometimes("a wait fails with its session", |_, state: &State| {
                let seen = state.seen(Who::Caller);
                seen.failures > 0 && seen.end == Some(End::Lost)
            }),
        ]
    }
}
