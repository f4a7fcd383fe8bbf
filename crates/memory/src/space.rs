//! One space in memory: its records, and the indexes derived from them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::claim::{Claim, Conflict, conflict};
use crate::code::{CodeChange, CodeGraph};
use crate::decide::is_own;
use crate::graph::Graph;
use crate::graph::extract::{Extract, extract};
use crate::index::{Index, Slot};
use crate::mirror::{Changed, parts_of};
use crate::recall::rank::Corpus;
use crate::recall::vectors::Vectors;
use crate::record::{Certainty, Record, RecordId, Tombstone};
use crate::text::{self, date::Millis};
use crate::viewer::Viewer;

/// The records of a space with everything that recall and decisions look up.
///
/// It is a projection: everything in it is derived from rows of the store, by applying [`Change`]s in order. The same
/// [`apply`](Self::apply) is used when a space is loaded and when the writer has committed, so that a space after a restart
/// equals the one before. It changes only through `apply` and the marks of background work; readers share it behind a
/// read lock.
///
/// A record has a slot, a number that is given out once and never reused. Index, graph, vectors, dates and standings are
/// arrays by slot, which makes ranking loops over numbers instead of lookups by id; slots that were reused would let a
/// posting of a forgotten record point to another one. The price is a hole for each forgotten record.
///
/// The whole space is in memory and not queried from SQLite: ranking looks at statistics of all records (how rare a term
/// is, how long records are), which a query would compute anew. A space is loaded at its first use and stays.
///
/// The version counts changes of records. Recall's cache compares it, so `apply` must increase it for every change that could alter
/// an answer, also for vectors.
#[derive(Debug, Default)]
pub(crate) struct Space {
    /// The name of the agent that the space belongs to.
    name: String,
    /// By slot; None after the record was forgotten.
    records: Vec<Option<Arc<Record>>>,
    slots: FxHashMap<RecordId, Slot>,
    tombstones: FxHashMap<RecordId, Tombstone>,
    index: Index,
    graph: Graph,
    code: CodeGraph,
    vectors: Vectors,
    occurred: Vec<Millis>,
    standing: Vec<f32>,
    claims: Claims,
    version: u64,
    /// Counts changes of files.
    code_version: u64,
    /// The parts that another database has not got yet. None: the space is not mirrored.
    changed: Option<Changed>,
    /// Every record before this slot was handed out for embedding.
    embedded: Slot,
    /// Records with entities from a model.
    readings: FxHashSet<Slot>,
    /// Every record before this slot was handed out for entity extraction.
    read: Slot,
}

/// The claims of lasting records, indexed by their subject.
#[derive(Debug, Default)]
struct Claims {
    of: FxHashMap<Slot, Claim>,
    by_subject: FxHashMap<String, Vec<Slot>>,
}

/// A change of a space, as decisions make it and the writer applies it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Insert(Record),
    /// A record with another standing or usage; its text must be the same, because the index is not updated.
    Replace(Record),
    Remove(Tombstone),
    /// Derived data of a record.
    Derive(RecordId, Derived),
    /// A file of the project.
    Code(CodeChange),
}

/// Data that background work makes of a record, and can make again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Derived {
    /// The name of the embedder, and the vector.
    Vector(String, Vec<f32>),
    /// The name of the model, and the entities and relations it found.
    Reading(String, Extract),
}

/// The standing of an uncertain record in ranking, where a certain one has 1.
const DOUBT: f32 = -3.0;

/// Most records of one term that are compared when like texts are searched.
const ALIKE: usize = 512;

impl Space {
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Whether a source is the agent that the space belongs to.
    pub(crate) fn is_own(&self, source: &str) -> bool {
        is_own(source, &self.name)
    }

    /// The same, with everything that is added from now on to be sent to another database.
    pub(crate) fn mirrored(mut self) -> Self {
        self.changed = Some(Changed::since_the_start());
        self
    }

    pub(crate) fn changed_mut(&mut self) -> Option<&mut Changed> {
        self.changed.as_mut()
    }

    /// How many parts another database has not got yet.
    pub(crate) fn unmirrored(&self) -> usize {
        self.changed.as_ref().map_or(0, Changed::count)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn apply(&mut self, change: Change) {
        let Some(before) = self.changed.as_ref().map(|_| parts_of(self, &change)) else {
            return self.make(change);
        };
        self.mark(before);
        let again = change.clone();
        self.make(change);
        let after = parts_of(self, &again);
        self.mark(after);
    }

    fn make(&mut self, change: Change) {
        match change {
            // Recall does not look at files.
            Change::Code(_) => self.code_version += 1,
            _ => self.version += 1,
        }
        match change {
            Change::Insert(record) => self.insert(record),
            Change::Replace(record) => self.replace(record),
            Change::Remove(tombstone) => self.remove(tombstone),
            Change::Derive(id, derived) => self.derive(&id, derived),
            Change::Code(change) => self.code.apply(change),
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

    fn derive(&mut self, id: &RecordId, derived: Derived) {
        let Some(&slot) = self.slots.get(id) else {
            return;
        };
        match derived {
            Derived::Vector(_, vector) => {
                if !self.vectors.insert(slot, &vector) {
                    tracing::warn!(record = %id, "vector ignored: other length than the rest, or not finite");
                }
            }
            Derived::Reading(_, extract) => {
                self.readings.insert(slot);
                self.graph.insert(slot, extract);
            }
        }
    }

    /// The oldest records without a vector. Each is handed out once, until `embed_again`.
    pub(crate) fn unembedded(&mut self, limit: usize) -> Vec<Arc<Record>> {
        let wanted = |slot, _: &Record| !self.vectors.has(slot);
        let (found, place) = self.from(self.embedded, limit, wanted);
        self.embedded = place;
        found
    }

    pub(crate) fn embed_again(&mut self) {
        self.embedded = 0;
    }

    /// The oldest records without entities from a model. Each is handed out once, until `read_again`; echoes never are,
    /// since they say nothing new.
    pub(crate) fn unread(&mut self, limit: usize) -> Vec<Arc<Record>> {
        let wanted =
            |slot, record: &Record| record.echo.is_none() && !self.readings.contains(&slot);
        let (found, place) = self.from(self.read, limit, wanted);
        self.read = place;
        found
    }

    pub(crate) fn read_again(&mut self) {
        self.read = 0;
    }

    /// The first wanted records from a slot on, and the slot after them.
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

    pub(crate) fn get(&self, id: &RecordId) -> Option<&Arc<Record>> {
        self.at(*self.slots.get(id)?)
    }

    pub(crate) fn at(&self, slot: Slot) -> Option<&Arc<Record>> {
        self.records.get(slot as usize)?.as_ref()
    }

    /// All records, in the order in which they were added.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.records.iter().flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn tombstone(&self, id: &RecordId) -> Option<&Tombstone> {
        self.tombstones.get(id)
    }

    pub(crate) fn tombstones(&self) -> impl Iterator<Item = &Tombstone> {
        self.tombstones.values()
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The files of the project.
    pub(crate) fn code(&self) -> &CodeGraph {
        &self.code
    }

    pub(crate) fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    /// Increases with every change, the second number with those of files alone.
    pub(crate) fn versions(&self) -> (u64, u64) {
        (self.version, self.code_version)
    }

    /// Increases with every change of records.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn slot(&self, id: &RecordId) -> Option<Slot> {
        self.slots.get(id).copied()
    }

    pub(crate) fn corpus(&self) -> Corpus<'_> {
        Corpus {
            index: &self.index,
            graph: &self.graph,
            vectors: &self.vectors,
            occurred: &self.occurred,
            standing: &self.standing,
        }
    }

    /// The lasting records that contradict this claim, of those that a caller sees.
    pub(crate) fn against(&self, claim: &Claim, viewer: &Viewer) -> Vec<(Arc<Record>, Conflict)> {
        let subject = claim.subject().unwrap_or_default();
        let slots = self.claims.by_subject.get(subject).into_iter().flatten();
        slots
            .filter_map(|slot| {
                let conflict = conflict(claim, self.claims.of.get(slot)?)?;
                let record = self.at(*slot).filter(|it| viewer.sees(it))?;
                Some((Arc::clone(record), conflict))
            })
            .collect()
    }

    /// Records with at least this likeness to a text, the most alike first, of those that a caller sees. Only records that
    /// share one of the text's rarest terms are compared.
    pub(crate) fn alike(&self, text: &str, least: f64, viewer: &Viewer) -> Vec<(Arc<Record>, f64)> {
        let claim = Claim::of(text);
        let mut terms: Vec<_> = text::terms(text)
            .iter()
            .map(|term| self.index.term(term))
            .collect();
        terms.sort_unstable();
        terms.dedup();
        // A record that is alike enough lacks at most this many terms, so it has at least one of the rarest.
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
                let record = self.at(slot).filter(|it| viewer.sees(it))?;
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

/// The value of a record's standing in ranking.
fn standing(record: &Record) -> f32 {
    match record.kept() {
        None => 0.0,
        Some(kept) => match kept.certainty {
            Certainty::Certain => 1.0,
            Certainty::Hypothesis => 0.0,
            Certainty::Uncertain { .. } => DOUBT,
        },
    }
}
