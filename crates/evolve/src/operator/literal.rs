//! The numbers of a program, and steps of them.

use crate::candidate::{Edit, Replacement};
use crate::operator::{Parent, edit_of, replacement};
use crate::random::{Random, real};
use crate::syntax::Parsed;

#[cfg(test)]
#[path = "literal_tests.rs"]
mod tests;

/// The most numbers of a program that are searched.
const MOST: usize = 400;

/// A number that stands in a block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Literal {
    pub(crate) place: Replacement,
    pub(crate) value: f64,
    pub(crate) is_integer: bool,
    /// A minus stands before it that is not its sign.
    after_minus: bool,
}

/// The numbers in the blocks of a candidate, in the order of the text, with their signs. Numbers in strings and comments
/// are none, and none are those in another form than digits and a point.
pub(crate) fn literals(parent: Parent<'_>) -> Vec<Literal> {
    let mut found = Vec::new();
    for (first, file) in parent.parsed() {
        match &file.tree {
            Some((_, tables)) => {
                for node in file.nodes() {
                    let kind = node.kind();
                    if !(tables.is_integer)(kind) && !(tables.is_float)(kind) {
                        continue;
                    }
                    let signed = node.parent().filter(|it| {
                        (tables.is_signed)(it.kind())
                            && file.words(*it).starts_with('-')
                            && file.words(*it).trim_start_matches(['-', ' ']) == file.words(node)
                    });
                    let range = signed.unwrap_or(node).byte_range();
                    found.extend(literal(first, file, range));
                }
            }
            None => found.extend(plain(file).filter_map(|it| literal(first, file, it))),
        }
        if found.len() >= MOST {
            break;
        }
    }
    found.truncate(MOST);
    found
}

fn literal(first: usize, file: &Parsed, range: std::ops::Range<usize>) -> Option<Literal> {
    let text = file.text.get(range.clone())?;
    let digits: String = text.chars().filter(|it| !matches!(it, '_' | ' ')).collect();
    if digits.contains(|it: char| !matches!(it, '0'..='9' | '.' | '-' | 'e' | 'E' | '+')) {
        return None;
    }
    let value: f64 = digits.parse().ok()?;
    let before = file.text.get(..range.start)?.trim_end();
    Some(Literal {
        place: replacement(first, file, range, text)?,
        value,
        is_integer: !digits.contains(['.', 'e', 'E']),
        after_minus: before.ends_with('-'),
    })
}

/// Numbers of a text without a grammar: digits that are no part of a word.
fn plain(file: &Parsed) -> impl Iterator<Item = std::ops::Range<usize>> {
    let bytes = file.text.as_bytes();
    let is_word = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_' || *it == b'.')
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let begin = at;
            while is_word(at) {
                at += 1;
            }
            if at == begin {
                at += 1;
            } else if bytes.get(begin).is_some_and(u8::is_ascii_digit) {
                return Some(begin..at);
            }
        }
        None
    })
}

impl Literal {
    /// The replacement by another value, written so that it stays a number of the same kind.
    pub(crate) fn with(&self, value: f64) -> Option<Replacement> {
        let mut text = match self.is_integer {
            true if value.abs() < 1e15 => format!("{:.0}", value.round()),
            true => return None,
            false if value.is_finite() && value.abs() < 1e300 => format!("{:?}", rounded(value)),
            false => return None,
        };
        if text == "-0" {
            "0".clone_into(&mut text);
        }
        // Two minus signs in a row are another operator in some languages.
        if text.starts_with('-') && self.after_minus {
            text = format!("({text})");
        }
        let is_same = text == self.place.text;
        (!is_same).then(|| Replacement {
            text,
            ..self.place.clone()
        })
    }
}

/// A value with at most nine digits: more are noise in a diff that people read.
fn rounded(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

/// A step of one number, or of several, with the indices of those that moved. `sizes` are the sizes of steps that the run
/// has learned, relative to the number.
pub(crate) fn step(
    literals: &[Literal],
    sizes: &[f64],
    random: &mut Random,
) -> Option<(Edit, Vec<usize>)> {
    if literals.is_empty() {
        return None;
    }
    let count = match random.unit() {
        it if it < 0.65 => 1,
        it if it < 0.85 => 2,
        _ => 2 + random.below(literals.len().min(6)),
    };
    let mut order: Vec<usize> = (0..literals.len()).collect();
    random.shuffle(&mut order);
    order.truncate(count);
    order.sort_unstable();
    let moved = order.iter().filter_map(|index| {
        let literal = literals.get(*index)?;
        let size = sizes.get(*index).copied().unwrap_or(1.0);
        literal.with(moved(literal, size, random))
    });
    let edit = edit_of(moved.collect())?;
    Some((edit, order))
}

fn moved(literal: &Literal, size: f64, random: &mut Random) -> f64 {
    let value = literal.value;
    match literal.is_integer {
        true => match random.below(8) {
            0 | 1 => value + 1.0,
            2 | 3 => value - 1.0,
            4 => value * 2.0,
            5 => (value / 2.0).trunc(),
            6 => value + (random.normal() * (2.0 + value.abs() * 0.5 * size)).round(),
            _ => value + (random.normal() * 3.0).round(),
        },
        false => match random.below(16) {
            // A factor cannot leave zero or change a sign; a sum can.
            0..=6 => value * (random.normal() * 0.3 * size).exp(),
            7..=12 => value + random.normal() * size * (0.3 * value.abs()).max(0.1),
            13 => value + random.normal() * 3.0 * value.abs().max(1.0),
            14 => -value,
            _ => 0.0,
        },
    }
}

/// The step between two candidates once more and longer, if they differ in numbers alone.
pub(crate) fn stride(before: &[Literal], now: &[Literal]) -> Option<(Edit, Vec<usize>)> {
    if before.len() != now.len() {
        return None;
    }
    let mut moved = Vec::new();
    let mut indices = Vec::new();
    for (index, (old, new)) in before.iter().zip(now).enumerate() {
        let difference = new.value - old.value;
        if difference == 0.0 {
            continue;
        }
        let longer = match new.is_integer {
            true => difference,
            false => difference * 1.6,
        };
        moved.extend(new.with(new.value + longer));
        indices.push(index);
    }
    (moved.len() <= 8).then_some(())?;
    Some((edit_of(moved)?, indices))
}

/// The sizes of steps after one that was an improvement, or was none.
pub(crate) fn learn(sizes: &mut Vec<f64>, count: usize, touched: &[usize], improved: bool) {
    sizes.resize(count, 1.0);
    let share = 1.0 / real(touched.len().max(1));
    for index in touched {
        if let Some(size) = sizes.get_mut(*index) {
            let factor: f64 = match improved {
                true => 1.5,
                false => 0.93,
            };
            *size = (*size * factor.powf(share)).clamp(0.02, 3.0);
        }
    }
}
