//! Lengths in as few bytes as they need, and pieces that begin with theirs.

#[cfg(test)]
#[path = "varint_tests.rs"]
mod tests;

/// How many bytes [`put`] takes.
pub(super) fn len(number: usize) -> usize {
    let bits = usize::BITS - number.leading_zeros();
    (bits.max(1) as usize).div_ceil(7)
}

/// Seven bits a byte, the lowest first; all bytes but the last have their highest bit set.
pub(super) fn put(to: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// The number at the beginning, and what follows it; nothing if there is no whole number.
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

/// A piece with its length before it, and what follows; nothing if the bytes end before the piece does.
pub(super) fn take_piece(from: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = take(from)?;
    rest.split_at_checked(length)
}

/// As [`take_piece`], where we have written the bytes ourselves and kept them in memory.
pub(super) fn piece(from: &[u8]) -> (&[u8], &[u8]) {
    take_piece(from).expect("pieces in memory are whole")
}

/// Writes a piece with its length before it.
pub(super) fn put_piece(to: &mut Vec<u8>, piece: &[u8]) {
    put(to, piece.len());
    to.extend_from_slice(piece);
}
