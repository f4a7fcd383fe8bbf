//! Suggestions for misspelt names.

/// The least similarity of a suggestion, from 0 to 1.
const TOLERANCE: f64 = 0.5;

/// The most similar of the known names, if one is similar enough.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |other: &str| {
        // A key without its table, or in the wrong one, still matches by its last part.
        let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
        let whole = strsim::normalized_damerau_levenshtein(name, other);
        let inner = strsim::normalized_damerau_levenshtein(&last(name), &last(other));
        whole.max(inner)
    };
    known
        .map(|other| (likeness(other), other))
        .filter(|(likeness, _)| *likeness >= TOLERANCE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, other)| other)
}

/// The error text for an unknown name.
pub(super) fn unknown(name: &str, known: impl Iterator<Item = &'static str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(meant) => format!("`{name}` is not a setting; did you mean `{meant}`?"),
        None => {
            let known: Vec<_> = known.collect();
            format!("`{name}` is not a setting; there are {}", known.join(", "))
        }
    }
}
