//! Groups on an engine that fails on request: full, refused, broken.

use std::path::PathBuf;
use std::task::{Context, Waker};

use super::*;
use crate::batch::NewEvent;
use crate::engine::memory::Memory;
use crate::entry::StreamId;

/// A memory engine that fails when a batch is too much for it.
struct Failing {
    memory: Memory,
    /// The most batches that fit into one transaction.
    fits: usize,
    error: Error,
}

impl Engine for Failing {
    fn apply(&mut self, group: &[Batch]) -> Result<Vec<Result<(), Error>>, Error> {
        if group.len() > self.fits {
            return Err(self.error.clone());
        }
        self.memory.apply(group)
    }
}

fn group_commit(fits: usize, error: Error) -> (GroupCommit, Arc<Tails>, Arc<Counters>) {
    let memory = Memory::new(&[]);
    let (tails, counters) = (Arc::<Tails>::default(), Arc::<Counters>::default());
    let views = Arc::new(memory.clone());
    let engine = Failing {
        memory,
        fits,
        error,
    };
    let group_commit = GroupCommit::new(
        Box::new(engine),
        views,
        Arc::clone(&tails),
        Arc::clone(&counters),
    );
    (group_commit, tails, counters)
}

fn append(stream: &str, after: u64) -> Batch {
    Batch::new().append(&StreamId::new(stream), after, vec![NewEvent::new("event")])
}

fn outcomes(answers: &[Result<(), Error>]) -> Vec<String> {
    let outcome = |answer: &Result<(), Error>| match answer {
        Ok(()) => "kept".to_owned(),
        Err(error) => error.to_string(),
    };
    answers.iter().map(outcome).collect()
}

#[test]
fn one_refusal_leaves_the_rest_of_the_group_alone() {
    let (mut group_commit, _, counters) = group_commit(9, Error::Full);
    let group = vec![
        append("s", 0),
        append("s", 0),
        append("s", 1),
        append("t", 3),
    ];
    let (answers, _wake) = group_commit.commit(group);
    assert_eq!(
        outcomes(&answers),
        [
            "kept",
            "append to s after event 0: its last event is 1",
            "kept",
            "append to t after event 3: its last event is 0",
        ]
    );
    let stats = Stats {
        commits: 1,
        batches: 2,
        events: 2,
    };
    assert_eq!(counters.stats(), stats);
}

#[test]
fn a_failure_of_the_engine_fails_the_whole_group_and_followers_see_nothing() {
    let broken = Error::Corrupt {
        path: PathBuf::from("file"),
        problem: "gone".to_owned(),
    };
    let (mut group_commit, tails, counters) = group_commit(1, broken);
    let stream = StreamId::new("s");
    let (tail, seat) = tails.join(&stream);
    let (answers, _wake) = group_commit.commit(vec![append("s", 0), append("t", 0)]);
    assert_eq!(outcomes(&answers), ["use file: gone", "use file: gone"]);
    assert_eq!(counters.stats(), Stats::default());
    let cx = Context::from_waker(Waker::noop());
    assert!(tail.poll(0, true, seat, &cx).is_pending());
    // The next group is committed as usual.
    let (answers, _wake) = group_commit.commit(vec![append("s", 0)]);
    assert_eq!(outcomes(&answers), ["kept"]);
    assert!(tail.poll(0, true, seat, &cx).is_ready());
}

#[test]
fn batches_that_do_not_fit_together_are_tried_one_by_one() {
    let (mut group_commit, _, counters) = group_commit(1, Error::Full);
    let (answers, _wake) =
        group_commit.commit(vec![append("s", 0), append("s", 0), append("s", 1)]);
    assert_eq!(
        outcomes(&answers),
        [
            "kept",
            "append to s after event 0: its last event is 1",
            "kept"
        ]
    );
    assert_eq!(counters.stats().commits, 2);
}
