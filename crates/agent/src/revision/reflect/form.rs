//! The form that some requests have in common, and the calls by which they were answered, with a slot for what differs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Episode;
use crate::law::ProcedureStep;

/// The form of some requests with one slot, and their calls with it.
pub(super) fn procedure(episodes: &[&Episode]) -> Option<(String, Vec<ProcedureStep>)> {
    let words: Vec<Vec<&str>> = episodes
        .iter()
        .map(|it| it.request.split_whitespace().collect())
        .collect();
    let shortest = words.iter().map(Vec::len).min()?;
    let same = |at: &dyn Fn(&[&str]) -> String| {
        let first = at(&words[0]);
        words.iter().all(|it| at(it) == first)
    };
    let mut before = 0;
    while before < shortest && same(&|it| it[before].to_owned()) {
        before += 1;
    }
    let mut after = 0;
    while before + after + 1 < shortest && same(&|it| it[it.len() - 1 - after].to_owned()) {
        after += 1;
    }
    // A form without a word of its own would fit everything; one without a slot repeats one request.
    if before == 0 || before == shortest {
        return None;
    }
    let values: Vec<String> = words
        .iter()
        .map(|it| it[before..it.len() - after].join(" "))
        .collect();
    let first = &words[0];
    let mut form: Vec<&str> = first[..before].to_vec();
    form.push("{it}");
    form.extend(&first[first.len() - after..]);
    let mut steps = Vec::new();
    for place in 0..episodes[0].calls.len() {
        let mut input = BTreeMap::new();
        for (name, value) in episodes[0].calls[place].1.as_object()? {
            let slot = general(episodes, &values, place, name, value)?;
            input.insert(name.clone(), slot);
        }
        steps.push(ProcedureStep {
            skill: episodes[0].calls[place].0.clone(),
            input,
        });
    }
    Some((form.join(" "), steps))
}

/// The value of one field in all episodes: the same, the slot of the request, or what an earlier call gave.
fn general(
    episodes: &[&Episode],
    values: &[String],
    place: usize,
    name: &str,
    value: &Value,
) -> Option<Value> {
    let at = |episode: &Episode| episode.calls[place].1.get(name).cloned();
    if episodes.iter().all(|it| at(it).as_ref() == Some(value)) {
        return Some(value.clone());
    }
    let mut pairs = episodes.iter().zip(values);
    if pairs.all(|(it, slot)| at(it) == Some(json!(slot))) {
        return Some(json!("{it}"));
    }
    let gave = |before: usize| {
        let mut all = episodes.iter();
        all.all(|it| at(it).as_ref() == Some(&it.calls[before].2))
    };
    let before = (0..place).find(|before| gave(*before))?;
    Some(json!(format!("{{{}}}", before + 1)))
}
