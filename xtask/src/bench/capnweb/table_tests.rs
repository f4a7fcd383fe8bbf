//! The table says what was measured.

use super::super::peer::Peer;
use super::super::scenario::SCENARIOS;
use super::*;

#[test]
fn shows_the_best_round_its_ratio_and_a_verdict() {
    let mut line = Line::new(&SCENARIOS[0]);
    for figure in [50.0, 42.0, 44.0] {
        line.add(Peer::Npm, figure);
    }
    line.add(Peer::Ours, 4.2);
    let text = markdown(&[line]);
    let row = text.lines().last().unwrap();
    assert!(
        row.ends_with("| 42.0 | 4.20 | 1/10.0 | at most 1/6 | met |"),
        "{row}"
    );
}
