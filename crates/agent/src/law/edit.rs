//! A change of a law: where, what, and why.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::forms::{named, snake};
use super::meta::{self, Refused};
use super::{Law, Origin};

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;

/// A proposed change of a law: target, change and justification.
///
/// The target is a place in the law, with dots between the names; a rule of a list is named by its number
/// (`memory.rules[0]` or `memory.rules.0`), by its name, skill or agent (`timers[morning]`), or by the origin that it is
/// about (`memory_rules[tool_results]`: the first rule about outputs of skills).
///
/// The change is the new value of the target, or a text with an operator: `+= 0.1`, or `min_confidence += 0.1` for a
/// field below the target. `+=` and `-=` on a list add and remove an item; `+=` on a rule inserts a rule before it, which
/// matters in lists where the first rule that fits counts. `null` in place of a rule removes it.
///
/// ```
/// use agent::{Edit, Law};
///
/// let edit: Edit = serde_json::from_str(r#"{
///     "target": "memory.rules[0].condition", "change": "minConfidence += 0.1",
///     "justification": "a claim was believed that turned out to be wrong"
/// }"#).unwrap();
/// let law = edit.apply(&Law::default()).unwrap();
/// assert!((law.memory.rules[0].condition.min_confidence - 0.8).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Where in the law: `memory.rules[0].condition`.
    #[serde(alias = "path")]
    pub target: String,
    /// The new value of the target, or an operator and its operand.
    #[serde(alias = "value")]
    pub change: Value,
    #[serde(alias = "why")]
    pub justification: String,
}

/// The longest target and the longest justification, in bytes.
const MOST: usize = 2_000;

impl Edit {
    /// The changed law. It has the same `frozen` part and keeps the bounds, or the edit is refused.
    pub fn apply(&self, law: &Law) -> Result<Law, Refused> {
        if self.justification.trim().is_empty() {
            return Err(Refused::Unjustified);
        }
        if self.target.len() > MOST || self.justification.len() > MOST {
            return Err(Refused::Long(MOST));
        }
        let mut tree =
            serde_json::to_value(law).map_err(|error| Refused::form(error.to_string()))?;
        let place = resolve(&mut tree, &parse(&self.target)?)?;
        let frozen = place.first().is_some_and(|it| it == "frozen");
        let (place, operator, operand) = self.operation(&mut tree, place)?;
        perform(&mut tree, &place, operator, operand)?;
        let changed: Law =
            serde_json::from_value(tree).map_err(|error| Refused::form(error.to_string()))?;
        if frozen || changed.frozen != law.frozen {
            return Err(Refused::Frozen(self.target.clone()));
        }
        if changed == *law {
            return Err(Refused::Same(self.target.clone()));
        }
        meta::check(&changed)?;
        Ok(changed)
    }

    /// What is done, and where. In place of a text every text is a value.
    fn operation(
        &self,
        tree: &mut Value,
        mut place: Vec<String>,
    ) -> Result<(Vec<String>, Operator, Value), Refused> {
        let literal = |place| Ok((place, Operator::Set, self.change.clone()));
        let Some(text) = self.change.as_str() else {
            return literal(place);
        };
        if matches!(at(tree, &place), Some(Value::String(_))) {
            return literal(place);
        }
        let Some((name, operator, operand)) = assignment(text) else {
            return literal(place);
        };
        if !name.is_empty() {
            let mut names = parse_names(name)?;
            let table = at(tree, &place).and_then(|it| it.as_object());
            // The fields of a condition may be named without it.
            if let Some(table) = table
                && !table.contains_key(&names[0])
            {
                let mut inner = table.iter().filter(|(_, value)| {
                    value
                        .as_object()
                        .is_some_and(|it| it.contains_key(&names[0]))
                });
                if let (Some((outer, _)), None) = (inner.next(), inner.next()) {
                    names.insert(0, outer.clone());
                }
            }
            let whole: Vec<String> = place.iter().cloned().chain(names).collect();
            place = resolve(tree, &whole)?;
        }
        let operand = serde_json::from_str(operand).unwrap_or_else(|_| Value::from(operand));
        Ok((place, operator, operand))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Set,
    Add,
    Subtract,
    Multiply,
}

/// Splits `name += 0.1` into the name, the operator and the operand. The name may be missing.
fn assignment(change: &str) -> Option<(&str, Operator, &str)> {
    let (left, operand) = change.split_once('=')?;
    let left = left.trim();
    let name = left.trim_end_matches(['+', '-', '*']);
    let operator = match &left[name.len()..] {
        "" => Operator::Set,
        "+" => Operator::Add,
        "-" => Operator::Subtract,
        "*" => Operator::Multiply,
        _ => return None,
    };
    let name = name.trim();
    let fits = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '[' | ']' | '-');
    name.chars()
        .all(fits)
        .then_some((name, operator, operand.trim()))
}

fn perform(
    tree: &mut Value,
    place: &[String],
    operator: Operator,
    operand: Value,
) -> Result<(), Refused> {
    let unknown = || Refused::Target(place.join("."));
    let (last, above) = place.split_last().ok_or_else(unknown)?;
    let parent = at(tree, above).ok_or_else(unknown)?;
    if let Value::Array(items) = parent {
        let index: usize = last.parse().map_err(|_| unknown())?;
        match (operator, &items[index]) {
            (Operator::Set, _) if operand.is_null() => drop(items.remove(index)),
            (Operator::Add, Value::Object(_)) => items.insert(index, operand),
            (_, old) => items[index] = changed(old, operator, operand).ok_or_else(unknown)?,
        }
        return Ok(());
    }
    let members = parent.as_object_mut().ok_or_else(unknown)?;
    let new = match members.get(last) {
        Some(old) => changed(old, operator, operand).ok_or_else(unknown)?,
        // A field that is left out has its default; whether there is one of this name the form of a law says.
        None => changed(&Value::Null, operator, operand).ok_or_else(unknown)?,
    };
    members.insert(last.clone(), new);
    Ok(())
}

fn changed(old: &Value, operator: Operator, operand: Value) -> Option<Value> {
    match (old, operator) {
        (_, Operator::Set) => Some(operand),
        (Value::Array(items), Operator::Add) => {
            let mut items = items.clone();
            items.push(operand);
            Some(Value::Array(items))
        }
        (Value::Array(items), Operator::Subtract) => {
            let left: Vec<Value> = items.iter().filter(|it| **it != operand).cloned().collect();
            (left.len() < items.len()).then_some(Value::Array(left))
        }
        _ => relative(old, operator, operand.as_f64()?),
    }
}

fn relative(old: &Value, operator: Operator, by: f64) -> Option<Value> {
    let number = old.as_f64()?;
    let new = match operator {
        Operator::Add => number + by,
        Operator::Subtract => number - by,
        Operator::Multiply => number * by,
        Operator::Set => by,
    };
    // An integer field stays an integer.
    match old.is_u64() {
        true => (new >= 0.0).then(|| Value::from(new.round() as u64)),
        false => serde_json::Number::from_f64((new * 1e9).round() / 1e9).map(Value::Number),
    }
}

/// The names of a target. A number or a name in brackets is a name of its own.
fn parse(target: &str) -> Result<Vec<String>, Refused> {
    Ok(named(parse_names(target)?))
}

fn parse_names(target: &str) -> Result<Vec<String>, Refused> {
    let unknown = || Refused::Target(target.to_owned());
    let mut names = Vec::new();
    for part in target.trim().split('.') {
        let (name, mut selectors) = match part.find('[') {
            Some(start) => part.split_at(start),
            None => (part, ""),
        };
        if !name.is_empty() {
            names.push(snake(name));
        }
        while let Some(rest) = selectors.strip_prefix('[') {
            let (selector, rest) = rest.split_once(']').ok_or_else(unknown)?;
            names.push(selector.trim().to_owned());
            selectors = rest;
        }
        if !selectors.is_empty() {
            return Err(unknown());
        }
    }
    match names.is_empty() || names.iter().any(String::is_empty) {
        true => Err(unknown()),
        false => Ok(names),
    }
}

/// The place that names stand for: numbers instead of names of rules. A rule that is about several origins, and is named
/// by one of them, is split, so that the change is about that origin alone.
fn resolve(tree: &mut Value, names: &[String]) -> Result<Vec<String>, Refused> {
    let mut place: Vec<String> = Vec::new();
    for (depth, name) in names.iter().enumerate() {
        let missing = |known: String| Refused::Missing {
            place: names[..=depth].join("."),
            known,
        };
        match at(tree, &place) {
            Some(Value::Object(members)) => {
                let last = depth + 1 == names.len();
                if !members.contains_key(name) && (!last || depth == 0) {
                    let known: Vec<&str> = members.keys().map(String::as_str).collect();
                    return Err(missing(format!("there are {}", known.join(", "))));
                }
                place.push(name.clone());
            }
            Some(Value::Array(items)) => {
                let index = match name.parse::<usize>() {
                    Ok(index) if index < items.len() => index,
                    Ok(_) => {
                        let count = items.len();
                        return Err(missing(format!("there are {count} rules, from 0 on")));
                    }
                    Err(_) => select(items, name).ok_or_else(|| {
                        missing("no rule has that name, and none is about that origin".to_owned())
                    })?,
                };
                place.push(index.to_string());
            }
            _ => return Err(missing("it is a single value".to_owned())),
        }
    }
    Ok(place)
}

/// The first rule of a name, or about an origin.
fn select(items: &mut Vec<Value>, name: &str) -> Option<usize> {
    let has_name = |rule: &Value| {
        let mut fields = ["name", "skill", "agent"].iter();
        fields.any(|field| rule[field] == name)
    };
    if let Some(index) = items.iter().position(has_name) {
        return Some(index);
    }
    let origin = origin(name)?.name();
    for index in 0..items.len() {
        let rule = &mut items[index];
        if rule["on"] == origin {
            return Some(index);
        }
        let pointer = match rule.get("condition") {
            Some(_) => "/condition/sources_allowed",
            None => "/from",
        };
        let Some(Value::Array(origins)) = rule.pointer_mut(pointer) else {
            continue;
        };
        if !origins.is_empty() && !origins.iter().any(|it| it == origin) {
            continue;
        }
        if origins.len() == 1 {
            return Some(index);
        }
        // A rule about any origin stays as it is: the narrow one before it counts first.
        origins.retain(|it| it != origin);
        let mut narrow = rule.clone();
        if let Some(origins) = narrow.pointer_mut(pointer) {
            *origins = Value::Array(vec![origin.into()]);
        }
        items.insert(index, narrow);
        return Some(index);
    }
    None
}

/// The origin that a word names: `tool`, `tools` or `tool_results`.
fn origin(word: &str) -> Option<Origin> {
    let word = snake(word);
    let first = word.split(['_', '-', ' ']).next().unwrap_or_default();
    [Origin::User, Origin::Tool, Origin::Agent, Origin::Own]
        .into_iter()
        .find(|it| first == it.name() || first.strip_suffix('s') == Some(it.name()))
}

fn at<'a>(tree: &'a mut Value, place: &[String]) -> Option<&'a mut Value> {
    place.iter().try_fold(tree, |tree, name| match tree {
        Value::Object(members) => members.get_mut(name),
        Value::Array(items) => items.get_mut(name.parse::<usize>().ok()?),
        _ => None,
    })
}
