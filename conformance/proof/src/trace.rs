//! Events that the clients of a run saw, in order.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::projection;
use crate::wire::Wire;

/// What was seen, step by step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// One for each step, and one for each stream that was open at the end.
    pub entries: Vec<Entry>,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The step, as a scenario writes it.
    pub step: String,
    /// The wire over which it was performed.
    pub wire: Wire,
    /// Answers, events, errors, in the form of version 1.0.
    pub seen: Vec<Value>,
}

impl Trace {
    /// The trace as far as it can be seen over these wires, one for each entry: without what they have no place
    /// for, without times, and with ids named in the order in which they appear.
    pub fn seen_over(&self, wires: impl IntoIterator<Item = Wire>) -> Vec<Vec<Value>> {
        let mut names = Names::default();
        let entries = self.entries.iter().zip(wires);
        let seen = entries.map(|(entry, wire)| {
            let seen = projection::apply(wire, entry);
            seen.into_iter().map(|it| names.replace(it)).collect()
        });
        seen.collect()
    }

    /// The wires of its entries.
    pub fn wires(&self) -> impl Iterator<Item = Wire> {
        self.entries.iter().map(|entry| entry.wire)
    }

    /// Only the entries of which this is true, by their number.
    pub fn filtered(self, keep: impl Fn(usize) -> bool) -> Self {
        let entries = self.entries.into_iter().enumerate();
        let entries = entries.filter(|(number, _)| keep(*number));
        Self {
            entries: entries.map(|(_, entry)| entry).collect(),
        }
    }
}

/// Ids and opaque words, by the order in which they appear.
#[derive(Default)]
struct Names {
    known: HashMap<String, String>,
    counts: HashMap<&'static str, usize>,
}

impl Names {
    fn replace(&mut self, mut value: Value) -> Value {
        self.learn(&value);
        self.rename(&mut value);
        value
    }

    /// Finds what is an id by the field it stands in.
    fn learn(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match (kind(fields, name), value) {
                        (Some(kind), Value::String(id)) if !id.is_empty() => self.name(kind, id),
                        _ => self.learn(value),
                    }
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, kind: &'static str, id: &str) {
        if !self.known.contains_key(id) {
            let count = self.counts.entry(kind).or_default();
            *count += 1;
            self.known
                .insert(id.to_owned(), format!("<{kind} {count}>"));
        }
    }

    /// Puts names where ids were, also where errors speak of them, and leaves times out.
    fn rename(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename(item)),
            Value::Object(fields) => {
                fields.remove("timestamp");
                fields.values_mut().for_each(|value| self.rename(value));
            }
            Value::String(text) => match self.known.get(text) {
                Some(name) => text.clone_from(name),
                None => *text = self.renamed_within(text),
            },
            _ => {}
        }
    }

    fn renamed_within(&self, text: &str) -> String {
        // Words that a scenario sends as they are may be parts of others.
        let within = self
            .known
            .iter()
            .filter(|(id, _)| id.len() > 20 && text.contains(*id));
        within.fold(text.to_owned(), |text, (id, name)| text.replace(id, name))
    }
}

/// What a field holds, if it is an id.
fn kind(fields: &Map<String, Value>, name: &str) -> Option<&'static str> {
    match name {
        "taskId" => Some("task"),
        // A task is what stands somehow.
        "id" if fields.contains_key("status") => Some("task"),
        "contextId" => Some("context"),
        "messageId" => Some("message"),
        "nextPageToken" => Some("page"),
        _ => None,
    }
}
