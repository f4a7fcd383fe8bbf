//! For random events in random order: steps are determined, folding is replaying, and nothing is done that was not
//! allowed.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::approval::{ApprovalState, Decision, Remember};
use crate::context::{Ability, Goal, Identity, State};
use crate::event::{Call, Effect, EffectId, Event, EventKind, Outgoing, Request, Verdict};
use crate::law::{Law, Origin};
use crate::step::{AgentState, Step};

/// An agent that is moved step by step, with everything that was recorded.
pub(crate) struct Stepper {
    pub(crate) state: AgentState,
    pub(crate) recorded: Vec<(Event, Step)>,
    at: i64,
}

impl Stepper {
    pub(crate) fn under(law: Law) -> Self {
        let mut stepper = Self {
            state: AgentState::default(),
            recorded: Vec::new(),
            at: 1_000,
        };
        stepper.perceive(EventKind::Born {
            identity: Identity {
                id: "scout".to_owned(),
                name: "Scout".to_owned(),
                description: "It looks around.".to_owned(),
            },
            goals: vec![Goal {
                text: "keep the notes of the team".to_owned(),
            }],
            law: Box::new(law),
        });
        let ability = |id: &str, read_only, approval| Ability {
            id: id.to_owned(),
            read_only,
            replayable: read_only,
            approval,
            elsewhere: false,
        };
        stepper.perceive(EventKind::Enabled {
            abilities: vec![
                ability("look", true, false),
                ability("move", false, false),
                ability("write", false, true),
            ],
        });
        stepper
    }

    pub(crate) fn perceive(&mut self, what: EventKind) -> Vec<Outgoing> {
        self.after(1, what)
    }

    pub(crate) fn after(&mut self, millis: i64, what: EventKind) -> Vec<Outgoing> {
        self.at += millis;
        let event = Event { at: self.at, what };
        let step = self.state.step(&event);
        for change in &step.changes {
            self.state.apply(change);
        }
        self.recorded.push((event, step.clone()));
        step.out
    }

    pub(crate) fn hear(&mut self, turn: &str, text: &str) -> Vec<Outgoing> {
        self.perceive(heard(turn, Origin::User, text))
    }

    /// What a request is answered with, if it is thought about only once.
    pub(crate) fn think(
        &mut self,
        out: &[Outgoing],
        text: &str,
        calls: &[(&str, Value)],
    ) -> Vec<Outgoing> {
        let thinks = wanted(out, |effect| matches!(effect, Effect::Think));
        let calls = calls.iter().enumerate().map(|(at, (skill, input))| Call {
            id: format!("call-{at}"),
            skill: (*skill).to_owned(),
            input: input.clone(),
        });
        self.perceive(EventKind::Thought {
            effect: thinks[0],
            text: text.to_owned(),
            calls: calls.collect(),
            thoughts: Vec::new(),
            tokens: 10,
            declined: false,
            reasoning: String::new(),
        })
    }

    pub(crate) fn recall(&mut self, out: &[Outgoing]) -> Vec<Outgoing> {
        let recalls = wanted(out, |effect| matches!(effect, Effect::Recall { .. }));
        self.perceive(EventKind::Recalled {
            effect: recalls[0],
            found: Vec::new(),
        })
    }
}

pub(crate) fn heard(turn: &str, origin: Origin, text: &str) -> EventKind {
    EventKind::Heard(Request {
        turn: turn.into(),
        conversation: "talk".to_owned(),
        caller: "ada".to_owned(),
        person: String::new(),
        origin,
        from: "ada".to_owned(),
        text: text.to_owned(),
        message: String::new(),
        note: None,
        letter: None,
        priority: None,
        may_raise: false,
        depth: 0,
        operator: false,
        mode: None,
    })
}

/// The numbers of the effects that are wanted now.
pub(crate) fn wanted(out: &[Outgoing], which: impl Fn(&Effect) -> bool) -> Vec<EffectId> {
    let intents = out.iter().filter_map(|out| match out {
        Outgoing::Do(intent) if which(&intent.effect) => Some(intent.id),
        _ => None,
    });
    intents.collect()
}

/// The skills that are to be called now.
pub(crate) fn calls(out: &[Outgoing]) -> Vec<String> {
    let calls = out.iter().filter_map(|out| match out {
        Outgoing::Do(intent) => match &intent.effect {
            Effect::Call { skill, .. } => Some(skill.clone()),
            _ => None,
        },
        _ => None,
    });
    calls.collect()
}

/// What requests are answered with now.
pub(crate) fn answers(out: &[Outgoing]) -> Vec<String> {
    let answers = out.iter().filter_map(|out| match out {
        Outgoing::Say { answer, .. } => Some(answer.text.clone()),
        _ => None,
    });
    answers.collect()
}

#[test]
fn a_request_goes_its_way() {
    let mut stepper = Stepper::under(Law::default());
    let out = stepper.hear("one", "look around");
    assert_eq!(stepper.state.context().state(), State::Thinking);
    let out = stepper.recall(&out);
    let out = stepper.think(&out, "", &[("look", json!({}))]);
    assert_eq!(calls(&out), ["look"]);
    assert_eq!(stepper.state.context().state(), State::Executing);
    let effect = wanted(&out, |_| true)[0];
    let out = stepper.perceive(EventKind::Done {
        effect,
        output: json!("a lake"),
    });
    let out = stepper.think(&out, "There is a lake.", &[]);
    let effect = wanted(&out, |it| matches!(it, Effect::Remember { .. }))[0];
    let outcomes = Vec::new();
    let out = stepper.perceive(EventKind::Remembered { effect, outcomes });
    assert_eq!(answers(&out), ["There is a lake."]);
    assert_eq!(stepper.state.context().state(), State::Idle);
    let again = stepper.hear("one", "look around");
    assert_eq!(
        answers(&again),
        ["There is a lake."],
        "who asks again is told again"
    );
}

#[test]
fn calls_that_change_something_are_made_one_at_a_time_and_in_their_order() {
    let mut stepper = Stepper::under(Law::default());
    let out = stepper.hear("one", "go");
    let out = stepper.recall(&out);
    let none = json!({});
    let planned = [
        ("look", none.clone()),
        ("look", none.clone()),
        ("move", none.clone()),
        ("look", none),
    ];
    let out = stepper.think(&out, "", &planned);
    assert_eq!(calls(&out), ["look", "look"]);
    let both = wanted(&out, |_| true);
    let done = |effect| EventKind::Done {
        effect,
        output: json!("seen"),
    };
    assert!(calls(&stepper.perceive(done(both[0]))).is_empty());
    let out = stepper.perceive(done(both[1]));
    assert_eq!(calls(&out), ["move"]);
    let out = stepper.perceive(done(wanted(&out, |_| true)[0]));
    assert_eq!(calls(&out), ["look"]);
}

#[test]
fn what_came_twice_counts_once() {
    let mut stepper = Stepper::under(Law::default());
    let out = stepper.hear("one", "go");
    let effect = wanted(&out, |_| true)[0];
    stepper.recall(&out);
    let before = stepper.state.clone();
    stepper.perceive(EventKind::Recalled {
        effect,
        found: Vec::new(),
    });
    assert_eq!(stepper.state, before);
}

/// Something that may happen, with choices that are made sense of when it does.
#[derive(Clone, Debug)]
enum Happens {
    Hear(u8),
    /// The intent at this place comes true, fails, or is thought about with such calls.
    Settle(usize, u8),
    Want(u8, u8),
    Decide(usize, u8),
    Cancel(u8),
    Pause,
    Resume,
    Tick(u32),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        3 => (0..4_u8).prop_map(Happens::Hear),
        8 => (any::<usize>(), any::<u8>()).prop_map(|(place, how)| Happens::Settle(place, how)),
        3 => (0..4_u8, 0..3_u8).prop_map(|(turn, skill)| Happens::Want(turn, skill)),
        3 => (any::<usize>(), any::<u8>()).prop_map(|(place, how)| Happens::Decide(place, how)),
        1 => (0..4_u8).prop_map(Happens::Cancel),
        1 => Just(Happens::Pause),
        1 => Just(Happens::Resume),
        1 => (0..2_000_000_000_u32).prop_map(Happens::Tick),
    ]
}

const SKILLS: [&str; 3] = ["look", "move", "write"];

fn event(stepper: &Stepper, happens: &Happens) -> Option<EventKind> {
    let context = stepper.state.context();
    Some(match happens {
        Happens::Hear(turn) => heard(&format!("turn-{turn}"), Origin::User, "please look"),
        Happens::Settle(place, how) => {
            let intents: Vec<_> = context.intents.values().filter(|it| it.given).collect();
            let intent = &intents.get(place.checked_rem(intents.len())?)?.intent;
            let effect = intent.id;
            if how % 5 == 0 {
                let (code, message) = ("no".to_owned(), "no".to_owned());
                return Some(EventKind::Failed {
                    effect,
                    code,
                    message,
                });
            }
            match &intent.effect {
                Effect::Recall { .. } => EventKind::Recalled {
                    effect,
                    found: Vec::new(),
                },
                Effect::Think => EventKind::Thought {
                    effect,
                    text: "said".to_owned(),
                    calls: (0..how % 4)
                        .map(|at| Call {
                            id: format!("call-{at}"),
                            skill: SKILLS[usize::from(how + at) % 3].to_owned(),
                            input: json!({ "what": "please look" }),
                        })
                        .collect(),
                    thoughts: Vec::new(),
                    tokens: u64::from(*how),
                    declined: false,
                    reasoning: String::new(),
                },
                Effect::Call { .. } => EventKind::Done {
                    effect,
                    output: json!("done"),
                },
                Effect::Amend {
                    edit, by, ordered, ..
                } => EventKind::Proposed {
                    edit: edit.clone(),
                    by: by.clone(),
                    effect: Some(effect),
                    refused: None,
                    ordered_by: ordered.then(|| by.clone()),
                    evidence: Vec::new(),
                },
                Effect::Test { .. } => EventKind::Weighed { effect },
                Effect::Clarify { .. } => EventKind::Clarified {
                    effect,
                    text: Some("yes".to_owned()),
                    message: String::new(),
                },
                Effect::Remember { .. } => EventKind::Remembered {
                    effect,
                    outcomes: Vec::new(),
                },
                Effect::Begin { .. } => EventKind::Begun { effect },
            }
        }
        Happens::Want(turn, skill) => EventKind::Wanted {
            turn: format!("turn-{turn}").into(),
            place: format!("place-{turn}"),
            conversation: "talk".to_owned(),
            skill: SKILLS[usize::from(*skill)].to_owned(),
            input: json!({ "turn": turn }),
            marked: SKILLS[usize::from(*skill)] == "write",
            by: "ada".to_owned(),
            shown: String::new(),
            facts: Default::default(),
        },
        Happens::Decide(place, how) => {
            let ids: Vec<EffectId> = context.approvals.keys().copied().collect();
            let approval = *ids.get(place.checked_rem(ids.len())?)?;
            let decision = match how % 4 {
                0 => Decision::Approve(Remember::Once),
                1 => Decision::Approve(Remember::Session),
                2 => Decision::Reject("no".to_owned()),
                _ => Decision::Modify(json!({ "other": true })),
            };
            EventKind::Decided {
                approval,
                decision,
                by: "ada".to_owned(),
                message: String::new(),
                permission: String::new(),
            }
        }
        Happens::Cancel(turn) => EventKind::Cancelled {
            turn: format!("turn-{turn}").into(),
        },
        Happens::Pause => EventKind::Paused,
        Happens::Resume => EventKind::Resumed,
        Happens::Tick(_) => EventKind::Ticked,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn whatever_happens_the_laws_of_life_hold(story in prop::collection::vec(happens(), 1..60)) {
        let mut law = Law::default();
        law.attention.turns = 2;
        law.attention.queue = 2;
        let mut stepper = Stepper::under(law);
        for happens in &story {
            let Some(what) = event(&stepper, happens) else { continue };
            let millis = if let Happens::Tick(millis) = happens { i64::from(*millis) } else { 1 };
            let paused = stepper.state.context().is_paused() && what != EventKind::Resumed;
            let out = stepper.after(millis, what.clone());
            let context = stepper.state.context();

            // Nothing new is begun during a pause.
            prop_assert!(!paused || wanted(&out, |_| true).is_empty());
            // No more is worked on at a time than the law says, but for what waited for a person and goes on.
            let waited = usize::from(!context.approvals.is_empty()) * 4;
            prop_assert!(context.busy() <= 2 + waited);
            // A call that needs a person is allowed only when one has agreed to it, or to others like it.
            if let EventKind::Wanted { skill, .. } = &what
                && skill == "write"
                && out.iter().any(|out| matches!(out, Outgoing::Gate { verdict: Verdict::Go(_), .. }))
            {
                let approved = context.approvals.values().any(|it| matches!(it.standing, ApprovalState::Approved(_)));
                prop_assert!(approved || !context.grants().is_empty());
            }
            // Every request that is open has something under way, is asked about, waits, or the agent is paused.
            for (id, turn) in &context.turns {
                let wants = context.intents.values().any(|it| it.intent.turn.as_ref() == Some(id));
                let queued = context.queue().iter().any(|(it, _)| **it == **id);
                prop_assert!(wants || queued, "{id} is forgotten: {turn:?}");
            }
        }
        // To fold is to live again, bit for bit; and every step made again is the same.
        let mut folded = AgentState::default();
        let mut replayed = AgentState::default();
        for (event, step) in &stepper.recorded {
            prop_assert_eq!(&replayed.step(event), step);
            step.changes.iter().for_each(|change| folded.apply(change));
            step.changes.iter().for_each(|change| replayed.apply(change));
        }
        let bytes = |state: &AgentState| serde_json::to_vec(state).expect("a state can be written");
        prop_assert_eq!(bytes(&folded), bytes(&stepper.state));
        let again: AgentState = serde_json::from_slice(&bytes(&folded)).expect("and read");
        prop_assert_eq!(bytes(&again), bytes(&folded));
    }
}
