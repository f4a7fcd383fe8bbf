//! From a verb and a path to a row of the table, and the fields that the path holds.
//!
//! A router that knows only whole segments takes `/tasks/7:cancel` for a task named `7:cancel`, so
//! paths are matched here: what stands literally in a template wins over what it leaves open.

use super::{Operation, TABLE};

/// A REST route of an operation: a verb and a path; its `{field}` parts are fields of the request.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub verb: Verb,
    /// The path, such as `/tasks/{id}:cancel`.
    pub path: &'static str,
}

/// The verbs of HTTP that operations use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Delete,
}

impl Verb {
    /// As it stands in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// Fields of a request that came beside its body, as name and text.
pub type Fields = Vec<(String, String)>;

/// What is at a path.
#[derive(Debug)]
pub enum RouteMatch<T = &'static Operation> {
    /// This operation, with the fields that the path holds.
    Operation(T, Fields),
    /// Something, but not for this verb; these would do.
    OtherVerbs(Vec<&'static str>),
    /// No operation has such a path.
    Nothing,
}

impl<T> RouteMatch<T> {
    /// The same, for what the operation is part of.
    pub(crate) fn map<U>(self, with: impl FnOnce(T) -> U) -> RouteMatch<U> {
        match self {
            Self::Operation(found, fields) => RouteMatch::Operation(with(found), fields),
            Self::OtherVerbs(verbs) => RouteMatch::OtherVerbs(verbs),
            Self::Nothing => RouteMatch::Nothing,
        }
    }
}

/// Finds what is at a path, given as its segments, percent-decoded. A path may have the tenant in
/// front.
pub fn find(verb: &str, segments: &[String]) -> RouteMatch {
    let rows = TABLE.iter().map(|operation| (operation, operation.routes));
    let plain = find_among(&rows, verb, segments);
    match (plain, segments) {
        (RouteMatch::Nothing, [tenant, rest @ ..]) => match find_among(&rows, verb, rest) {
            RouteMatch::Operation(operation, mut fields) => {
                fields.push(("tenant".to_owned(), tenant.clone()));
                RouteMatch::Operation(operation, fields)
            }
            other => other,
        },
        (found, _) => found,
    }
}

/// Finds what is at a path among things that have routes.
pub fn find_among<T: Copy>(
    rows: &(impl Iterator<Item = (T, &'static [Route])> + Clone),
    verb: &str,
    segments: &[String],
) -> RouteMatch<T> {
    let matching = |route: &Route| fields(route.path, segments);
    let routes = || {
        let rows = rows.clone();
        rows.flat_map(|(row, routes)| routes.iter().map(move |route| (row, route)))
    };
    let mut best: Option<(T, Match)> = None;
    let mut literal = None;
    let mut others = Vec::new();
    // The most literal template decides what the path means, before the verb is looked at.
    for (_, route) in routes() {
        if let Some(matched) = matching(route) {
            literal = literal.max(Some(matched.literal));
        }
    }
    for (row, route) in routes() {
        let Some(matched) = matching(route) else {
            continue;
        };
        if Some(matched.literal) < literal {
            continue;
        }
        if route.verb.as_str() == verb {
            best = Some((row, matched));
        } else {
            others.push(route.verb.as_str());
        }
    }
    match best {
        Some((row, matched)) => RouteMatch::Operation(row, matched.fields),
        None if others.is_empty() => RouteMatch::Nothing,
        None => RouteMatch::OtherVerbs(others),
    }
}

struct Match {
    fields: Fields,
    /// How many bytes of the path stood in the template.
    literal: usize,
}

fn fields(template: &str, segments: &[String]) -> Option<Match> {
    let mut found = Match {
        fields: Vec::new(),
        literal: 0,
    };
    let mut templates = template.split('/').skip(1);
    for segment in segments {
        let template = templates.next()?;
        let Some(open) = template.strip_prefix('{') else {
            if template != segment {
                return None;
            }
            found.literal += template.len();
            continue;
        };
        let (field, suffix) = open.split_once('}')?;
        let value = segment.strip_suffix(suffix)?;
        if value.is_empty() {
            return None;
        }
        found.literal += suffix.len();
        found.fields.push((field.to_owned(), value.to_owned()));
    }
    templates.next().is_none().then_some(found)
}
