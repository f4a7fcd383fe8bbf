//! Folding a group: what is written is the net change, whatever the batches did on the way.

use super::*;
use crate::batch::NewEvent;

fn events(texts: &[&str]) -> Vec<NewEvent> {
    texts
        .iter()
        .map(|text| NewEvent::new(text.as_bytes().to_vec()))
        .collect()
}

fn written(facts: Facts, group: &[Batch]) -> Vec<String> {
    let tables = Tables::new(&[]);
    let mut fold = Fold::new(&tables, facts);
    for batch in group {
        fold.take(batch).unwrap();
    }
    let commands = fold.commands().unwrap();
    let word = |command: &Command<'_>| {
        command
            .sql
            .split_whitespace()
            .take(3)
            .collect::<Vec<_>>()
            .join(" ")
    };
    commands.iter().map(word).collect()
}

fn there(stream: &StreamId, last: u64) -> Facts {
    let mut facts = Facts::default();
    let known = Known {
        first: Some(1),
        last,
        finished: None,
    };
    facts.streams.insert(stream.clone(), Some(known));
    facts
}

#[test]
fn a_stream_that_comes_and_goes_is_not_written() {
    let s = StreamId::new("s");
    let group = [
        Batch::new().append(&s, 0, events(&["a"])),
        Batch::new().forget(&s),
    ];
    assert_eq!(written(Facts::default(), &group), [""; 0]);
}

#[test]
fn appends_of_a_group_move_their_stream_once() {
    let s = StreamId::new("s");
    let group = [
        Batch::new().append(&s, 2, events(&["c"])),
        Batch::new().append(&s, 3, events(&["d"])).finish(&s, 9),
    ];
    assert_eq!(
        written(there(&s, 2), &group),
        ["WITH i AS", "INSERT INTO chunk"]
    );
}

#[test]
fn a_stream_that_is_forgotten_and_begun_anew_is_another_one() {
    let s = StreamId::new("s");
    let group = [Batch::new().forget(&s).append(&s, 0, events(&["a"]))];
    let commands = [
        "DELETE FROM chunk",
        "DELETE FROM stream",
        "INSERT INTO stream",
        "INSERT INTO chunk",
    ];
    assert_eq!(written(there(&s, 2), &group), commands);
}

#[test]
fn a_refused_batch_leaves_no_trace() {
    let s = StreamId::new("s");
    let tables = Tables::new(&[]);
    let mut fold = Fold::new(&tables, there(&s, 2));
    let late = Batch::new()
        .append(&s, 2, events(&["c"]))
        .append(&s, 2, events(&["d"]));
    assert!(matches!(
        fold.take(&late),
        Err(Error::Conflict { found: 3, .. })
    ));
    assert!(fold.is_empty());
}
