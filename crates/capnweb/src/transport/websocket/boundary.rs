//! Where messages begin and end in the bytes of a WebSocket.

use std::io;
use std::sync::Arc;

use super::observed::ReadObserver;
use crate::connection::Shared;
use crate::limits::GuestLimits;

#[cfg(test)]
#[path = "boundary_tests.rs"]
mod tests;

/// The longest header of a frame: two bytes, a long length, the mask.
const LONGEST_HEADER: usize = 14;

/// Follows the bytes of one direction and knows whether they end between two messages. The library that reads
/// frames does not tell how much of the next frame it has buffered, and parking must not lose that.
///
/// While the peer is not known ([`GuestLimits`]) it also bounds messages: the stream is read one frame at a time, so
/// that the limit of a message is the one in force after the message before it was processed, and a frame that is too
/// long is refused by its header.
#[derive(Default)]
pub(super) struct Boundary {
    /// Set for a session that has bounds on a peer that is not known.
    session: Option<Arc<Shared>>,
    /// The content bytes of the message so far.
    message: u64,
    /// The limit that a message exceeds.
    exceeded: Option<usize>,
    /// The bytes of the frame's header read so far.
    header: [u8; LONGEST_HEADER],
    known: usize,
    /// The number of content bytes of the frame still to come.
    left: u64,
    /// Whether a further frame of the message is to come.
    continues: bool,
}

impl ReadObserver for Boundary {
    fn observe(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.left > 0 {
                let here =
                    usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
                self.left -= here as u64;
                bytes = &bytes[here..];
                continue;
            }
            self.header[self.known] = bytes[0];
            self.known += 1;
            bytes = &bytes[1..];
            if let Some(length) = self.length() {
                (self.known, self.left) = (0, length);
                let (last, opcode) = (self.header[0] & 0x80 != 0, self.header[0] & 0x0f);
                // Control frames may stand between those of a message.
                if opcode < 8 {
                    self.message = if self.continues { self.message } else { 0 };
                    self.message = self.message.saturating_add(length);
                    self.continues = !last;
                }
            }
        }
    }

    fn at_most(&self) -> usize {
        match (self.guest(), self.left) {
            (None, _) => usize::MAX,
            (Some(_), 0) => self.missing(),
            (Some(_), left) => usize::try_from(left).unwrap_or(usize::MAX),
        }
    }

    fn check(&mut self) -> io::Result<()> {
        if let Some(guest) = self.guest()
            && self.message > guest.max_message_bytes as u64
        {
            self.exceeded = Some(guest.max_message_bytes);
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(())
    }
}

impl Boundary {
    pub(super) fn of(session: &Arc<Shared>) -> Self {
        Self {
            session: session.guest().is_some().then(|| session.clone()),
            ..Self::default()
        }
    }

    /// The limit of a peer that is not known, once a message has exceeded it.
    pub(super) fn exceeded(&self) -> Option<usize> {
        self.exceeded
    }

    fn guest(&self) -> Option<&GuestLimits> {
        self.session.as_ref().and_then(|session| session.guest())
    }

    /// How many bytes of the frame's header are certainly missing.
    fn missing(&self) -> usize {
        let &[_, second, ref rest @ ..] = &self.header[..self.known] else {
            return 2 - self.known;
        };
        let mask = if second & 0x80 == 0 { 0 } else { 4 };
        let size: usize = match second & 0x7f {
            127 => 8,
            126 => 2,
            _ => 0,
        };
        (size + mask).saturating_sub(rest.len()).max(1)
    }

    /// Whether every message that has begun is complete.
    pub(super) fn is_clear(&self) -> bool {
        self.known == 0 && self.left == 0 && !self.continues
    }

    /// How long the frame's content is, once its header is whole.
    fn length(&self) -> Option<u64> {
        let header = &self.header[..self.known];
        let &[_, second, ref rest @ ..] = header else {
            return None;
        };
        let mask = if second & 0x80 == 0 { 0 } else { 4 };
        let (size, short) = match second & 0x7f {
            127 => (8, 0),
            126 => (2, 0),
            length => (0, u64::from(length)),
        };
        (rest.len() == size + mask).then(|| {
            let long = rest[..size].iter();
            long.fold(short, |length, byte| length << 8 | u64::from(*byte))
        })
    }
}
