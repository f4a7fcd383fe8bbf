//! The options and the table of the bench.

use serde_json::json;

use super::{Options, table};

#[test]
fn there_are_no_more_active_sessions_than_sessions() {
    assert!(Options::parse(&["--sessions", "10", "--active", "11"]).is_err());
    let options = Options::parse(&["--sessions=10", "--active=3"]).unwrap();
    assert_eq!((options.sessions, options.active), (10, 3));
}

#[test]
fn an_event_that_is_late_misses_the_target() {
    let options = Options::parse(&[]).unwrap();
    let echo = json!({ "event_p99_ms": 1.5 });
    let row = |p99: f64| {
        let text = table(&options, &echo, &json!({ "event_p99_ms": p99 }));
        text.lines().nth(4).unwrap().to_owned()
    };
    assert_eq!(
        row(99.0),
        "| the same, p99 | ms | 1.50 | 99.00 | below 100 | met |"
    );
    assert_eq!(
        row(120.0),
        "| the same, p99 | ms | 1.50 | 120 | below 100 | missed |"
    );
}
