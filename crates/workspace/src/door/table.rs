//! The methods of the workspace, from the table of routes.

use std::collections::BTreeMap;

use access::RouteRule;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method as Verb, Request};
use form_urlencoded::Serializer;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::api::openapi::described::{Described, Kind, described};
use crate::api::{Failure, invalid};

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;

/// Characters that stand in a path as they are.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The methods by their names.
#[derive(Debug)]
pub(super) struct Table(BTreeMap<String, Row>);

/// A route as a method.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) verb: &'static str,
    pub(super) path: &'static str,
    /// Whether it changes something.
    pub(super) changes: bool,
    pub(super) about: Described,
}

impl Table {
    pub(super) fn of(rows: &[RouteRule]) -> Self {
        let rows = methods(rows).into_iter();
        Self(rows.map(|row| (row.name.clone(), row)).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Row> {
        self.0.get(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// The methods in the order of the table. What is no answer but a connection or a file of any size is no method.
pub(super) fn methods(rows: &[RouteRule]) -> Vec<Row> {
    let rows = rows.iter().map(|row| Row {
        name: method_name(row.verb, row.path),
        verb: row.verb,
        path: row.path,
        changes: row.rule.is_change(),
        about: described(row.verb, row.path),
    });
    let is_method = |row: &Row| {
        !matches!(
            row.about.reply,
            Kind::Upgrade | Kind::Other("application/vnd.sqlite3" | "text/event-stream")
        )
    };
    rows.filter(is_method).collect()
}

/// `GET /api/sessions/{id}/messages` is `getSessionsByIdMessages`.
fn method_name(verb: &str, path: &str) -> String {
    let mut name = verb.to_ascii_lowercase();
    let segments = path.split('/').filter(|it| !it.is_empty() && *it != "api");
    for segment in segments {
        let parameter = parameter(segment);
        if parameter.is_some() {
            name.push_str("By");
        }
        let words = parameter.unwrap_or(segment).split(['-', '_', '.']);
        for word in words {
            let mut letters = word.chars();
            name.extend(letters.next().map(|it| it.to_ascii_uppercase()));
            name.push_str(letters.as_str());
        }
    }
    name
}

/// The name of a segment that stands for a parameter.
pub(super) fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

impl Row {
    /// The names of the parameters in its path.
    pub(super) fn in_path(&self) -> impl Iterator<Item = &'static str> {
        let path: &'static str = self.path;
        path.split('/').filter_map(parameter)
    }

    /// Whether requests have a body.
    fn has_body(&self) -> bool {
        !matches!(self.verb, "GET" | "DELETE")
    }

    /// The request that these fields make: some are in its path, those that the table lists are in its query, and the others
    /// are its body.
    pub(super) fn request(&self, mut fields: Map<String, Value>) -> Result<Request<Body>, Failure> {
        let mut path = String::new();
        for segment in self.path.split('/').skip(1) {
            path.push('/');
            match parameter(segment) {
                None => path.push_str(segment),
                Some(name) => {
                    let text = fields.remove(name).and_then(|it| text(&it));
                    let text = text.filter(|it| !it.is_empty());
                    let text = text.ok_or_else(|| invalid(name, format!("{name} is missing")))?;
                    path.extend(utf8_percent_encode(&text, SEGMENT));
                }
            }
        }
        fields.retain(|_, it| !it.is_null());
        let mut query = Serializer::new(String::new());
        let mut body = Map::new();
        for (name, value) in fields {
            let in_query = !self.has_body()
                || (lists(self.about.query, &name) && !lists(self.about.body, &name));
            match (in_query, text(&value)) {
                (true, Some(text)) => _ = query.append_pair(&name, &text),
                (true, None) => {
                    let why = format!("{name} is a text or a number, or a list of them");
                    return Err(invalid(&name, why));
                }
                (false, _) => _ = body.insert(name, value),
            }
        }
        let query = query.finish();
        if !query.is_empty() {
            path.push('?');
            path.push_str(&query);
        }
        let verb = Verb::from_bytes(self.verb.as_bytes()).unwrap_or_default();
        let request = Request::builder().method(verb).uri(path);
        let request = match self.has_body() {
            true => request
                .header(CONTENT_TYPE, "application/json")
                .body(Body::from(Value::Object(body).to_string())),
            false => request.body(Body::empty()),
        };
        request.map_err(|error| invalid("", error))
    }
}

fn lists(fields: &[(&str, &str)], name: &str) -> bool {
    fields
        .iter()
        .any(|(it, _)| it.strip_suffix('!').unwrap_or(it) == name)
}

/// A value as a query has it.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(bool) => Some(bool.to_string()),
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(text).collect();
            Some(items?.join(","))
        }
        Value::Null | Value::Object(_) => None,
    }
}
