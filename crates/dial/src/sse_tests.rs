//! Events come out whole, wherever chunks end and however lines do.

use proptest::prelude::*;

use super::{Event, Lines, Reader};

fn event(name: &str, id: Option<&str>, data: &str) -> Event {
    Event {
        name: name.to_owned(),
        id: id.map(str::to_owned),
        data: data.to_owned(),
    }
}

const STREAM: &str = "\u{feff}: hello\n\nid: 5\ndata: {\"a\":1}\n\nevent: error\r\ndata:one\r\ndata: two\r\n\r\n\
    data\rretry: 3\r\rid\ndata: last ☕\n\ndata: never ends\n";

fn expected() -> Vec<Event> {
    vec![
        event("", Some("5"), "{\"a\":1}"),
        event("error", Some("5"), "one\ntwo"),
        event("", Some("5"), ""),
        event("", Some(""), "last ☕"),
    ]
}

#[test]
fn a_stream_is_read_as_a_whole() {
    let mut reader = Reader::new(100);
    assert_eq!(reader.take(STREAM.as_bytes()), Ok(expected()));
    assert_eq!(reader.take_retry(), Some(3));
    assert_eq!(reader.take_retry(), None);
    assert_eq!(reader.rest(), Some(event("", Some(""), "never ends")));
    assert_eq!(reader.rest(), None);
}

#[test]
fn a_last_line_without_an_end_belongs_to_the_rest() {
    let mut reader = Reader::new(100);
    assert_eq!(reader.take(b"data: one\ndata: two"), Ok(Vec::new()));
    assert_eq!(reader.rest(), Some(event("", None, "one\ntwo")));
}

#[test]
fn an_event_above_the_limit_is_refused() {
    let mut reader = Reader::new(10);
    assert!(reader.take(b"data: 123\n\ndata: 4567\n\n").is_ok());
    assert!(reader.take(b"data: 12345678").is_err());
    let mut reader = Reader::new(10);
    assert!(reader.take(b"data: 123\n").is_ok());
    assert!(reader.take(b"data: 456\n").is_err());
}

#[test]
fn lines_end_with_cr_lf_or_both() {
    let mut lines = Lines::default();
    let mut found = Vec::new();
    for mut chunk in [&b"one\r"[..], b"\ntwo\n\nth", b"ree\rfour"] {
        while let Some(line) = lines.next_line(&mut chunk) {
            found.push(String::from_utf8(line).unwrap());
        }
        assert!(chunk.is_empty());
    }
    assert_eq!(found, ["one", "two", "", "three"]);
    assert_eq!((lines.held(), lines.rest()), (4, b"four".to_vec()));
}

proptest! {
    #[test]
    fn chunks_may_end_anywhere(cuts in prop::collection::vec(0..STREAM.len(), 0..20)) {
        let mut cuts = cuts;
        cuts.extend([0, STREAM.len()]);
        cuts.sort_unstable();
        let mut reader = Reader::new(100);
        let mut events = Vec::new();
        for pair in cuts.windows(2) {
            events.extend(reader.take(&STREAM.as_bytes()[pair[0]..pair[1]]).unwrap());
        }
        prop_assert_eq!(events, expected());
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(prop::sample::select(b"ida:te\r\n \0\xff5".to_vec()), 0..200)) {
        let mut reader = Reader::new(50);
        let _ = reader.take(&bytes);
        let _ = reader.rest();
    }
}
