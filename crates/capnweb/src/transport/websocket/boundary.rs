//! Where messages begin and end in the bytes of a WebSocket.

use super::observed::ReadObserver;

#[cfg(test)]
#[path = "boundary_tests.rs"]
mod tests;

/// The longest header of a frame: two bytes, a long length, the mask.
const LONGEST_HEADER: usize = 14;

/// Follows the bytes of one direction and knows whether they end between two messages. The library that reads
/// frames does not tell how much of the next frame it has buffered, and parking must not lose that.
#[derive(Debug, Default)]
pub(super) struct Boundary {
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
                    self.continues = !last;
                }
            }
        }
    }
}

impl Boundary {
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
