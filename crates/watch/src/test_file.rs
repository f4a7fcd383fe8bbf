//! `monas watch test RULE FILE`: what rules say about a file of events, before they are put in force.

use serde_json::Value;

use crate::alert::Notice;
use crate::rule::examples::scalar;
use crate::{Author, Error, Fact, Field, Rules, Watcher};

/// What rules said about a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Tested {
    /// How many lines were events.
    pub events: u64,
    /// The lines at which people would have been told something, with what.
    pub notices: Vec<(u64, Notice)>,
    /// Lines that are neither a record of a journal nor a fact, with why.
    pub unread: Vec<(u64, String)>,
}

/// Runs the rules of a text over the lines of a file. A line is a record of a journal as it is stored (with `event`), or a fact:
/// a mapping of fields, with `at` in milliseconds if the time matters. The examples of the rules are run before.
pub fn test_rules(rules: &str, lines: &str) -> Result<Tested, Error> {
    let mut watcher = Watcher::new(Rules::parse("test", Author::Operator, rules)?)?;
    let mut tested = Tested {
        events: 0,
        notices: Vec::new(),
        unread: Vec::new(),
    };
    for (number, line) in (1..).zip(lines.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let told = match serde_json::from_str::<Value>(line) {
            Ok(value) if value.get("event").is_some_and(Value::is_object) => watcher
                .event("agent/test", number, line.as_bytes())
                .map_err(|error| error.to_string()),
            Ok(value) => fact(number, &value).map(|fact| watcher.fact(&fact)),
            Err(error) => Err(error.to_string()),
        };
        match told {
            Ok(told) => {
                tested.events += 1;
                tested
                    .notices
                    .extend(told.into_iter().map(|it| (number, it)));
            }
            Err(problem) => tested.unread.push((number, problem)),
        }
    }
    Ok(tested)
}

fn fact(number: u64, value: &Value) -> Result<Fact, String> {
    let members = value
        .as_object()
        .ok_or_else(|| "a fact is a mapping of fields".to_owned())?;
    let at = value["at"]
        .as_i64()
        .unwrap_or_else(|| i64::try_from(number).unwrap_or_default() * 1000);
    let mut fact = Fact::new("agent/test", number, at)
        .with(Field::Agent, "test")
        .with(Field::Task, "task-1");
    for (name, value) in members.iter().filter(|it| it.0 != "at") {
        let field = Field::of(name).ok_or_else(|| format!("there is no field {name:?}"))?;
        fact.set(field, scalar(value));
    }
    Ok(fact)
}
