//! A conversation as its caller is told of it: the records of the agent's journal that belong to it, in order, as moments
//! that a person understands. Nothing is stored for it, and nothing here changes the agent.
//!
//! [`Telling`] is pure: records in, moments out. It is given all records from some event on and takes those of its
//! conversation. [`Watch`] (`watch`) follows the journal of an agent and says to which conversations each record belongs, so that one
//! follower serves all that listen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use memory::Millis;
use serde_json::Value;

use crate::approval::{Approval, ApprovalState};
use crate::context::{Change, Outcome, State};
use crate::event::{Effect, EffectId, EventKind, Request, TurnAnswer, TurnId};
use crate::journal::Record;
use crate::text;
use crate::waiting::id_of;

mod watch;

pub use watch::{Watch, Watched};

/// The caller of a conversation and its context id: the same id of another caller is another conversation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    pub caller: String,
    pub conversation: String,
}

/// Something that happened in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    pub at: Millis,
    /// The task that it is part of; none for what is about the agent as a whole.
    pub turn: Option<TurnId>,
    /// How much the request matters, from 0 to 100.
    pub priority: u8,
    /// What the agent does for this conversation after it.
    pub state: State,
    pub what: MomentKind,
}

/// What can happen in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum MomentKind {
    /// The caller asked for something.
    Requested {
        /// The id of the message; empty in older journals.
        message: String,
        text: String,
        note: Option<Value>,
    },
    /// The agent thought, and goes on with these calls; without any, the text is what it will answer.
    Thought {
        /// The number of the thought; a step of a procedure is none.
        effect: Option<EffectId>,
        text: String,
        /// How the model came to it.
        reasoning: String,
        calls: Vec<PlannedCall>,
    },
    /// A call waits for a person.
    Asked {
        approval: Arc<Approval>,
        /// The question as a person is shown it, with the preview of the call.
        shown: String,
    },
    /// A call was decided about.
    Decided {
        /// The id of the approval.
        id: String,
        skill: String,
        standing: ApprovalState,
        by: String,
    },
    /// A question that is no approval waits for the caller.
    Questioned { id: String, text: String },
    /// A question is over; without an answer it was declined or withdrawn.
    Answered {
        id: String,
        answer: Option<String>,
        by: String,
        /// The message that answers it; empty where there is none.
        message: String,
    },
    /// A call has ended.
    Called {
        /// The id of the planned call; none for a call that no thought of this conversation planned.
        call: Option<String>,
        skill: String,
        input: Value,
        outcome: Outcome,
    },
    /// The request is answered.
    Ended {
        answer: TurnAnswer,
        /// The thought that the answer is the text of.
        effect: Option<EffectId>,
    },
    /// The agent stopped where it was, or goes on.
    Paused(bool),
    /// The agent cannot go on, or can again.
    Fault(Option<String>),
}

/// A call that the agent is about to make.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCall {
    /// Its task, the number of the thought in that task, and its place in the thought.
    pub id: String,
    pub skill: String,
    pub input: Value,
    /// A person is asked first.
    pub approval: bool,
}

/// The conversation of one caller, told from the records of a journal.
///
/// It is a fold, as the state of the agent is, and keeps only what later records of the conversation need: the
/// requests that are open, what is wanted for them, and the approvals and questions that wait. It must be given every
/// record from the first one of the conversation on, in order; records of others change nothing. So a window can be
/// opened at any time and after any restart by reading the journal again, and two windows tell the same.
///
/// A record tells what its *changes* say, not what its event asked for: an event may be refused, or lead to several
/// moments. Every moment of one record has the state after all its changes, since a client shows the last one. The end
/// of a request removes it after its moment is told, so that the moment still finds the priority.
///
/// Nothing is decided here and nothing is stored. A new kind of change that people should see needs a line in
/// `change`, and one in [`Watch`] that says to which conversations it belongs; without the second, live windows miss
/// it until they read the journal again.
#[derive(Clone, Debug)]
pub struct Telling {
    owner: Owner,
    /// The skills that a person is asked about.
    marked: Arc<BTreeSet<String>>,
    turns: BTreeMap<TurnId, TurnFacts>,
    /// What is wanted for the requests of this conversation.
    intents: BTreeMap<EffectId, TrackedIntent>,
    /// The calls that wait for a person.
    approvals: BTreeMap<EffectId, Arc<Approval>>,
    /// The ids of the questions of skills that wait, by task and place.
    questions: BTreeMap<(TurnId, String), String>,
    paused: bool,
    fault: bool,
}

/// What is known of a request.
#[derive(Clone, Debug, Default)]
struct TurnFacts {
    priority: u8,
    /// The last thought without calls.
    answer: Option<EffectId>,
    /// How many thoughts there were.
    rounds: usize,
    /// The calls of the last round.
    calls: Vec<(String, Value)>,
}

/// The id of a call of the last thought about a request.
fn call_id(turn: &TurnId, facts: &TurnFacts, call: usize) -> String {
    format!("{turn}.{}.{call}", facts.rounds)
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TrackedIntent {
    Call(TurnId),
    Think(TurnId),
    /// A question of the agent itself, with its id.
    Clarify(TurnId, String),
    Other(TurnId),
}

impl TrackedIntent {
    fn turn(&self) -> &TurnId {
        match self {
            Self::Call(turn) | Self::Think(turn) | Self::Clarify(turn, _) | Self::Other(turn) => {
                turn
            }
        }
    }
}

impl Telling {
    /// Begins before the first record of a conversation. `marked` are the skills that a person is asked about.
    pub fn new(owner: Owner, marked: Arc<BTreeSet<String>>) -> Self {
        Self {
            owner,
            marked,
            turns: BTreeMap::new(),
            intents: BTreeMap::new(),
            approvals: BTreeMap::new(),
            questions: BTreeMap::new(),
            paused: false,
            fault: false,
        }
    }

    /// What the agent does for this conversation.
    pub fn state(&self) -> State {
        let clarifies = |it: &TrackedIntent| matches!(it, TrackedIntent::Clarify(..));
        if self.fault {
            State::Error
        } else if !self.approvals.is_empty()
            || !self.questions.is_empty()
            || self.intents.values().any(clarifies)
        {
            State::AwaitingApproval
        } else if self
            .intents
            .values()
            .any(|it| matches!(it, TrackedIntent::Call(_)))
        {
            State::Executing
        } else if !self.intents.is_empty() {
            State::Thinking
        } else {
            State::Idle
        }
    }

    /// The requests that are not answered.
    pub fn open_turns(&self) -> impl Iterator<Item = &TurnId> {
        self.turns.keys()
    }

    /// The ids of what waits for a person: approvals and questions.
    pub fn waiting_ids(&self) -> BTreeSet<&str> {
        let approvals = self.approvals.values().map(|it| &*it.uuid);
        let questions = self.questions.values().map(String::as_str);
        let clarified = self.intents.values().filter_map(|it| match it {
            TrackedIntent::Clarify(_, id) => Some(id.as_str()),
            _ => None,
        });
        approvals.chain(questions).chain(clarified).collect()
    }

    /// The thought that a request waits for, if it waits for one.
    pub fn thinking(&self, turn: &str) -> Option<EffectId> {
        let mut wanted = self.intents.iter().rev();
        let thinks = |it: &TrackedIntent| matches!(it, TrackedIntent::Think(of) if of == turn);
        wanted.find(|(_, it)| thinks(it)).map(|(effect, _)| *effect)
    }

    /// Takes a record in, and gives what it tells of the conversation.
    pub fn take(&mut self, record: &Record) -> Vec<Moment> {
        let event = &record.event;
        let mut moments = Vec::new();
        for change in &record.changes {
            let Some((turn, what)) = self.change(change, &event.what) else {
                continue;
            };
            let told = turn.as_ref().and_then(|it| self.turns.get(it));
            moments.push(Moment {
                at: event.at,
                priority: told.map_or(50, |it| it.priority),
                state: self.state(),
                turn,
                what,
            });
            // The caller was told of its end; what follows is about others.
            if let Change::Ended { turn, .. } = change {
                self.turns.remove(turn);
            }
        }
        if let EventKind::Called {
            turn,
            skill,
            input,
            by,
            conversation,
            outcome,
        } = &event.what
            && *by == self.owner.caller
            && *conversation == self.owner.conversation
        {
            moments.push(Moment {
                at: event.at,
                turn: Some(turn.clone()),
                priority: 50,
                state: self.state(),
                what: MomentKind::Called {
                    call: None,
                    skill: skill.clone(),
                    input: input.clone(),
                    outcome: outcome.clone(),
                },
            });
        }
        // What follows from one event is told with the state after all of it.
        let state = self.state();
        moments.iter_mut().for_each(|it| it.state = state);
        moments
    }

    fn is_own(&self, caller: &str, conversation: &str) -> bool {
        self.owner.caller == caller && self.owner.conversation == conversation
    }

    fn change(
        &mut self,
        change: &Change,
        event: &EventKind,
    ) -> Option<(Option<TurnId>, MomentKind)> {
        let of = |turn: &TurnId, what: MomentKind| Some((Some(turn.clone()), what));
        match change {
            Change::Opened { turn } => {
                let heard = &turn.heard;
                if !self.is_own(heard.caller(), &heard.conversation) {
                    return None;
                }
                let told = TurnFacts {
                    priority: turn.priority,
                    ..TurnFacts::default()
                };
                self.turns.insert(heard.turn.clone(), told);
                of(&heard.turn, requested(heard))
            }
            Change::Round { turn, round, .. } => {
                let told = self.turns.get_mut(turn)?;
                told.rounds += 1;
                told.calls = round
                    .calls
                    .iter()
                    .map(|it| (it.skill.clone(), it.input.clone()))
                    .collect();
                let (effect, reasoning) = match event {
                    EventKind::Thought {
                        effect, reasoning, ..
                    } => (Some(*effect), reasoning.clone()),
                    _ => (None, String::new()),
                };
                told.answer = effect.filter(|_| round.calls.is_empty());
                let calls = round.calls.iter().enumerate().map(|(at, it)| PlannedCall {
                    id: call_id(turn, told, at),
                    approval: self.marked.contains(&it.skill),
                    skill: it.skill.clone(),
                    input: it.input.clone(),
                });
                of(
                    turn,
                    MomentKind::Thought {
                        effect,
                        text: round.text.clone(),
                        reasoning,
                        calls: calls.collect(),
                    },
                )
            }
            Change::Intended { pending } => {
                let turn = pending.intent.turn.as_ref()?;
                if !self.turns.contains_key(turn) {
                    return None;
                }
                let id = pending.intent.id;
                match &pending.intent.effect {
                    Effect::Call { .. } => {
                        self.intents.insert(id, TrackedIntent::Call(turn.clone()));
                        None
                    }
                    Effect::Clarify { question } => {
                        let known = id_of(turn, &id.to_string(), pending.at);
                        let wanted = TrackedIntent::Clarify(turn.clone(), known.clone());
                        self.intents.insert(id, wanted);
                        let text = question.clone();
                        of(turn, MomentKind::Questioned { id: known, text })
                    }
                    effect => {
                        let wanted = match effect {
                            Effect::Think => TrackedIntent::Think(turn.clone()),
                            _ => TrackedIntent::Other(turn.clone()),
                        };
                        self.intents.insert(id, wanted);
                        None
                    }
                }
            }
            Change::Settled { effect } => match self.intents.remove(effect)? {
                TrackedIntent::Clarify(turn, id) => {
                    let (answer, message) = match event {
                        EventKind::Clarified { text, message, .. } => {
                            (text.clone(), message.clone())
                        }
                        _ => (None, String::new()),
                    };
                    let by = self.owner.caller.clone();
                    of(
                        &turn,
                        MomentKind::Answered {
                            id,
                            answer,
                            by,
                            message,
                        },
                    )
                }
                _ => None,
            },
            Change::Outcome {
                turn,
                call,
                outcome,
            } => {
                let facts = self.turns.get(turn)?;
                let (skill, input) = facts.calls.get(*call)?.clone();
                let outcome = outcome.clone();
                of(
                    turn,
                    MomentKind::Called {
                        call: Some(call_id(turn, facts, *call)),
                        skill,
                        input,
                        outcome,
                    },
                )
            }
            Change::Ended { turn, answer } => {
                let told = self.turns.get(turn)?;
                let effect = told.answer;
                self.intents.retain(|_, it| it.turn() != turn);
                self.questions.retain(|(of, _), _| of != turn);
                self.approvals.retain(|_, it| it.turn != *turn);
                let answer = TurnAnswer::clone(answer);
                of(turn, MomentKind::Ended { answer, effect })
            }
            change => self.waiting(change, event),
        }
    }

    /// The changes of what waits for a person, and of the agent as a whole.
    fn waiting(
        &mut self,
        change: &Change,
        event: &EventKind,
    ) -> Option<(Option<TurnId>, MomentKind)> {
        let of = |turn: &TurnId, what: MomentKind| Some((Some(turn.clone()), what));
        match change {
            Change::Asked { approval } => {
                if !self.is_own(&approval.by, &approval.conversation) {
                    return None;
                }
                self.approvals.insert(approval.id, approval.clone());
                let shown = shown(event);
                let approval = approval.clone();
                let turn = approval.turn.clone();
                of(&turn, MomentKind::Asked { approval, shown })
            }
            Change::Shown {
                approval,
                digest,
                bound,
                further,
                ..
            } => {
                let known = Arc::make_mut(self.approvals.get_mut(approval)?);
                known.digest.clone_from(digest);
                known.bound.clone_from(bound);
                known.further.clone_from(further);
                let approval = Arc::new(known.clone());
                let turn = approval.turn.clone();
                let shown = shown(event);
                of(&turn, MomentKind::Asked { approval, shown })
            }
            Change::Decided {
                approval,
                standing,
                by,
            } => {
                let known = self.approvals.remove(approval)?;
                of(
                    &known.turn,
                    MomentKind::Decided {
                        id: known.uuid.clone(),
                        skill: known.skill.clone(),
                        standing: standing.clone(),
                        by: by.clone(),
                    },
                )
            }
            Change::Questioned { turn, question } => {
                let own = self.turns.contains_key(turn)
                    || self.is_own(&question.caller, &question.conversation);
                if !own {
                    return None;
                }
                let id = id_of(turn, &question.place, question.at);
                let place = (turn.clone(), question.place.clone());
                self.questions.insert(place, id.clone());
                let text = question.message.clone();
                of(turn, MomentKind::Questioned { id, text })
            }
            Change::Replied {
                turn,
                place,
                answer,
                by,
            } => {
                let id = self.questions.remove(&(turn.clone(), place.clone()))?;
                let message = match event {
                    EventKind::Answered { message, .. } => message.clone(),
                    _ => String::new(),
                };
                let answer = answer.as_ref().and_then(|it| match it {
                    skill::QuestionAnswer::Given(value) => Some(text::in_words(value)),
                    skill::QuestionAnswer::Declined => None,
                });
                of(
                    turn,
                    MomentKind::Answered {
                        id,
                        answer,
                        by: by.clone(),
                        message,
                    },
                )
            }
            Change::Closed { turn } => {
                self.questions.retain(|(of, _), _| of != turn);
                None
            }
            Change::Paused { paused } if *paused != self.paused => {
                self.paused = *paused;
                Some((None, MomentKind::Paused(*paused)))
            }
            Change::Fault { problem } if problem.is_some() != self.fault => {
                self.fault = problem.is_some();
                Some((None, MomentKind::Fault(problem.clone())))
            }
            _ => None,
        }
    }
}

fn requested(heard: &Request) -> MomentKind {
    MomentKind::Requested {
        message: heard.message.clone(),
        text: heard.text.clone(),
        note: heard.note.clone(),
    }
}

/// The question about a call as it was shown.
fn shown(event: &EventKind) -> String {
    match event {
        EventKind::Wanted { shown, .. } => shown.clone(),
        _ => String::new(),
    }
}
