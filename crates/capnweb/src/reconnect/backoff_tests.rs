//! How long clients wait.

use std::time::Duration;

use super::Backoff;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

#[test]
fn waits_stay_within_a_bound_that_doubles_up_to_the_longest() {
    for seed in 0..200 {
        let mut backoff = Backoff::new(FIRST, LONGEST, Some(seed));
        let mut bound = FIRST;
        for _ in 0..40 {
            let wait = backoff.next();
            assert!(wait <= bound, "{wait:?} is more than {bound:?}");
            bound = (bound * 2).min(LONGEST);
        }
        backoff.reset();
        assert!(backoff.next() <= FIRST);
    }
}

#[test]
fn waits_spread_over_all_of_their_range() {
    let waits: Vec<_> = (0..1000)
        .map(|seed| {
            let mut backoff = Backoff::new(FIRST, LONGEST, Some(seed));
            (0..20).map(|_| backoff.next()).last().unwrap_or_default()
        })
        .collect();
    for tenth in 0..10 {
        let range = LONGEST * tenth / 10..LONGEST * (tenth + 1) / 10;
        let count = waits.iter().filter(|wait| range.contains(wait)).count();
        assert!((50..200).contains(&count), "{count} waits in {range:?}");
    }
}

#[test]
fn without_a_seed_clients_wait_differently() {
    let mut waits: Vec<_> = (0..20)
        .map(|_| Backoff::new(FIRST, LONGEST, None).next())
        .collect();
    waits.sort();
    waits.dedup();
    assert!(waits.len() > 10, "{waits:?}");
}
