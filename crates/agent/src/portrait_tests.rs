//! What a journal says of an agent and of its peers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::context::{Change, Pending};
use crate::event::{
    Candidate, Effect, Event, EventKind, Intent, MemoryOutcome, MemoryResult, Outgoing,
};
use crate::journal::Record;
use crate::law::Edit;
use crate::step::tests::{Stepper, wanted};

/// A law with a procedure of two steps.
fn law() -> Law {
    let mut law = Law::default();
    law.attention.recall = 0;
    let rule = json!({
        "name": "survey", "when": "survey {it}",
        "steps": [
            { "skill": "look", "input": { "at": "{it}" } },
            { "skill": "look", "input": { "at": "{1}" } },
        ],
    });
    let edit = Edit {
        target: "procedures".to_owned(),
        change: json!(format!("+= {rule}")),
        justification: "it is asked for often".to_owned(),
    };
    edit.apply(&law).unwrap()
}

fn records(stepper: &Stepper) -> Vec<(u64, Record)> {
    let records = (1..).zip(&stepper.recorded);
    let records = records.map(|(number, (event, step))| {
        let record = Record {
            event: event.clone(),
            changes: step.changes.clone(),
            forgotten: false,
        };
        (number, record)
    });
    records.collect()
}

/// Settles the call that is wanted.
fn settle(stepper: &mut Stepper, out: &[Outgoing], result: Result<Value, &str>) -> Vec<Outgoing> {
    let effect = wanted(out, |it| matches!(it, Effect::Call { .. }))[0];
    stepper.after(
        10,
        match result {
            Ok(output) => EventKind::Done { effect, output },
            Err(why) => EventKind::Failed {
                effect,
                code: "broken".to_owned(),
                message: why.to_owned(),
            },
        },
    )
}

#[test]
fn a_procedure_is_told_with_its_runs_and_the_step_that_failed() {
    let law = law();
    let mut stepper = Stepper::under(law.clone());
    for number in 0..3 {
        let out = stepper.hear(&format!("t{number}"), "survey the bridge");
        let out = settle(&mut stepper, &out, Ok(json!("the mill")));
        let result = match number {
            2 => Err("it is dark"),
            _ => Ok(json!("all is well")),
        };
        let out = settle(&mut stepper, &out, result);
        for effect in wanted(&out, |it| matches!(it, Effect::Remember { .. })) {
            let outcomes = Vec::new();
            stepper.perceive(EventKind::Remembered { effect, outcomes });
        }
    }
    let tally = Tally::of(&records(&stepper));
    let told = tally.procedures(&law);
    assert_eq!(told.len(), 1);
    let it = &told[0];
    assert_eq!((it.runs, it.answered, it.failed_step), (3, 2, Some(2)));
    assert!(it.milliseconds.is_some_and(|it| it >= 20), "{it:?}");
    assert_eq!(it.steps, ["look", "look"]);
    let skills = tally.skills(&[]);
    assert_eq!(
        (skills[0].skill.as_str(), skills[0].calls, skills[0].failed),
        ("look", 6, 1)
    );
    assert_eq!((tally.requests.answered, tally.requests.failed), (2, 1));
}

/// Claims of an agent that became beliefs, and as many that contradicted them.
fn claims(wrong: usize, right: usize) -> Vec<(u64, Record)> {
    let mut history = Vec::new();
    let mut number: u32 = 0;
    let mut believe = |source: &str, against: Option<String>| {
        number += 1;
        let effect = serde_json::from_value(json!(number)).unwrap();
        let candidate = Candidate {
            text: format!("claim {number}"),
            source: source.to_owned(),
            confidence: 0.8,
            context: String::new(),
            believe: true,
            why: String::new(),
            public: false,
        };
        let pending = Pending {
            intent: Intent {
                id: effect,
                turn: None,
                effect: Effect::Remember {
                    candidates: vec![candidate],
                },
            },
            given: true,
            at: 0,
        };
        let record = format!("r{number}");
        let result = MemoryResult {
            record: record.clone(),
            outcome: MemoryOutcome::Kept,
            problem: None,
            against: against.clone(),
            against_record: against,
        };
        let what = EventKind::Remembered {
            effect,
            outcomes: vec![result],
        };
        let changes = vec![Change::Intended {
            pending: Arc::new(pending),
        }];
        let event = Event { at: 1, what };
        let recorded = Record {
            event,
            changes,
            forgotten: false,
        };
        history.push((u64::from(number), recorded));
        record
    };
    for _ in 0..wrong {
        let claimed = believe("agent:rumour", None);
        believe("user:ada", Some(claimed));
    }
    for _ in 0..right {
        believe("agent:rumour", None);
    }
    history
}

#[test]
fn trust_in_an_agent_falls_that_is_contradicted_more_often_than_not() {
    let suggestions = crate::revision::tests::suggested;
    let mut law = Law::default();
    assert!(suggestions(&claims(2, 0), &law).is_empty());
    let about = |it: &(String, Value)| it.0.starts_with("agent_choice");
    assert!(!suggestions(&claims(3, 3), &law).iter().any(about));
    let history = claims(3, 1);
    let found = suggestions(&history, &law);
    assert_eq!(found[0].0, "agent_choice");
    let edit = Edit {
        target: found[0].0.clone(),
        change: found[0].1.clone(),
        justification: "it is wrong".to_owned(),
    };
    law = edit.apply(&law).unwrap();
    assert_eq!(trust(&law, "rumour"), 0.25);
    let peers = Tally::of(&history).peers(&law);
    assert_eq!(
        (
            peers[0].agent.as_str(),
            peers[0].claims,
            peers[0].contradicted
        ),
        ("rumour", 4, 3)
    );
    // Where the law has a rule already, the trust in it is changed.
    let again = suggestions(&history, &law);
    assert_eq!(
        again[0],
        ("agent_choice[rumour]".to_owned(), json!("trust = 0.13"))
    );
}
