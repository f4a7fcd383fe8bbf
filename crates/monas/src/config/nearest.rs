//! What someone probably meant by a name that does not exist.

/// How different two names may be, as a share of the longer one, and still be taken for each other.
const TOLERANCE: f64 = 0.5;

/// The one of `known` that is most like `name`, if any is.
pub(super) fn nearest(
    name: &str,
    known: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let likeness = |other: &str| {
        // A key without its table, or in the wrong one, is still that key.
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

/// What to say about a name that does not exist.
pub(super) fn unknown(name: &str, known: impl Iterator<Item = &'static str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(meant) => format!("`{name}` is not a setting; did you mean `{meant}`?"),
        None => {
            let known: Vec<_> = known.collect();
            format!("`{name}` is not a setting; there are {}", known.join(", "))
        }
    }
}
