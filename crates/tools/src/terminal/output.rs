//! The beginning and the end of an output that may be long.

use std::collections::VecDeque;

/// Keeps the first and the last bytes of what is written to it; what is between is counted.
#[derive(Clone, Debug)]
pub struct Capped {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_bytes: usize,
    tail_bytes: usize,
    left_out: u64,
}

impl Capped {
    pub fn new(head_bytes: usize, tail_bytes: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_bytes,
            tail_bytes,
            left_out: 0,
        }
    }

    pub fn write(&mut self, bytes: &[u8]) {
        let room = self.head_bytes - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        // Of a piece longer than the tail only its end counts.
        let skipped = rest.len().saturating_sub(self.tail_bytes);
        self.tail.extend(&rest[skipped..]);
        let over = self.tail.len().saturating_sub(self.tail_bytes);
        self.tail.drain(..over);
        self.left_out += (skipped + over) as u64;
    }

    /// How many bytes between the beginning and the end are not kept.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The text, with a line that says how much is left out. Bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.left_out == 0 {
            return String::from_utf8_lossy(&[self.head.clone(), tail].concat()).into_owned();
        }
        let (head, tail) = (
            String::from_utf8_lossy(&self.head),
            String::from_utf8_lossy(&tail),
        );
        // The cut may go through a letter.
        let cut = char::REPLACEMENT_CHARACTER;
        format!(
            "{}\n… {} bytes are left out here …\n{}",
            head.trim_end_matches(cut),
            self.left_out,
            tail.trim_start_matches(cut)
        )
    }
}

/// Bytes as they come, made into text without breaking a letter that comes in two pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct Letters {
    rest: Vec<u8>,
}

impl Letters {
    pub(super) fn text(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            // The bytes at the end may be the beginning of a letter.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Capped, Letters};

    #[test]
    fn the_beginning_and_the_end_are_kept_and_the_rest_is_counted() {
        let mut output = Capped::new(4, 4);
        output.write(b"abc");
        assert_eq!(output.text(), "abc");
        for piece in [&b"def"[..], b"ghijklm", b"", b"nop"] {
            output.write(piece);
        }
        assert_eq!(output.left_out(), 8);
        assert_eq!(output.text(), "abcd\n… 8 bytes are left out here …\nmnop");
    }

    #[test]
    fn a_letter_in_two_pieces_is_one_and_no_letter_is_replaced() {
        let mut letters = Letters::default();
        assert_eq!(letters.text(b"caf\xc3"), "caf");
        assert_eq!(letters.text(b"\xa9 \xff."), "é \u{fffd}.");
    }
}
