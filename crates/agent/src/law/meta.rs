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
    #[error(
        "{0} is frozen: axioms and safety change only with the manifest or the law file, by `monas law accept`"
    )]
    Frozen(String),
    #[error("a change of the law needs a justification")]
    Unjustified,
    /// The target or the justification is too long.
    #[error("the target and the justification of a change have at most {0} bytes each")]
    Long(usize),
    /// The change does not fit the type of its target, or the target is not a path.
    #[error("the law has no {0:?} that this change fits")]
    Target(String),
    /// A name in the target does not exist.
    #[error("the law has no {place}: {known}")]
    Missing { place: String, known: String },
    /// The edit changes nothing.
    #[error("{0} has this value already")]
    Same(String),
    /// What only a person may give: a proposal cannot.
    #[error("{0}: a proposal gives no new authority; an operator does, by `monas law set`")]
    Authority(String),
    /// The evidence of a proposal does not exist.
    #[error("{0}")]
    Evidence(String),
    /// The agent would be the same as another one.
    #[error(
        "with this law it would be the same as agent {0:?}, which has the same rules, skills, objectives and view of memory"
    )]
    Twin(String),
}

impl Refused {
    pub(super) fn form(problem: String) -> Self {
        Self::Form(problem)
    }
}

fn join(target: &str, name: &str) -> String {
    match target {
        "" => name.to_owned(),
        target => format!("{target}.{name}"),
    }
}

/// Checks every value of a law against the bounds that its declaration in `rules` has.
///
/// The bounds are read from the JSON schema, which is made of the same declarations, so that a bound cannot be in the
/// schema and not be checked.
pub fn check(law: &Law) -> Result<(), Refused> {
    static SCHEMA: LazyLock<Value> = LazyLock::new(Law::schema);
    let tree = serde_json::to_value(law).map_err(|error| Refused::form(error.to_string()))?;
    within("", &SCHEMA, &SCHEMA, &tree)?;
    let too_long = |rule: &str, found: usize, most: usize| match found > most {
        true => Err(Refused::Bounds {
            rule: rule.to_owned(),
            found: format!("{found} bytes long"),
            bounds: format!("it may have {most} bytes"),
        }),
        false => Ok(()),
    };
    let axioms = law.frozen.axioms.iter().map(String::len).sum();
    too_long("frozen.axioms", axioms, AXIOMS)?;
    too_long("the law", tree.to_string().len(), LAW)
}

/// The most bytes of all axioms. They are part of every prompt, whole.
const AXIOMS: usize = 8_000;

/// The most bytes of a law as JSON. Every version of it is in the journal.
const LAW: usize = 512 * 1024;

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
                let what = if place == "frozen.axioms" {
                    "axioms"
                } else {
                    "rules"
                };
                let found = format!("{} {what} long", items.len());
                out(found, format!("it may have {most} {what}"))
            }
            _ => items.iter().enumerate().try_for_each(|(at, item)| {
                within(&join(place, &at.to_string()), root, &schema["items"], item)
            }),
        },
        Value::String(text) => match schema["maxLength"].as_u64() {
            Some(most) if text.len() as u64 > most => {
                let found = format!("{} bytes long", text.len());
                out(found, format!("it may have {most} bytes"))
            }
            _ => Ok(()),
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
