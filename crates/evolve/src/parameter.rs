//! Declared parameters: numbers, integers, choices and flags with bounds.

use serde::{Deserialize, Serialize};

#[cfg(test)]
#[path = "parameter_tests.rs"]
mod tests;

/// A parameter of a component: its name, which values it may have, and where an evaluator finds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    pub place: Place,
    pub domain: Domain,
    /// The value in force.
    pub value: Value,
}

/// Where the value of a parameter is given to an evaluator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// A variable of its environment.
    Environment(String),
    /// An argument, as `--name=value`.
    Argument(String),
    /// A member of a JSON file, by its JSON pointer.
    Json { path: String, pointer: String },
}

/// The values that a parameter may have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Domain {
    Number { low: f64, high: f64, scale: Scale },
    Integer { low: i64, high: i64, scale: Scale },
    Choice(Vec<String>),
    Flag,
}

/// Whether steps are sums or factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    #[default]
    Linear,
    Logarithmic,
}

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    Number(f64),
    Integer(i64),
    /// The index of an option.
    Choice(usize),
    Flag(bool),
}

impl Domain {
    pub fn holds(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Number { low, high, .. }, Value::Number(it)) => low <= it && it <= high,
            (Self::Integer { low, high, .. }, Value::Integer(it)) => low <= it && it <= high,
            (Self::Choice(options), Value::Choice(it)) => *it < options.len(),
            (Self::Flag, Value::Flag(_)) => true,
            _ => false,
        }
    }

    /// The value at a place of the unit interval, in which every domain is searched.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "clamped to the bounds, which are checked when they are declared"
    )]
    pub(crate) fn at(&self, unit: f64) -> Value {
        let unit = unit.clamp(0.0, 1.0);
        match self {
            Self::Number { low, high, scale } => Value::Number(scale.at(*low, *high, unit)),
            Self::Integer { low, high, scale } => {
                let at = scale.at(*low as f64, *high as f64, unit).round() as i64;
                Value::Integer(at.clamp(*low, *high))
            }
            Self::Choice(options) => {
                let at = (unit * options.len() as f64) as usize;
                Value::Choice(at.min(options.len().saturating_sub(1)))
            }
            Self::Flag => Value::Flag(unit >= 0.5),
        }
    }

    /// The place of a value in the unit interval.
    #[expect(clippy::cast_precision_loss, reason = "places need no more")]
    pub(crate) fn unit(&self, value: &Value) -> f64 {
        match (self, value) {
            (Self::Number { low, high, scale }, Value::Number(it)) => scale.unit(*low, *high, *it),
            (Self::Integer { low, high, scale }, Value::Integer(it)) => {
                scale.unit(*low as f64, *high as f64, *it as f64)
            }
            (Self::Choice(options), Value::Choice(it)) => {
                (*it as f64 + 0.5) / options.len().max(1) as f64
            }
            (Self::Flag, Value::Flag(it)) => 0.25 + 0.5 * f64::from(u8::from(*it)),
            _ => 0.5,
        }
    }

    /// How many values it has of which the order means nothing; 0 if it means something.
    pub(crate) fn options(&self) -> usize {
        match self {
            Self::Choice(options) => options.len(),
            Self::Flag => 2,
            _ => 0,
        }
    }
}

impl Scale {
    fn at(self, low: f64, high: f64, unit: f64) -> f64 {
        match self {
            Self::Logarithmic if low > 0.0 => (low.ln() + unit * (high.ln() - low.ln()))
                .exp()
                .clamp(low, high),
            _ => (low + unit * (high - low)).clamp(low, high),
        }
    }

    fn unit(self, low: f64, high: f64, value: f64) -> f64 {
        let share = match self {
            Self::Logarithmic if low > 0.0 => (value.ln() - low.ln()) / (high.ln() - low.ln()),
            _ => (value - low) / (high - low),
        };
        match share.is_finite() {
            true => share.clamp(0.0, 1.0),
            false => 0.5,
        }
    }
}

impl Parameter {
    /// A value as an evaluator reads it.
    pub(crate) fn text(&self, value: &Value) -> String {
        match (&self.domain, value) {
            (_, Value::Number(it)) => format!("{it:?}"),
            (_, Value::Integer(it)) => it.to_string(),
            (Domain::Choice(options), Value::Choice(it)) => {
                options.get(*it).cloned().unwrap_or_default()
            }
            (_, Value::Choice(it)) => it.to_string(),
            (_, Value::Flag(it)) => it.to_string(),
        }
    }

    /// A value as JSON.
    pub(crate) fn json(&self, value: &Value) -> serde_json::Value {
        match value {
            Value::Number(it) => (*it).into(),
            Value::Integer(it) => (*it).into(),
            Value::Choice(_) => self.text(value).into(),
            Value::Flag(it) => (*it).into(),
        }
    }
}
