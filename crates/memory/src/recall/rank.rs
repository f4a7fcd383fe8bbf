//! Ranking: a question and the indexes of a space go in, scored records come out. Pure.
//!
//! [`rank`] works in two stages, and their order matters. The first finds candidates by themselves: BM25 of the question's
//! terms and bigrams, query expansion (terms that the best records have in common, as pseudo-relevance feedback), dates
//! that the question names, and vectors. These scores are divided by the best one, so that the weights of the second
//! stage mean the same for short and long questions.
//!
//! The second stage adds context to the candidates. A record lends part of its score to its neighbours in the
//! conversation, since an answer often stands beside the record that has the words of the question ("Where did you
//! go?" - "To Rome."); this is the only step that adds candidates, so it comes before the others. Then the graph, the
//! session as a whole, the speaker, and how firmly a record is held. The last ones are factors of the score so far: if
//! they came first, a record that merely has the right speaker would be found.
//!
//! Each part of a score is kept under its [`Sign`], so that an answer can say why a record was found; a test checks
//! that the parts add up. Ties are broken by slot: the same question gives the same answer.
//!
//! Vectors: all of them are scanned with 8-bit products, the best 256 compared exactly (`vectors`). Similarities are
//! scaled between the median and the best of the space, because those of one embedder lie in a narrow band and say
//! little by themselves.
//!
//! The weights were tuned on one half of LoCoMo and not on the questions in `conformance/memory`. Why not a learned
//! ranker or a cross-encoder: this one needs no model, and an answer can say what each hit owes to which sign.

use rustc_hash::{FxHashMap, FxHashSet};

use super::question::Question;
use super::vectors::Vectors;
use super::weights::Weights;
use crate::graph::Graph;
use crate::index::{Index, NONE, Session, Slot, Term, counted, rarity};
use crate::text::date::{self, Millis};

/// The indexes of a space that ranking reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corpus<'a> {
    pub(crate) index: &'a Index,
    pub(crate) graph: &'a Graph,
    pub(crate) vectors: &'a Vectors,
    /// The time of each record's event, by slot.
    pub(crate) occurred: &'a [Millis],
    /// By slot: 0 for an observation, positive for a certain lasting record, negative for an uncertain one.
    pub(crate) standing: &'a [f32],
}

/// A reason why a record was found, which contributes a part of its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// BM25 of the question's terms and bigrams.
    Words,
    /// Terms of the best records that the question does not have (query expansion).
    Expansion,
    /// A date that the question names.
    Date,
    /// Similarity of the record's vector to the question's.
    Vector,
    /// The score of neighbours in the conversation.
    Neighbours,
    /// BM25 of the session as a whole.
    Session,
    /// A mention of an entity of the question, or of a neighbour of one in the graph.
    Graph,
    /// The age of the record, if the question asks for the newest.
    Recent,
    /// The question names the speaker.
    Speaker,
    /// The record ends with a question; negative.
    Asking,
    /// Lasting records gain, uncertain ones lose.
    Standing,
}

const SIGNS: [Sign; 11] = [
    Sign::Words,
    Sign::Expansion,
    Sign::Date,
    Sign::Vector,
    Sign::Neighbours,
    Sign::Session,
    Sign::Graph,
    Sign::Recent,
    Sign::Speaker,
    Sign::Asking,
    Sign::Standing,
];

/// A record with its score and the part of each sign.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) slot: Slot,
    pub(crate) score: f32,
    parts: [f32; SIGNS.len()],
}

impl Ranked {
    fn new(slot: Slot) -> Self {
        let parts = [0.0; SIGNS.len()];
        Self {
            slot,
            score: 0.0,
            parts,
        }
    }

    fn add(&mut self, sign: Sign, amount: f32) {
        self.score += amount;
        self.parts[sign as usize] += amount;
    }

    /// The signs with a part other than 0, the strongest first. The parts add up to the score.
    pub(crate) fn signs(&self) -> Vec<(Sign, f32)> {
        let parts = SIGNS.into_iter().zip(self.parts);
        let mut signs: Vec<_> = parts.filter(|(_, part)| *part != 0.0).collect();
        signs.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        signs
    }
}

/// Most candidates of the first stage.
const CANDIDATES: usize = 2048;

/// How many of the nearest vectors of the scan are compared exactly.
const EXACT: usize = 256;

/// With fewer vectors than this the median says nothing, and 0 is used.
const FEW: usize = 8;

/// The best allowed records for a question, the best first.
pub(crate) fn rank(
    corpus: Corpus<'_>,
    question: &Question,
    vector: Option<&[f32]>,
    weights: &Weights,
    limit: usize,
    allowed: &dyn Fn(Slot) -> bool,
) -> Vec<Ranked> {
    let mut ranking = Ranking::new(corpus, question, weights);
    ranking.words();
    ranking.expand();
    ranking.dates();
    let mut found = ranking.candidates(vector);
    ranking.neighbours(&mut found);
    ranking.graph(&mut found);
    ranking.sessions(&mut found);
    ranking.standing(&mut found);
    let order = |a: &Ranked, b: &Ranked| b.score.total_cmp(&a.score).then(a.slot.cmp(&b.slot));
    let mut ranked: Vec<Ranked> = found
        .into_values()
        .filter(|it| it.score > 0.0 && allowed(it.slot))
        .collect();
    if ranked.len() > limit && limit > 0 {
        ranked.select_nth_unstable_by(limit - 1, order);
        ranked.truncate(limit);
    }
    ranked.sort_unstable_by(order);
    ranked.truncate(limit);
    ranked
}

struct Ranking<'a> {
    corpus: Corpus<'a>,
    question: &'a Question,
    weights: &'a Weights,
    /// The question's known terms, each once, with a weight: the name of a speaker counts less.
    terms: Vec<(Term, f32)>,
    /// BM25 of the question's terms, by slot; likewise the next two.
    words: Vec<f32>,
    expansion: Vec<f32>,
    dates: Vec<f32>,
    /// The slots with a value in one of these.
    touched: Vec<Slot>,
    /// BM25 of each session as if it were one text.
    sessions: FxHashMap<Session, f32>,
    speakers: FxHashSet<u32>,
}

impl<'a> Ranking<'a> {
    fn new(corpus: Corpus<'a>, question: &'a Question, weights: &'a Weights) -> Self {
        let index = corpus.index;
        let speakers = index.speakers_named(&question.words);
        let names: FxHashSet<&str> = index.names_of(&speakers).collect();
        let mut terms: Vec<(Term, f32)> = Vec::new();
        for term in &question.terms {
            if let Some(number) = index.term(term)
                && !terms.iter().any(|(it, _)| *it == number)
            {
                let named = names.contains(&**term);
                terms.push((number, if named { weights.name } else { 1.0 }));
            }
        }
        let slots = index.slots();
        Self {
            corpus,
            question,
            weights,
            terms,
            words: vec![0.0; slots],
            expansion: vec![0.0; slots],
            dates: Vec::new(),
            touched: Vec::new(),
            sessions: FxHashMap::default(),
            speakers: speakers.into_iter().collect(),
        }
    }

    /// The factor of BM25 for a term's count in a record, without the term's rarity.
    fn said(&self, slot: Slot, count: u32) -> f32 {
        let Weights { k1, b, .. } = *self.weights;
        let index = self.corpus.index;
        let long = index.doc(slot).terms.len() as f32 / index.mean_length();
        let count = count as f32;
        count * (k1 + 1.0) / (count + k1 * (1.0 - b + b * long))
    }

    fn touch(&mut self, slot: Slot) {
        let place = slot as usize;
        if self.words[place] == 0.0 && self.expansion[place] == 0.0 {
            self.touched.push(slot);
        }
    }

    /// BM25 of the question's terms for records and for sessions, and of its bigrams for records.
    fn words(&mut self) {
        let index = self.corpus.index;
        let mean = index.mean_session_length();
        let mut counts: FxHashMap<Session, u32> = FxHashMap::default();
        for place in 0..self.terms.len() {
            let (term, share) = self.terms[place];
            let weight = index.weight(term) * share;
            counts.clear();
            for posting in index.postings(term) {
                let score = weight * self.said(posting.slot, posting.count);
                self.touch(posting.slot);
                self.words[posting.slot as usize] += score;
                if let Some(session) = index.doc(posting.slot).session {
                    *counts.entry(session).or_default() += posting.count;
                }
            }
            let weight = rarity(index.session_count(), counts.len()) * share;
            for (&session, &count) in &counts {
                let long = index.session_length(session) as f32 / mean;
                let count = count as f32;
                let said = count * 2.2 / (count + 1.2 * (0.25 + 0.75 * long));
                *self.sessions.entry(session).or_default() += weight * said;
            }
        }
        let asked: Vec<Option<Term>> = self
            .question
            .terms
            .iter()
            .map(|term| index.term(term))
            .collect();
        let pairs: FxHashSet<(Term, Term)> = asked
            .windows(2)
            .filter_map(|pair| Some((pair[0]?, pair[1]?)))
            .collect();
        for (one, other) in pairs {
            self.bigram(one, other);
        }
    }

    fn bigram(&mut self, one: Term, other: Term) {
        let index = self.corpus.index;
        let rarer = |term| index.postings(term).len();
        let few = if rarer(one) <= rarer(other) {
            one
        } else {
            other
        };
        let having: Vec<(Slot, u32)> = index
            .postings(few)
            .iter()
            .filter_map(|posting| {
                let terms = &index.doc(posting.slot).terms;
                let count = terms.windows(2).filter(|it| **it == [one, other]).count();
                (count > 0).then_some((posting.slot, count as u32))
            })
            .collect();
        let weight = rarity(index.count(), having.len()) * self.weights.bigram;
        for (slot, count) in having {
            let score = weight * self.said(slot, count);
            self.words[slot as usize] += score;
        }
    }

    /// Query expansion: the rare terms that the best records have in common are searched, too.
    fn expand(&mut self) {
        let Weights {
            expansion,
            expansion_records,
            expansion_terms,
            ..
        } = *self.weights;
        if expansion <= 0.0 || expansion_records == 0 {
            return;
        }
        let index = self.corpus.index;
        let best = top(&self.touched, expansion_records, |slot| {
            self.words[slot as usize]
        });
        let most = best.first().map_or(0.0, |&slot| self.words[slot as usize]);
        let mut terms: FxHashMap<Term, f32> = FxHashMap::default();
        for &slot in &best {
            let share = self.words[slot as usize] / most;
            for (term, count) in counted(&index.doc(slot).terms) {
                let weight = index.weight(term);
                *terms.entry(term).or_default() += share * weight * weight * self.said(slot, count);
            }
        }
        for (term, _) in &self.terms {
            terms.remove(term);
        }
        let mut terms: Vec<(Term, f32)> = terms.into_iter().collect();
        terms.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        terms.truncate(expansion_terms);
        let strongest = terms.first().map_or(1.0, |(_, strength)| *strength);
        for (term, strength) in terms {
            let weight = expansion * strength / strongest * index.weight(term);
            for posting in index.postings(term) {
                let score = weight * self.said(posting.slot, posting.count);
                self.touch(posting.slot);
                self.expansion[posting.slot as usize] += score;
            }
        }
    }

    /// Records of events at a date that the question names.
    fn dates(&mut self) {
        let asked = &self.question.dates;
        if asked.is_empty() || self.weights.date <= 0.0 {
            return;
        }
        let agrees = |occurred: &Millis| {
            let day = date::civil(*occurred);
            asked
                .iter()
                .map(|date| date.agrees(day))
                .fold(0.0, f32::max)
        };
        let weight = self.weights.date * 3.0;
        self.dates = self
            .corpus
            .occurred
            .iter()
            .map(|it| weight * agrees(it))
            .collect();
        for slot in 0..self.dates.len() {
            let free = self.corpus.index.doc(slot as Slot).terms.is_empty();
            if self.dates[slot] > 0.0
                && !free
                && self.words[slot] == 0.0
                && self.expansion[slot] == 0.0
            {
                self.touched.push(slot as Slot);
            }
        }
    }

    /// The candidates of the first stage. Words, expansion and date of the best one add up to 1.
    fn candidates(&mut self, vector: Option<&[f32]>) -> FxHashMap<Slot, Ranked> {
        let date = |slot: Slot| self.dates.get(slot as usize).copied().unwrap_or_default();
        let own =
            |slot: Slot| self.words[slot as usize] + self.expansion[slot as usize] + date(slot);
        let mut slots = top(&self.touched, CANDIDATES, own);
        let most = slots
            .first()
            .map_or(1.0, |&slot| own(slot))
            .max(f32::MIN_POSITIVE);
        let near = vector.map(|vector| self.near(vector)).unwrap_or_default();
        if !near.is_empty() {
            let all: Vec<Slot> = (0..near.len() as Slot)
                .filter(|&it| near[it as usize] > 0.0)
                .collect();
            let known: FxHashSet<Slot> = slots.iter().copied().collect();
            let nearest = top(&all, CANDIDATES, |slot| near[slot as usize]);
            slots.extend(nearest.into_iter().filter(|slot| !known.contains(slot)));
        }
        let mut found = FxHashMap::default();
        for slot in slots {
            let mut ranked = Ranked::new(slot);
            ranked.add(Sign::Words, self.words[slot as usize] / most);
            ranked.add(Sign::Expansion, self.expansion[slot as usize] / most);
            ranked.add(Sign::Date, date(slot) / most);
            let near = near.get(slot as usize).copied().unwrap_or_default();
            ranked.add(Sign::Vector, self.weights.vector * near);
            found.insert(slot, ranked);
        }
        found
    }

    /// The similarity of each record by slot, scaled from 0 for the median and below to 1 for the nearest.
    fn near(&self, vector: &[f32]) -> Vec<f32> {
        let vectors = self.corpus.vectors;
        let mut near = vectors.scan(vector);
        let known = (0..near.len() as Slot).filter(|&slot| near[slot as usize].is_some());
        let mut slots: Vec<Slot> = known.collect();
        for slot in top(&slots, EXACT, |slot| near[slot as usize].unwrap_or(-1.0)) {
            near[slot as usize] = vectors.near(slot, vector);
        }
        let of = |slot: &Slot| near[*slot as usize].unwrap_or(-1.0);
        let middle = slots.len() / 2;
        if slots.is_empty() {
            return Vec::new();
        }
        // The median is the zero point.
        slots.select_nth_unstable_by(middle, |a, b| of(a).total_cmp(&of(b)));
        let least = if slots.len() < FEW {
            0.0
        } else {
            of(&slots[middle])
        };
        let most = slots.iter().map(of).fold(-1.0, f32::max);
        let width = (most - least).max(1e-6);
        let scaled = near
            .iter()
            .map(|near| near.map_or(0.0, |near| ((near - least) / width).max(0.0)));
        scaled.collect()
    }

    /// Adds a part of each candidate's score to its neighbours in the session; a question gives more to its reply.
    fn neighbours(&self, found: &mut FxHashMap<Slot, Ranked>) {
        let index = self.corpus.index;
        let Weights {
            after,
            before,
            further,
            reply,
            ..
        } = *self.weights;
        let mut own: Vec<(Slot, f32)> = found.values().map(|it| (it.slot, it.score)).collect();
        own.sort_unstable_by_key(|(slot, _)| *slot);
        let mut lend = |slot: Slot, amount: f32| {
            if slot != NONE && amount > 0.0 {
                let ranked = found.entry(slot).or_insert_with(|| Ranked::new(slot));
                ranked.add(Sign::Neighbours, amount);
            }
        };
        for (slot, score) in own {
            let doc = index.doc(slot);
            let answer = if doc.has_question { reply } else { 0.0 };
            lend(doc.after, score * (after + answer));
            lend(doc.before, score * before);
            if doc.after != NONE {
                lend(index.doc(doc.after).after, score * further);
            }
            if doc.before != NONE {
                lend(index.doc(doc.before).before, score * further);
            }
        }
    }

    /// Adds to records that mention an entity of the question, and less to those that mention a neighbour of one.
    fn graph(&self, found: &mut FxHashMap<Slot, Ranked>) {
        if self.weights.graph <= 0.0 {
            return;
        }
        let (graph, count) = (self.corpus.graph, self.corpus.index.count());
        let mut connected: FxHashMap<Slot, f32> = FxHashMap::default();
        for name in &self.question.entities {
            let mentions = graph.mentions(name);
            let weight = rarity(count, mentions.len());
            for &slot in mentions {
                *connected.entry(slot).or_default() += weight;
            }
            let neighbours = graph.neighbours(name, 8);
            let most = neighbours.first().map_or(1, |(_, relations)| *relations) as f32;
            for (neighbour, relations) in neighbours {
                let mentions = graph.mentions(&neighbour);
                let weight = 0.5 * rarity(count, mentions.len()) * relations as f32 / most;
                for &slot in mentions {
                    *connected.entry(slot).or_default() += weight;
                }
            }
        }
        let most = connected
            .values()
            .copied()
            .fold(f32::MIN_POSITIVE, f32::max);
        for ranked in found.values_mut() {
            if let Some(weight) = connected.get(&ranked.slot) {
                ranked.add(Sign::Graph, self.weights.graph * weight / most);
            }
        }
    }

    fn sessions(&self, found: &mut FxHashMap<Slot, Ranked>) {
        let most = self
            .sessions
            .values()
            .copied()
            .fold(f32::MIN_POSITIVE, f32::max);
        for ranked in found.values_mut() {
            let session = self.corpus.index.doc(ranked.slot).session;
            if let Some(about) = session.and_then(|session| self.sessions.get(&session)) {
                ranked.add(Sign::Session, self.weights.session * about / most);
            }
        }
    }

    /// Factors for the speaker, for questions, for age, and for how firmly a record is held.
    fn standing(&self, found: &mut FxHashMap<Slot, Ranked>) {
        let Weights {
            speaker,
            asking,
            recent,
            standing,
            ..
        } = *self.weights;
        let occurred = self.corpus.occurred;
        let newest = occurred.iter().copied().max().unwrap_or_default();
        for ranked in found.values_mut() {
            let doc = self.corpus.index.doc(ranked.slot);
            if doc.speaker.is_some_and(|it| self.speakers.contains(&it)) {
                ranked.add(Sign::Speaker, ranked.score * speaker);
            }
            if doc.asks {
                ranked.add(Sign::Asking, -ranked.score * asking);
            }
            if self.question.newest {
                let age =
                    (newest - occurred[ranked.slot as usize]) as f32 / (30 * date::DAY) as f32;
                ranked.add(
                    Sign::Recent,
                    ranked.score * recent * 0.5_f32.powf(age.max(0.0)),
                );
            }
            let held = self.corpus.standing[ranked.slot as usize];
            ranked.add(Sign::Standing, ranked.score * standing * held);
        }
    }
}

/// The best of these slots, the best first; among equals the lower slot.
fn top(slots: &[Slot], count: usize, score: impl Fn(Slot) -> f32) -> Vec<Slot> {
    let mut slots = slots.to_vec();
    let order = |a: &Slot, b: &Slot| score(*b).total_cmp(&score(*a)).then(a.cmp(b));
    if slots.len() > count && count > 0 {
        slots.select_nth_unstable_by(count - 1, order);
    }
    slots.truncate(count);
    slots.sort_unstable_by(order);
    slots
}
