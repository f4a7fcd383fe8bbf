//! Shares of what callers have in common: a table with an owner for each entry, from which one caller cannot push out
//! the entries of another.

/// Takes entries out of a table, the oldest of an owner first, until no owner has more than `each` and the table has at
/// most `most`. Where the table is too long, the owner with the most entries gives one up. Entries are in order of age, the
/// oldest first.
pub(crate) fn keep<T>(entries: &mut Vec<T>, owner: impl Fn(&T) -> &str, each: usize, most: usize) {
    // As long as there are so few in all, no owner has too many.
    while entries.len() > each.min(most)
        && let Some((place, count)) = heaviest(entries, &owner)
        && (count > each || entries.len() > most)
    {
        entries.remove(place);
    }
}

/// The oldest entry of the owner with the most entries, and how many those are. Of owners with as many it is the one
/// with the oldest entry.
fn heaviest<T>(entries: &[T], owner: impl Fn(&T) -> &str) -> Option<(usize, usize)> {
    let mut counts: Vec<(&str, usize, usize)> = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let name = owner(entry);
        match counts.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, _, count)) => *count += 1,
            None => counts.push((name, place, 1)),
        }
    }
    let most = counts.iter().map(|(_, _, count)| *count).max()?;
    let heaviest = counts.iter().find(|(_, _, count)| *count == most)?;
    Some((heaviest.1, most))
}
