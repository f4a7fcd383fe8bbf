//! Forgetting in the journal of an agent: the words of a forgotten record are taken out of everything that was recorded
//! for the person to whom the record belonged, and out of the state.
//!
//! A journal is a list of what happened, and that something was said stays in it: when, by which caller, and what followed.
//! The words are replaced by a mark with the hash of the text, in requests, calls, results and answers. The requests of
//! other people are left as they are: they may have said the same.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::keeping::hash_of;
use crate::step::AgentState;
use crate::text;

#[cfg(test)]
#[path = "forgetting_tests.rs"]
mod tests;

/// Members whose text is always a text of a person, also if it is a single word.
const TEXTS: [&str; 5] = ["text", "says", "content", "answer", "question"];

/// Texts that are to be taken out of a journal.
///
/// It is made from the first event on: [`learn`](Self::learn) is told every record in order, and remembers which requests,
/// effects and conversations are the person's; [`redact`](Self::redact) changes a record of which it was told.
#[derive(Clone, Debug)]
pub(crate) struct Redaction {
    /// The texts, each with what stands in its place.
    texts: Vec<(String, String)>,
    /// The person to whom the records belonged; none takes the texts out of every request.
    person: Option<String>,
    turns: BTreeSet<String>,
    effects: BTreeSet<u64>,
    /// By caller and id.
    conversations: BTreeSet<(String, String)>,
    /// The last event that was looked at.
    pub(crate) after: u64,
}

impl Redaction {
    pub(crate) fn new(texts: &[String], person: Option<&str>) -> Self {
        let mut texts: Vec<String> = texts.to_vec();
        // A longer text may hold a shorter one.
        texts.sort_by_key(|it| std::cmp::Reverse(it.len()));
        let texts = texts.into_iter().map(|it| {
            let mark = format!("[forgotten {}]", &hash_of(&it)[..16]);
            (it, mark)
        });
        Self {
            texts: texts.collect(),
            person: person.map(str::to_owned),
            turns: BTreeSet::new(),
            effects: BTreeSet::new(),
            conversations: BTreeSet::new(),
            after: 0,
        }
    }

    /// Takes note of a record: whether it begins a request of the person, or an effect of such a request.
    pub(crate) fn learn(&mut self, record: &Value) {
        let event = &record["event"];
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        let filled = |names: &[&str]| {
            let mut names = names.iter().map(|name| text(name));
            names.find(|it| !it.is_empty()).unwrap_or_default()
        };
        match text("event") {
            "heard" if self.is_of(filled(&["person", "caller", "from"])) => {
                let caller = filled(&["caller", "from"]).to_owned();
                self.turns.insert(text("turn").to_owned());
                self.conversations
                    .insert((caller, text("conversation").to_owned()));
            }
            "called" | "did" | "wanted" if self.is_of(text("by")) => {
                self.turns.insert(text("turn").to_owned());
            }
            "asked" if self.is_of(text("of")) => {
                self.turns.insert(text("turn").to_owned());
            }
            _ => {}
        }
        for change in record["changes"].as_array().into_iter().flatten() {
            let intent = &change["pending"]["wish"];
            if let (Some(id), Some(turn)) = (intent["id"].as_u64(), intent["turn"].as_str())
                && self.turns.contains(turn)
            {
                self.effects.insert(id);
            }
        }
    }

    fn is_of(&self, person: &str) -> bool {
        self.person.as_deref().is_none_or(|it| it == person)
    }

    /// Takes the texts out of a record. Whether it has changed.
    pub(crate) fn redact(&self, record: &mut Value) -> bool {
        let mut changed = record
            .get_mut("event")
            .is_some_and(|event| self.redact_own(event));
        for change in items(record.get_mut("changes")) {
            changed |= self.redact_own(change);
        }
        if changed {
            record["forgotten"] = json!(true);
        }
        changed
    }

    /// The state without the texts.
    pub(crate) fn state(&self, state: &AgentState) -> Result<AgentState, Error> {
        let unread = |error: serde_json::Error| Error::Record(error.to_string());
        let mut value = serde_json::to_value(state).map_err(unread)?;
        let context = &mut value["context"];
        // What is empty is left out of a state; indexing would put null in its place.
        for table in ["turns", "questions"] {
            for (turn, it) in members(context.get_mut(table)) {
                if self.turns.contains(turn) {
                    self.redact_in(it, "");
                }
            }
        }
        for table in ["wishes", "approvals"] {
            for (_, it) in members(context.get_mut(table)) {
                self.redact_own(it);
            }
        }
        for it in items(context.pointer_mut("/conversations/kept")) {
            let name = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
            if self.conversations.contains(&(name("caller"), name("id"))) {
                self.redact_in(it, "");
            }
        }
        for it in items(context.get_mut("ended")) {
            if it[0].as_str().is_some_and(|turn| self.turns.contains(turn)) {
                self.redact_in(it, "");
            }
        }
        serde_json::from_value(value).map_err(unread)
    }

    /// Takes the texts out of a value that belongs to a request of the person.
    fn redact_own(&self, value: &mut Value) -> bool {
        let own = match turn_of(value) {
            Some(turn) => self.turns.contains(turn),
            None => {
                let effect = value["effect"].as_u64();
                effect.is_some_and(|it| self.effects.contains(&it))
            }
        };
        own && self.redact_in(value, "")
    }

    fn redact_in(&self, value: &mut Value, name: &str) -> bool {
        match value {
            Value::String(said) => {
                // Ids, names of skills and the like are one word.
                if !TEXTS.contains(&name) && !said.contains(char::is_whitespace) {
                    return false;
                }
                let mut changed = false;
                for (forgotten, mark) in &self.texts {
                    if let Some(rest) = text::without(said, forgotten, mark) {
                        *said = rest;
                        changed = true;
                    }
                }
                changed
            }
            Value::Array(items) => {
                let mut changed = false;
                for item in items {
                    changed |= self.redact_in(item, name);
                }
                changed
            }
            Value::Object(members) => {
                let mut changed = false;
                for (name, member) in members.iter_mut() {
                    changed |= self.redact_in(member, name);
                }
                changed
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

/// The request that an event or a change is about, if it names one.
fn turn_of(value: &Value) -> Option<&str> {
    let places = [
        "/turn",
        "/turn/heard/turn",
        "/pending/wish/turn",
        "/wish/turn",
        "/approval/turn",
    ];
    let mut places = places.iter();
    places.find_map(|place| value.pointer(place)?.as_str())
}

fn members(value: Option<&mut Value>) -> impl Iterator<Item = (&String, &mut Value)> {
    let members = value.and_then(Value::as_object_mut).map(Map::iter_mut);
    members.into_iter().flatten()
}

fn items(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_array_mut).into_iter().flatten()
}
