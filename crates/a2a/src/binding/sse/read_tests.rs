//! Events come out whole, wherever portions end and however lines do.

use proptest::prelude::*;

use super::{Event, Reader};

fn event(name: &str, id: Option<&str>, data: &str) -> Event {
    Event {
        name: name.to_owned(),
        id: id.map(str::to_owned),
        data: data.to_owned(),
    }
}

const STREAM: &str = "\u{feff}: hello\n\nid: 5\ndata: {\"a\":1}\n\nevent: error\r\ndata:one\r\ndata: two\r\n\r\n\
    data\rretry: 3\r\rid\ndata: last\n\ndata: never ends\n";

fn expected() -> Vec<Event> {
    vec![
        event("", Some("5"), "{\"a\":1}"),
        event("error", Some("5"), "one\ntwo"),
        event("", Some("5"), ""),
        event("", Some(""), "last"),
    ]
}

#[test]
fn a_stream_is_read_as_a_whole() {
    let mut reader = Reader::new(100);
    assert_eq!(reader.take(STREAM.as_bytes()), Ok(expected()));
    assert_eq!(expected()[0].cursor(), Some(5));
    assert_eq!(expected()[3].cursor(), None);
}

#[test]
fn what_is_too_large_is_refused() {
    let mut reader = Reader::new(10);
    assert!(reader.take(b"data: 123\n\ndata: 4567\n\n").is_ok());
    assert!(reader.take(b"data: 12345678").is_err());
}

proptest! {
    #[test]
    fn portions_may_end_anywhere(cuts in prop::collection::vec(0..STREAM.len(), 0..20)) {
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
    fn nothing_panics(bytes in prop::collection::vec(prop::sample::select(b"ida:te\r\n \0\xff5".to_vec()), 0..200)) {
        let mut reader = Reader::new(50);
        let _ = reader.take(&bytes);
    }
}
