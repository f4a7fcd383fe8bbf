//! The fixed rules above every law: its bounds, and how it may change. They are compiled in; no law can change them.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Law;

/// Why a law, or a change of one, is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Refused {
    /// The text or the value does not have the form of a law.
    #[error("read the law: {0}")]
    Form(String),
    #[error("{rule} is {found}: {bounds}")]
    Bounds {
        rule: String,
        found: String,
        bounds: String,
    },
    /// The edit changes `frozen`.
    #[error("{0} is frozen: an agent cannot change its axioms and its safety")]
    Frozen(String),
    #[error("a change of the law needs a justification")]
    Unjustified,
    /// The target does not exist, or the change does not fit its type.
    #[error("the law has no {0:?} that this change fits")]
    Target(String),
}

impl Refused {
    pub(super) fn form(problem: String) -> Self {
        Self::Form(problem)
    }
}

/// A proposed change of a law: target, change and justification.
///
/// ```
/// use agent::{Edit, Law};
///
/// let edit: Edit = serde_json::from_str(r#"{
///     "target": "memory.rules.0.condition", "change": "minConfidence += 0.1",
///     "justification": "a claim was believed that turned out to be wrong"
/// }"#).unwrap();
/// let law = edit.apply(&Law::default()).unwrap();
/// assert!((law.memory.rules[0].condition.min_confidence - 0.8).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Where in the law, with dots between the names: `memory.rules.0.condition`.
    pub target: String,
    /// An assignment below the target (`min_confidence += 0.1`, `max_rounds = 4`), or the new value of the target.
    pub change: Value,
    pub justification: String,
}

impl Edit {
    /// The changed law. It has the same `frozen` part and keeps the bounds, or the edit is refused.
    pub fn apply(&self, law: &Law) -> Result<Law, Refused> {
        if self.justification.trim().is_empty() {
            return Err(Refused::Unjustified);
        }
        let unknown = || Refused::Target(self.target.clone());
        let mut tree = serde_json::to_value(law).map_err(|_| unknown())?;
        let (path, value) = match self.change.as_str().and_then(assignment) {
            Some((name, sign, operand)) => {
                let path = join(&self.target, &snake(name));
                let old = at(&mut tree, &path).ok_or_else(unknown)?;
                let value = match sign {
                    "" => serde_json::from_str(operand)
                        .unwrap_or_else(|_| Value::from(operand.to_owned())),
                    _ => relative(old, sign, operand).ok_or_else(unknown)?,
                };
                (path, value)
            }
            None => (self.target.clone(), self.change.clone()),
        };
        *at(&mut tree, &path).ok_or_else(unknown)? = value;
        let changed: Law =
            serde_json::from_value(tree).map_err(|error| Refused::form(error.to_string()))?;
        if changed.frozen != law.frozen {
            return Err(Refused::Frozen(path));
        }
        check(&changed)?;
        Ok(changed)
    }
}

/// Splits `name += 0.1` into the name, the sign before `=`, and the operand.
fn assignment(change: &str) -> Option<(&str, &str, &str)> {
    let (left, operand) = change.split_once('=')?;
    let left = left.trim();
    let name = left.trim_end_matches(['+', '-', '*']);
    let sign = &left[name.len()..];
    let name = name.trim();
    let named = !name.is_empty()
        && name
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '.'));
    (named && sign.len() <= 1).then_some((name, sign, operand.trim()))
}

fn relative(old: &Value, sign: &str, operand: &str) -> Option<Value> {
    let by: f64 = operand.parse().ok()?;
    let old_number = old.as_f64()?;
    let new = match sign {
        "+" => old_number + by,
        "-" => old_number - by,
        _ => old_number * by,
    };
    // An integer field stays an integer.
    match old.is_u64() {
        true => (new >= 0.0).then(|| Value::from(new.round() as u64)),
        false => serde_json::Number::from_f64((new * 1e9).round() / 1e9).map(Value::Number),
    }
}

/// The name in snake case: `minConfidence` as `min_confidence`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

fn join(target: &str, name: &str) -> String {
    match target {
        "" => name.to_owned(),
        target => format!("{target}.{name}"),
    }
}

fn at<'a>(tree: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    path.split('.').try_fold(tree, |tree, name| match tree {
        Value::Object(members) => members.get_mut(name),
        Value::Array(items) => items.get_mut(name.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Checks every value of a law against the bounds that its declaration in `rules` has.
///
/// The bounds are read from the JSON schema, which is made of the same declarations, so that a bound cannot be in the
/// schema and not be checked.
pub fn check(law: &Law) -> Result<(), Refused> {
    static SCHEMA: LazyLock<Value> = LazyLock::new(Law::schema);
    let tree = serde_json::to_value(law).map_err(|error| Refused::form(error.to_string()))?;
    within("", &SCHEMA, &SCHEMA, &tree)
}

fn within(place: &str, root: &Value, schema: &Value, value: &Value) -> Result<(), Refused> {
    let schema = resolved(root, schema);
    let out = |found: String, bounds: String| {
        Err(Refused::Bounds {
            rule: place.to_owned(),
            found,
            bounds,
        })
    };
    match value {
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            let inner = &schema["properties"][name];
            within(&join(place, name), root, inner, value)
        }),
        Value::Array(items) => match schema["maxItems"].as_u64() {
            Some(most) if items.len() as u64 > most => {
                let found = format!("{} rules long", items.len());
                out(found, format!("it may have {most} rules"))
            }
            _ => items.iter().enumerate().try_for_each(|(at, item)| {
                within(&join(place, &at.to_string()), root, &schema["items"], item)
            }),
        },
        // JSON has no NaN and no infinity; both are written as null.
        Value::Null if schema["type"] == "number" => {
            out("not a number".to_owned(), "it must be a number".to_owned())
        }
        value => {
            let (least, most) = (&schema["minimum"], &schema["maximum"]);
            let Some(number) = value.as_f64() else {
                return Ok(());
            };
            let above = least.as_f64().is_none_or(|least| number >= least);
            let below = most.as_f64().is_none_or(|most| number <= most);
            match (above && below, most) {
                (true, _) => Ok(()),
                (_, Value::Null) => out(value.to_string(), format!("it must be at least {least}")),
                _ => out(
                    value.to_string(),
                    format!("it must be from {least} to {most}"),
                ),
            }
        }
    }
}

/// The schema that a `$ref`, or the first choice of an `anyOf`, stands for.
pub(super) fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let schema = schema.get("anyOf").map_or(schema, |choices| &choices[0]);
    let reference = schema["$ref"].as_str();
    let pointer = reference.and_then(|it| it.strip_prefix('#'));
    pointer
        .and_then(|pointer| root.pointer(pointer))
        .unwrap_or(schema)
}
