//! Growth after the warm-up is found, and so is an unexpected error.

use std::time::Duration;

use serde_json::json;

use super::*;

fn samples(resident_mb: impl Fn(u64) -> f64) -> Vec<Sample> {
    let sample = |second| Sample {
        at: Duration::from_secs(second),
        resident_mb: resident_mb(second),
        files: 20.0,
        threads: 4.0,
        sessions: 2.0,
        entries: 8.0,
    };
    (0..60).map(sample).collect()
}

fn traffic(failed: u64) -> Value {
    json!({"wires": 10, "jobs": {"echo": 5, "task": 5}, "deliveries": 3, "failed": failed})
}

#[test]
fn what_grows_only_at_first_is_flat() {
    let verdict = Verdict::of(&samples(|second| 30.0 + second.min(19) as f64), &traffic(0));
    assert!(verdict.is_good(), "{}", verdict.markdown());
}

#[test]
fn what_goes_on_growing_is_found() {
    let verdict = Verdict::of(&samples(|second| 30.0 + second as f64), &traffic(0));
    assert!(!verdict.is_good());
    assert!(
        verdict
            .markdown()
            .contains("| memory, MB resident | 40.0 | 60.0 | 80.0 | 89.0 | grows |")
    );
}

#[test]
fn an_unexpected_error_is_found() {
    assert!(!Verdict::of(&samples(|_| 30.0), &traffic(1)).is_good());
}

#[test]
fn traffic_that_did_nothing_is_found() {
    let traffic = json!({"jobs": {"echo": 0}, "failed": 0});
    assert!(!Verdict::of(&samples(|_| 30.0), &traffic).is_good());
    assert!(!Verdict::of(&[], &traffic).is_good());
}
