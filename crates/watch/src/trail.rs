//! What is kept of a task while it runs: what people said in it, what came from outside, its last calls. Everything has a
//! bound, so that a stream of any length costs the same.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::enrich::text::{hash, words};

/// The longest text of people that is kept of a task.
const SAID: usize = 4 * 1024;
/// How many targets that only results from outside name are kept.
const TARGETS: usize = 192;
/// How many calls are compared with each other.
const CALLS: usize = 16;
/// How many inputs of a skill are compared.
const INPUTS: usize = 8;
/// How many different calls of a task are known.
const KNOWN: usize = 512;
/// Calls that are further apart wait for something: they are no cycle.
const PAUSE: i64 = 15_000;

/// What is kept of a task.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Trail {
    pub(crate) caller: String,
    pub(crate) conversation: String,
    pub(crate) origin: String,
    pub(crate) request: String,
    /// When it began, and how long people were waited for.
    pub(crate) began: i64,
    pub(crate) waited: i64,
    /// Since when a person is waited for.
    pub(crate) waits: Option<i64>,
    pub(crate) tokens: u64,
    pub(crate) calls: u64,
    pub(crate) epoch: u32,
    pub(crate) stale: u32,
    pub(crate) injection: f64,
    pub(crate) untrusted: bool,
    pub(crate) private: bool,
    pub(crate) terms: BTreeSet<usize>,
    /// The words of people in small letters.
    pub(crate) said: String,
    /// Hashes of what results from outside name and people did not.
    targets: VecDeque<u64>,
    /// The last calls, each with its result, and when.
    last: VecDeque<(u64, i64)>,
    /// Calls that changed something, and results, by hash.
    known: BTreeSet<u64>,
    /// The words of the last inputs, by skill.
    inputs: VecDeque<(u64, u64, BTreeSet<u64>)>,
    /// Calls that people agreed to.
    pub(crate) approved: BTreeSet<String>,
    /// The calls of the last thought: skill and hash of the input.
    pub(crate) round: Vec<(String, u64)>,
}

impl Trail {
    /// The trail of a task that begins at this time.
    pub(crate) fn begin(at: i64) -> Self {
        Self {
            began: at,
            ..Self::default()
        }
    }

    /// People said something in the task.
    pub(crate) fn hear(&mut self, text: &str) {
        let room = SAID.saturating_sub(self.said.len());
        let end = text.floor_char_boundary(room.min(text.len()));
        self.said.push_str(&text[..end].to_lowercase());
        self.said.push('\n');
    }

    /// Whether people named this file or target, by its whole path, its name, its stem or its folder.
    pub(crate) fn names(&self, target: &str) -> bool {
        let target = target.trim_start_matches("/project/").to_lowercase();
        if target.is_empty() {
            return false;
        }
        if self.said.contains(&target) {
            return true;
        }
        let mut parts = target.rsplit('/');
        let name = parts.next().unwrap_or_default();
        let stem = name.rsplit_once('.').map_or(name, |it| it.0);
        let mut folders = parts.filter(|it| it.len() > 2);
        stem.len() > 2 && self.says(stem)
            || self.said.contains(name)
            || folders.any(|it| self.says(it))
    }

    /// Whether people named everything that a command works on.
    pub(crate) fn names_all(&self, command: &str) -> bool {
        let words = command.split([' ', '\n', ';', '|', '&']).skip(1);
        let mut targets = words
            .filter(|it| !it.is_empty() && !it.starts_with('-'))
            .peekable();
        targets.peek().is_some() && targets.all(|it| self.names(it))
    }

    /// Whether people used this word.
    fn says(&self, word: &str) -> bool {
        let mut from = 0;
        while let Some(at) = self.said[from..].find(word) {
            let (start, end) = (from + at, from + at + word.len());
            let before = self.said[..start].chars().next_back();
            let after = self.said[end..].chars().next();
            let inside = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
            if !inside(before) && !inside(after) {
                return true;
            }
            from = self.said.ceil_char_boundary(start + 1);
        }
        false
    }

    /// A result from outside names these targets.
    pub(crate) fn taint(&mut self, text: &str) {
        for target in targets(text) {
            if self.said.contains(&target.to_lowercase()) {
                continue;
            }
            let target = hash(&target.to_lowercase());
            if !self.targets.contains(&target) {
                if self.targets.len() >= TARGETS {
                    self.targets.pop_front();
                }
                self.targets.push_back(target);
            }
        }
    }

    /// Whether an input has a target that only a result from outside names.
    pub(crate) fn is_tainted(&self, input: &str) -> bool {
        if self.targets.is_empty() {
            return false;
        }
        targets(input).any(|it| self.targets.contains(&hash(&it.to_lowercase())))
    }

    /// Whether an input says the same as an earlier one of the skill in other words.
    pub(crate) fn is_similar(&mut self, skill: u64, input: u64, meaning: BTreeSet<u64>) -> bool {
        let earlier = self
            .inputs
            .iter()
            .filter(|it| it.0 == skill && it.1 != input);
        let similar = earlier.into_iter().any(|(_, _, other)| {
            let common = meaning.intersection(other).count();
            let all = meaning.union(other).count();
            // A third of all words, and most of the shorter one.
            all > 0 && common * 3 >= all && common * 2 > meaning.len().min(other.len())
        });
        if self.inputs.len() >= INPUTS {
            self.inputs.pop_front();
        }
        self.inputs.push_back((skill, input, meaning));
        similar
    }

    /// Takes a call with its result in: whether it is new to the task.
    pub(crate) fn is_new(&mut self, key: u64) -> bool {
        if self.known.len() >= KNOWN {
            self.known.pop_first();
        }
        self.known.insert(key)
    }

    /// Takes a call with its result in, and gives the length of the cycle that the last calls form.
    pub(crate) fn cycle(&mut self, key: u64, at: i64) -> Option<usize> {
        let waited = self.last.back().is_some_and(|it| at - it.1 > PAUSE);
        if waited {
            self.last.clear();
        }
        if self.last.len() >= CALLS {
            self.last.pop_front();
        }
        self.last.push_back((key, at));
        let keys: Vec<u64> = self.last.iter().rev().map(|it| it.0).collect();
        let repeats = |period: usize| {
            let part = keys.get(..period * 3)?;
            let first = &part[..period];
            let differ = first.iter().any(|it| Some(it) != first.first());
            (differ && part.chunks(period).all(|it| it == first)).then_some(period)
        };
        (2..=4).find_map(repeats)
    }
}

/// What a call can be aimed at: addresses, hosts, paths, accounts, commands. A word counts when it has a mark of one, so that
/// ordinary words of a page are none.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|it: char| it.is_whitespace() || "\"'`<>()[]{},;|".contains(it));
    let parts = parts
        .flat_map(|it| it.split("://"))
        .flat_map(|it| it.split('?'));
    let parts = parts.map(|it| it.trim_matches(|it: char| ".:!?=".contains(it)));
    parts.filter(|it| it.len() >= 5 && it.len() <= 200 && is_target(it))
}

fn is_target(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let capitals = word.bytes().filter(u8::is_ascii_uppercase).count();
    let address = word.contains('@') && word.contains('.');
    let place = word.contains('/') && word.contains('.');
    let host = word.split('.').count() >= 2
        && word
            .split('.')
            .all(|it| it.len() >= 2 && words(it).next().is_some());
    // Accounts and article numbers: capitals with figures.
    address || place || host || digits >= 3 && capitals >= 2
}
