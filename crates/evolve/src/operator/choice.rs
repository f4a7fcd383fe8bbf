//! Named options: where a program has one of several words that it, or a comment of it, lists.

use crate::candidate::{Edit, Replacement};
use crate::operator::{Parent, edit_of, replacement};

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;

/// The most options of one place.
const MOST: usize = 32;

/// A place with an option, and the others that may stand there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slot {
    place: Replacement,
    others: Vec<String>,
}

/// The slots of a candidate, in the order of the text.
pub(crate) fn slots(parent: Parent<'_>) -> Vec<Slot> {
    let lists: Vec<Vec<String>> = parent
        .content
        .blocks
        .iter()
        .flat_map(|it| it.lines())
        .filter_map(listed)
        .collect();
    if lists.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (first, file) in parent.parsed() {
        let Some((_, tables)) = &file.tree else {
            continue;
        };
        for node in file.nodes().filter(|it| (tables.is_text)(it.kind())) {
            let text = file.words(node);
            let word = text.trim_matches(['"', '\'', '`']);
            let quotes = text.split(word).next().filter(|it| !it.is_empty());
            let Some((list, quote)) = lists
                .iter()
                .find(|it| it.iter().any(|it| it == word))
                .zip(quotes)
            else {
                continue;
            };
            if is_in_list(&file.text, node.byte_range(), list) {
                continue;
            }
            let place = replacement(first, file, node.byte_range(), text);
            let others = list.iter().filter(|it| *it != word);
            found.extend(place.map(|place| Slot {
                place,
                others: others.map(|it| format!("{quote}{it}{quote}")).collect(),
            }));
        }
    }
    found
}

/// Whether the text around a place is the list of options itself.
fn is_in_list(text: &str, range: std::ops::Range<usize>, list: &[String]) -> bool {
    let begin = text
        .get(..range.start)
        .and_then(|it| it.rfind('\n'))
        .map_or(0, |it| it + 1);
    let end = text
        .get(range.end..)
        .and_then(|it| it.find('\n'))
        .map_or(text.len(), |it| range.end + it);
    let line = text.get(begin..end).unwrap_or_default();
    list.iter().filter(|it| line.contains(it.as_str())).count() > 1
}

/// The options that a line lists: at least two different words with commas between them, behind a colon, an equals sign or
/// at its beginning.
fn listed(line: &str) -> Option<Vec<String>> {
    let tail = line.rsplit([':', '=', '(', '[', '{']).next()?;
    let mut words: Vec<String> = Vec::new();
    for item in tail.split([',', '|']) {
        let item = item.trim().trim_start_matches(['#', '/', '*', '-', ' ']);
        let item = item.trim_end_matches([')', ']', '}', '.', ';', ' ']);
        let word = item.trim_matches(['"', '\'', '`']);
        if word.is_empty() {
            continue;
        }
        let fits = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
        if !word.chars().all(fits) || word.parse::<f64>().is_ok() {
            return None;
        }
        if !words.iter().any(|it| it == word) {
            words.push(word.to_owned());
        }
    }
    (2..=MOST).contains(&words.len()).then_some(words)
}

/// Every other option at every slot, one at a time, with the index of the slot. Slots in `settled` come last: there an
/// option was found that is better than the one before.
pub(crate) fn neighbours(slots: &[Slot], settled: &[usize]) -> Vec<(usize, Edit)> {
    let mut order: Vec<usize> = (0..slots.len()).collect();
    order.sort_by_key(|it| settled.contains(it));
    let mut found = Vec::new();
    for index in order {
        let Some(slot) = slots.get(index) else {
            continue;
        };
        for other in &slot.others {
            let changed = Replacement {
                text: other.clone(),
                ..slot.place.clone()
            };
            found.extend(edit_of(vec![changed]).map(|it| (index, it)));
        }
    }
    found
}
