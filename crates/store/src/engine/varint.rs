//! Variable-length integers (LEB128), and pieces of bytes prefixed with their length.

#[cfg(test)]
#[path = "varint_tests.rs"]
mod tests;

/// The number of bytes that [`put`] writes.
pub(super) fn len(number: usize) -> usize {
    let bits = usize::BITS - number.leading_zeros();
    (bits.max(1) as usize).div_ceil(7)
}

/// Writes seven bits a byte, the lowest first; all bytes but the last have their highest bit set.
pub(super) fn put(to: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// The number at the beginning and the bytes after it; none if the number is cut off or too long.
pub(super) fn take(from: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0;
    for (place, byte) in from.iter().enumerate().take(9) {
        number |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((number, &from[place + 1..]));
        }
    }
    None
}

/// The length-prefixed piece at the beginning and the bytes after it; none if the piece is cut off.
pub(super) fn take_piece(from: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = take(from)?;
    rest.split_at_checked(length)
}

/// As [`take_piece`], for bytes that this process has written and kept in memory.
pub(super) fn piece(from: &[u8]) -> (&[u8], &[u8]) {
    take_piece(from).expect("pieces in memory are whole")
}

/// Writes a piece prefixed with its length.
pub(super) fn put_piece(to: &mut Vec<u8>, piece: &[u8]) {
    put(to, piece.len());
    to.extend_from_slice(piece);
}

/// These pieces with another one at a place, counted from 0; none if there is no such place or a piece is cut off.
pub(super) fn with_piece(pieces: &[u8], place: u64, piece: &[u8]) -> Option<Vec<u8>> {
    let mut rest = pieces;
    for _ in 0..place {
        (_, rest) = take_piece(rest)?;
    }
    let (_, after) = take_piece(rest)?;
    let before = &pieces[..pieces.len() - rest.len()];
    let mut changed = Vec::with_capacity(pieces.len() + piece.len());
    changed.extend_from_slice(before);
    put_piece(&mut changed, piece);
    changed.extend_from_slice(after);
    Some(changed)
}
