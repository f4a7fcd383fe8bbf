//! How long clients wait.

use std::time::Duration;

use super::{Backoff, Jitter};

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

fn backoff(jitter: Jitter) -> Backoff {
    Backoff::new(FIRST, LONGEST, jitter)
}

#[test]
fn pauses_stay_within_a_bound_that_doubles_up_to_the_longest() {
    for seed in 0..200 {
        for (jitter, least) in [(Jitter::Full, 0), (Jitter::Half, 2)] {
            let mut backoff = backoff(jitter).with_seed(seed);
            let mut bound = FIRST;
            for _ in 0..40 {
                let pause = backoff.next_pause();
                assert!(pause <= bound, "{pause:?} is more than {bound:?}");
                let least = bound.checked_div(least).unwrap_or_default();
                assert!(pause >= least, "{pause:?} is less than {least:?}");
                bound = (bound * 2).min(LONGEST);
            }
            backoff.reset();
            assert!(backoff.next_pause() <= FIRST);
        }
    }
}

#[test]
fn pauses_spread_over_all_of_their_range() {
    let pauses: Vec<_> = (0..1000)
        .map(|seed| {
            let mut backoff = backoff(Jitter::Full).with_seed(seed);
            let pauses = (0..20).map(|_| backoff.next_pause());
            pauses.last().unwrap_or_default()
        })
        .collect();
    for tenth in 0..10 {
        let range = LONGEST * tenth / 10..LONGEST * (tenth + 1) / 10;
        let count = pauses.iter().filter(|pause| range.contains(pause)).count();
        assert!((50..200).contains(&count), "{count} pauses in {range:?}");
    }
}

#[test]
fn without_a_seed_clients_wait_differently() {
    let pauses = (0..20).map(|_| backoff(Jitter::Full).next_pause());
    let mut pauses: Vec<_> = pauses.collect();
    pauses.sort();
    pauses.dedup();
    assert!(pauses.len() > 10, "{pauses:?}");
}

#[test]
fn a_first_pause_above_the_longest_is_cut_to_it() {
    let mut backoff = Backoff::new(LONGEST * 2, LONGEST, Jitter::Half);
    assert!(backoff.next_pause() <= LONGEST);
}
