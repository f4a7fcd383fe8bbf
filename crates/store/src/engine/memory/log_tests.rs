//! Short and long logs, compressed or not, give back the same events.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Append(Vec<usize>),
    Seal,
    /// A share of all events so far.
    Truncate(u64),
}

fn step() -> impl Strategy<Value = Step> {
    // Sizes on both sides of one byte for a length, and of a whole chunk.
    let size = prop_oneof![0..200_usize, 120..140_usize, 3_000..40_000_usize];
    prop_oneof![
        4 => proptest::collection::vec(size, 1..8).prop_map(Step::Append),
        1 => Just(Step::Seal),
        1 => (0..=110_u64).prop_map(Step::Truncate),
    ]
}

fn payload(sequence: u64, size: usize) -> Vec<u8> {
    (0..size)
        .map(|place| (sequence as usize + place / 5) as u8)
        .collect()
}

proptest! {
    #[test]
    fn reads_what_was_appended_from_any_cursor(
        steps in proptest::collection::vec(step(), 1..12),
        sampled in any::<bool>(),
    ) {
        let (mut log, mut dictionary) = (Log::default(), Dictionary::default());
        if sampled {
            dictionary.offer(&payload(1, 600));
        }
        let mut expected: Vec<Vec<u8>> = Vec::new();
        let mut dropped = 0;
        for step in steps {
            match step {
                Step::Append(sizes) => {
                    let texts = sizes.iter().zip(expected.len() as u64 + 1..);
                    let texts: Vec<_> = texts.map(|(size, sequence)| payload(sequence, *size)).collect();
                    let events: Vec<_> = texts.iter().cloned().map(NewEvent::new).collect();
                    log.append(&events, &dictionary);
                    expected.extend(texts);
                }
                Step::Seal => log.seal(&mut dictionary),
                Step::Truncate(share) => {
                    let through = share * expected.len() as u64 / 100;
                    log.truncate(through, &dictionary);
                    dropped = dropped.max(through.min(expected.len() as u64));
                }
            }
            let last = expected.len() as u64;
            prop_assert_eq!((log.first(), log.last()), (dropped + 1, last));
            for after in dropped..=last {
                for limit in [1, 3, usize::MAX] {
                    let mut page = Page::new(after, limit, usize::MAX);
                    log.read(&mut page, &dictionary);
                    let found = page.into_entries();
                    let wanted = expected.iter().zip(1..).skip(after as usize).take(limit);
                    prop_assert!(found.iter().map(|entry| (&entry.payload()[..], entry.sequence()))
                        .eq(wanted.map(|(payload, sequence)| (&payload[..], sequence))));
                }
            }
        }
    }
}

#[test]
fn a_finished_log_that_is_like_the_first_one_is_smaller_still() {
    let mut dictionary = Dictionary::default();
    let sizes = ["one", "another", "a third"].map(|name| {
        let text = format!(r#"{{"task":"{name}","state":"completed","by":"the same agent"}}"#);
        let mut log = Log::default();
        log.append(&[NewEvent::new(text.clone())], &dictionary);
        log.seal(&mut dictionary);
        let mut page = Page::new(0, usize::MAX, usize::MAX);
        log.read(&mut page, &dictionary);
        assert_eq!(page.into_entries()[0].payload(), text.as_bytes());
        match log.open.events {
            Events::Plain(bytes) => bytes.len(),
            Events::Compressed(bytes) => bytes.len(),
        }
    });
    assert!(
        sizes[1] * 2 < sizes[0] && sizes[2] * 2 < sizes[0],
        "{sizes:?}"
    );
}

#[test]
fn a_finished_log_is_smaller_than_its_events() {
    let event =
        || NewEvent::new(r#"{"task":"3f2b8c1e-9d4a-4c7b-8e21-5a6f7b8c9d0e","state":"done"}"#);
    let (mut log, mut dictionary) = (Log::default(), Dictionary::default());
    log.append(&[event(), event(), event(), event()], &dictionary);
    let plain = log.open.events.bytes(&dictionary).len();
    log.seal(&mut dictionary);
    let Events::Compressed(bytes) = &log.open.events else {
        panic!("it pays");
    };
    assert!(bytes.len() * 2 < plain, "{} of {plain}", bytes.len());
    // Incompressible bytes stay plain.
    let (mut log, mut dictionary) = (Log::default(), Dictionary::default());
    log.append(&[NewEvent::new("short")], &dictionary);
    log.seal(&mut dictionary);
    assert!(matches!(log.open.events, Events::Plain(_)));
}
