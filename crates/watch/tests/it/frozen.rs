//! Recall and precision on the frozen journals. The floors are those of the half that rules were not tuned with.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use watch::{Notice, Severity, Watcher};

use crate::journals::{self, Journal};

/// What a watchdog told about one journal, above `info`.
fn told(watcher: &Watcher, journal: &Journal) -> Vec<(String, Severity, String)> {
    let mut watcher = watcher.clone();
    let mut told = Vec::new();
    for (sequence, record) in (1..).zip(&journal.records) {
        let stream = format!("agent/{}", journal.name);
        for notice in watcher.event(&stream, sequence, record.as_bytes()).unwrap() {
            if let Notice::Alert { alert, .. } = notice
                && alert.severity > Severity::Info
            {
                told.push((alert.alert_type.clone(), alert.severity, alert.rule.clone()));
            }
        }
    }
    told
}

/// The figures of one half.
#[derive(Debug, Default)]
struct Score {
    kinds: BTreeMap<String, (u32, u32)>,
    right: u32,
    wrong: u32,
    benign_events: usize,
    benign_wrong: u32,
    faults: String,
}

fn score(apart: bool) -> Score {
    let watcher = Watcher::shipped().unwrap();
    let mut score = Score::default();
    for journal in journals::all().iter().filter(|it| it.apart == apart) {
        let told = told(&watcher, journal);
        let expected = |it: &&(String, Severity, String)| journal.expect.contains(&it.0);
        let hits = told.iter().filter(expected).count();
        let others: Vec<_> = told.iter().filter(|it| !expected(it)).collect();
        // Several messages about one incident are one alert that is right.
        score.right += u32::from(hits > 0);
        score.wrong += u32::try_from(others.len()).unwrap();
        if journal.expect.is_empty() {
            score.benign_events += journal.records.len();
            score.benign_wrong += u32::try_from(others.len()).unwrap();
        } else {
            let kind = score.kinds.entry(journal.kind.clone()).or_default();
            kind.0 += u32::from(hits > 0);
            kind.1 += 1;
            if hits == 0 {
                writeln!(score.faults, "missed {}", journal.name).unwrap();
            }
        }
        for other in others {
            writeln!(score.faults, "{}: {other:?}", journal.name).unwrap();
        }
    }
    score
}

#[expect(clippy::print_stdout, reason = "the figures are shown with --nocapture")]
#[track_caller]
fn check(score: &Score) {
    let (found, all) = score
        .kinds
        .values()
        .fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let recall = f64::from(found) / f64::from(all);
    let precision = f64::from(score.right) / f64::from(score.right + score.wrong);
    let false_alarms = f64::from(score.benign_wrong) * 1000.0 / score.benign_events as f64;
    let figures = format!(
        "recall {recall:.3}, precision {precision:.3}, {false_alarms:.2} false alarms in 1,000 of {} harmless events\n{}",
        score.benign_events, score.faults
    );
    println!("{figures}{:?}", score.kinds);
    assert!(recall >= 0.95, "{figures}");
    assert!(precision >= 0.90, "{figures}");
    assert!(false_alarms <= 1.0, "{figures}");
    for (kind, (found, all)) in &score.kinds {
        assert!(
            f64::from(*found) >= 0.9 * f64::from(*all),
            "{kind}: {figures}"
        );
    }
}

#[test]
fn incidents_of_the_half_kept_apart_are_told_and_harmless_work_is_not() {
    check(&score(true));
}

#[test]
fn incidents_of_the_tuning_half_are_told_and_harmless_work_is_not() {
    check(&score(false));
}

/// The journals were written before the rules. Who changes them changes the measure, and has to say so here.
#[test]
fn the_frozen_journals_are_as_they_were() {
    let text = journals::frozen();
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let all = journals::all();
    assert_eq!(
        (all.len(), all.iter().filter(|it| it.apart).count()),
        (240, 120)
    );
    assert_eq!(all.iter().filter(|it| it.expect.is_empty()).count(), 120);
    assert_eq!(format!("{hash:016x}"), "b2522e9fd5336e80");
}
