//! The heart: what follows from an event. A context, a law and an event in; changes and effects out. Nothing else is
//! looked at, and nothing is done here.
//!
//! Layout: `step/request.rs` is the way of a request; `step/act.rs` its calls; `step/weigh.rs` what is remembered of it;
//! `step/gate.rs` what a person agrees to; `step/own.rs` what the agent does of itself, and how its law changes.

use std::sync::Arc;

use memory::Millis;
use serde::{Deserialize, Serialize};

use crate::context::{Change, Context, Pending, Turn};
use crate::event::{Effect, EffectId, Event, Out, Perceived, Wish};
use crate::law::Law;

mod act;
pub(crate) use act::selection;
mod gate;
mod own;
mod request;
pub(crate) use request::source;
mod weigh;

#[cfg(test)]
#[path = "step_tests.rs"]
pub(crate) mod tests;

/// What follows from an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What is different from now on.
    pub changes: Vec<Change>,
    /// What others are to do about it.
    pub out: Vec<Out>,
}

/// What follows from an event. The same context, law and event always lead to the same.
pub fn step(context: &Context, law: &Law, event: &Event) -> Step {
    let mut work = Work {
        now: context.clone(),
        law,
        at: event.at,
        done: Step::default(),
    };
    work.perceive(&event.what);
    work.admit();
    work.done
}

/// A context and the law it is under: all that is folded from a journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Life {
    pub(crate) context: Context,
    pub(crate) law: Arc<Law>,
}

impl Life {
    /// Takes a recorded change in.
    pub(crate) fn apply(&mut self, change: &Change) {
        if let Change::Law { law, .. } = change {
            self.law = law.clone();
        }
        self.context.apply(change);
    }

    /// What follows from an event.
    pub fn step(&self, event: &Event) -> Step {
        step(&self.context, &self.law, event)
    }

    /// Whether time matters to it: something is not finished, or it does something by the clock.
    pub(crate) fn minds_time(&self) -> bool {
        let open = !self.context.turns.is_empty() || !self.context.pending().is_empty();
        open || self.law.minds_time()
    }

    /// What it knows and does.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// What it goes by.
    pub fn law(&self) -> &Law {
        &self.law
    }
}

/// A step being made: the context as it is after the changes so far.
struct Work<'a> {
    now: Context,
    law: &'a Law,
    at: Millis,
    done: Step,
}

impl Work<'_> {
    fn perceive(&mut self, what: &Perceived) {
        match what {
            Perceived::Born {
                identity,
                goals,
                law,
            } => self.born(identity, goals, law),
            Perceived::Enabled { abilities } => {
                let abilities = abilities.clone();
                self.change(Change::Able { abilities });
            }
            Perceived::Heard(heard) => self.heard(heard),
            Perceived::Recalled { effect, found } => self.recalled(*effect, found),
            Perceived::Thought {
                effect,
                text,
                calls,
                thoughts,
                tokens,
            } => {
                self.thought(*effect, text, calls, thoughts, *tokens);
            }
            Perceived::Done { effect, output } => self.gave(*effect, output),
            Perceived::Failed {
                effect,
                code,
                message,
            } => self.failed(*effect, code, message),
            Perceived::Clarified { effect, text } => self.clarified(*effect, text.as_deref()),
            Perceived::Remembered { effect, outcomes } => self.remembered(*effect, outcomes),
            Perceived::Waits { turn, waits } => self.waits(turn, *waits),
            Perceived::Cancelled { turn } => self.cancelled(turn),
            Perceived::Wanted {
                turn,
                place,
                conversation,
                skill,
                input,
                marked,
                by,
            } => {
                let asked = gate::Asked {
                    turn,
                    place,
                    conversation,
                    skill,
                    input,
                    marked: *marked,
                    by,
                };
                self.wanted(&asked);
            }
            Perceived::Decided {
                approval,
                decision,
                by,
            } => self.decided(*approval, decision, by),
            // It is in the journal, and changes nothing.
            Perceived::Did { .. } => {}
            Perceived::Paused => self.change(Change::Paused { paused: true }),
            Perceived::Resumed => self.resumed(),
            Perceived::Ticked => self.ticked(),
            Perceived::Proposed { edit, by } => self.proposed(edit, by),
            Perceived::Begun { effect } => drop(self.settle(*effect)),
            Perceived::Broken { problem } => {
                let problem = Some(problem.clone());
                self.change(Change::Fault { problem });
            }
        }
    }

    fn change(&mut self, change: Change) {
        self.now.apply(&change);
        self.done.changes.push(change);
    }

    /// Wants something. During a pause it is not given out.
    fn wish(&mut self, turn: Option<&str>, effect: Effect) -> EffectId {
        let wish = Wish {
            id: self.now.next,
            turn: turn.map(str::to_owned),
            effect,
        };
        let id = wish.id;
        let given = !self.now.paused;
        let pending = Pending {
            wish: wish.clone(),
            given,
        };
        self.change(Change::Wished {
            pending: Arc::new(pending),
        });
        if given {
            self.done.out.push(Out::Do(wish));
        }
        id
    }

    /// Something wanted is there. Nothing, if nobody wanted it or it came before: then it changes nothing.
    fn settle(&mut self, effect: EffectId) -> Option<Wish> {
        let pending = self.now.wishes.get(&effect)?;
        let wish = pending.wish.clone();
        self.change(Change::Settled { effect });
        Some(wish)
    }

    /// The request that something wanted was for.
    fn settle_for(&mut self, effect: EffectId) -> Option<(Arc<Turn>, Wish)> {
        let wish = self.settle(effect)?;
        let turn = self.turn(wish.turn.as_deref()?)?;
        Some((turn, wish))
    }

    fn turn(&self, turn: &str) -> Option<Arc<Turn>> {
        self.now.turns.get(turn).cloned()
    }
}
