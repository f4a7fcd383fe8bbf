//! The inverted index of a space: terms, the records that contain them, sessions and speakers, with the statistics that
//! BM25 needs.
//!
//! Why not SQLite's FTS5 or tantivy: both compute how rare a term is over one index. All agents would share it, so that the
//! rank of a record would depend on what other agents have stored, and one could learn from it what they have; an index for
//! each agent would be thousands of tables or folders. Ranking here also needs more than a list of scored hits: BM25 of
//! the session as a whole, bigrams, the terms of the best records (query expansion), the neighbours of a record in its
//! conversation. FTS5 gives none of these, and tantivy only through its internals. And with the index in memory, ranking is
//! a pure function of values and can be tested as such.
//!
//! The data of a record that ranking reads for each term is kept apart from the rest and close together: its [`Extent`], eight
//! bytes by slot, and the terms of all texts, one after the other in one array. A search through the postings of a frequent
//! term then walks through memory in one direction.
//!
//! Cost: the index is built when a space is loaded, and stays in memory (155 MB for 100,000 records with
//! everything else of a space, docs/benchmarks.md). A term that no record contains now keeps its number.

use rustc_hash::FxHashMap;

use crate::text;

mod texts;
#[cfg(test)]
#[path = "index/texts_tests.rs"]
mod texts_tests;

use texts::Texts;

/// The number of a record in its space. Slots are not reused.
pub(crate) type Slot = u32;

pub(crate) type Term = u32;

pub(crate) type Session = u32;

/// Stands for a missing neighbour, session or speaker.
pub(crate) const NONE: u32 = u32::MAX;

/// A record that contains a term, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) slot: Slot,
    pub(crate) count: u32,
}

/// What BM25 needs to know of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Number of terms; 0 after the record was removed.
    pub(crate) length: u32,
    /// [`NONE`] for a record outside of sessions.
    pub(crate) session: Session,
}

/// What else ranking needs to know of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doc {
    /// The neighbours in the session, [`NONE`] at its ends.
    pub(crate) before: Slot,
    pub(crate) after: Slot,
    /// The number of the speaker, or [`NONE`].
    pub(crate) speaker: u32,
    /// Whether the text ends with a question mark.
    pub(crate) asks: bool,
    /// Whether the text contains a question mark.
    pub(crate) has_question: bool,
}

impl Extent {
    /// That of a slot without a record.
    const NONE: Self = Self {
        length: 0,
        session: NONE,
    };
}

impl Doc {
    /// That of a slot without a record.
    const NONE: Self = Self {
        before: NONE,
        after: NONE,
        speaker: NONE,
        asks: false,
        has_question: false,
    };
}

/// The index of a space (see the module).
#[derive(Debug, Default)]
pub(crate) struct Index {
    terms: FxHashMap<Box<str>, Term>,
    postings: Vec<Vec<Posting>>,
    extents: Vec<Extent>,
    docs: Vec<Doc>,
    texts: Texts,
    count: usize,
    /// Number of terms in all records.
    length: u64,
    /// Number of terms in the records of all sessions.
    session_length: u64,
    sessions: FxHashMap<Box<str>, Session>,
    ends: Vec<Ends>,
    speakers: FxHashMap<Box<str>, u32>,
    /// The words of the name of each speaker.
    names: Vec<Vec<String>>,
    /// The stems of these words.
    name_terms: Vec<Vec<String>>,
}

/// The last record and the totals of a session.
#[derive(Clone, Copy, Debug)]
struct Ends {
    last: Slot,
    length: u32,
    count: u32,
}

impl Index {
    /// Adds a record. Slots ascend, and a record follows the last one of its session.
    pub(crate) fn insert(
        &mut self,
        slot: Slot,
        text: &str,
        session: Option<&str>,
        speaker: Option<&str>,
    ) {
        let place = slot as usize;
        if self.docs.len() <= place {
            self.docs.resize(place + 1, Doc::NONE);
            self.extents.resize(place + 1, Extent::NONE);
        }
        let terms: Vec<Term> = text::terms(text)
            .iter()
            .map(|term| self.number(term))
            .collect();
        for (term, count) in counted(&terms) {
            let postings = &mut self.postings[term as usize];
            match postings.last() {
                Some(last) if last.slot >= slot => {
                    let at = postings.partition_point(|it| it.slot < slot);
                    postings.insert(at, Posting { slot, count });
                }
                _ => postings.push(Posting { slot, count }),
            }
        }
        self.texts.insert(slot, &terms);
        self.count += 1;
        self.length += terms.len() as u64;
        let length = terms.len() as u32;
        let session = session.map_or(NONE, |session| self.session(session));
        let mut before = NONE;
        if let Some(ends) = self.ends.get_mut(session as usize) {
            before = ends.last;
            ends.last = slot;
            ends.length += length;
            ends.count += 1;
            self.session_length += u64::from(length);
        }
        if before != NONE {
            self.docs[before as usize].after = slot;
        }
        self.extents[place] = Extent { length, session };
        self.docs[place] = Doc {
            before,
            after: NONE,
            speaker: speaker.map_or(NONE, |speaker| self.speaker(speaker)),
            asks: text.trim_end().ends_with('?'),
            has_question: text.contains('?'),
        };
    }

    /// Removes a record. Its neighbours become neighbours of each other.
    pub(crate) fn remove(&mut self, slot: Slot) {
        let place = slot as usize;
        let Some(doc) = self.docs.get_mut(place) else {
            return;
        };
        let doc = std::mem::replace(doc, Doc::NONE);
        let Extent { length, session } = std::mem::replace(&mut self.extents[place], Extent::NONE);
        for (term, _) in counted(self.texts.of(slot)) {
            let postings = &mut self.postings[term as usize];
            if let Ok(at) = postings.binary_search_by_key(&slot, |it| it.slot) {
                postings.remove(at);
            }
        }
        self.texts.remove(slot);
        self.count = self.count.saturating_sub(1);
        self.length = self.length.saturating_sub(u64::from(length));
        if let Some(ends) = self.ends.get_mut(session as usize) {
            ends.length = ends.length.saturating_sub(length);
            ends.count = ends.count.saturating_sub(1);
            if ends.last == slot {
                ends.last = doc.before;
            }
            self.session_length = self.session_length.saturating_sub(u64::from(length));
            if doc.before != NONE {
                self.docs[doc.before as usize].after = doc.after;
            }
            if doc.after != NONE {
                self.docs[doc.after as usize].before = doc.before;
            }
        }
    }

    pub(crate) fn term(&self, term: &str) -> Option<Term> {
        self.terms.get(term).copied()
    }

    /// The records that contain a term, sorted by slot.
    pub(crate) fn postings(&self, term: Term) -> &[Posting] {
        &self.postings[term as usize]
    }

    /// Inverse document frequency of a term.
    pub(crate) fn weight(&self, term: Term) -> f32 {
        rarity(self.count, self.postings(term).len())
    }

    pub(crate) fn doc(&self, slot: Slot) -> &Doc {
        &self.docs[slot as usize]
    }

    /// By slot.
    pub(crate) fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// The terms of a record in the order of its text; none after it was removed.
    pub(crate) fn terms_of(&self, slot: Slot) -> &[Term] {
        self.texts.of(slot)
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Number of slots, with those of removed records.
    pub(crate) fn slots(&self) -> usize {
        self.docs.len()
    }

    /// Mean number of terms of a record, at least 1.
    pub(crate) fn mean_length(&self) -> f32 {
        (self.length as f32 / self.count.max(1) as f32).max(1.0)
    }

    pub(crate) fn session_count(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn session_length(&self, session: Session) -> u32 {
        self.ends[session as usize].length
    }

    /// Mean number of terms of a session, at least 1.
    pub(crate) fn mean_session_length(&self) -> f32 {
        (self.session_length as f32 / self.ends.len().max(1) as f32).max(1.0)
    }

    /// The speakers with a name among these words.
    pub(crate) fn speakers_named(&self, words: &[String]) -> Vec<u32> {
        let named = |names: &Vec<String>| names.iter().any(|name| words.contains(name));
        let speakers = self.names.iter().enumerate();
        speakers
            .filter(|(_, names)| named(names))
            .map(|(number, _)| number as u32)
            .collect()
    }

    /// The names of these speakers, as stems.
    pub(crate) fn names_of(&self, speakers: &[u32]) -> impl Iterator<Item = &str> {
        let names = speakers
            .iter()
            .flat_map(|&it| &self.name_terms[it as usize]);
        names.map(String::as_str)
    }

    fn number(&mut self, term: &str) -> Term {
        if let Some(&number) = self.terms.get(term) {
            return number;
        }
        let number = self.postings.len() as Term;
        self.terms.insert(term.into(), number);
        self.postings.push(Vec::new());
        number
    }

    fn session(&mut self, name: &str) -> Session {
        if let Some(&number) = self.sessions.get(name) {
            return number;
        }
        let number = self.ends.len() as Session;
        self.sessions.insert(name.into(), number);
        self.ends.push(Ends {
            last: NONE,
            length: 0,
            count: 0,
        });
        number
    }

    fn speaker(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.speakers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.speakers.insert(name.into(), number);
        let words: Vec<String> = text::words(name)
            .filter(|word| !text::is_common(word))
            .collect();
        self.name_terms
            .push(words.iter().map(|word| text::term(word)).collect());
        self.names.push(words);
        number
    }
}

/// Inverse document frequency as BM25 has it, of a term in `having` of `all` records.
pub(crate) fn rarity(all: usize, having: usize) -> f32 {
    let (all, having) = (all as f32, having as f32);
    (1.0 + (all - having + 0.5).max(0.0) / (having + 0.5)).ln()
}

/// Each term once, with its count.
pub(crate) fn counted(terms: &[Term]) -> Vec<(Term, u32)> {
    let mut sorted = terms.to_vec();
    sorted.sort_unstable();
    let mut counted: Vec<(Term, u32)> = Vec::with_capacity(sorted.len());
    for term in sorted {
        match counted.last_mut() {
            Some((last, count)) if *last == term => *count += 1,
            _ => counted.push((term, 1)),
        }
    }
    counted
}
