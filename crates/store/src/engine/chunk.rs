//! The events of one append encoded as one value, each prefixed with its length.
//!
//! A row costs a database far more than the bytes of a small event, and events that were appended together
//! are read together.

use bytes::Bytes;

use crate::batch::NewEvent;
use crate::engine::varint;
use crate::page::Page;

/// Encodes these events.
pub(super) fn encode(events: &[NewEvent], to: &mut Vec<u8>) {
    to.clear();
    for event in events {
        varint::put_piece(to, event.payload());
    }
}

/// Adds the events of a chunk to a page; `first` is the number of its first event. None if it is damaged.
pub(super) fn decode(chunk: &Bytes, first: u64, page: &mut Page) -> Option<()> {
    let mut rest = &chunk[..];
    for sequence in first.. {
        if rest.is_empty() || page.is_full() {
            break;
        }
        let (payload, next) = varint::take_piece(rest)?;
        page.add(sequence, || chunk.slice_ref(payload));
        rest = next;
    }
    Some(())
}

/// A chunk with another payload at a place, counted from 0. None if there is no such place or the chunk is damaged.
pub(super) fn with_event(chunk: &[u8], place: u64, payload: &[u8]) -> Option<Vec<u8>> {
    varint::with_piece(chunk, place, payload)
}

/// A chunk without its first events. None if it is damaged.
pub(super) fn without(chunk: &[u8], events: u64) -> Option<&[u8]> {
    (0..events).try_fold(chunk, |rest, _| {
        let (_, rest) = varint::take_piece(rest)?;
        Some(rest)
    })
}
