//! Parts of one candidate in another.

use similar::{DiffOp, TextDiff};

use crate::candidate::{Edit, Replacement};
use crate::operator::edit_of;
use crate::operator::literal::Literal;
use crate::random::Random;

#[cfg(test)]
#[path = "cross_tests.rs"]
mod tests;

/// Some of the numbers of another candidate that has as many: those that differ are taken or not, one by one.
pub(crate) fn numbers(
    own: &[Literal],
    other: &[Literal],
    random: &mut Random,
) -> Option<(Edit, Vec<usize>)> {
    if own.len() != other.len() {
        return None;
    }
    let differs = |(index, (a, b)): (usize, (&Literal, &Literal))| {
        (a.place.text != b.place.text).then_some((index, b.value))
    };
    let different: Vec<(usize, f64)> = own
        .iter()
        .zip(other)
        .enumerate()
        .filter_map(differs)
        .collect();
    if different.len() < 2 {
        return None;
    }
    let taken: Vec<(usize, f64)> = different
        .iter()
        .copied()
        .filter(|_| random.chance(0.5))
        .collect();
    if taken.len() == different.len() {
        return None;
    }
    let replaced = taken
        .iter()
        .filter_map(|(index, value)| own.get(*index)?.with(*value));
    let edit = edit_of(replaced.collect())?;
    Some((edit, taken.into_iter().map(|it| it.0).collect()))
}

/// Some of the places where the lines of another candidate differ.
pub(crate) fn lines(own: &[String], other: &[String], random: &mut Random) -> Option<Edit> {
    let mut places = Vec::new();
    for (block, (a, b)) in own.iter().zip(other).enumerate() {
        let diff = TextDiff::from_lines(a.as_str(), b.as_str());
        let mut starts = vec![0];
        for line in a.split_inclusive('\n') {
            starts.push(starts.last().copied().unwrap_or_default() + line.len());
        }
        let others: Vec<&str> = b.split_inclusive('\n').collect();
        for op in diff
            .ops()
            .iter()
            .filter(|it| !matches!(it, DiffOp::Equal { .. }))
        {
            let (old, new) = (op.old_range(), op.new_range());
            places.push(Replacement {
                block,
                from: *starts.get(old.start)?,
                to: *starts.get(old.end)?,
                text: others.get(new)?.concat(),
            });
        }
    }
    if places.len() < 2 {
        return None;
    }
    let all = places.len();
    places.retain(|_| random.chance(0.5));
    if places.len() == all {
        places.pop();
    }
    edit_of(places)
}
