//! Frames are the same wherever the network cuts them.

use proptest::prelude::*;

use super::frames::{Frames, Framing};
use crate::limits::MAX_FRAME;

/// The frames of these pieces, with what is left at the end.
fn all(framing: Framing, pieces: &[&[u8]]) -> Vec<String> {
    let mut frames = Frames::new(framing);
    let mut all = Vec::new();
    for piece in pieces {
        all.extend(frames.push(piece).unwrap());
    }
    all.extend(frames.rest().unwrap());
    all
}

#[test]
fn the_data_of_an_event_is_a_frame() {
    let stream =
        b": a comment\nevent: x\ndata: one\ndata:two\n\ndata:  three\r\n\r\nid: 7\n\ndata: rest";
    assert_eq!(
        all(Framing::Events, &[stream]),
        ["one\ntwo", " three", "rest"]
    );
}

#[test]
fn a_line_is_a_frame_unless_it_is_empty() {
    let stream = b"{\"a\":1}\n\n{\"b\":2}\r\n  \n{\"c\":3}";
    assert_eq!(
        all(Framing::Lines, &[stream]),
        [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#]
    );
}

#[test]
fn what_is_not_text_and_what_never_ends_is_refused() {
    let mut frames = Frames::new(Framing::Lines);
    assert!(frames.push(b"\xff\n").is_err());
    let mut frames = Frames::new(Framing::Events);
    let piece = vec![b'a'; MAX_FRAME / 2];
    frames.push(b"data: ").unwrap();
    frames.push(&piece).unwrap();
    frames.push(b"\ndata: ").unwrap();
    assert!(frames.push(&piece).is_err());
}

proptest! {
    /// Wherever the network cuts a stream, the frames are the same.
    #[test]
    fn frames_do_not_depend_on_how_they_arrive(
        lines in prop::collection::vec("(data: |event: |)[a-zé☕{}]{0,8}", 0..12),
        ends in prop::collection::vec(prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\n\n")], 12),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let stream: String = lines.iter().zip(ends).map(|(line, end)| format!("{line}{end}")).collect();
        let bytes = stream.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|two| &bytes[two[0]..two[1]]).collect();
        for framing in [Framing::Events, Framing::Lines] {
            prop_assert_eq!(all(framing, &pieces), all(framing, &[bytes]));
        }
    }
}
