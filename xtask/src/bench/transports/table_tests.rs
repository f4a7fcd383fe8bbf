//! The table shows the middle round, and says what was reached.

use super::*;

fn results(processor: [f64; 2], trips: [f64; 2], lost: f64) -> Results {
    let mut results = Results::default();
    for (binding, at) in [(Binding::JsonRpc, 0), (Binding::CapnWeb, 1)] {
        let encrypted = false;
        let wire = Wire { binding, encrypted };
        for round in [1.0, 0.5, 9.0] {
            results.add(wire, Figure::Processor, processor[at] * round);
        }
        results.add(wire, Figure::RoundTrips, trips[at]);
        results.add(wire, Figure::Events, 10.0);
        results.add(wire, Figure::Lost, lost);
    }
    results
}

#[test]
fn the_middle_round_counts_and_only_what_was_measured_is_shown() {
    let text = markdown(&results([50.0, 25.0], [2.0, 1.0], 0.0));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "| wire | us CPU a call, 16 connections | round trips, send then get | events over two cuts | lost |"
    );
    assert_eq!(lines[2], "| JSON-RPC | 50 | 2 | 10 | 0 |");
    assert_eq!(lines[6], "| Cap'n Web | 25 | 1 | 10 | 0 |");
}

#[test]
fn a_target_is_met_or_missed() {
    let good = verdicts(&results([50.0, 25.0], [2.0, 1.0], 0.0));
    assert_eq!(
        good.matches(" met.").count() + good.matches(", met").count(),
        4,
        "{good}"
    );
    let bad = verdicts(&results([50.0, 75.0], [2.0, 2.0], 1.0));
    assert_eq!(bad.matches("missed").count(), 3, "{bad}");
}
