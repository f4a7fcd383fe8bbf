//! All streams by name, and the finished ones by their time.

use std::collections::BTreeSet;

use super::log::{Dictionary, Log};
use super::name_map::NameMap;
use crate::Error;
use crate::batch::NewEvent;
use crate::entry::{StreamId, StreamState};
use crate::page::Page;

/// Streams by number. Names and finishing times refer to them by it; the numbers of forgotten streams are reused.
#[derive(Debug, Default)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    free: Vec<u32>,
    dictionary: Dictionary,
    by_name: NameMap,
    /// Finished streams as (time, number): first those that have events, then those without any.
    by_end: [BTreeSet<(i64, u32)>; 2],
}

#[derive(Debug, Default)]
struct Stream {
    name: Box<str>,
    finished: Option<i64>,
    log: Log,
}

impl Stream {
    /// For a finished stream: whether all events are dropped, and the finishing time.
    fn end(&self) -> Option<(bool, i64)> {
        let empty = self.log.first() > self.log.last();
        self.finished.map(|at| (empty, at))
    }

    fn state(&self) -> StreamState {
        StreamState {
            first: self.log.first(),
            last: self.log.last(),
            finished: self.finished,
        }
    }
}

impl Streams {
    pub(super) fn state(&self, stream: &StreamId) -> Option<StreamState> {
        let id = self.find(stream)?;
        Some(self.streams[id as usize].state())
    }

    pub(super) fn read(&self, stream: &StreamId, page: &mut Page) -> Result<(), Error> {
        let Some(id) = self.find(stream) else {
            return Ok(());
        };
        let log = &self.streams[id as usize].log;
        let first = log.first();
        if page.after().saturating_add(1) < first {
            let stream = stream.clone();
            return Err(Error::Compacted { stream, first });
        }
        log.read(page, &self.dictionary);
        Ok(())
    }

    pub(super) fn append(&mut self, stream: &StreamId, events: &[NewEvent]) {
        if events.is_empty() {
            return;
        }
        let id = self.find(stream).unwrap_or_else(|| self.create(stream));
        let log = &mut self.streams[id as usize].log;
        log.append(events, &self.dictionary);
    }

    pub(super) fn finish(&mut self, stream: &StreamId, at: i64) {
        if let Some(id) = self.find(stream) {
            self.relist(id, |stream, dictionary| {
                stream.finished = Some(at);
                stream.log.seal(dictionary);
            });
        }
    }

    pub(super) fn truncate(&mut self, stream: &StreamId, through: u64) {
        if let Some(id) = self.find(stream) {
            self.relist(id, |stream, dictionary| {
                stream.log.truncate(through, dictionary)
            });
        }
    }

    pub(super) fn replace(&mut self, stream: &StreamId, sequence: u64, payload: &[u8]) {
        if let Some(id) = self.find(stream) {
            let log = &mut self.streams[id as usize].log;
            log.replace(sequence, payload, &self.dictionary);
        }
    }

    pub(super) fn forget(&mut self, stream: &StreamId) {
        let name = stream.as_str();
        let named = |id: u32| *self.streams[id as usize].name == *name;
        if let Some(id) = self.by_name.remove(name, named) {
            self.relist(id, |stream, _| *stream = Stream::default());
            self.free.push(id);
        }
    }

    /// Streams by name. The numbers have no order of names, so that all of them are looked at.
    pub(super) fn listed(&self, after: &str, limit: usize) -> Vec<(StreamId, StreamState)> {
        let later = |stream: &&Stream| stream.log.last() > 0 && *stream.name > *after;
        let mut streams: Vec<_> = self.streams.iter().filter(later).collect();
        streams.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let named = streams.into_iter().take(limit);
        named
            .map(|stream| (StreamId::new(&*stream.name), stream.state()))
            .collect()
    }

    pub(super) fn finished(&self, before: i64, limit: usize) -> Vec<(StreamId, StreamState)> {
        let mut streams = self.ended(true, before, limit);
        streams.extend(self.ended(false, before, limit));
        streams.sort_by_key(|(_, state)| state.finished);
        streams.truncate(limit);
        streams
    }

    pub(super) fn compactable(&self, before: i64, limit: usize) -> Vec<(StreamId, StreamState)> {
        self.ended(false, before, limit)
    }

    pub(super) fn finished_count(&self) -> usize {
        self.by_end.iter().map(BTreeSet::len).sum()
    }

    fn find(&self, stream: &StreamId) -> Option<u32> {
        let name = stream.as_str();
        self.by_name
            .find(name, |id| *self.streams[id as usize].name == *name)
    }

    fn create(&mut self, stream: &StreamId) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.streams.push(Stream::default());
            u32::try_from(self.streams.len() - 1).expect("streams are counted in 32 bits")
        });
        self.streams[id as usize].name = stream.as_str().into();
        self.by_name.insert(stream.as_str(), id);
        id
    }

    /// Finished streams, the oldest first: either those that have events or those that have none.
    fn ended(&self, empty: bool, before: i64, limit: usize) -> Vec<(StreamId, StreamState)> {
        let ended = self.by_end[usize::from(empty)].range(..(before, 0));
        let streams = ended.take(limit).map(|(_, id)| &self.streams[*id as usize]);
        let named = streams.map(|stream| (StreamId::new(&*stream.name), stream.state()));
        named.collect()
    }

    /// Changes a stream and moves its entry in `by_end` accordingly.
    fn relist(&mut self, id: u32, change: impl FnOnce(&mut Stream, &mut Dictionary)) {
        let stream = &mut self.streams[id as usize];
        if let Some((empty, at)) = stream.end() {
            self.by_end[usize::from(empty)].remove(&(at, id));
        }
        change(stream, &mut self.dictionary);
        if let Some((empty, at)) = stream.end() {
            self.by_end[usize::from(empty)].insert((at, id));
        }
    }
}
