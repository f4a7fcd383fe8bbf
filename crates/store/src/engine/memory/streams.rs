//! All streams by name, and the finished ones by when.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;

use super::log::Log;
use super::sorted::Sorted;
use crate::Error;
use crate::batch::NewEvent;
use crate::entry::{Entry, StreamId, StreamState};

/// Streams by number; everything else refers to them by it.
#[derive(Debug, Default)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    free: Vec<u32>,
    by_name: HashTable<u32>,
    /// The finished ones.
    by_end: Sorted,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct Stream {
    name: Box<str>,
    finished: Option<i64>,
    log: Log,
}

impl Stream {
    /// What finished streams are listed by: whether all events are dropped, then when it was.
    fn end(&self) -> (bool, Option<i64>) {
        (self.log.first() > self.log.last(), self.finished)
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

    pub(super) fn read(
        &self,
        stream: &StreamId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Arc<Entry>>, Error> {
        let Some(id) = self.find(stream) else {
            return Ok(Vec::new());
        };
        let log = &self.streams[id as usize].log;
        let first = log.first();
        if after.saturating_add(1) < first {
            let stream = stream.clone();
            return Err(Error::Compacted { stream, first });
        }
        Ok(log.read(after, limit))
    }

    pub(super) fn append(&mut self, stream: &StreamId, events: &[NewEvent]) {
        if events.is_empty() {
            return;
        }
        let id = self.find(stream).unwrap_or_else(|| self.create(stream));
        self.streams[id as usize].log.append(events);
    }

    pub(super) fn finish(&mut self, stream: &StreamId, at: i64) {
        if let Some(id) = self.find(stream) {
            self.relist(id, |stream| {
                stream.finished = Some(at);
                stream.log.shrink();
            });
        }
    }

    pub(super) fn truncate(&mut self, stream: &StreamId, through: u64) {
        if let Some(id) = self.find(stream) {
            self.relist(id, |stream| stream.log.truncate(through));
        }
    }

    pub(super) fn forget(&mut self, stream: &StreamId) {
        let hash = self.hasher.hash_one(stream.as_str());
        let named = |id: &u32| *self.streams[*id as usize].name == *stream.as_str();
        let Ok(entry) = self.by_name.find_entry(hash, named) else {
            return;
        };
        let (id, _) = entry.remove();
        self.relist(id, |stream| *stream = Stream::default());
        self.free.push(id);
    }

    /// The oldest first.
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
        self.by_end.len()
    }

    fn find(&self, stream: &StreamId) -> Option<u32> {
        let hash = self.hasher.hash_one(stream.as_str());
        let named = |id: &u32| *self.streams[*id as usize].name == *stream.as_str();
        self.by_name.find(hash, named).copied()
    }

    fn create(&mut self, stream: &StreamId) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.streams.push(Stream::default());
            u32::try_from(self.streams.len() - 1).expect("streams are counted in 32 bits")
        });
        self.streams[id as usize].name = stream.as_str().into();
        let (streams, hasher) = (&self.streams, &self.hasher);
        let hash = |id: &u32| hasher.hash_one(&*streams[*id as usize].name);
        self.by_name.insert_unique(hash(&id), id, hash);
        id
    }

    /// Finished streams, the oldest first: either those that have events or those that have none.
    fn ended(&self, empty: bool, before: i64, limit: usize) -> Vec<(StreamId, StreamState)> {
        let stream = |id: u32| &self.streams[id as usize];
        let start = self.by_end.before(|id| stream(id).end() < (empty, None));
        let streams = self.by_end.from(start).map(stream);
        let within = streams.take_while(|stream| stream.end() < (empty, Some(before)));
        let named = within.map(|stream| (StreamId::new(&*stream.name), stream.state()));
        named.take(limit).collect()
    }

    /// Changes a stream and its place among the finished ones, if it was or is one.
    fn relist(&mut self, id: u32, change: impl FnOnce(&mut Stream)) {
        let streams = &mut self.streams;
        let order = |streams: &[Stream], other: u32| {
            let end = |id: u32| (streams[id as usize].end(), id);
            end(other).cmp(&end(id))
        };
        if streams[id as usize].finished.is_some() {
            self.by_end.remove(|other| order(streams, other));
        }
        change(&mut streams[id as usize]);
        if streams[id as usize].finished.is_some() {
            let place = self.by_end.before(|other| order(streams, other).is_lt());
            self.by_end.insert(place, id);
        }
    }
}
