//! Tests of where messages begin and end.

use proptest::prelude::*;

use super::*;

/// A frame: its first byte, whether it is masked, its content.
fn frame(first: u8, masked: bool, length: usize) -> Vec<u8> {
    let mask = if masked { 0x80 } else { 0 };
    let mut frame = vec![first];
    match length {
        0..126 => frame.push(mask | length as u8),
        126..0x1_0000 => {
            frame.push(mask | 126);
            frame.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            frame.push(mask | 127);
            frame.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    // What looks like headers is none inside of a frame.
    frame.resize(frame.len() + if masked { 4 } else { 0 } + length, 0x81);
    frame
}

/// A message in some frames, perhaps with a ping between them.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![0..200usize, 120..130usize, 65_530..65_540usize];
    (
        any::<bool>(),
        prop::collection::vec((length, any::<bool>()), 1..4),
    )
        .prop_map(|(masked, parts)| {
            let last = parts.len() - 1;
            let mut bytes = Vec::new();
            for (at, (length, ping)) in parts.into_iter().enumerate() {
                let opcode = if at == 0 { 1 } else { 0 };
                let first = opcode | if at == last { 0x80 } else { 0 };
                bytes.extend(frame(first, masked, length));
                if ping && at < last {
                    bytes.extend(frame(0x89, masked, 3));
                }
            }
            bytes
        })
}

proptest! {
    #[test]
    fn it_is_clear_exactly_between_messages(
        messages in prop::collection::vec(message(), 1..4),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let bytes = messages.concat();
        let ends: Vec<usize> = messages
            .iter()
            .scan(0, |end, message| { *end += message.len(); Some(*end) })
            .collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend(&ends);
        cuts.sort_unstable();
        let (mut boundary, mut at) = (Boundary::default(), 0);
        prop_assert!(boundary.is_clear());
        for cut in cuts {
            boundary.observe(&bytes[at..cut]);
            at = cut;
            prop_assert_eq!(boundary.is_clear(), at == 0 || ends.contains(&at), "at {}", at);
        }
    }
}

#[test]
fn a_frame_cut_after_every_byte_is_clear_at_its_end() {
    let bytes = frame(0x81, true, 300);
    let mut boundary = Boundary::default();
    for (at, byte) in bytes.iter().enumerate() {
        boundary.observe(&[*byte]);
        assert_eq!(boundary.is_clear(), at + 1 == bytes.len(), "at {at}");
    }
}
