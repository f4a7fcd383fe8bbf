//! Hostile input over every wire: the inputs that the fuzzer has kept, whole and damaged.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

#[path = "../../fuzz/served.rs"]
mod target;

/// Pieces that mean something in the wrong place.
const PIECES: [&str; 16] = [
    "null",
    "true",
    "{}",
    "[]",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "-1e400",
    "\\ud800",
    "%2F",
    "\"kind\":",
    "\"taskId\":\"t\",",
];

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/router");
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn everything_that_was_kept_is_answered() {
    let corpus = corpus();
    assert!(corpus.len() >= 20);
    for input in corpus {
        target::check(&input);
    }
}

#[test]
fn everything_that_was_damaged_is_answered() {
    let corpus = corpus();
    let damage = (any::<prop::sample::Index>(), any::<u8>(), 0..5u8);
    let damages = prop::collection::vec(damage, 1..6);
    let config = ProptestConfig::with_cases(1_000);
    proptest!(config, |(input in prop::sample::select(corpus), damages in damages)| {
        // The byte that picks the wire stays.
        let (wire, mut rest) = (input[0], input[1..].to_vec());
        for (place, byte, how) in damages {
            let place = place.index(rest.len() + 1);
            match (how, place < rest.len()) {
                (0, true) => rest[place] = byte,
                (1, true) => drop(rest.remove(place)),
                (2, _) => rest.truncate(place),
                (3, _) => {
                    let piece = PIECES[usize::from(byte) % PIECES.len()];
                    rest.splice(place..place, piece.bytes());
                }
                _ => rest.insert(place, byte),
            }
        }
        target::check(&[&[wire][..], &rest].concat());
    });
}
