//! The events of one stream, in few pieces of memory.

use std::sync::Arc;

use bytes::Bytes;

use crate::batch::NewEvent;
use crate::engine::varint;
use crate::entry::Entry;

/// How much a chunk holds before the next one is begun: the most that is walked through to find a cursor.
const CHUNK: usize = 16 << 10;

/// Events one after the other, each with its length before it. A small stream is one chunk, so one
/// allocation; a long one is many, so that a cursor is found without walking through all of it.
#[derive(Debug)]
pub(super) struct Log {
    /// None of them is empty.
    full: Vec<Chunk>,
    open: Chunk,
    last: u64,
}

#[derive(Debug)]
struct Chunk {
    /// The sequence number of its first event.
    first: u64,
    bytes: Vec<u8>,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            full: Vec::new(),
            open: Chunk::from(1),
            last: 0,
        }
    }
}

impl Log {
    /// The oldest event that is kept; `last + 1` if there is none.
    pub(super) fn first(&self) -> u64 {
        self.full.first().unwrap_or(&self.open).first
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn append(&mut self, events: &[NewEvent]) {
        for event in events {
            if self.open.bytes.len() >= CHUNK {
                let next = Chunk::from(self.last + 1);
                self.full.push(std::mem::replace(&mut self.open, next));
            }
            varint::put_piece(&mut self.open.bytes, event.payload());
            self.last += 1;
        }
    }

    /// Gives back memory that was meant for further events.
    pub(super) fn shrink(&mut self) {
        self.full.shrink_to_fit();
        self.open.bytes.shrink_to_fit();
    }

    /// Drops the events up to and including this one.
    pub(super) fn truncate(&mut self, through: u64) {
        let through = through.min(self.last);
        let next = self.full.iter().skip(1).chain([&self.open]);
        let gone = next.take_while(|next| next.first <= through + 1).count();
        self.full.drain(..gone.min(self.full.len()));
        let last = self.last;
        let chunk = self.full.first_mut().unwrap_or(&mut self.open);
        if let Some(events) = (through + 1).checked_sub(chunk.first) {
            chunk.drop_first(events);
            debug_assert!(chunk.first <= last + 1, "no more is dropped than there is");
        }
    }

    /// The events after this one, at most `limit`.
    pub(super) fn read(&self, after: u64, limit: usize) -> Vec<Arc<Entry>> {
        let available = usize::try_from(self.last.saturating_sub(after)).unwrap_or(usize::MAX);
        let mut entries = Vec::with_capacity(limit.min(available));
        let started = self.full.partition_point(|chunk| chunk.first <= after + 1);
        let chunks = self.full.iter().chain([&self.open]);
        for chunk in chunks.skip(started.saturating_sub(1)) {
            chunk.read(after, limit, &mut entries);
        }
        entries
    }
}

impl Chunk {
    fn from(first: u64) -> Self {
        let bytes = Vec::new();
        Self { first, bytes }
    }

    fn drop_first(&mut self, events: u64) {
        let mut rest = &self.bytes[..];
        for _ in 0..events {
            (_, rest) = varint::piece(rest);
        }
        self.bytes = rest.to_vec();
        self.first += events;
    }

    fn read(&self, after: u64, limit: usize, entries: &mut Vec<Arc<Entry>>) {
        let mut sequence = self.first;
        let mut rest = &self.bytes[..];
        while !rest.is_empty() && entries.len() < limit {
            let payload;
            (payload, rest) = varint::piece(rest);
            if sequence > after {
                let payload = Bytes::copy_from_slice(payload);
                entries.push(Arc::new(Entry::new(sequence, payload, None)));
            }
            sequence += 1;
        }
    }
}
