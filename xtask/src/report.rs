//! Named steps with their times, and at the end a table of both and the count of what passed.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// The steps of one run. The first that fails ends the run.
#[derive(Debug)]
pub(crate) struct Report {
    started: Instant,
    steps: Vec<Step>,
}

/// A step that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    name: String,
    time: Duration,
    tally: Tally,
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
            steps: Vec::new(),
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
        let time = started.elapsed();
        self.steps.push(Step {
            name: name.to_owned(),
            time,
            tally,
        });
        match result {
            Ok(value) => {
                println!("    {name}: ok in {}", seconds(time));
                Ok(value)
            }
            Err(error) => {
                println!("    {name}: FAILED in {}", seconds(time));
                println!("{error}");
                self.summary(&format!("failed at step \"{name}\""));
                Err(Error::Reported)
            }
        }
    }

    /// Prints the end of a run in which every step passed.
    pub(crate) fn finish(&self) {
        self.summary("all steps passed");
    }

    fn summary(&self, verdict: &str) {
        print!("\n{}", table(&self.steps));
        let total = |of: fn(&Tally) -> usize| self.steps.iter().map(|step| of(&step.tally)).sum();
        let passed: usize = total(|tally| tally.passed);
        let failed: usize = total(|tally| tally.failed);
        let time = seconds(self.started.elapsed());
        println!(
            "\n{verdict}: {passed} passed, {failed} failed ({} steps in {time})",
            self.steps.len()
        );
    }
}

/// One line for each step: its time, its name, and what passed in it.
fn table(steps: &[Step]) -> String {
    let line = |step: &Step| {
        let Tally { passed, failed } = step.tally;
        let failed = match failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        let (time, name) = (seconds(step.time), &step.name);
        format!("{time:>10}  {name}: {passed} passed{failed}\n")
    };
    steps.iter().map(line).collect()
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
