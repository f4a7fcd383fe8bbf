//! Approval at a small size, in every order of events and with a restart at every moment: nothing is done before it is
//! approved, and nothing that waits is forgotten. What is explored are the real steps and the real fold.

use serde_json::json;
use stateright::{Checker as _, Model, Property};

use crate::actor::leaves_for_good;
use crate::approval::{ApprovalState, Decision, Remember, canonical};
use crate::event::{EffectId, Event, EventKind, Outgoing, Verdict};
use crate::law::Law;
use crate::step::{AgentState, Step};

/// Two calls of one skill, in two conversations, and a person who may say anything at any time.
struct Approving;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    /// All that was committed, as it lies in the journal.
    journal: Vec<String>,
    /// What was recorded and waits for the next commit. A restart loses it.
    added: Vec<String>,
    /// The last verdict on each call.
    told: [Told; 2],
    /// The calls that were made, and with what.
    made: [Option<String>; 2],
    /// Which calls a person has agreed to: themselves, or by a decision that counts for others.
    agreed: [bool; 2],
    restarts: u8,
    at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Told {
    Nothing,
    Wait(EffectId),
    Go,
    No,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Action {
    Want(usize),
    Approve(usize),
    ApproveAll(usize),
    Modify(usize),
    Reject(usize),
    Late,
    Make(usize),
    /// The process ends: what it had in mind is gone, the journal is not.
    Restart,
}

impl World {
    fn state(&self) -> AgentState {
        let mut state = AgentState::default();
        for record in self.journal.iter().chain(&self.added) {
            let changes: Vec<crate::context::Change> =
                serde_json::from_str(record).expect("it was written");
            changes.iter().for_each(|change| state.apply(change));
        }
        state
    }

    /// A step of the actor: recorded, and committed if anything leaves the agent for good.
    fn perceive(&mut self, what: EventKind) -> Step {
        let acknowledged = what.is_acknowledged();
        let step = self.state().step(&Event { at: self.at, what });
        self.added
            .push(serde_json::to_string(&step.changes).expect("it can be written"));
        if acknowledged || step.out.iter().any(leaves_for_good) {
            self.journal.append(&mut self.added);
        }
        step
    }

    fn hear(&mut self, call: usize, step: &Step) {
        for out in &step.out {
            let Outgoing::Gate { approval, verdict } = out else {
                continue;
            };
            self.told[call] = match verdict {
                Verdict::Go(_) => Told::Go,
                Verdict::No(_) | Verdict::Rejected(_) => Told::No,
                Verdict::Ask(_) => Told::Wait(approval.expect("what is asked has a number")),
            };
        }
    }

    fn decide(&mut self, call: usize, decision: Decision) {
        if let Told::Wait(approval) = self.told[call] {
            let in_time = self
                .state()
                .context()
                .pending()
                .iter()
                .any(|it| it.id == approval && self.at <= it.until);
            let agrees = !matches!(decision, Decision::Reject(_));
            self.agreed[call] |= agrees && in_time;
            let by = "ada".to_owned();
            let step = self.perceive(EventKind::Decided {
                approval,
                decision,
                by,
                message: String::new(),
                permission: String::new(),
            });
            self.hear(call, &step);
        }
    }
}

impl Model for Approving {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let mut law = Law::default();
        law.attention.approval_seconds = 1;
        let mut world = World {
            journal: Vec::new(),
            added: Vec::new(),
            told: [Told::Nothing; 2],
            made: [None, None],
            agreed: [false; 2],
            restarts: 0,
            at: 0,
        };
        world.perceive(EventKind::Born {
            identity: Default::default(),
            goals: Vec::new(),
            law: Box::new(law),
        });
        let World { journal, added, .. } = &mut world;
        journal.append(added);
        vec![world]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for call in 0..2 {
            match world.told[call] {
                Told::Nothing if world.made[call].is_none() => actions.push(Action::Want(call)),
                Told::Wait(_) => actions.extend([
                    Action::Approve(call),
                    Action::ApproveAll(call),
                    Action::Modify(call),
                    Action::Reject(call),
                ]),
                Told::Go if world.made[call].is_none() => actions.push(Action::Make(call)),
                _ => {}
            }
        }
        if world.at == 0 {
            actions.push(Action::Late);
        }
        if world.restarts < 2 {
            actions.push(Action::Restart);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut world = world.clone();
        match action {
            Action::Want(call) => {
                let step = world.perceive(EventKind::Wanted {
                    turn: format!("task-{call}").into(),
                    place: "the only one".to_owned(),
                    conversation: "talk".to_owned(),
                    skill: "write".to_owned(),
                    input: json!({ "call": call }),
                    marked: true,
                    by: "ada".to_owned(),
                    shown: String::new(),
                    facts: Default::default(),
                });
                world.hear(call, &step);
            }
            Action::Approve(call) => world.decide(call, Decision::Approve(Remember::Once)),
            Action::ApproveAll(call) => world.decide(call, Decision::Approve(Remember::Session)),
            Action::Modify(call) => world.decide(call, Decision::Modify(json!({ "edited": call }))),
            Action::Reject(call) => world.decide(call, Decision::Reject("no".to_owned())),
            Action::Late => {
                world.at = 5_000;
                world.perceive(EventKind::Ticked);
            }
            Action::Make(call) => {
                let context = world.state();
                let context = context.context();
                let approval = context
                    .approvals
                    .values()
                    .find(|it| it.turn == format!("task-{call}"));
                let with = match approval.map(|it| &it.standing) {
                    Some(ApprovalState::Approved(input)) => input.to_string(),
                    _ => "granted".to_owned(),
                };
                world.made[call] = Some(with);
                world.told[call] = Told::Nothing;
            }
            Action::Restart => {
                world.restarts += 1;
                world.added.clear();
                // A call that was not made is begun again, and its last verdict is gone with the process.
                world.told = [Told::Nothing; 2];
            }
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "nothing is done before a person agreed",
                |_, world: &World| {
                    let granted = !world.state().context().grants().is_empty();
                    (0..2).all(|call| world.made[call].is_none() || world.agreed[call] || granted)
                },
            ),
            Property::always("what may be done was agreed to", |_, world: &World| {
                let granted = !world.state().context().grants().is_empty();
                (0..2).all(|call| world.told[call] != Told::Go || world.agreed[call] || granted)
            }),
            Property::always("what waits is not forgotten", |_, world: &World| {
                let state = world.state();
                (0..2).all(|call| match world.told[call] {
                    Told::Wait(id) => state.context().approvals.contains_key(&id),
                    _ => true,
                })
            }),
            Property::always("one call is asked about once", |_, world: &World| {
                let state = world.state();
                let of = |call: usize| {
                    let mut all = state.context().approvals.values();
                    all.by_ref()
                        .filter(|it| it.turn == format!("task-{call}"))
                        .count()
                };
                of(0) <= 1 && of(1) <= 1
            }),
            Property::sometimes("a call is made as it was edited", |_, world: &World| {
                world
                    .made
                    .iter()
                    .flatten()
                    .any(|with| with.contains("edited"))
            }),
            Property::sometimes("a call is made after a restart", |_, world: &World| {
                world.restarts == 2 && world.made[0].is_some()
            }),
            Property::sometimes(
                "a decision that counts for others lets one pass",
                |_, world: &World| world.made.iter().flatten().any(|with| with == "granted"),
            ),
        ]
    }
}

#[test]
fn in_every_order_nothing_is_done_before_approval_and_nothing_that_waits_is_forgotten() {
    let checker = Approving.checker().target_max_depth(9).spawn_bfs().join();
    checker.assert_properties();
    assert!(
        checker.unique_state_count() > 500,
        "{}",
        checker.unique_state_count()
    );
}

/// The hash of a definition is stored with an approval: it must not depend on how a compiler escapes text for debugging.
#[test]
fn the_canonical_form_of_a_definition_is_json() {
    let value = json!({ "é\u{200b}": { "b": 1, "a": [true, null] }, "a\"b": "\u{7f}" });
    assert_eq!(
        canonical(&value),
        "{\"a\\\"b\":\"\u{7f}\",\"é\u{200b}\":{\"a\":[true,null],\"b\":1}}"
    );
}
