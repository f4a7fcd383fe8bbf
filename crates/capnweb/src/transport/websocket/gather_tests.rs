//! The verdict on a peer, from how far it is.

use super::*;

/// A peer that has been given so many answers, and has released all but some of them.
fn progress(answered: u64, unreleased: usize) -> Progress {
    Progress {
        answered,
        unreleased,
    }
}

#[test]
fn one_call_after_the_other_never_waits() {
    let mut gather = Gather::default();
    let now = Instant::now();
    for call in 0..1000 {
        gather.sent(progress(call, 1), now);
        assert!(!gather.waits(|| call + 1, now));
    }
}

#[test]
fn a_quarter_of_the_calls_in_flight_gathers() {
    let mut gather = Gather::default();
    let now = Instant::now();
    for sent in (100..1000).step_by(16) {
        gather.sent(progress(sent, 64), now);
        assert!(gather.waits(|| sent + 1, now));
        assert!(gather.waits(|| sent + 15, now));
        assert!(!gather.waits(|| sent + 16, now));
    }
}

#[test]
fn few_answers_wait_until_the_time_is_over() {
    let mut gather = Gather::default();
    let now = Instant::now();
    gather.sent(progress(100, 64), now);
    assert_eq!(gather.until(), None, "there is nothing to send");
    let later = now + Duration::from_secs(1);
    assert!(gather.waits(|| 101, later));
    assert_eq!(gather.until(), Some(later + TIME));
    assert!(!gather.waits(|| 102, later + TIME));
}

#[test]
fn other_messages_do_not_wait() {
    let mut gather = Gather::default();
    let now = Instant::now();
    gather.sent(progress(100, 64), now);
    assert!(!gather.waits(|| 100, now));
    gather.sent(progress(100, 64), now);
    assert!(gather.waits(|| 101, now), "answers still do");
}

#[test]
fn a_peer_for_which_answers_waited_in_vain_is_left_alone_for_a_pause() {
    let mut gather = Gather::default();
    let now = Instant::now();
    gather.sent(progress(100, 64), now);
    gather.sent(progress(101, 65), now);
    assert!(!gather.waits(|| 102, now));
    gather.sent(progress(102, 66), now + PAUSE / 2);
    assert!(!gather.waits(|| 103, now), "paused");
    gather.sent(progress(103, 67), now + PAUSE);
    assert!(gather.waits(|| 104, now + PAUSE), "tried again");
}

#[test]
fn a_peer_that_keeps_its_answers_is_tried_less_and_less() {
    let mut now = Instant::now();
    let mut gather = Gather::default();
    let (mut calls, mut delayed) = (0, 0);
    // A minute of calls, one after the other, and none is released.
    let end = now + Duration::from_secs(60);
    while now < end {
        calls += 1;
        if gather.waits(|| 1000 + calls, now) {
            delayed += 1;
            now += TIME;
        }
        gather.sent(progress(1000 + calls, 1000 + calls as usize), now);
        now += Duration::from_micros(100);
    }
    assert!(delayed <= 25, "{delayed} of {calls} calls waited");
}
