//! The knowledge graph of a space: entities and relations, each with the records that support it.
//!
//! An entity or a relation exists as long as at least one record supports it: when a record is removed, what only it
//! supported goes with it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::index::Slot;
use crate::viewer::Viewer;

pub(crate) mod extract;
#[cfg(test)]
#[path = "graph/extract_tests.rs"]
mod extract_tests;

pub use extract::EntityKind;
use extract::Extract;

type Number = u32;

/// A relation: the two entities and its type.
type Key = (Number, Number, Box<str>);

/// The graph of a space.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    numbers: FxHashMap<Box<str>, Number>,
    entities: Vec<Entity>,
    relations: FxHashMap<Key, Vec<Slot>>,
    /// What each record supports, by slot.
    supported: Vec<Supported>,
}

#[derive(Debug)]
struct Entity {
    name: Box<str>,
    kind: EntityKind,
    /// The records that mention it, sorted by slot.
    mentions: Vec<Slot>,
    /// Neighbours, each with the number of relations to it.
    neighbours: BTreeMap<Number, u32>,
}

#[derive(Debug, Default)]
struct Supported {
    entities: Vec<Number>,
    relations: Vec<Key>,
}

/// An entity of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// The name in its first spelling.
    pub name: String,
    pub kind: EntityKind,
    /// Number of records that mention it.
    pub mentions: usize,
}

/// A relation with the slots of the records that support it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) kind: String,
    pub(crate) support: Vec<Slot>,
}

/// The records that a caller sees. Those who see all of them need not look at each.
#[derive(Clone, Copy)]
pub(crate) enum Seen<'a> {
    All,
    Those(&'a dyn Fn(Slot) -> bool),
}

impl<'a> Seen<'a> {
    /// What this viewer sees, if it sees `those` where it does not see everything.
    pub(crate) fn by(viewer: &Viewer, those: &'a dyn Fn(Slot) -> bool) -> Self {
        match viewer.sees_all() {
            true => Self::All,
            false => Self::Those(those),
        }
    }

    pub(crate) fn sees(self, slot: Slot) -> bool {
        match self {
            Self::All => true,
            Self::Those(those) => those(slot),
        }
    }

    /// How many of these records, which all exist, are seen.
    fn count(self, slots: &[Slot]) -> usize {
        match self {
            Self::All => slots.len(),
            Self::Those(those) => slots.iter().filter(|&&slot| those(slot)).count(),
        }
    }
}

impl Graph {
    /// Adds the extract of a record. A second extract of the same record, from a model, is added to the first.
    pub(crate) fn insert(&mut self, slot: Slot, extract: Extract) {
        if self.supported.len() <= slot as usize {
            self.supported
                .resize_with(slot as usize + 1, Supported::default);
        }
        let mut supported = std::mem::take(&mut self.supported[slot as usize]);
        for (name, kind) in extract.entities {
            let number = self.number(&name, kind);
            let mentions = &mut self.entities[number as usize].mentions;
            if let Err(at) = mentions.binary_search(&slot) {
                mentions.insert(at, slot);
                supported.entities.push(number);
            }
        }
        for (from, to, kind) in extract.relations {
            let (Some(from), Some(to)) = (self.find(&from), self.find(&to)) else {
                continue;
            };
            let key = (from, to, Box::<str>::from(kind));
            let support = self.relations.entry(key.clone()).or_default();
            if from == to || support.contains(&slot) {
                continue;
            }
            support.push(slot);
            for (one, other) in [(from, to), (to, from)] {
                let neighbours = &mut self.entities[one as usize].neighbours;
                *neighbours.entry(other).or_default() += 1;
            }
            supported.relations.push(key);
        }
        self.supported[slot as usize] = supported;
    }

    /// Removes the support of a record. What other records support stays.
    pub(crate) fn remove(&mut self, slot: Slot) {
        let Some(supported) = self.supported.get_mut(slot as usize) else {
            return;
        };
        let supported = std::mem::take(supported);
        for key in supported.relations {
            for (one, other) in [(key.0, key.1), (key.1, key.0)] {
                let neighbours = &mut self.entities[one as usize].neighbours;
                if let Some(count) = neighbours.get_mut(&other) {
                    *count -= 1;
                    if *count == 0 {
                        neighbours.remove(&other);
                    }
                }
            }
            if let Some(support) = self.relations.get_mut(&key) {
                support.retain(|it| *it != slot);
                if support.is_empty() {
                    self.relations.remove(&key);
                }
            }
        }
        for number in supported.entities {
            let mentions = &mut self.entities[number as usize].mentions;
            if let Ok(at) = mentions.binary_search(&slot) {
                mentions.remove(at);
            }
        }
    }

    fn find(&self, name: &str) -> Option<Number> {
        let number = self.numbers.get(&*key(name)).copied()?;
        Some(number)
    }

    fn number(&mut self, name: &str, kind: EntityKind) -> Number {
        let key = key(name);
        if let Some(&number) = self.numbers.get(&*key) {
            return number;
        }
        let number = self.entities.len() as Number;
        self.numbers.insert(key, number);
        self.entities.push(Entity {
            name: name.into(),
            kind,
            mentions: Vec::new(),
            neighbours: BTreeMap::new(),
        });
        number
    }

    /// The entities of the graph that a text names.
    pub(crate) fn named_in(&self, text: &str) -> Vec<String> {
        let words: Vec<String> = crate::text::words(text).collect();
        let mut found = Vec::new();
        for length in (1..=4).rev() {
            for window in words.windows(length) {
                let alone = length == 1 && crate::text::is_common(&window[0]);
                // Joined words are the key of a name.
                let number = self.numbers.get(&*window.join(" "));
                if let Some(&number) = number.filter(|_| !alone) {
                    let entity = &self.entities[number as usize];
                    let name = entity.name.to_string();
                    if !entity.mentions.is_empty() && !found.contains(&name) {
                        found.push(name);
                    }
                }
            }
        }
        found
    }

    /// The records that mention an entity, sorted by slot.
    pub(crate) fn mentions(&self, name: &str) -> &[Slot] {
        self.find(name)
            .map_or(&[], |number| &self.entities[number as usize].mentions)
    }

    pub(crate) fn of(&self, slot: Slot) -> impl Iterator<Item = &str> {
        let supported = self.supported.get(slot as usize).into_iter();
        supported
            .flat_map(|it| &it.entities)
            .map(|&number| &*self.entities[number as usize].name)
    }

    pub(crate) fn relations_of(&self, slot: Slot) -> impl Iterator<Item = Edge> {
        let supported = self.supported.get(slot as usize).into_iter();
        supported
            .flat_map(|it| &it.relations)
            .filter_map(|key| self.edge(key))
    }

    /// The neighbours of an entity, those with most relations first.
    pub(crate) fn neighbours(&self, name: &str, limit: usize) -> Vec<(String, u32)> {
        let Some(number) = self.find(name) else {
            return Vec::new();
        };
        let entity = &self.entities[number as usize];
        let mut neighbours: Vec<_> = entity.neighbours.iter().collect();
        let order = |&(number, count): &(&Number, &u32)| (Reverse(*count), *number);
        if neighbours.len() > limit {
            neighbours.select_nth_unstable_by_key(limit, order);
            neighbours.truncate(limit);
        }
        neighbours.sort_unstable_by_key(order);
        let named = neighbours
            .into_iter()
            .map(|(&number, &count)| (self.entities[number as usize].name.to_string(), count));
        named.collect()
    }

    /// The relations of an entity, those with most support first.
    pub(crate) fn edges(&self, name: &str, limit: usize) -> Vec<Edge> {
        let Some(number) = self.find(name) else {
            return Vec::new();
        };
        let mentions = &self.entities[number as usize].mentions;
        // Only the newest relations are considered.
        let newest = &mentions[mentions.len().saturating_sub(4096)..];
        let mut seen = rustc_hash::FxHashSet::default();
        let mut edges: Vec<(usize, &Key)> = Vec::new();
        for slot in newest {
            for key in &self.supported[*slot as usize].relations {
                if (key.0 == number || key.1 == number) && seen.insert(key) {
                    let support = self.relations.get(key).map_or(0, Vec::len);
                    edges.push((support, key));
                }
            }
        }
        let name = |number: Number| &*self.entities[number as usize].name;
        edges.sort_by_cached_key(|(support, key)| {
            (Reverse(*support), name(key.0), &*key.2, name(key.1))
        });
        let best = edges.into_iter().take(limit);
        best.filter_map(|(_, key)| self.edge(key)).collect()
    }

    /// An entity of the graph, if one of the records that are `seen` mentions it.
    pub(crate) fn node(&self, name: &str, seen: Seen<'_>) -> Option<Node> {
        node(&self.entities[self.find(name)? as usize], seen)
    }

    /// Whether one of the records that are `seen` mentions an entity.
    pub(crate) fn is_seen(&self, name: &str, seen: Seen<'_>) -> bool {
        self.mentions(name).iter().any(|&slot| seen.sees(slot))
    }

    /// All entities that records which are `seen` mention, in the order of their first mention.
    pub(crate) fn nodes<'a>(&'a self, seen: Seen<'a>) -> impl Iterator<Item = Node> + 'a {
        let entities = self.entities.iter();
        entities.filter_map(move |entity| node(entity, seen))
    }

    /// The records that support a relation.
    pub(crate) fn support(&self, kind: &str, from: &str, to: &str) -> &[Slot] {
        let ends = self.find(from).zip(self.find(to));
        let support = ends.and_then(|(from, to)| self.relations.get(&(from, to, kind.into())));
        support.map_or(&[], Vec::as_slice)
    }

    /// All relations, in a fixed order.
    pub(crate) fn all_edges(&self) -> Vec<Edge> {
        let mut keys: Vec<_> = self.relations.keys().collect();
        keys.sort();
        keys.into_iter().filter_map(|key| self.edge(key)).collect()
    }

    fn edge(&self, key: &Key) -> Option<Edge> {
        let support = self.relations.get(key)?;
        Some(Edge {
            from: self.entities[key.0 as usize].name.to_string(),
            to: self.entities[key.1 as usize].name.to_string(),
            kind: key.2.to_string(),
            support: support.clone(),
        })
    }
}

/// An entity with the number of the records that are `seen` and mention it. None without one.
fn node(entity: &Entity, seen: Seen<'_>) -> Option<Node> {
    let mentions = seen.count(&entity.mentions);
    (mentions > 0).then(|| Node {
        name: entity.name.to_string(),
        kind: entity.kind,
        mentions,
    })
}

/// The key of an entity: its name without differences of case and spacing.
fn key(name: &str) -> Box<str> {
    let words: Vec<String> = crate::text::words(name).collect();
    words.join(" ").into()
}
