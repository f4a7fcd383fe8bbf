//! The fixed rules: what a law may be, and how it may change. They are compiled in, and no law can change them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Law;

/// A law, or a change of one, that is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Refused {
    /// It is not the form of a law.
    #[error("read the law: {0}")]
    Form(String),
    /// A value is out of bounds.
    #[error("{rule} is {found}: {bounds}")]
    Bounds {
        /// Which.
        rule: String,
        /// What it is.
        found: String,
        /// What it may be.
        bounds: String,
    },
    /// It changes what is frozen.
    #[error("{0} is frozen: the agent cannot change its axioms and its safety")]
    Frozen(String),
    /// Nobody says why.
    #[error("a change of the law needs a justification")]
    Unjustified,
    /// There is nothing to change at that place.
    #[error("the law has no {0:?} that could be changed so")]
    Target(String),
}

impl Refused {
    pub(super) fn form(problem: String) -> Self {
        Self::Form(problem)
    }
}

/// A change that is proposed: what, how and why, in the words of the source document.
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
    /// What is changed there: `min_confidence += 0.1`, `max_rounds = 4`, or the value itself.
    pub change: Value,
    /// Why.
    pub justification: String,
}

impl Edit {
    /// The law that comes of it, if that may be.
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

/// `name += 0.1`, taken apart: a name, the sign before `=`, a value.
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
    // What was whole stays whole.
    match old.is_u64() {
        true => (new >= 0.0).then(|| Value::from(new.round() as u64)),
        false => serde_json::Number::from_f64((new * 1e9).round() / 1e9).map(Value::Number),
    }
}

/// The name that we have for one that is written as other languages do.
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

/// The most rules of one kind.
const RULES: usize = 200;

/// Whether a law may be one.
pub fn check(law: &Law) -> Result<(), Refused> {
    let bounds = |rule: String, found: String, bounds: &str| {
        Err(Refused::Bounds {
            rule,
            found,
            bounds: bounds.to_owned(),
        })
    };
    let parts = [
        (
            "belief_conflict.contradiction",
            law.belief_conflict.contradiction,
        ),
        (
            "belief_conflict.newer_prevails",
            law.belief_conflict.newer_prevails,
        ),
        ("clarification.min_grounded", law.clarification.min_grounded),
        ("clarification.min_claim", law.clarification.min_claim),
    ];
    let parts = parts
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter();
    let updates = law.update.iter().enumerate();
    let updates = updates.map(|(at, it)| (format!("update.{at}.confidence"), it.confidence));
    let memory = law.memory.rules.iter().enumerate().flat_map(|(at, it)| {
        let rule = format!("memory.rules.{at}.condition");
        [
            (
                format!("{rule}.min_confidence"),
                it.condition.min_confidence,
            ),
            (format!("{rule}.min_relevance"), it.condition.min_relevance),
        ]
    });
    let agents = law.agent_choice.iter().enumerate();
    let agents = agents.map(|(at, it)| (format!("agent_choice.{at}.trust"), it.trust));
    for (rule, value) in parts.chain(updates).chain(memory).chain(agents) {
        if !(0.0..=1.0).contains(&value) {
            return bounds(rule, value.to_string(), "it is from 0 to 1");
        }
    }
    let attention = &law.attention;
    let decomposition = &law.decomposition;
    let numbers = [
        ("attention.turns", u64::from(attention.turns), 1, 64),
        ("attention.queue", u64::from(attention.queue), 0, 10_000),
        ("attention.recall", u64::from(attention.recall), 0, 50),
        (
            "attention.conversation",
            u64::from(attention.conversation),
            0,
            100,
        ),
        (
            "attention.approval_seconds",
            attention.approval_seconds,
            1,
            366 * 86_400,
        ),
        (
            "decomposition.max_rounds",
            u64::from(decomposition.max_rounds),
            1,
            100,
        ),
        (
            "decomposition.max_calls",
            u64::from(decomposition.max_calls),
            0,
            1000,
        ),
        (
            "decomposition.max_parallel",
            u64::from(decomposition.max_parallel),
            1,
            32,
        ),
    ];
    for (rule, value, least, most) in numbers {
        if !(least..=most).contains(&value) {
            let allowed = format!("it is from {least} to {most}");
            return bounds(rule.to_owned(), value.to_string(), &allowed);
        }
    }
    for (at, rule) in law.goal_priority.iter().enumerate() {
        if rule.priority > 100 {
            let name = format!("goal_priority.{at}.priority");
            return bounds(name, rule.priority.to_string(), "it is from 0 to 100");
        }
    }
    for (at, timer) in law.timers.iter().enumerate() {
        if timer.every < 1 {
            return bounds(
                format!("timers.{at}.every"),
                "0".to_owned(),
                "it is at least 1",
            );
        }
    }
    let lists = [
        ("update", law.update.len()),
        ("memory.rules", law.memory.rules.len()),
        ("goal_priority", law.goal_priority.len()),
        ("goal_conflict", law.goal_conflict.len()),
        ("skill_selection", law.skill_selection.len()),
        ("agent_choice", law.agent_choice.len()),
        ("timers", law.timers.len()),
        ("procedures", law.procedures.len()),
    ];
    for (list, count) in lists {
        if count > RULES {
            return bounds(
                list.to_owned(),
                format!("{count} rules long"),
                "200 is the most",
            );
        }
    }
    Ok(())
}
