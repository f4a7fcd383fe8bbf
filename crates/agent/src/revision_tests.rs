//! How a law changes, on the real steps and the real fold: what a test measures, and that no order of events adopts what
//! it must not.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use revise::{Stage, Verdict};
use serde_json::{Value, json};
use stateright::{Checker as _, Model, Property};

use super::replay::{Reader, Replay};
use super::trial::compare;
use super::*;
use crate::context::Change;
use crate::event::Event;
use crate::event::{Candidate, Effect, MemoryOutcome, MemoryResult, Outgoing};
use crate::journal::Record;
use crate::law::{MemoryAction, Origin};
use crate::step::AgentState;
use crate::step::tests::{Stepper, heard, wanted};

/// A law by which outputs of skills become beliefs at once.
fn credulous() -> Law {
    let mut law = Law::default();
    law.attention.recall = 0;
    law.memory.rules[0].condition.min_confidence = 0.5;
    law
}

fn edit(target: &str, change: Value) -> Edit {
    Edit {
        target: target.to_owned(),
        change,
        justification: "recent contradiction detected".to_owned(),
    }
}

fn careful() -> Edit {
    edit("memory_rules[tool_results]", json!("minConfidence += 0.2"))
}

/// What is to be remembered, as memory answers it: records have the numbers of their effects.
fn remember(stepper: &mut Stepper, out: &[Outgoing], against: Option<&str>) -> Vec<String> {
    let effects = wanted(out, |it| matches!(it, Effect::Remember { .. }));
    let Some(effect) = effects.first().copied() else {
        return Vec::new();
    };
    let pending = &stepper.state.context.intents[&effect];
    let Effect::Remember { candidates } = pending.intent.effect.clone() else {
        return Vec::new();
    };
    let result = |(at, it): (usize, &Candidate)| {
        let against = against.filter(|_| it.believe).map(str::to_owned);
        MemoryResult {
            record: format!("{effect}-{at}"),
            outcome: match it.believe {
                true => MemoryOutcome::Kept,
                false => MemoryOutcome::Observed,
            },
            problem: None,
            against: against.clone(),
            against_record: against,
        }
    };
    let outcomes: Vec<_> = candidates.iter().enumerate().map(result).collect();
    let records = candidates.iter().zip(&outcomes);
    let records = records.filter(|(it, _)| it.source.starts_with("tool:"));
    let records = records.map(|(_, it)| it.record.clone()).collect();
    stepper.perceive(EventKind::Remembered { effect, outcomes });
    records
}

/// A request that a skill is called for, and one that contradicts what the skill gave.
fn wrong_once(stepper: &mut Stepper, number: usize) {
    let out = stepper.hear(&format!("look-{number}"), "look at the bridge");
    let out = stepper.think(&out, "", &[("look", json!({}))]);
    let call = wanted(&out, |it| matches!(it, Effect::Call { .. }))[0];
    let out = stepper.perceive(EventKind::Done {
        effect: call,
        output: json!(format!("Bridge {number} is open.")),
    });
    let out = stepper.think(&out, "It is open.", &[]);
    let records = remember(stepper, &out, None);
    let out = stepper.hear(
        &format!("tell-{number}"),
        &format!("Bridge {number} is closed."),
    );
    let out = stepper.think(&out, "Noted.", &[]);
    remember(stepper, &out, records.first().map(String::as_str));
}

fn reader(stepper: &Stepper) -> Reader {
    let mut reader = Reader::new(1000);
    for (event, step) in &stepper.recorded {
        reader.take(Record {
            event: event.clone(),
            changes: step.changes.clone(),
            forgotten: false,
        });
    }
    reader
}

fn scores(reader: &Reader, law: &Law) -> Vec<Result<f64, &'static str>> {
    let mut replay = Replay::under(Arc::new(law.clone()));
    let score = |it| replay.score(it, &reader.recalled).map(|it| it.score);
    reader.over.iter().map(score).collect()
}

#[test]
fn a_replay_under_the_same_law_gives_the_recorded_scores() {
    let mut stepper = Stepper::under(credulous());
    (0..4).for_each(|number| wrong_once(&mut stepper, number));
    let recorded: Vec<f64> = stepper
        .recorded
        .iter()
        .flat_map(|(_, step)| &step.changes)
        .filter_map(|it| match it {
            Change::Gate {
                step: revise::Change::Scored(score),
            } => Some(*score),
            _ => None,
        })
        .collect();
    let replayed: Vec<f64> = scores(&reader(&stepper), &credulous())
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(recorded, replayed);
    assert!(recorded[0] > 0.9 && recorded[1] < 0.8, "{recorded:?}");
}

#[test]
fn a_contradiction_of_what_would_not_be_believed_is_none() {
    let mut stepper = Stepper::under(credulous());
    (0..12).for_each(|number| wrong_once(&mut stepper, number));
    let reader = reader(&stepper);
    let subject = |candidate: Law, held_out| trial::Subject {
        proposal: 1,
        held_out,
        law: Arc::new(credulous()),
        candidate: Arc::new(candidate),
        seed: 7,
    };
    let law = careful().apply(&credulous()).unwrap();
    let trial = compare(&reader, &subject(law.clone(), false));
    let figures = &trial.figures;
    assert_eq!(
        (figures.episodes, figures.worse, figures.unknown),
        (16, 0, 0)
    );
    assert!(figures.better >= 5, "{figures:?}");
    assert!(matches!(trial.verdict, Verdict::Better { .. }), "{trial:?}");
    let held_out = compare(&reader, &subject(law, true));
    assert_eq!(figures.better + held_out.figures.better, 12);

    // What it would do otherwise is not known, and not guessed.
    let mut other = credulous();
    other.attention.recall = 3;
    let unknown = compare(&reader, &subject(other, false));
    assert_eq!(unknown.figures.unknown, 16);
    assert_eq!(unknown.verdict, Verdict::Diverged { share: 1.0 });
    let forbid = edit(
        "skill_selection",
        json!("+= {\"skill\": \"look\", \"then\": \"forbid\"}"),
    );
    let forbid = scores(&reader, &forbid.apply(&credulous()).unwrap());
    assert!(forbid.iter().all(Result::is_err), "{forbid:?}");
}

#[test]
fn what_is_about_approvals_skills_trust_and_budgets_is_for_a_person() {
    let law = Law::default();
    let is_major = |target: &str, change: Value| {
        check::is_major(&law, &edit(target, change).apply(&law).unwrap())
    };
    assert!(!is_major(
        "memory.rules[0].condition.min_confidence",
        json!(0.8)
    ));
    assert!(!is_major("attention.recall", json!(3)));
    assert!(!is_major(
        "memory_rules[tool_results]",
        json!("minConfidence += 0.1")
    ));
    for (target, change) in [
        ("attention.tokens", json!(1)),
        ("clarification.min_grounded", json!(0.0)),
        ("memory.rules[0]", Value::Null),
        ("skill_selection", json!([{ "skill": "x", "then": "ask" }])),
        ("memory.rules[0].action", json!("discard")),
        ("decomposition.max_calls", json!(1)),
    ] {
        assert!(is_major(target, change), "{target}");
    }
    let allow = edit(
        "skill_selection",
        json!([{ "skill": "x", "then": "allow" }]),
    );
    let allow = allow.apply(&law).unwrap();
    assert!(matches!(
        check::no_new_authority(&law, &allow),
        Err(Refused::Authority(_))
    ));
    assert_eq!(check::no_new_authority(&allow, &allow), Ok(()));
}

fn records(stepper: &Stepper) -> Vec<(u64, Record)> {
    let records = (1..).zip(&stepper.recorded);
    let records = records.map(|(number, (event, step))| {
        let (event, changes) = (event.clone(), step.changes.clone());
        let record = Record {
            event,
            changes,
            forgotten: false,
        };
        (number, record)
    });
    records.collect()
}

#[test]
fn contradictions_of_what_skills_gave_raise_the_threshold_for_them() {
    let mut stepper = Stepper::under(credulous());
    (0..2).for_each(|number| wrong_once(&mut stepper, number));
    assert_eq!(reflect::suggestions(&records(&stepper), &credulous()), []);
    wrong_once(&mut stepper, 2);
    let found = reflect::suggestions(&records(&stepper), &credulous());
    assert_eq!(found.len(), 1, "{found:?}");
    let suggestion = &found[0];
    assert_eq!(suggestion.edit.target, "memory_rules[tool]");
    assert_eq!(suggestion.edit.change, json!("min_confidence = 0.55"));
    assert_eq!(suggestion.evidence.len(), 6, "each belief and its end");
    let law = suggestion.edit.apply(&credulous()).unwrap();
    assert!(!check::is_major(&credulous(), &law), "it changes a value");
    assert_eq!(reflect::suggestions(&records(&stepper), &law), []);
}

/// What a journal suggests: the places and the changes.
pub(crate) fn suggested(history: &[(u64, Record)], law: &Law) -> Vec<(String, Value)> {
    let found = reflect::suggestions(history, law).into_iter();
    found.map(|it| (it.edit.target, it.edit.change)).collect()
}

/// Requests that leave a belief each, which none of them recalls.
fn believing(law: &Law) -> Stepper {
    let mut stepper = Stepper::under(law.clone());
    for number in 0..24 {
        let out = stepper.hear(&format!("look-{number}"), "look at the bridge");
        let effect = wanted(&out, |it| matches!(it, Effect::Recall { .. }))[0];
        let found = Vec::new();
        let out = stepper.perceive(EventKind::Recalled { effect, found });
        let out = stepper.think(&out, "", &[("look", json!({}))]);
        let call = wanted(&out, |it| matches!(it, Effect::Call { .. }))[0];
        let out = stepper.perceive(EventKind::Done {
            effect: call,
            output: json!(format!("Bridge {number} is open.")),
        });
        let out = stepper.think(&out, "It is open.", &[]);
        remember(&mut stepper, &out, None);
    }
    stepper
}

#[test]
fn beliefs_that_are_never_recalled_raise_the_threshold_and_the_test_agrees() {
    let mut law = credulous();
    law.attention.recall = 6;
    let stepper = believing(&law);
    let found = suggested(&records(&stepper), &law);
    let expected = (
        "memory_rules[tool]".to_owned(),
        json!("min_confidence = 0.55"),
    );
    assert_eq!(found, [expected]);
    let changed = edit(&found[0].0, found[0].1.clone()).apply(&law).unwrap();
    let subject = |candidate: Law| trial::Subject {
        proposal: 1,
        held_out: false,
        law: Arc::new(law.clone()),
        candidate: Arc::new(candidate),
        seed: 7,
    };
    let test = compare(&reader(&stepper), &subject(changed));
    assert!(
        matches!(&test.verdict, Verdict::Better { objective, .. } if objective == trial::UNUSED),
        "{test:?}"
    );
    // The same law is no better than itself.
    let test = compare(&reader(&stepper), &subject(law.clone()));
    assert!(
        matches!(test.verdict, Verdict::NotBetter { .. }),
        "{test:?}"
    );
}

#[test]
fn an_agent_reflects_after_so_many_episodes_and_only_when_it_is_idle() {
    let mut law = credulous();
    law.frozen.reflect_every = 3;
    let mut stepper = Stepper::under(law.clone());
    wrong_once(&mut stepper, 0);
    assert!(!stepper.state.reflects(), "after two episodes");
    assert_eq!(stepper.state.due(), None);
    wrong_once(&mut stepper, 1);
    assert!(stepper.state.reflects());
    assert!(stepper.state.due().is_some(), "the clock wakes it");
    stepper.hear("open", "look at the bridge");
    assert!(!stepper.state.reflects(), "it works");
    stepper.perceive(EventKind::Cancelled {
        turn: "open".into(),
    });
    stepper.perceive(EventKind::Paused);
    assert!(!stepper.state.reflects(), "it is paused");
    stepper.perceive(EventKind::Resumed);
    assert!(stepper.state.reflects());
    stepper.perceive(EventKind::Reflected);
    assert!(!stepper.state.reflects());
    law.frozen.reflect_every = 0;
    let mut stepper = Stepper::under(law);
    (0..20).for_each(|number| wrong_once(&mut stepper, number));
    assert!(!stepper.state.reflects(), "never by itself");
}

#[test]
fn requests_of_one_form_with_the_same_calls_become_a_procedure() {
    let mut law = Law::default();
    law.attention.recall = 0;
    let mut stepper = Stepper::under(law.clone());
    for (number, place) in ["the bridge", "the gate", "Mill Lane"].iter().enumerate() {
        let out = stepper.hear(&format!("t{number}"), &format!("survey {place} please"));
        let out = stepper.think(&out, "", &[("look", json!({ "at": place, "deep": true }))]);
        let call = wanted(&out, |it| matches!(it, Effect::Call { .. }))[0];
        let gave = format!("{place} is open");
        let out = stepper.perceive(EventKind::Done {
            effect: call,
            output: json!(gave),
        });
        let out = stepper.think(&out, "", &[("move", json!({ "report": gave }))]);
        let call = wanted(&out, |it| matches!(it, Effect::Call { .. }))[0];
        let out = stepper.perceive(EventKind::Done {
            effect: call,
            output: json!("filed"),
        });
        let out = stepper.think(&out, "Done.", &[]);
        remember(&mut stepper, &out, None);
    }
    let found = reflect::suggestions(&records(&stepper), &law);
    assert_eq!(found.len(), 1, "{found:?}");
    let taught = found[0].edit.apply(&law).unwrap();
    assert!(check::is_major(&law, &taught), "a person agrees to it");
    let learned = &taught.procedures[0];
    assert_eq!(learned.when, "survey {it} please");
    assert_eq!(
        serde_json::to_value(&learned.steps).unwrap(),
        json!([
            { "skill": "look", "input": { "at": "{it}", "deep": true } },
            { "skill": "move", "input": { "report": "{1}" } },
        ])
    );
    // The procedure does what was done by thinking.
    let mut stepper = Stepper::under(taught);
    let out = stepper.hear("t", "survey the harbour please");
    let call = wanted(&out, |it| {
        *it == Effect::Call {
            skill: "look".to_owned(),
            input: json!({ "at": "the harbour", "deep": true }),
        }
    });
    assert_eq!(call.len(), 1, "{out:?}");
}

#[test]
fn a_skill_that_people_reject_every_time_is_to_be_forbidden() {
    let mut law = Law::default();
    law.attention.recall = 0;
    let mut stepper = Stepper::under(law.clone());
    for number in 0..3 {
        let turn = format!("t{number}");
        let out = stepper.hear(&turn, "write it down");
        let out = stepper.think(&out, "", &[("write", json!({}))]);
        let call = wanted(&out, |it| matches!(it, Effect::Call { .. }))[0];
        stepper.perceive(EventKind::Wanted {
            turn: turn.into(),
            place: format!("call-{call}/"),
            conversation: "talk".to_owned(),
            skill: "write".to_owned(),
            input: json!({}),
            marked: true,
            by: "ada".to_owned(),
            shown: String::new(),
            facts: crate::event::CallFacts::default(),
        });
        let approval = stepper.state.context.pending()[0].id;
        stepper.perceive(EventKind::Decided {
            approval,
            decision: crate::approval::Decision::Reject("no".to_owned()),
            by: "ada".to_owned(),
            message: String::new(),
            permission: String::new(),
        });
    }
    let found = reflect::suggestions(&records(&stepper), &law);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].evidence.len(), 3);
    let changed = found[0].edit.apply(&law).unwrap();
    assert_eq!(changed.skill_selection[0].skill, "write");
    assert_eq!(reflect::suggestions(&records(&stepper), &changed), []);
}

/// At most this many events in a row.
const LENGTH: usize = 7;

/// An agent with its law, and what an observer has seen of it.
#[derive(Clone, Debug)]
struct World {
    state: AgentState,
    events: usize,
    episodes: u64,
    /// Which proposal a person approved, and when proposals were adopted.
    approved: Option<u64>,
    adoptions: Vec<u64>,
    /// All laws that were in force, by hash.
    laws: Vec<String>,
    rolled_back: bool,
    faults: Vec<&'static str>,
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        format!("{self:?}").hash(state);
    }
}

impl World {
    fn new() -> Self {
        let mut law = Law::empty();
        law.attention.recall = 0;
        law.frozen.change_every = 1;
        law.frozen.canary_episodes = 1;
        let stepper = Stepper::under(law);
        Self {
            laws: vec![stepper.state.law().hash()],
            state: stepper.state,
            events: 0,
            episodes: 0,
            approved: None,
            adoptions: Vec::new(),
            rolled_back: false,
            faults: Vec::new(),
        }
    }

    fn tell(&mut self, what: EventKind) -> Vec<Outgoing> {
        let before = self.state.context.revision.gate.open().cloned();
        let step = self.state.step(&Event { at: 1, what });
        for change in &step.changes {
            self.state.apply(change);
            if let Change::Gate { step } = change {
                match step {
                    revise::Change::Scored(_) => self.episodes += 1,
                    revise::Change::RolledBack { .. } => self.rolled_back = true,
                    revise::Change::Adopted(_) => self.adopted(before.as_ref()),
                    _ => {}
                }
            }
        }
        let hash = self.state.law().hash();
        let gate = &self.state.context.revision.gate;
        if gate.version().hash != hash || gate.version().number.0 != self.state.context.law_version
        {
            self.faults.push("the gate and the law differ");
        }
        if gate.canary().is_some() != self.state.context.revision.previous.is_some() {
            self.faults.push("a canary without a law to return to");
        }
        if !self.laws.contains(&hash) {
            self.laws.push(hash);
        }
        step.out
    }

    fn adopted(&mut self, before: Option<&revise::Open>) {
        let Some(open) = before else {
            self.faults.push("adopted without a proposal");
            return;
        };
        if open.major && self.approved != Some(open.id.0) {
            self.faults.push("a major change without a person");
        }
        let last = self.adoptions.last();
        if last.is_some_and(|last| self.episodes - last < 1) {
            self.faults.push("two adoptions too close");
        }
        self.adoptions.push(self.episodes);
    }

    fn episode(&mut self, good: bool) {
        let turn = format!("turn-{}", self.events);
        let out = self.tell(heard(&turn, Origin::User, "how are you?"));
        let effect = wanted(&out, |it| matches!(it, Effect::Think))[0];
        self.tell(match good {
            true => EventKind::Thought {
                effect,
                text: "well".to_owned(),
                calls: Vec::new(),
                thoughts: Vec::new(),
                tokens: 0,
                declined: false,
                reasoning: String::new(),
            },
            false => EventKind::Failed {
                effect,
                code: "model".to_owned(),
                message: "no answer".to_owned(),
            },
        });
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    Propose { target: &'static str, ordered: bool },
    Tested(bool),
    Ruled(bool),
    Episode(bool),
}

struct Changing;

impl Model for Changing {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new()]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if world.events >= LENGTH {
            return;
        }
        let propose = |target, ordered| Action::Propose { target, ordered };
        actions.extend([
            propose("attention.conversation", false),
            propose("attention.tokens", false),
            propose("attention.tokens", true),
            Action::Episode(true),
            Action::Episode(false),
        ]);
        if let Some(open) = world.state.context.revision.gate.open() {
            actions.extend(match open.stage {
                Stage::Approval => [Action::Ruled(true), Action::Ruled(false)],
                _ => [Action::Tested(true), Action::Tested(false)],
            });
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        let open = next.state.context.revision.gate.open().cloned();
        match action {
            Action::Propose { target, ordered } => drop(next.tell(EventKind::Proposed {
                edit: edit(target, json!("+= 1")),
                by: "ada".to_owned(),
                effect: None,
                refused: None,
                ordered_by: ordered.then(|| "ada".to_owned()),
                evidence: Vec::new(),
            })),
            Action::Tested(better) => {
                let open = open?;
                let verdict = match better {
                    true => Verdict::Better {
                        objective: "score".to_owned(),
                        by: 0.5,
                        interval: (0.1, 0.9),
                    },
                    false => Verdict::TooFew { have: 0, need: 5 },
                };
                next.tell(EventKind::Tested {
                    proposal: open.id.0,
                    held_out: open.stage == Stage::HeldOut,
                    test: Box::new(Test {
                        verdict,
                        figures: Figures::default(),
                    }),
                });
            }
            Action::Ruled(approve) => {
                let proposal = open?.id.0;
                next.approved = approve.then_some(proposal);
                next.tell(EventKind::Ruled {
                    proposal,
                    by: "ada".to_owned(),
                    approve,
                    reason: String::new(),
                });
            }
            Action::Episode(good) => next.episode(good),
        }
        next.events += 1;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no fault is seen", |_, world: &World| {
                world.faults.is_empty()
            }),
            Property::always("every law was that of a version", |_, world: &World| {
                let versions = world.state.context.revision.gate.versions();
                let mut laws = world.laws.iter();
                laws.all(|law| versions.iter().any(|it| &it.hash == law))
            }),
            Property::sometimes("a change is adopted", |_, world: &World| {
                world.state.context.law_version > 1
            }),
            Property::sometimes("a change is rolled back", |_, world: &World| {
                world.rolled_back
            }),
            Property::sometimes("two changes are adopted", |_, world: &World| {
                world.adoptions.len() > 1
            }),
        ]
    }
}

#[test]
fn no_order_of_events_puts_a_law_in_force_that_must_not_be() {
    let checker = Changing.checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    let states = checker.unique_state_count();
    assert!(states > 5_000, "{states}");
}

#[test]
fn every_beginning_of_a_journal_has_the_old_law_or_the_new_one() {
    let mut stepper = Stepper::under(credulous());
    (0..8).for_each(|number| wrong_once(&mut stepper, number));
    stepper.perceive(EventKind::Proposed {
        edit: careful(),
        by: "reflector".to_owned(),
        effect: None,
        refused: None,
        ordered_by: None,
        evidence: vec![3],
    });
    for held_out in [false, true] {
        let mut subject = trial::Subject::of(&stepper.state).expect("it waits for a test");
        subject.seed = 7;
        assert_eq!(subject.held_out, held_out);
        let test = Box::new(compare(&reader(&stepper), &subject));
        stepper.perceive(EventKind::Tested {
            proposal: 1,
            held_out,
            test,
        });
    }
    assert_eq!(stepper.state.context.law_version, 2, "it is adopted");
    assert_eq!(
        stepper.state.law().memory.rules[0].action,
        MemoryAction::PromoteToLongTerm
    );
    // Then the model fails, and the law before is in force again.
    for number in 0..10 {
        let out = stepper.hear(&format!("fail-{number}"), "look at the bridge");
        let effect = wanted(&out, |it| matches!(it, Effect::Think))[0];
        stepper.perceive(EventKind::Failed {
            effect,
            code: "model".to_owned(),
            message: "no answer".to_owned(),
        });
    }
    assert_eq!(stepper.state.law(), &credulous());
    assert_eq!(stepper.state.context.law_version, 3);

    let laws = [credulous(), careful().apply(&credulous()).unwrap()];
    let mut state = AgentState::default();
    for (_, step) in &stepper.recorded {
        step.changes.iter().for_each(|change| state.apply(change));
        assert!(laws.contains(state.law()));
        assert_eq!(
            state.context.revision.gate.version().hash,
            state.law().hash()
        );
    }
    assert_eq!(state, stepper.state);
    let views = view::proposals(&records(&stepper));
    assert_eq!(views.len(), 1);
    assert_eq!(
        (views[0].standing, views[0].version),
        (ProposalState::RolledBack, Some(2))
    );
    assert!(
        views[0].says.contains("the mean score fell from"),
        "{}",
        views[0].says
    );
    assert!(views[0].trial.is_some() && views[0].held_out.is_some());
}
