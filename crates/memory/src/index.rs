//! Which records have which terms, and where they stand: an inverted index with the statistics that ranking needs.
//!
//! It holds one space and lives in memory. Terms are counted within the space, so that what is rare for one agent does
//! not depend on what another one has seen.

use rustc_hash::FxHashMap;

use crate::text;

/// The place of a record in its space.
pub(crate) type Slot = u32;

/// The number of a term.
pub(crate) type Term = u32;

/// The number of a session.
pub(crate) type Session = u32;

/// No slot.
pub(crate) const NONE: Slot = Slot::MAX;

/// A record that has a term, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) slot: Slot,
    pub(crate) count: u32,
}

/// What ranking knows of a record without looking at it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doc {
    /// Its terms in order; empty for a slot that is free.
    pub(crate) terms: Box<[Term]>,
    pub(crate) session: Option<Session>,
    /// Its neighbours in the session, [`NONE`] at the ends.
    pub(crate) before: Slot,
    pub(crate) after: Slot,
    /// Whether its last sentence is a question.
    pub(crate) asks: bool,
    /// Whether a question is in it.
    pub(crate) has_question: bool,
    /// The names of who said it.
    pub(crate) speaker: Option<u32>,
}

/// The index of a space.
#[derive(Debug, Default)]
pub(crate) struct Index {
    terms: FxHashMap<Box<str>, Term>,
    postings: Vec<Vec<Posting>>,
    docs: Vec<Doc>,
    /// How many slots hold a record.
    count: usize,
    /// How many terms all records have together.
    length: u64,
    sessions: FxHashMap<Box<str>, Session>,
    ends: Vec<Ends>,
    speakers: FxHashMap<Box<str>, u32>,
    /// The words of each speaker's name.
    names: Vec<Vec<String>>,
    /// The same as terms.
    name_terms: Vec<Vec<String>>,
}

/// What a session is made of.
#[derive(Clone, Copy, Debug)]
struct Ends {
    last: Slot,
    length: u32,
    count: u32,
}

impl Index {
    /// Takes a record in, at a slot that is free or the next one.
    pub(crate) fn insert(
        &mut self,
        slot: Slot,
        text: &str,
        session: Option<&str>,
        speaker: Option<&str>,
    ) {
        let place = slot as usize;
        if self.docs.len() <= place {
            self.docs.resize_with(place + 1, Doc::default);
        }
        let terms: Box<[Term]> = text::terms(text)
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
        self.count += 1;
        self.length += terms.len() as u64;
        let length = terms.len() as u32;
        let session = session.map(|session| self.session(session));
        let mut before = NONE;
        if let Some(session) = session {
            let ends = &mut self.ends[session as usize];
            before = ends.last;
            ends.last = slot;
            ends.length += length;
            ends.count += 1;
        }
        if before != NONE {
            self.docs[before as usize].after = slot;
        }
        let trimmed = text.trim_end();
        self.docs[place] = Doc {
            terms,
            session,
            before,
            after: NONE,
            asks: trimmed.ends_with('?'),
            has_question: text.contains('?'),
            speaker: speaker.map(|speaker| self.speaker(speaker)),
        };
    }

    /// Takes a record out. Its neighbours become each other's.
    pub(crate) fn remove(&mut self, slot: Slot) {
        let Some(doc) = self.docs.get_mut(slot as usize).map(std::mem::take) else {
            return;
        };
        for (term, _) in counted(&doc.terms) {
            let postings = &mut self.postings[term as usize];
            if let Ok(at) = postings.binary_search_by_key(&slot, |it| it.slot) {
                postings.remove(at);
            }
        }
        self.count = self.count.saturating_sub(1);
        self.length = self.length.saturating_sub(doc.terms.len() as u64);
        if let Some(session) = doc.session {
            let ends = &mut self.ends[session as usize];
            ends.length = ends.length.saturating_sub(doc.terms.len() as u32);
            ends.count = ends.count.saturating_sub(1);
            if ends.last == slot {
                ends.last = doc.before;
            }
            if doc.before != NONE {
                self.docs[doc.before as usize].after = doc.after;
            }
            if doc.after != NONE {
                self.docs[doc.after as usize].before = doc.before;
            }
        }
    }

    /// The number of a term that some record has had.
    pub(crate) fn term(&self, term: &str) -> Option<Term> {
        self.terms.get(term).copied()
    }

    /// The records that have a term, by slot.
    pub(crate) fn postings(&self, term: Term) -> &[Posting] {
        &self.postings[term as usize]
    }

    /// How much a term says: more, the fewer records have it.
    pub(crate) fn weight(&self, term: Term) -> f32 {
        rarity(self.count, self.postings(term).len())
    }

    /// The record at a slot.
    pub(crate) fn doc(&self, slot: Slot) -> &Doc {
        &self.docs[slot as usize]
    }

    /// How many records there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How many slots there are, free ones included.
    pub(crate) fn slots(&self) -> usize {
        self.docs.len()
    }

    /// The mean number of terms of a record; never 0.
    pub(crate) fn mean_length(&self) -> f32 {
        (self.length as f32 / self.count.max(1) as f32).max(1.0)
    }

    /// How many sessions there are.
    pub(crate) fn session_count(&self) -> usize {
        self.ends.len()
    }

    /// How many terms a session has.
    pub(crate) fn session_length(&self, session: Session) -> u32 {
        self.ends[session as usize].length
    }

    /// The mean number of terms of a session; never 0.
    pub(crate) fn mean_session_length(&self) -> f32 {
        let length: u64 = self.ends.iter().map(|ends| u64::from(ends.length)).sum();
        (length as f32 / self.ends.len().max(1) as f32).max(1.0)
    }

    /// The speakers one of whose names is among these words.
    pub(crate) fn speakers_named(&self, words: &[String]) -> Vec<u32> {
        let named = |names: &Vec<String>| names.iter().any(|name| words.contains(name));
        let speakers = self.names.iter().enumerate();
        speakers
            .filter(|(_, names)| named(names))
            .map(|(number, _)| number as u32)
            .collect()
    }

    /// The names of these speakers, as terms.
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

/// How much it says that something is among `having` of `all`.
pub(crate) fn rarity(all: usize, having: usize) -> f32 {
    let (all, having) = (all as f32, having as f32);
    (1.0 + (all - having + 0.5).max(0.0) / (having + 0.5)).ln()
}

/// Each term once, with how often it comes.
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
