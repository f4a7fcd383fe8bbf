//! Runs that are killed go on as if nothing had been.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{PROGRAM, Place};

fn start(place: &Place) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args([&place.folder, &place.data]).args(["90", "5"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn report(place: &Place) -> Value {
    let output = start(place).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// How many lines the record of the run has.
fn events(place: &Place) -> usize {
    let runs = std::fs::read_dir(place.data.join("evolve"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let texts = runs.filter_map(|it| std::fs::read_to_string(it.path().join("events.jsonl")).ok());
    texts.map(|it| it.lines().count()).sum()
}

/// Processes that have this word in their command line.
fn processes(word: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
    lines
        .filter(|it| String::from_utf8_lossy(it).contains(word))
        .count()
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_like_one_that_is_not() {
    let whole = report(&Place::of("bowl"));
    let place = Place::of("bowl");
    let mut killed = 0;
    for round in 0..5u64 {
        let known = events(&place);
        let mut child = start(&place).spawn().unwrap();
        // Some events later, at a moment that nothing chooses.
        let deadline = Instant::now() + Duration::from_secs(20);
        while events(&place) < known + 9
            && child.try_wait().unwrap().is_none()
            && Instant::now() < deadline
        {
            std::thread::sleep(Duration::from_millis(3));
        }
        std::thread::sleep(Duration::from_millis(7 * round));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
    }
    let ended = report(&place);
    assert!(killed > 0);
    for part in ["evaluations", "best", "best_candidate", "initial", "curve"] {
        assert_eq!(ended[part], whole[part], "{part}");
    }
    let word = place.data.display().to_string();
    let mut left = processes(&word);
    for _ in 0..50 {
        if left == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        left = processes(&word);
    }
    assert_eq!(left, 0, "no process of the run is left");
}
