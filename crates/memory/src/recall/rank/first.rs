//! The first stage of ranking: candidates by words, query expansion, dates and vectors.

use rustc_hash::{FxHashMap, FxHashSet};

use super::arrays::Arrays;
use super::saturation::Saturation;
use super::{CANDIDATES, Corpus, EXACT, FEW, Sign};
use crate::index::{Extent, Posting, Slot, Term, counted, rarity};
use crate::recall::best::{self, best};
use crate::recall::question::Question;
use crate::recall::weights::Weights;
use crate::text::date;

/// One question on its way through the stages.
pub(super) struct Ranking<'a> {
    pub(super) corpus: Corpus<'a>,
    pub(super) question: &'a Question,
    pub(super) weights: &'a Weights,
    pub(super) arrays: &'a mut Arrays,
    /// Numbers of the speakers that the question names.
    pub(super) speakers: Vec<u32>,
    /// The question's known terms, each once, with a weight: the name of a speaker counts less.
    terms: Vec<(Term, f32)>,
    saturation: Saturation,
}

impl<'a> Ranking<'a> {
    pub(super) fn new(
        corpus: Corpus<'a>,
        question: &'a Question,
        weights: &'a Weights,
        arrays: &'a mut Arrays,
    ) -> Self {
        let index = corpus.index;
        arrays.clear(index);
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
        Self {
            corpus,
            question,
            weights,
            arrays,
            speakers,
            terms,
            saturation: Saturation::new(weights, index),
        }
    }

    /// BM25 of the question's terms for records and for sessions, and of its bigrams for records.
    pub(super) fn words(&mut self) {
        for place in 0..self.terms.len() {
            let (term, share) = self.terms[place];
            self.word(term, share);
        }
        let index = self.corpus.index;
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

    fn word(&mut self, term: Term, share: f32) {
        let index = self.corpus.index;
        let extents = index.extents();
        let Arrays {
            words,
            sessions,
            counts,
            counted,
            ..
        } = &mut *self.arrays;
        let weight = index.weight(term) * share;
        for &Posting { slot, count } in index.postings(term) {
            let Extent { length, session } = extents[slot as usize];
            words[slot as usize] += weight * self.saturation.factor(count, length);
            // A record outside of sessions has a number that is beyond all of them.
            if let Some(so_far) = counts.get_mut(session as usize) {
                if *so_far == 0 {
                    counted.push(session);
                }
                *so_far += count;
            }
        }
        let mean = index.mean_session_length();
        let weight = rarity(index.session_count(), counted.len()) * share;
        for session in counted.drain(..) {
            let count = std::mem::take(&mut counts[session as usize]) as f32;
            let long = index.session_length(session) as f32 / mean;
            let said = count * 2.2 / (count + 1.2 * (0.25 + 0.75 * long));
            sessions[session as usize] += weight * said;
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
                let count = adjacent(index.terms_of(posting.slot), one, other);
                (count > 0).then_some((posting.slot, count))
            })
            .collect();
        let weight = rarity(index.count(), having.len()) * self.weights.bigram;
        let extents = index.extents();
        for (slot, count) in having {
            let factor = self.saturation.factor(count, extents[slot as usize].length);
            self.arrays.words[slot as usize] += weight * factor;
        }
    }

    /// Query expansion: the rare terms that the best records have in common are searched, too.
    pub(super) fn expand(&mut self) {
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
        let mut terms = self.shared_terms(expansion_records);
        terms.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        terms.truncate(expansion_terms);
        let strongest = terms.first().map_or(1.0, |(_, strength)| *strength);
        let extents = index.extents();
        for (term, strength) in terms {
            let weight = expansion * strength / strongest * index.weight(term);
            for &Posting { slot, count } in index.postings(term) {
                let factor = self.saturation.factor(count, extents[slot as usize].length);
                self.arrays.expansion[slot as usize] += weight * factor;
            }
        }
    }

    /// The terms of the best records that the question does not have, each with its strength.
    fn shared_terms(&mut self, records: usize) -> Vec<(Term, f32)> {
        let index = self.corpus.index;
        let Arrays { words, keys, .. } = &mut *self.arrays;
        let mut terms: FxHashMap<Term, f32> = FxHashMap::default();
        let mut most = None;
        let best = best(words, records, 0.0, keys);
        // The strongest first: terms are added up in this order.
        best.sort_unstable_by(|a, b| b.cmp(a));
        for slot in best.iter().map(|key| best::slot(*key)) {
            let score = words[slot as usize];
            let share = score / *most.get_or_insert(score);
            let length = index.extents()[slot as usize].length;
            for (term, count) in counted(index.terms_of(slot)) {
                let weight = index.weight(term);
                let factor = self.saturation.factor(count, length);
                *terms.entry(term).or_default() += share * weight * weight * factor;
            }
        }
        for (term, _) in &self.terms {
            terms.remove(term);
        }
        terms.into_iter().collect()
    }

    /// Records of events at a date that the question names.
    pub(super) fn dates(&mut self) {
        let asked = &self.question.dates;
        if asked.is_empty() || self.weights.date <= 0.0 {
            return;
        }
        let weight = self.weights.date * 3.0;
        let agrees = |millis| {
            let day = date::civil(millis);
            let each = asked.iter().map(|date| date.agrees(day));
            weight * each.fold(0.0, f32::max)
        };
        // Records of one day mostly stand together: the calendar is asked once for them.
        let mut last = None;
        let dates = self.corpus.occurred.iter().map(|&millis| {
            let day = millis.div_euclid(date::DAY);
            match last {
                Some((known, score)) if known == day => score,
                _ => last.insert((day, agrees(millis))).1,
            }
        });
        self.arrays.dates.extend(dates);
    }

    /// The similarity of each record by slot, scaled from 0 for the median and below to 1 for the nearest.
    pub(super) fn near(&mut self, vector: Option<&[f32]>) {
        let Some(vector) = vector else {
            return;
        };
        let vectors = self.corpus.vectors;
        let Arrays {
            near,
            keys,
            ordered,
            ..
        } = &mut *self.arrays;
        vectors.scan(vector, near);
        for key in best(near, EXACT, f32::NEG_INFINITY, keys) {
            let slot = best::slot(*key);
            near[slot as usize] = vectors.near(slot, vector).unwrap_or(f32::NEG_INFINITY);
        }
        let known = near.iter().filter(|it| **it > f32::NEG_INFINITY);
        ordered.clear();
        ordered.extend(known.map(|it| best::ordered(*it)));
        let middle = ordered.len() / 2;
        // The median is the zero point.
        let least = match ordered.len() {
            0 => {
                near.clear();
                return;
            }
            few if few < FEW => 0.0,
            _ => best::unordered(*ordered.select_nth_unstable(middle).1),
        };
        let most = near.iter().fold(-1.0, |most: f32, it| most.max(*it));
        let width = (most - least).max(1e-6);
        for similarity in near {
            *similarity = ((*similarity - least) / width).max(0.0);
        }
    }

    /// The candidates of the first stage. Words, expansion and date of the best one add up to 1.
    pub(super) fn candidates(&mut self) {
        let Arrays {
            words,
            expansion,
            dates,
            near,
            together,
            keys,
            found,
            ..
        } = &mut *self.arrays;
        together.clear();
        together.extend(
            words
                .iter()
                .zip(&*expansion)
                .map(|(one, other)| one + other),
        );
        let dated = together.iter_mut().zip(&*dates);
        for ((score, date), extent) in dated.zip(self.corpus.index.extents()) {
            // A record without terms is not found by its date alone.
            *score = if extent.length > 0 {
                *score + date
            } else {
                0.0
            };
        }
        let own = best(together, CANDIDATES, 0.0, keys);
        let most = own.iter().max().map_or(1.0, |key| best::score(*key));
        let most = most.max(f32::MIN_POSITIVE);
        for key in own {
            found.entry(best::slot(*key));
        }
        for key in best(near, CANDIDATES, 0.0, keys) {
            found.entry(best::slot(*key));
        }
        for ranked in found.all_mut() {
            let slot = ranked.slot as usize;
            ranked.add(Sign::Words, words[slot] / most);
            ranked.add(Sign::Expansion, expansion[slot] / most);
            let date = dates.get(slot).copied().unwrap_or_default();
            ranked.add(Sign::Date, date / most);
            let near = near.get(slot).copied().unwrap_or_default();
            ranked.add(Sign::Vector, self.weights.vector * near);
        }
    }
}

/// How often two terms follow each other.
fn adjacent(terms: &[Term], one: Term, other: Term) -> u32 {
    let pairs = terms.iter().zip(terms.get(1..).unwrap_or_default());
    // Without a branch for each pair, so that many are compared at once.
    pairs
        .map(|(first, second)| u32::from((*first == one) & (*second == other)))
        .sum()
}
