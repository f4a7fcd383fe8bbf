//! The text that is shown.

use super::*;

#[test]
fn bounds_count_what_took_no_longer() {
    let mut call = CallStats::default();
    call.interface = "Agent";
    call.member = "say \"x\"".to_owned();
    call.succeeded = 3;
    call.times[0] = 1;
    call.times[2] = 1;
    call.times[TIME_BOUNDS.len()] = 1;
    let mut snapshot = Snapshot::default();
    snapshot.sessions = 2;
    snapshot.sessions_parked = 1;
    snapshot.calls = vec![call];
    #[derive(Debug)]
    struct Fixed(Snapshot);
    impl Collector for Fixed {
        fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
            write(&self.0, encoder)
        }
    }
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Fixed(snapshot)));
    let mut page = String::new();
    text::encode(&mut page, &registry).unwrap();
    let call = r#"interface="Agent",member="say \"x\"""#;
    for line in [
        "capnweb_sessions 2".to_owned(),
        "capnweb_sessions_parked 1".to_owned(),
        "capnweb_sessions_total 0".to_owned(),
        format!("capnweb_calls_total{{{call},outcome=\"succeeded\"}} 3"),
        format!("capnweb_call_seconds_bucket{{le=\"0.001\",{call}}} 1"),
        format!("capnweb_call_seconds_bucket{{le=\"0.005\",{call}}} 2"),
        format!("capnweb_call_seconds_bucket{{le=\"10.0\",{call}}} 2"),
        format!("capnweb_call_seconds_bucket{{le=\"+Inf\",{call}}} 3"),
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
}
