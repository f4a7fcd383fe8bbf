//! Variable-length integers and length-prefixed pieces, at the borders and cut off.

use proptest::prelude::*;

use super::*;

#[test]
fn a_length_takes_seven_bits_a_byte() {
    for (number, bytes) in [
        (0, 1),
        (127, 1),
        (128, 2),
        (16_383, 2),
        (16_384, 3),
        (1 << 62, 9),
    ] {
        let mut written = Vec::new();
        put(&mut written, number);
        assert_eq!((written.len(), len(number)), (bytes, bytes), "{number}");
        assert_eq!(take(&written), Some((number, &[][..])));
    }
}

proptest! {
    #[test]
    fn pieces_come_back_one_after_the_other(pieces: Vec<Vec<u8>>) {
        let mut written = Vec::new();
        pieces.iter().for_each(|piece| put_piece(&mut written, piece));
        let mut rest = &written[..];
        for piece in &pieces {
            let (found, next) = take_piece(rest).unwrap();
            prop_assert_eq!(found, &piece[..]);
            rest = next;
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn damaged_pieces_are_noticed_and_never_read_beyond_the_end(bytes: Vec<u8>) {
        if let Some((piece, rest)) = take_piece(&bytes) {
            prop_assert!(piece.len() + rest.len() < bytes.len());
        }
    }
}
