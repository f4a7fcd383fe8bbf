//! Named steps with their time, and the count of what passed at the end.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// The steps of one run. The first that fails ends the run.
#[derive(Debug)]
pub(crate) struct Report {
    started: Instant,
    steps: usize,
    total: Tally,
}

/// Checks that passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Tally {
    /// Adds the counts of a line such as `test result: ok. 12 passed; 0 failed; …`.
    pub(crate) fn add_summary(&mut self, line: &str) {
        if !line.starts_with("test result:") {
            return;
        }
        let words = line
            .split_whitespace()
            .map(|word| word.trim_end_matches(';'));
        let mut previous = "";
        for word in words {
            match word {
                "passed" => self.passed += previous.parse::<usize>().unwrap_or(0),
                "failed" => self.failed += previous.parse::<usize>().unwrap_or(0),
                _ => {}
            }
            previous = word;
        }
    }
}

impl Report {
    pub(crate) fn start() -> Report {
        Report {
            started: Instant::now(),
            steps: 0,
            total: Tally::default(),
        }
    }

    /// Runs one step. What it does not count itself counts as one check.
    pub(crate) fn step<T>(
        &mut self,
        name: &str,
        step: impl FnOnce(&mut Tally) -> Result<T>,
    ) -> Result<T> {
        println!("\n==> {name}");
        let started = Instant::now();
        let mut tally = Tally::default();
        let result = step(&mut tally);
        match &result {
            Ok(_) if tally == Tally::default() => tally.passed = 1,
            Err(_) if tally.failed == 0 => tally.failed = 1,
            _ => {}
        }
        self.steps += 1;
        self.total.passed += tally.passed;
        self.total.failed += tally.failed;
        match result {
            Ok(value) => {
                println!("    {name}: ok in {}", seconds(started.elapsed()));
                Ok(value)
            }
            Err(error) => {
                println!("    {name}: FAILED in {}", seconds(started.elapsed()));
                println!("{error}");
                self.summary(&format!("failed at step \"{name}\""));
                Err(Error::Reported)
            }
        }
    }

    /// Prints the last line of a run in which every step passed.
    pub(crate) fn finish(&self) {
        self.summary("all steps passed");
    }

    fn summary(&self, verdict: &str) {
        let Tally { passed, failed } = self.total;
        let time = seconds(self.started.elapsed());
        println!(
            "\n{verdict}: {passed} passed, {failed} failed ({} steps in {time})",
            self.steps
        );
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
