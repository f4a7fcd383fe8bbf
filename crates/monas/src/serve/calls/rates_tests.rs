//! Who shares a limit with whom, and that what is remembered stays small.

use access::{Origin, Principal};

use super::*;

fn rate(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

fn asked(wire: &'static str, caller: &str, session: Option<u64>, address: &str) -> CallRecord {
    CallRecord {
        origin: Origin {
            session,
            address: address.parse().ok(),
            ..Origin::on(wire)
        },
        caller: Principal::named(caller),
        version: "",
        operation: "test".into(),
    }
}

/// How many of so many calls at once may begin.
fn admitted(limits: &RateLimits, asked: &CallRecord, calls: usize) -> usize {
    (0..calls).filter(|_| limits.check(asked).is_ok()).count()
}

#[test]
fn a_burst_is_twice_the_rate_and_agents_have_more() {
    let limits = RateLimits::new(rate(10), rate(1000));
    let people = asked("api", "ada", None, "");
    // A slow machine gives back a call or two meanwhile.
    assert!((20..=22).contains(&admitted(&limits, &people, 60)));
    let refused = limits.check(&people).unwrap_err();
    assert!(refused.retry_after <= Duration::from_millis(100));
    assert_eq!(refused.seconds(), 1);
    let agents = asked("a2a/jsonrpc", "ada", None, "");
    assert_eq!(admitted(&limits, &agents, 500), 500);
}

#[test]
fn sessions_have_their_own_share_and_a_caller_has_four() {
    let limits = RateLimits::new(rate(10), rate(10));
    for session in 1..=4 {
        let one = asked("chat", "ada", Some(session), "");
        assert!(admitted(&limits, &one, 30) >= 20);
    }
    let fifth = asked("chat", "ada", Some(5), "");
    assert!(admitted(&limits, &fifth, 30) <= 8, "all were used");
    let other = asked("chat", "ben", Some(6), "");
    assert!(admitted(&limits, &other, 30) >= 20);
}

#[test]
fn strangers_are_counted_by_address() {
    let limits = RateLimits::new(rate(10), rate(10));
    let one = asked("api", "", None, "192.0.2.1");
    assert!(admitted(&limits, &one, 60) <= 22);
    assert!(admitted(&limits, &asked("api", "", None, "192.0.2.2"), 20) == 20);
    let six = asked("api", "", None, "2001:db8::1");
    assert!(admitted(&limits, &six, 60) <= 22);
    let same = asked("api", "", None, "2001:db8::ffff");
    assert!(
        admitted(&limits, &same, 60) <= 2,
        "a household has one network"
    );
}

#[test]
fn what_is_remembered_of_callers_is_bounded() {
    let limits = RateLimits::new(rate(10), rate(10));
    for number in 0..(MOST * PARTS) {
        let _ = limits.check(&asked("api", &format!("caller-{number}"), None, ""));
    }
    assert!(limits.people.remembered() <= MOST * PARTS);
    let part = limits.people.parts[0].lock().unwrap().known.len();
    assert!(part <= MOST, "{part}");
}
