//! Templates of titles, descriptions and nodes: `{skill} failed`. Only fields that hold names are filled in, cut and without
//! credentials; the text of an event never is.

use crate::fact::{Fact, Field, Scalar};
use crate::flatten::Senses;

/// The longest value that is filled in, in characters.
const LONGEST: usize = 120;

/// Fields whose values may stand in an alert.
const NAMES: &[Field] = &[
    Field::Agent,
    Field::Task,
    Field::Skill,
    Field::Code,
    Field::Path,
    Field::FileKind,
    Field::Target,
    Field::Caller,
    Field::Secret,
    Field::Place,
    Field::Theme,
    Field::ThemeTerms,
    Field::Tokens,
    Field::TokensRatio,
    Field::Ms,
    Field::MsRatio,
    Field::Calls,
    Field::Cycle,
    Field::Stale,
    Field::BudgetShare,
    Field::End,
    Field::Effects,
    Field::Origin,
    Field::Command,
];

/// A template with the values of a fact. A field that is absent, or may not be shown, is a question mark.
pub(crate) fn fill(senses: &Senses, template: &str, fact: &Fact) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            filled.push('{');
            rest = after;
            continue;
        };
        filled.push_str(&value(senses, name, fact).unwrap_or_else(|| "?".to_owned()));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// The nodes of an alert; one with a field that is absent is left out.
pub(crate) fn nodes(senses: &Senses, templates: &[String], fact: &Fact) -> Vec<String> {
    let filled = templates
        .iter()
        .filter_map(|template| match template.split_once('{') {
            None => Some(template.clone()),
            Some((kind, name)) => {
                let value = value(senses, name.trim_end_matches('}'), fact)?;
                Some(format!("{kind}{value}"))
            }
        });
    let mut nodes: Vec<String> = filled.collect();
    nodes.dedup();
    nodes
}

fn value(senses: &Senses, name: &str, fact: &Fact) -> Option<String> {
    let field = Field::of(name).filter(|it| NAMES.contains(it))?;
    match fact.get(field) {
        Scalar::None => None,
        Scalar::Number(number) => Some(match number.fract().abs() < f64::EPSILON {
            true => format!("{number:.0}"),
            false => format!("{number:.1}"),
        }),
        Scalar::Flag(flag) => Some(flag.to_string()),
        Scalar::Text(text) => {
            // Before it is cut, so that half a credential is not shown.
            let clean = senses.secrets.redact(text);
            let shown = clean.chars().filter(|it| !it.is_control()).take(LONGEST);
            let shown: String = shown.collect();
            (!shown.is_empty()).then_some(shown)
        }
    }
}
