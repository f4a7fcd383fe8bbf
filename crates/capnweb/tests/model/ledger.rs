//! The rights of a side to send, by its messages so far: an account beside the session's own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A rule that a side has broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Broken {
    /// It named something of the other side that it had released, or never had.
    Named,
    /// It released more than it was told of.
    Released,
    /// It answered what was not asked, was answered already, or was released.
    Answered,
    /// It gave something an id that was in use.
    Introduced,
}

/// The account of one side. Ids are as that side sees them.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// What it may use of the other's: how often it was told, less what it has released.
    held: BTreeMap<i64, u64>,
    last_asked: i64,
    /// What the other may use of its own.
    lent: BTreeMap<i64, Lent>,
    last_pushed: i64,
    pub(crate) broken: BTreeSet<Broken>,
    /// An answer came to something it had released.
    pub(crate) crossed: bool,
    /// It was lent something of its own.
    pub(crate) came_home: bool,
}

#[derive(Debug)]
struct Lent {
    count: u64,
    asked: bool,
}

impl Ledger {
    /// Answers that the other side has asked for and not got.
    pub(crate) fn owed(&self) -> usize {
        self.lent.values().filter(|lent| lent.asked).count()
    }

    /// It sends a frame.
    pub(crate) fn says(&mut self, frame: &str) {
        let (verb, id, rest) = read(frame);
        let mentioned = Mentioned::of(&rest);
        for id in mentioned.of_receiver {
            self.check(self.holds(id), Broken::Named);
        }
        for (id, promised) in mentioned.of_sender {
            let fresh = self.lend(id, promised);
            self.check(fresh, Broken::Introduced);
        }
        match verb.as_str() {
            "push" => {
                self.last_asked += 1;
                self.held.insert(self.last_asked, 1);
            }
            "pull" => self.check(self.holds(id), Broken::Named),
            "resolve" | "reject" => {
                let lent = self.lent.get_mut(&id).filter(|lent| lent.asked);
                let due = lent.map(|lent| lent.asked = false).is_some();
                self.check(due, Broken::Answered);
            }
            "release" => {
                let count = count(&rest);
                let left = self.held.get(&id).and_then(|held| held.checked_sub(count));
                self.check(left.is_some(), Broken::Released);
                match left {
                    Some(left) if left > 0 => drop(self.held.insert(id, left)),
                    _ => drop(self.held.remove(&id)),
                }
            }
            // It ends the session; whether it may is for the model to say.
            "abort" => {}
            other => panic!("nobody here says {other}"),
        }
    }

    /// It receives a frame.
    pub(crate) fn hears(&mut self, frame: &str) {
        let (verb, id, rest) = read(frame);
        let mentioned = Mentioned::of(&rest);
        for (id, _) in mentioned.of_sender {
            *self.held.entry(id).or_default() += 1;
        }
        match verb.as_str() {
            "push" => {
                self.last_pushed += 1;
                self.lend(self.last_pushed, false);
                // The first is what is called.
                self.came_home |= mentioned.of_receiver.len() > 1;
            }
            "pull" => {
                if let Some(lent) = self.lent.get_mut(&id) {
                    lent.asked = true;
                }
            }
            "resolve" | "reject" => {
                self.crossed |= !self.holds(id);
            }
            "release" => {
                if let Some(lent) = self.lent.get_mut(&id) {
                    lent.count = lent.count.saturating_sub(count(&rest));
                    if lent.count == 0 {
                        self.lent.remove(&id);
                    }
                }
            }
            _ => {}
        }
    }

    fn holds(&self, id: i64) -> bool {
        id == 0 || self.held.contains_key(&id)
    }

    /// Whether the id was free.
    fn lend(&mut self, id: i64, promised: bool) -> bool {
        let lent = Lent {
            count: 1,
            asked: promised,
        };
        self.lent.insert(id, lent).is_none()
    }

    fn check(&mut self, holds: bool, rule: Broken) {
        if !holds {
            self.broken.insert(rule);
        }
    }
}

/// Verb, id and what follows the verb.
fn read(frame: &str) -> (String, i64, Vec<Value>) {
    let mut parts: Vec<Value> = serde_json::from_str(frame).expect("a frame is a JSON array");
    let rest = parts.split_off(1);
    let verb = parts[0].as_str().expect("a verb").to_owned();
    let id = rest.first().and_then(Value::as_i64).unwrap_or_default();
    (verb, id, rest)
}

/// How many a release gives back.
fn count(rest: &[Value]) -> u64 {
    rest.get(1).and_then(Value::as_u64).expect("a count")
}

/// The ids in the expressions of a frame.
#[derive(Default)]
struct Mentioned {
    of_receiver: Vec<i64>,
    /// With whether it is a promise, which is answered unasked.
    of_sender: Vec<(i64, bool)>,
}

impl Mentioned {
    fn of(expressions: &[Value]) -> Self {
        let mut mentioned = Self::default();
        expressions
            .iter()
            .for_each(|expression| mentioned.add(expression));
        mentioned
    }

    fn add(&mut self, expression: &Value) {
        let Value::Array(parts) = expression else {
            return;
        };
        let id = || parts[1].as_i64().expect("an id");
        match parts[0].as_str() {
            // An array is wrapped in another.
            None => self.add_all(&parts[0]),
            Some("import" | "pipeline") => {
                self.of_receiver.push(id());
                if let Some(arguments) = parts.get(3) {
                    self.add_all(arguments);
                }
            }
            Some("export") => self.of_sender.push((id(), false)),
            Some("promise") => self.of_sender.push((id(), true)),
            Some(_) => {}
        }
    }

    fn add_all(&mut self, expressions: &Value) {
        let all = expressions.as_array().expect("a list of expressions");
        all.iter().for_each(|expression| self.add(expression));
    }
}
