//! The window's arithmetic, with numbers worked out by hand from the rules.

use std::time::Duration;

use super::*;

const INITIAL: usize = 262_144;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// One write that fills the window, acknowledged after `round_trip`; gives the new window.
fn full_round(window: &mut Window, now: &mut u64, round_trip: u64) -> f64 {
    let bytes = window.size().ceil() as usize;
    let sent = window.send(bytes, ms(*now));
    *now += round_trip;
    window.acknowledge(sent, ms(*now));
    window.size()
}

#[test]
fn starts_at_256_kib_and_lets_one_write_overshoot() {
    let mut window = Window::new();
    window.send(INITIAL - 1, ms(0));
    assert!(!window.is_full());
    window.send(1_000_000, ms(0));
    assert!(window.is_full());
    assert_eq!(window.in_flight(), INITIAL - 1 + 1_000_000);
}

#[test]
fn the_first_acknowledgement_only_starts_the_clock() {
    let mut window = Window::new();
    let sent = window.send(INITIAL, ms(0));
    window.acknowledge(sent, ms(100));
    assert_eq!((window.size(), window.in_flight()), (262_144.0, 0));
}

#[test]
fn grows_to_twice_what_a_round_trip_carries() {
    let mut window = Window::new();
    let first = window.send(200_000, ms(0));
    let second = window.send(200_000, ms(0));
    window.acknowledge(first, ms(100));
    // 200,000 bytes in 120 ms since the first acknowledgement, 100 ms the shortest round trip:
    // 166,666.7 bytes; twice that is 333,333.3, less than twice the window.
    window.acknowledge(second, ms(220));
    assert!(
        (window.size() - 333_333.333).abs() < 0.001,
        "{}",
        window.size()
    );
}

#[test]
fn grows_at_most_to_twice_the_window_at_sending() {
    let mut window = Window::new();
    let sent: Vec<_> = (0..4).map(|_| window.send(65_536, ms(0))).collect();
    window.acknowledge(sent[0], ms(100));
    // 65,536 bytes in 10 ms would carry 655,360 in a round trip.
    window.acknowledge(sent[1], ms(110));
    assert_eq!(window.size(), 524_288.0);
    // The others left under the old window as well.
    window.acknowledge(sent[2], ms(120));
    window.acknowledge(sent[3], ms(130));
    assert_eq!(window.size(), 524_288.0);
}

#[test]
fn a_clock_too_coarse_to_tell_counts_as_fast() {
    let mut window = Window::new();
    let (first, second) = (window.send(1000, ms(0)), window.send(1000, ms(0)));
    window.acknowledge(first, ms(5));
    window.acknowledge(second, ms(5));
    assert_eq!(window.size(), 524_288.0);
}

#[test]
fn a_full_window_shrinks_by_a_tenth_at_most() {
    let mut window = Window::new();
    let sent: Vec<_> = (0..4).map(|_| window.send(65_536, ms(0))).collect();
    window.acknowledge(sent[0], ms(100));
    // The fourth filled the window. 196,608 bytes in 9.9 s carry 1,986 in a round trip.
    window.acknowledge(sent[3], ms(10_000));
    assert_eq!(window.size(), 235_929.6);
}

#[test]
fn a_window_that_was_not_full_does_not_shrink() {
    let mut window = Window::new();
    let sent: Vec<_> = (0..3).map(|_| window.send(65_536, ms(0))).collect();
    window.acknowledge(sent[0], ms(100));
    window.acknowledge(sent[2], ms(10_000));
    assert_eq!(window.size(), 262_144.0);
}

#[test]
fn never_shrinks_below_64_kib() {
    let mut window = Window::new();
    let mut now = 1;
    full_round(&mut window, &mut now, 1);
    for _ in 0..100 {
        full_round(&mut window, &mut now, 1000);
    }
    assert_eq!(window.size(), 65_536.0);
}

#[test]
fn never_grows_beyond_1_gib() {
    let mut window = Window::new();
    let mut now = 0;
    full_round(&mut window, &mut now, 100);
    let sizes: Vec<_> = (0..14)
        .map(|_| full_round(&mut window, &mut now, 100))
        .collect();
    assert_eq!(sizes[..3], [524_288.0, 1_048_576.0, 2_097_152.0]);
    assert_eq!(
        sizes[11..],
        [1_073_741_824.0, 1_073_741_824.0, 1_073_741_824.0]
    );
}

#[test]
fn the_start_is_over_after_three_rounds_without_growth() {
    let mut window = Window::new();
    let mut now = 0;
    full_round(&mut window, &mut now, 100);
    assert_eq!(full_round(&mut window, &mut now, 100), 524_288.0);
    for _ in 0..3 {
        // Half a window in a round trip: twice that is the window itself.
        let sent = window.send(262_144, ms(now));
        now += 100;
        window.acknowledge(sent, ms(now));
        assert_eq!(window.size(), 524_288.0);
    }
    // From now on 1.25 times what a round trip carries.
    assert_eq!(full_round(&mut window, &mut now, 100), 655_360.0);
    assert_eq!(full_round(&mut window, &mut now, 100), 819_200.0);
}

#[test]
fn a_failed_write_teaches_nothing() {
    let mut window = Window::new();
    let (first, second) = (window.send(100_000, ms(0)), window.send(200_000, ms(0)));
    assert!(window.is_full());
    window.fail(second);
    assert_eq!((window.size(), window.in_flight()), (262_144.0, 100_000));
    window.acknowledge(first, ms(100));
    assert_eq!((window.size(), window.in_flight()), (262_144.0, 0));
}
