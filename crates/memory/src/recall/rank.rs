//! Ranking: a question and what a space knows in, scored records out. Pure.
//!
//! Words lead (BM25), with pairs of words and words that keep company with them; dates that the question names; vectors
//! where there are any. What was found so lends part of its score to its neighbours in the conversation, because an
//! answer often stands beside the words that were asked for; sessions that are about the question, records of a speaker
//! that is named, and connections in the graph weigh in.

use rustc_hash::{FxHashMap, FxHashSet};

use super::question::Question;
use super::vectors::Vectors;
use super::weights::Weights;
use crate::graph::Graph;
use crate::index::{Index, NONE, Session, Slot, Term, counted, rarity};
use crate::text::date::{self, Millis};

/// What ranking looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corpus<'a> {
    pub(crate) index: &'a Index,
    pub(crate) graph: &'a Graph,
    pub(crate) vectors: &'a Vectors,
    /// When each record happened, by slot.
    pub(crate) occurred: &'a [Millis],
    /// What each record's standing makes of its score: 0 for an observation, above for what is held, below for doubt.
    pub(crate) standing: &'a [f32],
}

/// A sign by which a record was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// Words of the question.
    Words,
    /// Words that keep company with those of the question.
    Kin,
    /// A date that the question names.
    Date,
    /// Nearness in meaning, by vectors.
    Vector,
    /// Neighbours in the conversation.
    Neighbours,
    /// The conversation as a whole.
    Session,
    /// A connection in the graph.
    Graph,
    /// Newness.
    Recent,
    /// Who said it.
    Speaker,
    /// That it asks rather than tells.
    Asking,
    /// How firmly it is held.
    Standing,
}

const SIGNS: [Sign; 11] = [
    Sign::Words,
    Sign::Kin,
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

/// A record with its score, and what each sign has added to it or taken from it.
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

    /// The signs that count for something, the strongest first. They add up to the score.
    pub(crate) fn signs(&self) -> Vec<(Sign, f32)> {
        let parts = SIGNS.into_iter().zip(self.parts);
        let mut signs: Vec<_> = parts.filter(|(_, part)| *part != 0.0).collect();
        signs.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        signs
    }
}

/// How many of the records that were found by themselves are looked at further.
const CANDIDATES: usize = 2048;

/// How many of the nearest vectors are compared exactly.
const EXACT: usize = 256;

/// Among so few vectors there is no telling what most are like.
const FEW: usize = 8;

/// The best records for a question, the best first; only those that are allowed.
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
    ranking.kin();
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
    /// The question's terms that some record has, each once, with what it counts for.
    terms: Vec<(Term, f32)>,
    /// By slot.
    words: Vec<f32>,
    kin: Vec<f32>,
    dates: Vec<f32>,
    /// Slots that have some of these.
    touched: Vec<Slot>,
    /// What sessions as a whole have to do with the question.
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
            kin: vec![0.0; slots],
            dates: Vec::new(),
            touched: Vec::new(),
            sessions: FxHashMap::default(),
            speakers: speakers.into_iter().collect(),
        }
    }

    /// What saying a term so often in this record counts for, before its rarity (BM25).
    fn said(&self, slot: Slot, count: u32) -> f32 {
        let Weights {
            saturation, length, ..
        } = *self.weights;
        let index = self.corpus.index;
        let long = index.doc(slot).terms.len() as f32 / index.mean_length();
        let count = count as f32;
        count * (saturation + 1.0) / (count + saturation * (1.0 - length + length * long))
    }

    fn touch(&mut self, slot: Slot) {
        let place = slot as usize;
        if self.words[place] == 0.0 && self.kin[place] == 0.0 {
            self.touched.push(slot);
        }
    }

    /// Words of the question, alone and in pairs; for records, and for sessions as if each were one text.
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
            self.pair(one, other);
        }
    }

    fn pair(&mut self, one: Term, other: Term) {
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
        let weight = rarity(index.count(), having.len()) * self.weights.pair;
        for (slot, count) in having {
            let score = weight * self.said(slot, count);
            self.words[slot as usize] += score;
        }
    }

    /// Words that the best records have in common, as far as they are rare elsewhere.
    fn kin(&mut self) {
        let Weights {
            kin,
            kin_records,
            kin_terms,
            ..
        } = *self.weights;
        if kin <= 0.0 || kin_records == 0 {
            return;
        }
        let index = self.corpus.index;
        let best = top(&self.touched, kin_records, |slot| self.words[slot as usize]);
        let most = best.first().map_or(0.0, |&slot| self.words[slot as usize]);
        let mut company: FxHashMap<Term, f32> = FxHashMap::default();
        for &slot in &best {
            let share = self.words[slot as usize] / most;
            for (term, count) in counted(&index.doc(slot).terms) {
                let weight = index.weight(term);
                *company.entry(term).or_default() +=
                    share * weight * weight * self.said(slot, count);
            }
        }
        for (term, _) in &self.terms {
            company.remove(term);
        }
        let mut company: Vec<(Term, f32)> = company.into_iter().collect();
        company.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        company.truncate(kin_terms);
        let strongest = company.first().map_or(1.0, |(_, strength)| *strength);
        for (term, strength) in company {
            let weight = kin * strength / strongest * index.weight(term);
            for posting in index.postings(term) {
                let score = weight * self.said(posting.slot, posting.count);
                self.touch(posting.slot);
                self.kin[posting.slot as usize] += score;
            }
        }
    }

    /// Records that happened when the question says.
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
            if self.dates[slot] > 0.0 && !free && self.words[slot] == 0.0 && self.kin[slot] == 0.0 {
                self.touched.push(slot as Slot);
            }
        }
    }

    /// The records that were found by themselves; the best of them gets 1 for its words, its kin and its date.
    fn candidates(&mut self, vector: Option<&[f32]>) -> FxHashMap<Slot, Ranked> {
        let date = |slot: Slot| self.dates.get(slot as usize).copied().unwrap_or_default();
        let own = |slot: Slot| self.words[slot as usize] + self.kin[slot as usize] + date(slot);
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
            ranked.add(Sign::Kin, self.kin[slot as usize] / most);
            ranked.add(Sign::Date, date(slot) / most);
            let near = near.get(slot as usize).copied().unwrap_or_default();
            ranked.add(Sign::Vector, self.weights.vector * near);
            found.insert(slot, ranked);
        }
        found
    }

    /// How near each record is, from 0 for the farther half to 1 for the nearest; by slot.
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
        // What is as near as most are says nothing.
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

    /// Each record lends part of what it has to those before and after it; a question lends more to its reply.
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

    /// Records that mention what the question names, or what has most to do with that.
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

    /// Who said it, whether it asks, how firmly it is held, and how new it is.
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

/// The best of these slots, the best first; among equals the first.
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
