//! Data that is taken from a request, and that every call has one end.

use std::sync::Mutex;

use super::*;

#[derive(Debug, Default)]
struct Seen(Mutex<Vec<(String, Outcome)>>);

impl Overseer for Seen {
    fn begin(&self, asked: &CallRecord) -> Result<Admitted, Limit> {
        match &*asked.operation {
            "refused" => Err(Limit::Calls(TooManyCalls {
                retry_after: Duration::from_millis(1200),
            })),
            _ => Ok(Admitted::default()),
        }
    }

    fn end(&self, asked: &CallRecord, outcome: Outcome, _: Duration) {
        let mut seen = self.0.lock().unwrap();
        seen.push((asked.operation.to_string(), outcome));
    }
}

fn asked(operation: &'static str) -> CallRecord {
    CallRecord {
        origin: Origin::on("test"),
        caller: Principal::named("ada"),
        version: "1",
        operation: operation.into(),
    }
}

#[test]
fn every_call_ends_once() {
    let seen = Arc::new(Seen::default());
    let calls = Calls::new(seen.clone());
    calls.begin(asked("good")).unwrap().end(Outcome::Ok);
    drop(calls.begin(asked("left")).unwrap());
    let refused = calls.begin(asked("refused")).unwrap_err();
    assert_eq!(refused.seconds(), Some(2));
    let seen = seen.0.lock().unwrap();
    let ends = [("good", Outcome::Ok), ("left", Outcome::Cancelled)];
    let ends = ends.map(|(name, outcome)| (name.to_owned(), outcome));
    assert_eq!(*seen, ends);
}

/// Frames that were no JSON once counted against no limit, and left no trace.
#[test]
fn what_is_not_read_yet_is_charged_and_recorded() {
    let seen = Arc::new(Seen::default());
    let calls = Calls::new(seen.clone());
    let ada = Principal::named("ada");
    let unread = || calls.admit(&ada, Origin::on("test")).unwrap();
    unread().end(Outcome::Rejected);
    unread().begin(asked("good")).end(Outcome::Ok);
    unread().pass();
    drop(unread());
    let seen = seen.0.lock().unwrap();
    let ends = [
        (UNKNOWN, Outcome::Rejected),
        ("good", Outcome::Ok),
        (UNKNOWN, Outcome::Cancelled),
    ];
    let ends = ends.map(|(name, outcome)| (name.to_owned(), outcome));
    assert_eq!(*seen, ends);
}

#[test]
fn the_name_of_a_request_cannot_break_a_line() {
    let mut headers = HeaderMap::new();
    for (given, taken) in [
        ("r-1", "r-1"),
        ("two words", ""),
        ("tab\there", ""),
        ("eyJhbGciOiJIUzI1NiJ9.e30.c2ln", ""),
        (&"x".repeat(129), ""),
    ] {
        headers.insert(REQUEST_ID, given.parse().unwrap());
        assert_eq!(Origin::with_headers("test", &headers).request, taken);
    }
}
