//! What is held of one space in memory: its records, and everything that is derived from them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::claim::{Claim, Conflict, conflict};
use crate::graph::Graph;
use crate::graph::extract::{Extract, extract};
use crate::index::{Index, Slot};
use crate::recall::rank::Corpus;
use crate::recall::vectors::Vectors;
use crate::record::{Record, RecordId, Tombstone};
use crate::text::{self, date::Millis};

/// The records of a space.
#[derive(Debug, Default)]
pub(crate) struct Space {
    /// By slot. A slot is used once.
    records: Vec<Option<Arc<Record>>>,
    slots: FxHashMap<RecordId, Slot>,
    tombstones: FxHashMap<RecordId, Tombstone>,
    index: Index,
    graph: Graph,
    vectors: Vectors,
    occurred: Vec<Millis>,
    standing: Vec<f32>,
    claims: Claims,
    /// Changes with everything that recall could see.
    version: u64,
    /// Every record before this slot has a vector or cannot have one.
    embedded: Slot,
    /// What a model has read.
    readings: FxHashSet<Slot>,
    /// Every record before this slot was read by a model or is not to be.
    read: Slot,
}

/// What lasting records claim.
#[derive(Debug, Default)]
struct Claims {
    of: FxHashMap<Slot, Claim>,
    by_subject: FxHashMap<String, Vec<Slot>>,
}

/// A change to a space, decided and not yet made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// A new record.
    Insert(Record),
    /// A record stands otherwise; its text is the same.
    Replace(Record),
    /// A record is gone.
    Remove(Tombstone),
    /// Something more is known about a record.
    Derive(RecordId, Derived),
}

/// What is made of a record after it was written, and can be made again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Derived {
    /// A vector, and whose.
    Vector(String, Vec<f32>),
    /// What a model has found in it, and which.
    Reading(String, Extract),
}

/// What counts for a doubtful record.
const DOUBT: f32 = -3.0;

/// How many records two rare terms may lead to when something alike is looked for.
const ALIKE: usize = 512;

impl Space {
    /// Makes a change.
    pub(crate) fn apply(&mut self, change: Change) {
        self.version += 1;
        match change {
            Change::Insert(record) => self.insert(record),
            Change::Replace(record) => self.replace(record),
            Change::Remove(tombstone) => self.remove(tombstone),
            Change::Derive(id, derived) => self.derive(&id, derived),
        }
    }

    fn insert(&mut self, record: Record) {
        let slot = self.records.len() as Slot;
        let Record { content, .. } = &record;
        let (session, speaker) = (content.session.as_deref(), content.speaker.as_deref());
        self.index.insert(slot, &content.text, session, speaker);
        if record.echo.is_none() {
            self.graph.insert(slot, extract(&content.text, speaker));
        }
        self.occurred.push(record.occurred());
        self.standing.push(standing(&record));
        if record.kept().is_some() {
            self.claims.insert(slot, Claim::of(&content.text));
        }
        self.slots.insert(record.id.clone(), slot);
        self.records.push(Some(Arc::new(record)));
    }

    fn replace(&mut self, record: Record) {
        if let Some(&slot) = self.slots.get(&record.id) {
            self.standing[slot as usize] = standing(&record);
            self.records[slot as usize] = Some(Arc::new(record));
        }
    }

    fn remove(&mut self, tombstone: Tombstone) {
        if let Some(slot) = self.slots.remove(&tombstone.id) {
            self.index.remove(slot);
            self.graph.remove(slot);
            self.vectors.remove(slot);
            self.readings.remove(&slot);
            self.claims.remove(slot);
            self.records[slot as usize] = None;
        }
        self.tombstones.insert(tombstone.id.clone(), tombstone);
    }

    /// Takes in what was made of a record, if it is still there.
    fn derive(&mut self, id: &RecordId, derived: Derived) {
        let Some(&slot) = self.slots.get(id) else {
            return;
        };
        match derived {
            Derived::Vector(_, vector) => {
                if !self.vectors.insert(slot, &vector) {
                    tracing::warn!(%id, "its vector cannot be compared with the others");
                }
            }
            Derived::Reading(_, extract) => {
                self.readings.insert(slot);
                self.graph.insert(slot, extract);
            }
        }
    }

    /// Records that have no vector yet, the oldest first. They are given out once.
    pub(crate) fn unembedded(&mut self, limit: usize) -> Vec<Arc<Record>> {
        let wanted = |slot, _: &Record| !self.vectors.has(slot);
        let (found, place) = self.from(self.embedded, limit, wanted);
        self.embedded = place;
        found
    }

    /// Gives out again what has no vector.
    pub(crate) fn embed_again(&mut self) {
        self.embedded = 0;
    }

    /// Records that no model has read yet, the oldest first. They are given out once; echoes say nothing new.
    pub(crate) fn unread(&mut self, limit: usize) -> Vec<Arc<Record>> {
        let wanted =
            |slot, record: &Record| record.echo.is_none() && !self.readings.contains(&slot);
        let (found, place) = self.from(self.read, limit, wanted);
        self.read = place;
        found
    }

    /// Gives out again what was not read.
    pub(crate) fn read_again(&mut self) {
        self.read = 0;
    }

    /// The first records from a slot on that are wanted, and where to look for more.
    fn from(
        &self,
        mut place: Slot,
        limit: usize,
        wanted: impl Fn(Slot, &Record) -> bool,
    ) -> (Vec<Arc<Record>>, Slot) {
        let mut found = Vec::new();
        while found.len() < limit
            && let Some(record) = self.records.get(place as usize)
        {
            found.extend(record.clone().filter(|record| wanted(place, record)));
            place += 1;
        }
        (found, place)
    }

    /// The record of this id.
    pub(crate) fn get(&self, id: &RecordId) -> Option<&Arc<Record>> {
        self.at(*self.slots.get(id)?)
    }

    /// The record at a slot.
    pub(crate) fn at(&self, slot: Slot) -> Option<&Arc<Record>> {
        self.records.get(slot as usize)?.as_ref()
    }

    /// All records, in the order they came in.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.records.iter().flatten()
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// What is left of the record of this id, if it was forgotten.
    pub(crate) fn tombstone(&self, id: &RecordId) -> Option<&Tombstone> {
        self.tombstones.get(id)
    }

    /// What is left of all that was forgotten.
    pub(crate) fn tombstones(&self) -> impl Iterator<Item = &Tombstone> {
        self.tombstones.values()
    }

    /// The graph.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The vectors.
    pub(crate) fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    /// Changes with everything that recall could see.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// The slot of a record.
    pub(crate) fn slot(&self, id: &RecordId) -> Option<Slot> {
        self.slots.get(id).copied()
    }

    /// What ranking looks at.
    pub(crate) fn corpus(&self) -> Corpus<'_> {
        Corpus {
            index: &self.index,
            graph: &self.graph,
            vectors: &self.vectors,
            occurred: &self.occurred,
            standing: &self.standing,
        }
    }

    /// All lasting records that cannot be true together with this claim.
    pub(crate) fn against(&self, claim: &Claim) -> Vec<(Arc<Record>, Conflict)> {
        let subject = claim.subject().unwrap_or_default();
        let slots = self.claims.by_subject.get(subject).into_iter().flatten();
        slots
            .filter_map(|slot| {
                let conflict = conflict(claim, self.claims.of.get(slot)?)?;
                Some((Arc::clone(self.at(*slot)?), conflict))
            })
            .collect()
    }

    /// Records that say the same as a text, the most alike first. They are looked for among those that have one of its
    /// rarest terms.
    pub(crate) fn alike(&self, text: &str, least: f64) -> Vec<(Arc<Record>, f64)> {
        let claim = Claim::of(text);
        let mut terms: Vec<_> = text::terms(text)
            .iter()
            .map(|term| self.index.term(term))
            .collect();
        terms.sort_unstable();
        terms.dedup();
        // What is alike enough has all but a few of the terms, so one of the few rarest.
        let missing = ((1.0 - least) * terms.len() as f64).ceil() as usize + 1;
        let mut known: Vec<_> = terms.into_iter().flatten().collect();
        known.sort_by_key(|&term| self.index.postings(term).len());
        known.truncate(missing);
        let mut slots: Vec<Slot> = known
            .iter()
            .flat_map(|&term| self.index.postings(term).iter().rev().take(ALIKE))
            .map(|posting| posting.slot)
            .collect();
        slots.sort_unstable();
        slots.dedup();
        let mut alike: Vec<(Arc<Record>, f64)> = slots
            .into_iter()
            .filter_map(|slot| {
                let record = self.at(slot)?;
                let likeness = match self.claims.of.get(&slot) {
                    Some(known) => claim.likeness(known),
                    None => claim.likeness(&Claim::of(&record.content.text)),
                };
                (likeness >= least).then(|| (Arc::clone(record), likeness))
            })
            .collect();
        alike.sort_by(|a, b| b.1.total_cmp(&a.1));
        alike
    }
}

impl Claims {
    fn insert(&mut self, slot: Slot, claim: Claim) {
        let subject = claim.subject().unwrap_or_default().to_owned();
        self.by_subject.entry(subject).or_default().push(slot);
        self.of.insert(slot, claim);
    }

    fn remove(&mut self, slot: Slot) {
        let Some(claim) = self.of.remove(&slot) else {
            return;
        };
        let subject = claim.subject().unwrap_or_default();
        if let Some(slots) = self.by_subject.get_mut(subject) {
            slots.retain(|it| *it != slot);
        }
    }
}

/// What a record's standing makes of its score.
fn standing(record: &Record) -> f32 {
    match record.kept() {
        None => 0.0,
        Some(kept) if kept.certain() => 1.0,
        Some(_) => DOUBT,
    }
}
