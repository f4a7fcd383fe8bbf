//! What the output of a command says of a candidate.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::random::real;
use crate::sample::Sample;

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;

/// How a command says its score.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// JSON: in the file `$MONAS_RESULT`, which is also descriptor `$MONAS_RESULT_FD`, else the last line of the output that
    /// is an object.
    #[default]
    Json,
    /// The last number behind this text in the output.
    NumberAfter(String),
    /// The share of tests that pass, from the last line of the output of cargo, nextest or pytest, or from JUnit's XML.
    Tests,
}

/// The sample of a command that ended with success. `file` is what it wrote as its result.
pub(crate) fn read(reading: &Reading, file: &[u8], out: &str) -> Sample {
    match reading {
        Reading::Json => {
            let file = String::from_utf8_lossy(file);
            let object =
                object(file.trim()).or_else(|| out.lines().rev().find_map(|it| object(it.trim())));
            match object {
                Some(object) => of_object(&object),
                None => {
                    Sample::invalid("it wrote no result: a JSON object with \"score\" is expected")
                }
            }
        }
        Reading::NumberAfter(text) => match number_after(out, text) {
            Some(score) => scored(score),
            None => Sample::invalid(format!("its output has no number after {text:?}")),
        },
        Reading::Tests => match tests(out) {
            Some((passed, all)) if all > 0 => Sample {
                score: Some(real(passed) / real(all)),
                metrics: BTreeMap::from([
                    ("passed".to_owned(), real(passed)),
                    ("tests".to_owned(), real(all)),
                ]),
                ..Sample::default()
            },
            Some(_) => Sample::invalid("it ran no test"),
            None => Sample::invalid("its output has no count of tests"),
        },
    }
}

fn scored(score: f64) -> Sample {
    Sample {
        score: Some(score),
        ..Sample::default()
    }
    .bounded()
}

fn object(text: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

fn of_object(object: &Map<String, Value>) -> Sample {
    let number = |name: &str| object.get(name).and_then(Value::as_f64);
    let mut metrics = BTreeMap::new();
    if let Some(Value::Object(all)) = object.get("metrics") {
        metrics.extend(
            all.iter()
                .filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))),
        );
    }
    let mut artifacts = BTreeMap::new();
    if let Some(Value::Object(all)) = object.get("artifacts") {
        let text = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        artifacts.extend(all.iter().map(|(name, value)| (name.clone(), text(value))));
    }
    let score = number("score").or_else(|| number("combined_score"));
    let reason = match (score, object.get("valid")) {
        (_, Some(Value::Bool(false))) => Some("the evaluator says that it is not valid"),
        (None, _) => Some("the result has no number \"score\" or \"combined_score\""),
        _ => None,
    };
    Sample {
        score: score.filter(|_| reason.is_none()),
        reason: reason.map(str::to_owned),
        metrics,
        artifacts,
        ..Sample::default()
    }
    .bounded()
}

fn number_after(out: &str, text: &str) -> Option<f64> {
    let (_, after) = out.rsplit_once(text)?;
    let after = after.trim_start_matches([' ', ':', '=', '\t']);
    let is_part = |it: char| it.is_ascii_digit() || matches!(it, '.' | '-' | '+' | 'e' | 'E');
    let end = after.find(|it| !is_part(it)).unwrap_or(after.len());
    after.get(..end)?.parse().ok()
}

/// How many tests passed, of how many.
fn tests(out: &str) -> Option<(usize, usize)> {
    let (mut passed, mut failed, mut found) = (0, 0, false);
    for line in out.lines() {
        let line = line.trim();
        // Of each test binary of cargo a line; nextest and pytest have one at the end, JUnit an element.
        let cargo = line
            .strip_prefix("test result:")
            .and_then(|it| it.split_once(". "))
            .map(|it| it.1);
        let summary = line
            .strip_prefix("Summary")
            .and_then(|it| it.split_once("tests run:"))
            .map(|it| it.1);
        let pytest = line
            .strip_prefix('=')
            .map(|it| it.trim_matches(['=', ' ']))
            .filter(|it| it.contains(" in "));
        if let Some(counts) = cargo.or(summary).or(pytest) {
            let before = |word: &str| counted_before(counts, word);
            if before("passed").is_some() || before("failed").is_some() {
                passed += before("passed").unwrap_or_default();
                failed +=
                    before("failed").unwrap_or_default() + before("error").unwrap_or_default();
                found = true;
            }
        } else if line.starts_with("<testsuite ") {
            let attribute = |name: &str| attribute(line, name);
            let all = attribute("tests")?;
            let bad =
                attribute("failures").unwrap_or_default() + attribute("errors").unwrap_or_default();
            let skipped = attribute("skipped").unwrap_or_default();
            passed += all.saturating_sub(bad + skipped);
            failed += bad;
            found = true;
        }
    }
    found.then_some((passed, passed + failed))
}

/// The number before a word: 3 for "passed" in "3 passed".
fn counted_before(text: &str, word: &str) -> Option<usize> {
    let (before, _) = text.split_once(&format!(" {word}"))?;
    before.rsplit([' ', ';', ',']).next()?.parse().ok()
}

fn attribute(element: &str, name: &str) -> Option<usize> {
    let (_, after) = element.split_once(&format!(" {name}=\""))?;
    after.split('"').next()?.parse().ok()
}
