//! The events of one stream in few allocations, compressed once the stream is finished.

use std::borrow::Cow;

use bytes::Bytes;
use lz4_flex::block;

use crate::batch::NewEvent;
use crate::engine::varint;
use crate::page::Page;

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;

/// The size at which a chunk is full. It bounds the bytes walked through to find a cursor, and the bytes
/// compressed at once.
const CHUNK: usize = 16 << 10;

/// The bytes of the first finished log that become the dictionary.
const SAMPLE: usize = 4 << 10;

/// The dictionary for compressing finished logs: the beginning of the first finished log. It is chosen once.
/// That first log was compressed with the empty dictionary and so does not refer to it; LZ4 decompresses it
/// with either.
#[derive(Debug, Default)]
pub(super) struct Dictionary(Box<[u8]>);

impl Dictionary {
    fn offer(&mut self, log: &[u8]) {
        if self.0.is_empty() {
            self.0 = log[..log.len().min(SAMPLE)].into();
        }
    }
}

/// The events of a stream. A short stream is one chunk, so one allocation; a long one is many, so that a
/// cursor is found without walking through all of it.
#[derive(Debug)]
pub(super) struct Log {
    /// Full chunks, none of them empty. Few streams have any, and for all others a `Vec` would take three times
    /// the space of this pointer.
    #[expect(
        clippy::box_collection,
        reason = "it is the size of the log that counts"
    )]
    full: Option<Box<Vec<Chunk>>>,
    open: Chunk,
    last: u64,
}

/// A run of events, each prefixed with its length.
#[derive(Debug)]
struct Chunk {
    /// The sequence number of its first event; in an empty chunk, of the next event.
    first: u64,
    events: Events,
}

#[derive(Debug)]
enum Events {
    Plain(Vec<u8>),
    /// LZ4, for a finished stream. The events of one stream repeat its ids and field names.
    Compressed(Box<[u8]>),
}

impl Default for Log {
    fn default() -> Self {
        Self {
            full: None,
            open: Chunk::from(1),
            last: 0,
        }
    }
}

impl Log {
    /// The oldest event that is kept; `last + 1` if there is none.
    pub(super) fn first(&self) -> u64 {
        self.full().first().unwrap_or(&self.open).first
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn append(&mut self, events: &[NewEvent], dictionary: &Dictionary) {
        for event in events {
            if self.open.events.plain(dictionary).len() >= CHUNK {
                let next = Chunk::from(self.last + 1);
                let full = std::mem::replace(&mut self.open, next);
                self.full.get_or_insert_default().push(full);
            }
            varint::put_piece(self.open.events.plain(dictionary), event.payload());
            self.last += 1;
        }
    }

    /// Compresses the log of a finished stream. A long log only gives back unused capacity: compressing all of it
    /// would make other batches wait.
    pub(super) fn seal(&mut self, dictionary: &mut Dictionary) {
        match &mut self.full {
            None => self.open.events.compress(dictionary),
            Some(full) => {
                full.shrink_to_fit();
                self.open.events.plain(dictionary).shrink_to_fit();
            }
        }
    }

    /// Drops the events up to and including this one.
    pub(super) fn truncate(&mut self, through: u64, dictionary: &Dictionary) {
        let first = through.min(self.last) + 1;
        // A chunk can go when the next one begins at or before the first kept event.
        let starts = self
            .full()
            .iter()
            .skip(1)
            .chain([&self.open])
            .map(|chunk| chunk.first);
        let gone = starts.take_while(|start| *start <= first).count();
        if let Some(full) = &mut self.full {
            full.drain(..gone.min(full.len()));
        }
        self.full.take_if(|full| full.is_empty());
        let oldest = self.full.as_mut().and_then(|full| full.first_mut());
        oldest
            .unwrap_or(&mut self.open)
            .drop_before(first, dictionary);
    }

    /// Writes another payload for an event, if it is there.
    pub(super) fn replace(&mut self, sequence: u64, payload: &[u8], dictionary: &Dictionary) {
        if sequence < self.first() || sequence > self.last {
            return;
        }
        let full = self
            .full
            .as_deref_mut()
            .map_or(&mut [][..], Vec::as_mut_slice);
        let mut chunks = full.iter_mut().chain([&mut self.open]).rev();
        if let Some(chunk) = chunks.find(|chunk| chunk.first <= sequence) {
            let place = sequence - chunk.first;
            let bytes = chunk.events.plain(dictionary);
            if let Some(changed) = varint::with_piece(bytes, place, payload) {
                *bytes = changed;
            }
        }
    }

    pub(super) fn read(&self, page: &mut Page, dictionary: &Dictionary) {
        let full = self.full();
        let begun = full.partition_point(|chunk| chunk.first <= page.after());
        let chunks = full.iter().chain([&self.open]);
        for chunk in chunks.skip(begun.saturating_sub(1)) {
            if page.is_full() {
                break;
            }
            chunk.read(page, dictionary);
        }
    }

    fn full(&self) -> &[Chunk] {
        self.full.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl Chunk {
    fn from(first: u64) -> Self {
        let events = Events::Plain(Vec::new());
        Self { first, events }
    }

    fn drop_before(&mut self, first: u64, dictionary: &Dictionary) {
        if self.first < first {
            let bytes = self.events.plain(dictionary);
            let mut rest = &bytes[..];
            for _ in self.first..first {
                (_, rest) = varint::piece(rest);
            }
            *bytes = rest.to_vec();
            self.first = first;
        }
    }

    fn read(&self, page: &mut Page, dictionary: &Dictionary) {
        let bytes = self.events.bytes(dictionary);
        let mut rest = &bytes[..];
        for sequence in self.first.. {
            if rest.is_empty() || page.is_full() {
                break;
            }
            let payload;
            (payload, rest) = varint::piece(rest);
            page.add(sequence, || Bytes::copy_from_slice(payload));
        }
    }
}

impl Events {
    fn bytes(&self, dictionary: &Dictionary) -> Cow<'_, [u8]> {
        match self {
            Self::Plain(bytes) => Cow::Borrowed(bytes),
            Self::Compressed(bytes) => {
                let bytes = block::decompress_size_prepended_with_dict(bytes, &dictionary.0);
                Cow::Owned(bytes.expect("what we have compressed is whole"))
            }
        }
    }

    /// The uncompressed bytes for a change; a compressed chunk becomes plain.
    fn plain(&mut self, dictionary: &Dictionary) -> &mut Vec<u8> {
        if let Self::Compressed(_) = self {
            *self = Self::Plain(self.bytes(dictionary).into_owned());
        }
        match self {
            Self::Plain(bytes) => bytes,
            Self::Compressed(_) => unreachable!("it was made plain"),
        }
    }

    fn compress(&mut self, dictionary: &mut Dictionary) {
        let bytes = self.plain(dictionary);
        let compressed = block::compress_prepend_size_with_dict(bytes, &dictionary.0);
        dictionary.offer(bytes);
        if compressed.len() < bytes.len() {
            *self = Self::Compressed(compressed.into_boxed_slice());
        } else {
            bytes.shrink_to_fit();
        }
    }
}
