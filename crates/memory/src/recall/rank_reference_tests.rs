//! The ranking in its plain form: hash maps, sorted lists, one step after the other. What `rank` gives has to be equal to it,
//! to the last bit.

use rustc_hash::{FxHashMap, FxHashSet};

use super::question::Question;
use super::rank::{CANDIDATES, Corpus, EXACT, FEW, Ranked, Sign};
use super::weights::Weights;
use crate::index::{NONE, Session, Slot, Term, counted, rarity};
use crate::text::date::{self, Millis};

/// The best allowed records for a question, the best first.
pub(super) fn rank(
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
        let long = index.terms_of(slot).len() as f32 / index.mean_length();
        let count = count as f32;
        count * (k1 + 1.0) / (count + k1 * (1.0 - b + b * long))
    }

    fn session(&self, slot: Slot) -> Option<Session> {
        let session = self.corpus.index.extents()[slot as usize].session;
        (session != NONE).then_some(session)
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
                if let Some(session) = self.session(posting.slot) {
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
                let terms = index.terms_of(posting.slot);
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
            for (term, count) in counted(index.terms_of(slot)) {
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
            let free = self.corpus.index.terms_of(slot as Slot).is_empty();
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
        let mut scanned = Vec::new();
        vectors.scan(vector, &mut scanned);
        let known = |near: f32| near.is_finite().then_some(near);
        let mut near: Vec<Option<f32>> = scanned.into_iter().map(known).collect();
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
            let session = self.session(ranked.slot);
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
            if self.speakers.contains(&doc.speaker) {
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
