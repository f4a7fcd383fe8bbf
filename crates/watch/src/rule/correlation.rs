//! Correlations: how often, how many different, or in which order facts come within a time, for each group.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::detection::{Comparison, field};
use crate::Error;
use crate::fact::{Fact, Field};

/// Several facts that together mean something.
#[derive(Clone, Debug)]
pub(crate) struct Correlation {
    pub(crate) kind: Kind,
    /// The detections it refers to, by number.
    pub(crate) bases: Vec<usize>,
    /// Their names, until they are found.
    pub(crate) names: Vec<String>,
    pub(crate) group: Vec<Field>,
    /// In milliseconds of event time.
    pub(crate) timespan: i64,
    comparison: Comparison,
    threshold: f64,
    /// Whose values are counted or added up.
    field: Option<Field>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    EventCount,
    ValueCount,
    ValueSum,
    Temporal,
    TemporalOrdered,
}

/// How many facts of one group are kept.
const MOST: usize = 256;

/// The facts of one group within the timespan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Window {
    pub(crate) seen: std::collections::VecDeque<Seen>,
}

/// A fact in a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) at: i64,
    pub(crate) sequence: u64,
    /// Which of the bases it is.
    base: usize,
    /// The hash of the counted value.
    value: u64,
    number: f64,
}

impl Correlation {
    pub(crate) fn read(rule: &str, form: &Value) -> Result<Self, Error> {
        let kind = match form["type"].as_str().unwrap_or_default() {
            "event_count" => Kind::EventCount,
            "value_count" => Kind::ValueCount,
            "value_sum" => Kind::ValueSum,
            "temporal" => Kind::Temporal,
            "temporal_ordered" => Kind::TemporalOrdered,
            other => {
                let problem = format!(
                    "correlation type {other:?} is not supported: use event_count, value_count, value_sum, temporal or temporal_ordered"
                );
                return Err(Error::rule(rule, problem));
            }
        };
        let names = texts(&form["rules"]);
        if names.is_empty() {
            return Err(Error::rule(rule, "a correlation names no rules"));
        }
        let group = texts(&form["group-by"]);
        let group = group
            .iter()
            .map(|it| field(rule, it))
            .collect::<Result<_, _>>()?;
        let written = form["timespan"].as_str().unwrap_or_default();
        let timespan = timespan(written).ok_or_else(|| {
            Error::rule(
                rule,
                format!("timespan {written:?} is no time such as 30s, 15m, 2h or 1d"),
            )
        })?;
        let ordered = matches!(kind, Kind::Temporal | Kind::TemporalOrdered);
        let conditions = form["condition"].as_object();
        let found = conditions.and_then(|it| {
            it.iter()
                .find_map(|(name, value)| Some((Comparison::of(name)?, value.as_f64()?)))
        });
        let (comparison, threshold) = match found {
            Some(found) => found,
            None if ordered => (Comparison::AtLeast, names.len() as f64),
            None => {
                return Err(Error::rule(
                    rule,
                    "a correlation needs a condition such as { gte: 3 }",
                ));
            }
        };
        let counted = form["condition"]["field"]
            .as_str()
            .map(|it| field(rule, it))
            .transpose()?;
        if matches!(kind, Kind::ValueCount | Kind::ValueSum) && counted.is_none() {
            return Err(Error::rule(
                rule,
                "value_count and value_sum need condition.field",
            ));
        }
        if matches!(kind, Kind::EventCount | Kind::ValueCount) && threshold > MOST as f64 {
            return Err(Error::rule(
                rule,
                format!("no more than {MOST} facts of a group are counted"),
            ));
        }
        Ok(Self {
            kind,
            bases: Vec::new(),
            names,
            group,
            timespan,
            comparison,
            threshold,
            field: counted,
        })
    }

    /// The group of a fact; none if a field of it is absent, since absent values are not equal.
    pub(crate) fn group_of(&self, fact: &Fact) -> Option<String> {
        let mut key = String::new();
        for field in &self.group {
            key.push_str(&fact.get(*field).text()?);
            key.push('\u{1f}');
        }
        Some(key)
    }

    /// Takes a fact into the window of its group: whether the condition holds now, with this fact as its last.
    pub(crate) fn take(&self, window: &mut Window, base: usize, fact: &Fact) -> bool {
        let (value, number) = match self.field {
            None => (0, 0.0),
            Some(field) => {
                let value = fact.get(field);
                let Some(text) = value.text() else {
                    return false;
                };
                (
                    crate::enrich::text::hash(&text),
                    value.number().unwrap_or_default(),
                )
            }
        };
        let since = fact.at - self.timespan;
        while window.seen.front().is_some_and(|it| it.at < since) || window.seen.len() >= MOST {
            window.seen.pop_front();
        }
        window.seen.push_back(Seen {
            at: fact.at,
            sequence: fact.sequence,
            base,
            value,
            number,
        });
        let seen = || window.seen.iter();
        match self.kind {
            Kind::EventCount => self.comparison.holds(seen().count() as f64, self.threshold),
            Kind::ValueSum => self
                .comparison
                .holds(seen().map(|it| it.number).sum(), self.threshold),
            Kind::ValueCount => {
                let values: std::collections::BTreeSet<u64> = seen().map(|it| it.value).collect();
                self.comparison.holds(values.len() as f64, self.threshold)
            }
            Kind::Temporal => {
                (0..self.bases.len()).all(|wanted| seen().any(|it| it.base == wanted))
            }
            Kind::TemporalOrdered => {
                let mut wanted = 0;
                for it in seen() {
                    wanted += usize::from(it.base == wanted);
                }
                wanted >= self.bases.len() && base + 1 == self.bases.len()
            }
        }
    }
}

fn texts(form: &Value) -> Vec<String> {
    match form {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

/// A time such as `15m`, in milliseconds.
pub(crate) fn timespan(text: &str) -> Option<i64> {
    let unit = text.chars().next_back()?;
    let number: i64 = text.strip_suffix(unit)?.parse().ok().filter(|it| *it > 0)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return None,
    };
    number
        .checked_mul(seconds)?
        .checked_mul(1000)
        .filter(|it| *it <= 30 * 86_400_000)
}
