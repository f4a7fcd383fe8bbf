//! A detection: named selections of fields, and the condition that combines them.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::condition::{self, Condition};
use crate::Error;
use crate::fact::{Fact, Field, Scalar};

/// The largest compiled expression, in bytes.
const LARGEST: usize = 1 << 20;

/// A detection of one fact.
#[derive(Clone, Debug)]
pub(crate) struct Detection {
    pub(crate) selections: Vec<(String, Selection)>,
    pub(crate) condition: Condition,
    /// The kinds of facts that can match at all; empty: every kind.
    pub(crate) kinds: Vec<String>,
}

/// One of several groups; in a group every test must hold.
#[derive(Clone, Debug)]
pub(crate) struct Selection(Vec<Vec<Test>>);

#[derive(Clone, Debug)]
struct Test {
    field: Field,
    matcher: Matcher,
    /// Every value must match rather than one of them.
    all: bool,
}

#[derive(Clone, Debug)]
enum Matcher {
    Exact(Vec<Scalar>, bool),
    Contains(Vec<String>, bool),
    Starts(Vec<String>, bool),
    Ends(Vec<String>, bool),
    Pattern(Vec<Regex>),
    Compare(Comparison, f64),
    Exists(bool),
    SameAs(Field),
}

/// How numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Greater,
    AtLeast,
    Less,
    AtMost,
    Equal,
}

impl Comparison {
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "gt" => Self::Greater,
            "gte" => Self::AtLeast,
            "lt" => Self::Less,
            "lte" => Self::AtMost,
            "eq" => Self::Equal,
            _ => return None,
        })
    }

    pub(crate) fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Greater => left > right,
            Self::AtLeast => left >= right,
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Equal => (left - right).abs() < f64::EPSILON,
        }
    }
}

impl Detection {
    /// Reads the part `detection` of a rule.
    pub(crate) fn read(rule: &str, form: &Value) -> Result<Self, Error> {
        let Some(members) = form.as_object() else {
            return Err(Error::rule(rule, "detection is no mapping"));
        };
        let mut selections = Vec::new();
        for (name, value) in members
            .iter()
            .filter(|it| it.0 != "condition" && it.0 != "timeframe")
        {
            selections.push((name.clone(), Selection::read(rule, value)?));
        }
        let Some(written) = members.get("condition").and_then(Value::as_str) else {
            return Err(Error::rule(rule, "detection has no condition"));
        };
        let names: Vec<&str> = selections.iter().map(|it| it.0.as_str()).collect();
        let condition =
            condition::parse(written, &names).map_err(|problem| Error::rule(rule, problem))?;
        let kinds = kinds(&selections, &condition);
        Ok(Self {
            selections,
            condition,
            kinds,
        })
    }

    pub(crate) fn matches(&self, fact: &Fact) -> bool {
        self.condition.holds(&|number| {
            self.selections
                .get(number)
                .is_some_and(|it| it.1.matches(fact))
        })
    }
}

/// The kinds that a selection which must hold asks for.
fn kinds(selections: &[(String, Selection)], condition: &Condition) -> Vec<String> {
    let mut needed = Vec::new();
    condition.needed(&mut needed);
    for number in needed {
        let Some((_, Selection(groups))) = selections.get(number) else {
            continue;
        };
        let of_group = |group: &Vec<Test>| {
            group.iter().find_map(|test| match &test.matcher {
                Matcher::Exact(values, _) if test.field == Field::Kind && !test.all => {
                    Some(values.clone())
                }
                _ => None,
            })
        };
        let kinds: Option<Vec<Vec<Scalar>>> = groups.iter().map(of_group).collect();
        if let Some(kinds) = kinds {
            let kinds = kinds.into_iter().flatten();
            return kinds
                .filter_map(|it| it.text().map(Cow::into_owned))
                .collect();
        }
    }
    Vec::new()
}

impl Selection {
    fn read(rule: &str, form: &Value) -> Result<Self, Error> {
        let group = |form: &Value| match form {
            Value::Object(members) => {
                let tests = members
                    .iter()
                    .map(|(key, value)| Test::read(rule, key, value));
                tests.collect::<Result<Vec<Test>, Error>>()
            }
            // Sigma's keywords: a text anywhere in the event.
            Value::String(_) => Ok(vec![Test::read(rule, "text|contains", form)?]),
            _ => Err(Error::rule(
                rule,
                "a selection is a mapping, a list of mappings, or a list of texts",
            )),
        };
        match form {
            Value::Array(items) => Ok(Self(items.iter().map(group).collect::<Result<_, _>>()?)),
            form => Ok(Self(vec![group(form)?])),
        }
    }

    fn matches(&self, fact: &Fact) -> bool {
        self.0
            .iter()
            .any(|group| group.iter().all(|test| test.matches(fact)))
    }
}

impl Test {
    fn read(rule: &str, key: &str, value: &Value) -> Result<Self, Error> {
        let mut parts = key.split('|');
        let name = parts.next().unwrap_or_default();
        let field = field(rule, name)?;
        let (mut all, mut cased, mut kind) = (false, false, None);
        for modifier in parts {
            match modifier {
                "all" => all = true,
                "cased" => cased = true,
                "contains" | "startswith" | "endswith" | "re" | "exists" | "fieldref" | "gt"
                | "gte" | "lt" | "lte"
                    if kind.is_none() =>
                {
                    kind = Some(modifier);
                }
                other => {
                    let problem = format!(
                        "{key}: the modifier {other:?} is not supported here: use contains, startswith, endswith, re, cased, all, exists, fieldref, gt, gte, lt or lte"
                    );
                    return Err(Error::rule(rule, problem));
                }
            }
        }
        let values = match value {
            Value::Array(items) => items.clone(),
            value => vec![value.clone()],
        };
        let texts = || {
            let texts = values.iter().map(|it| match it {
                Value::String(text) if cased => Ok(text.clone()),
                Value::String(text) => Ok(text.to_lowercase()),
                Value::Number(number) => Ok(number.to_string()),
                other => Err(Error::rule(rule, format!("{key}: {other} is no text"))),
            });
            texts.collect::<Result<Vec<String>, Error>>()
        };
        let matcher = match kind {
            Some("contains") => Matcher::Contains(texts()?, cased),
            Some("startswith") => Matcher::Starts(texts()?, cased),
            Some("endswith") => Matcher::Ends(texts()?, cased),
            Some("re") => {
                let built = values
                    .iter()
                    .map(|it| pattern(rule, key, it.as_str().unwrap_or_default(), cased));
                Matcher::Pattern(built.collect::<Result<_, _>>()?)
            }
            Some("exists") => Matcher::Exists(value.as_bool().unwrap_or(true)),
            Some("fieldref") => {
                Matcher::SameAs(self::field(rule, value.as_str().unwrap_or_default())?)
            }
            Some(comparison) => {
                let number = value
                    .as_f64()
                    .ok_or_else(|| Error::rule(rule, format!("{key}: {value} is no number")))?;
                let comparison = Comparison::of(comparison)
                    .ok_or_else(|| Error::rule(rule, format!("{key}: unknown comparison")))?;
                Matcher::Compare(comparison, number)
            }
            None => exact(rule, key, &values, cased)?,
        };
        Ok(Self {
            field,
            matcher,
            all,
        })
    }

    fn matches(&self, fact: &Fact) -> bool {
        let value = fact.get(self.field);
        let any = |count: usize, test: &dyn Fn(usize) -> bool| match self.all {
            true => (0..count).all(test),
            false => (0..count).any(test),
        };
        let by_text = |list: &[String], cased: bool, test: fn(&str, &str) -> bool| {
            let Some(text) = value.text() else {
                return false;
            };
            let text = match cased {
                true => text,
                false => Cow::Owned(text.to_lowercase()),
            };
            any(list.len(), &|it| test(&text, &list[it]))
        };
        match &self.matcher {
            Matcher::Exact(list, cased) => any(list.len(), &|it| same(value, &list[it], *cased)),
            Matcher::Contains(list, cased) => {
                by_text(list, *cased, |text, part| text.contains(part))
            }
            Matcher::Starts(list, cased) => {
                by_text(list, *cased, |text, part| text.starts_with(part))
            }
            Matcher::Ends(list, cased) => by_text(list, *cased, |text, part| text.ends_with(part)),
            Matcher::Pattern(list) => value
                .text()
                .is_some_and(|text| any(list.len(), &|it| list[it].is_match(&text))),
            Matcher::Compare(comparison, number) => value
                .number()
                .is_some_and(|it| comparison.holds(it, *number)),
            Matcher::Exists(wanted) => (value != &Scalar::None) == *wanted,
            Matcher::SameAs(other) => value != &Scalar::None && value == fact.get(*other),
        }
    }
}

/// Values as they are; those with `*` and `?` are patterns, as Sigma has it.
fn exact(rule: &str, key: &str, values: &[Value], cased: bool) -> Result<Matcher, Error> {
    let wild = |it: &Value| it.as_str().is_some_and(|text| text.contains(['*', '?']));
    if values.iter().any(wild) {
        let patterns = values.iter().map(|it| {
            let text = it.as_str().map_or_else(|| it.to_string(), str::to_owned);
            let escaped = regex::escape(&text)
                .replace(r"\*", "(?s:.*)")
                .replace(r"\?", "(?s:.)");
            pattern(rule, key, &format!("^{escaped}$"), cased)
        });
        return Ok(Matcher::Pattern(patterns.collect::<Result<_, _>>()?));
    }
    let scalars = values.iter().map(|it| match it {
        Value::Null => Ok(Scalar::None),
        Value::Bool(flag) => Ok(Scalar::Flag(*flag)),
        Value::Number(number) => Ok(Scalar::Number(number.as_f64().unwrap_or_default())),
        Value::String(text) => Ok(Scalar::Text(text.clone())),
        other => Err(Error::rule(
            rule,
            format!("{key}: {other} is no plain value"),
        )),
    });
    Ok(Matcher::Exact(scalars.collect::<Result<_, _>>()?, cased))
}

fn same(value: &Scalar, wanted: &Scalar, cased: bool) -> bool {
    match (value, wanted) {
        (Scalar::Text(text), Scalar::Text(wanted)) if !cased => text.eq_ignore_ascii_case(wanted),
        (value, wanted) => value == wanted,
    }
}

fn pattern(rule: &str, key: &str, text: &str, cased: bool) -> Result<Regex, Error> {
    let built = RegexBuilder::new(text)
        .case_insensitive(!cased)
        .size_limit(LARGEST)
        .build();
    built.map_err(|error| Error::rule(rule, format!("{key}: {error}")))
}

/// The field of a name, or why there is none.
pub(crate) fn field(rule: &str, name: &str) -> Result<Field, Error> {
    Field::of(name).ok_or_else(|| {
        let names: Vec<&str> = Field::ALL.iter().map(|it| it.name()).collect();
        Error::rule(
            rule,
            format!(
                "there is no field {name:?}; there are: {}",
                names.join(", ")
            ),
        )
    })
}
