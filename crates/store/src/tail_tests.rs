//! Tails: created by the first follower, removed with the last one, and bounded.

use super::*;
use crate::batch::NewEvent;

fn publish(tails: &Tails, stream: &StreamId, after: u64, events: usize, size: usize) {
    let events = (0..events).map(|_| NewEvent::new(vec![0; size])).collect();
    drop(tails.publish([Batch::new().append(stream, after, events)].into_iter()));
}

fn followed(tails: &Tails) -> usize {
    tails.0.lock().tails.len()
}

fn kept(tail: &Tail) -> (usize, usize) {
    let recent = tail.0.lock();
    (recent.entries.len(), recent.bytes)
}

#[test]
fn a_tail_is_there_while_someone_follows() {
    let (tails, s) = (Tails::default(), StreamId::new("s"));
    let (one, first) = tails.join(&s);
    let (two, second) = tails.join(&s);
    assert!(Arc::ptr_eq(&one, &two));
    tails.leave(&s, &one, first);
    assert_eq!(followed(&tails), 1);
    let (three, third) = tails.join(&s);
    assert_eq!(third, first, "a slot is taken again");
    tails.leave(&s, &three, third);
    tails.leave(&s, &two, second);
    assert_eq!(followed(&tails), 0);
}

#[test]
fn a_tail_keeps_few_entries_and_few_bytes() {
    let (tails, s) = (Tails::default(), StreamId::new("s"));
    let (tail, _seat) = tails.join(&s);
    publish(&tails, &s, 0, 3 * TAIL_ENTRIES, 1);
    assert_eq!(kept(&tail), (TAIL_ENTRIES, TAIL_ENTRIES));
    publish(&tails, &s, 3 * TAIL_ENTRIES as u64, 5, TAIL_BYTES / 2);
    assert_eq!(kept(&tail), (2, TAIL_BYTES));
    // A single entry above the byte limit is kept, otherwise it could never be delivered live.
    publish(&tails, &s, 3 * TAIL_ENTRIES as u64 + 5, 1, 2 * TAIL_BYTES);
    assert_eq!(kept(&tail), (1, 2 * TAIL_BYTES));
}

#[test]
fn a_follower_of_a_forgotten_stream_leaves_the_next_one_alone() {
    let (tails, s) = (Tails::default(), StreamId::new("s"));
    let (old, slot) = tails.join(&s);
    drop(tails.publish([Batch::new().forget(&s)].into_iter()));
    assert_eq!(followed(&tails), 0);
    let (new, _) = tails.join(&s);
    tails.leave(&s, &old, slot);
    assert_eq!(followed(&tails), 1);
    let cx = Context::from_waker(Waker::noop());
    assert!(matches!(
        old.poll(0, true, 0, &cx),
        Poll::Ready(TailRead::Ended)
    ));
    assert!(new.poll(0, true, 0, &cx).is_pending());
}
