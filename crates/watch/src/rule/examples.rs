//! The examples of a rule are run when it is loaded: a rule that does not match what it says it matches never would.

use serde_json::Value;

use super::form::name_of;
use super::{Rule, Rules};
use crate::Error;
use crate::fact::{Fact, Field, Scalar};
use crate::window::Windows;

/// How often an example may have a fact repeated.
const MOST: u64 = 500;

/// Runs the examples of a document, if it is a rule that tells alerts.
pub(super) fn run(rules: &Rules, form: &Value) -> Result<(), Error> {
    let Some(rule) = rules
        .rules
        .iter()
        .find(|it| Some(it.id.as_str()) == form["id"].as_str())
    else {
        return Ok(());
    };
    let name = name_of(form);
    for (list, wanted) in [("match", true), ("not_match", false)] {
        let examples = form["monas"]["examples"][list].as_array();
        let Some(examples) = examples.filter(|it| !it.is_empty()) else {
            return Err(Error::rule(
                name,
                format!("it has no example under monas.examples.{list}"),
            ));
        };
        for (at, example) in examples.iter().enumerate() {
            let fault = |fault: &str| Error::Example {
                rule: name.to_owned(),
                list,
                number: at + 1,
                fault: fault.to_owned(),
            };
            let facts = facts(name, example)?;
            match (matches(rules, rule, &facts), wanted) {
                (true, true) | (false, false) => {}
                (false, true) => return Err(fault("does not match")),
                (true, false) => return Err(fault("matches")),
            }
        }
    }
    Ok(())
}

fn matches(rules: &Rules, rule: &Rule, facts: &[Fact]) -> bool {
    let mut windows = Windows::default();
    // Every fact is taken in: the last one may be the one that matches.
    facts
        .iter()
        .filter(|it| windows.matches(rules, rule, it))
        .count()
        > 0
}

/// The facts of an example: one mapping of fields, or a list of them, each with `repeat` and `after` (seconds) if it wants.
fn facts(rule: &str, example: &Value) -> Result<Vec<Fact>, Error> {
    let items = match example {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut facts = Vec::new();
    let (mut at, mut sequence) = (0, 0);
    for item in items {
        let Some(members) = item.as_object() else {
            return Err(Error::rule(
                rule,
                "an example is a mapping of fields, or a list of them",
            ));
        };
        let times = members
            .get("repeat")
            .and_then(Value::as_u64)
            .unwrap_or(1)
            .min(MOST);
        let after = members.get("after").and_then(Value::as_i64).unwrap_or(1);
        for _ in 0..times {
            at += after.clamp(0, 1_000_000) * 1000;
            sequence += 1;
            let mut fact = Fact::new("agent/example", sequence, at)
                .with(Field::Agent, "example")
                .with(Field::Task, "task-1");
            for (name, value) in members
                .iter()
                .filter(|it| !["repeat", "after"].contains(&it.0.as_str()))
            {
                fact.set(super::detection::field(rule, name)?, scalar(value));
            }
            facts.push(fact);
        }
    }
    Ok(facts)
}

/// A plain value of JSON as a value of a field.
pub(crate) fn scalar(value: &Value) -> Scalar {
    match value {
        Value::Bool(flag) => Scalar::Flag(*flag),
        Value::Number(number) => Scalar::Number(number.as_f64().unwrap_or_default()),
        Value::String(text) => Scalar::Text(text.clone()),
        Value::Null | Value::Array(_) | Value::Object(_) => Scalar::None,
    }
}
