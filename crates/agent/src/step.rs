//! The step of an agent, a pure function: a state, a law and an event in; changes and effects out. It reads nothing
//! else and performs nothing.
//!
//! Layout: `step/request.rs` is the way of a request; `step/act.rs` its calls; `step/weigh.rs` what is remembered of it;
//! `step/gate.rs` what a person agrees to; `step/found.rs` which calls
//! may follow from text that is not the caller's; `step/own.rs` what the agent does of itself; `step/amend.rs` how its law
//! changes.

use std::sync::Arc;

use memory::Millis;
use serde::{Deserialize, Serialize};

use crate::context::{AskedQuestion, Change, Context, Pending, Round, Turn};
use crate::event::{Effect, EffectId, Event, EventKind, Intent, Outgoing, TurnId};
use crate::law::Law;

mod act;
pub(crate) use act::{rule, selection};
mod amend;
mod found;
mod gate;
mod own;
mod request;
pub(crate) use request::source;
mod weigh;
pub(crate) use weigh::{Judgement, judge};

#[cfg(test)]
#[path = "step_tests.rs"]
pub(crate) mod tests;

/// The result of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// Changes of the state, in the order in which they are recorded and applied.
    pub changes: Vec<Change>,
    /// Effects for the actor and the turns.
    pub out: Vec<Outgoing>,
}

/// What follows from an event: changes of the state, and what others are to do.
///
/// It is a pure function: the same state, law and event always lead to the same step. Time is part of the event, numbers
/// of effects come from the state, and there is no other input. So the journal can be checked by making every step again,
/// a model checker can walk through all orders of events with the real code, and a test needs neither a clock nor a
/// store.
///
/// The step works on a copy of the state, to which each change is applied as soon as it is decided; what is long in the
/// state is shared between the copies. The order inside is: the event itself, with all that follows from it for its
/// request; then requests that wait are begun, as many as the law lets the agent work on. Changes are recorded as they
/// are and applied by the fold without any decision: a later release may decide otherwise about new events and still
/// reads old journals.
///
/// An effect is in the state, under its number, from the change that wants it to the event that settles it. An event for
/// a number that is not there changes nothing: results may come twice, or after a cancellation.
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
pub struct AgentState {
    pub(crate) context: Context,
    pub(crate) law: Arc<Law>,
    /// The law that the manifest and the law file had when they were last accepted, at birth or later. What they have
    /// now is offered if it differs. None in snapshots of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) manifest: Option<Arc<Law>>,
}

impl AgentState {
    /// Takes a recorded change in.
    pub(crate) fn apply(&mut self, change: &Change) {
        if let Change::Law {
            law, by, manifest, ..
        } = change
        {
            if self.context.revision.gate.canary().is_some() {
                let before = std::mem::replace(&mut self.law, law.clone());
                let revision = Arc::make_mut(&mut self.context.revision);
                revision.previous.get_or_insert(before);
            }
            self.law = law.clone();
            if *manifest || by == own::BIRTH {
                self.manifest = Some(law.clone());
            }
        }
        self.context.apply(change);
    }

    /// What follows from an event.
    pub fn step(&self, event: &Event) -> Step {
        step(&self.context, &self.law, event)
    }

    /// Whether time matters to it: something is not finished, or it does something by the clock.
    pub(crate) fn minds_time(&self) -> bool {
        let open = !self.context.turns.is_empty()
            || !self.context.pending().is_empty()
            || !self.context.questions.is_empty();
        open || self.law.minds_time() || self.reflects()
    }

    /// Whether it is time to look through its journal for changes of its law.
    pub(crate) fn reflects(&self) -> bool {
        own::reflects(&self.context, &self.law)
    }

    /// When it must be told next that time has passed, in milliseconds since 1970.
    pub(crate) fn due(&self) -> Option<Millis> {
        own::due(&self.context, &self.law)
    }

    /// What it knows and does.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The law in force.
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
    fn perceive(&mut self, what: &EventKind) {
        match what {
            EventKind::Born {
                identity,
                goals,
                law,
            } => self.born(identity, goals, law),
            EventKind::Enabled { abilities } => {
                let abilities = abilities.clone();
                self.change(Change::Able { abilities });
            }
            EventKind::Heard(heard) => self.heard(heard),
            EventKind::Recalled { effect, found } => self.recalled(*effect, found),
            EventKind::Thought {
                effect,
                text,
                calls,
                thoughts,
                tokens,
                declined,
                reasoning: _,
            } => {
                let round = Round {
                    text: text.clone(),
                    thoughts: thoughts.clone(),
                    calls: calls.iter().map(act::planned).collect(),
                };
                self.thought(*effect, round, *tokens, *declined);
            }
            EventKind::Done { effect, output } => self.gave(*effect, output),
            EventKind::Failed {
                effect,
                code,
                message,
            } => self.failed(*effect, code, message),
            EventKind::Clarified {
                effect,
                text,
                message,
            } => {
                let intent = self.now.intents.get(effect);
                if let Some(turn) = intent.and_then(|it| it.intent.turn.clone()) {
                    self.taken(&turn, message);
                }
                self.clarified(*effect, text.as_deref());
            }
            EventKind::Remembered { effect, outcomes } => self.remembered(*effect, outcomes),
            EventKind::Asked {
                turn,
                place,
                question,
                of,
                conversation,
            } => self.asked(
                turn,
                AskedQuestion {
                    place: place.clone(),
                    message: question.message.clone(),
                    caller: of.clone(),
                    conversation: conversation.clone(),
                    at: self.at,
                    answer: None,
                    by: String::new(),
                },
            ),
            EventKind::Answered {
                turn,
                place,
                answer,
                message,
                by,
            } => {
                self.taken(turn, message);
                self.change(Change::Replied {
                    turn: turn.clone(),
                    place: place.clone(),
                    answer: Some(answer.clone()),
                    by: by.clone(),
                });
            }
            EventKind::Closed { turn } => {
                if self.now.questions.contains_key(turn) {
                    self.change(Change::Closed { turn: turn.clone() });
                }
            }
            EventKind::Cancelled { turn } => self.cancelled(turn),
            EventKind::Wanted {
                turn,
                place,
                conversation,
                skill,
                input,
                marked,
                by,
                shown,
                facts,
            } => {
                let asked = gate::ProposedCall {
                    turn,
                    place,
                    conversation,
                    skill,
                    input,
                    marked: *marked,
                    by,
                    shown,
                    facts,
                };
                self.wanted(&asked);
            }
            EventKind::Decided {
                approval,
                decision,
                by,
                message,
                ..
            } => {
                let asked = self.now.approvals.get(approval);
                if let Some(turn) = asked.map(|it| it.turn.clone()) {
                    self.taken(&turn, message);
                }
                self.decided(*approval, decision, by);
            }
            EventKind::Revoked { grant, by } => {
                if self.now.grants.iter().any(|it| &it.key() == grant) {
                    let (grant, by) = (grant.clone(), by.clone());
                    self.change(Change::Revoked { grant, by });
                }
            }
            // They are in the journal, and change nothing.
            EventKind::Called { .. }
            | EventKind::Storing { .. }
            | EventKind::Stored { .. }
            | EventKind::Forgot { .. } => {}
            EventKind::Paused => self.change(Change::Paused { paused: true }),
            EventKind::Resumed => self.resumed(),
            EventKind::Ticked => self.ticked(),
            EventKind::Proposed {
                edit,
                by,
                effect,
                refused,
                ordered_by,
                evidence,
            } => self.proposed(&amend::Entry {
                edit,
                by,
                effect: *effect,
                refused: refused.as_deref(),
                ordered_by: ordered_by.as_deref(),
                evidence,
            }),
            EventKind::Tested {
                proposal,
                held_out,
                test,
            } => self.tested(*proposal, *held_out, test),
            EventKind::Weighed { effect } => self.answer_proposal(*effect),
            EventKind::Retested { proposal } => self.retested(*proposal),
            EventKind::Reflected => self.change(Change::Reflected),
            EventKind::Ruled {
                proposal,
                by,
                approve,
                reason,
            } => self.ruled(*proposal, by, *approve, reason),
            EventKind::RolledBack { to, law, by, why } => self.rolled_back(*to, law, by, why),
            EventKind::Accepted {
                goals,
                law,
                why,
                by,
            } => self.accepted(goals, law, why, by),
            EventKind::Described { identity } => {
                let identity = identity.clone();
                self.change(Change::Described { identity });
            }
            EventKind::Begun { effect } => drop(self.settle(*effect)),
            EventKind::Broken { problem } => {
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
    fn intent(&mut self, turn: Option<&str>, effect: Effect) -> EffectId {
        let intent = Intent {
            id: self.now.next,
            turn: turn.map(TurnId::from),
            effect,
        };
        let id = intent.id;
        let given = !self.now.paused;
        let pending = Pending {
            intent: intent.clone(),
            given,
            at: self.at,
        };
        self.change(Change::Intended {
            pending: Arc::new(pending),
        });
        if given {
            self.done.out.push(Outgoing::Do(intent));
        }
        id
    }

    /// Takes an effect out of the state. None if it is not there: its event came before, and changes nothing now.
    fn settle(&mut self, effect: EffectId) -> Option<Intent> {
        let pending = self.now.intents.get(&effect)?;
        let intent = pending.intent.clone();
        self.change(Change::Settled { effect });
        Some(intent)
    }

    /// The request that something wanted was for.
    fn settle_for(&mut self, effect: EffectId) -> Option<(Arc<Turn>, Intent)> {
        let intent = self.settle(effect)?;
        let turn = self.turn(intent.turn.as_deref()?)?;
        Some((turn, intent))
    }

    fn turn(&self, turn: &str) -> Option<Arc<Turn>> {
        self.now.turns.get(turn).cloned()
    }
}
