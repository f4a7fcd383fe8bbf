//! Whether the server stays as it is after the warm-up.

use std::fmt::Write;

use serde_json::Value;

use super::sample::Sample;

/// How much the last third may have more than the second.
const MORE: f64 = 1.05;

/// What is held against that rule: its name, how to read it, and what it may have more besides.
type Rule = (&'static str, fn(&Sample) -> f64, f64);

const RULES: [Rule; 5] = [
    ("memory, MB resident", |sample| sample.resident_mb, 2.0),
    ("open files", |sample| sample.files, 8.0),
    ("threads", |sample| sample.threads, 2.0),
    ("Cap'n Web sessions", |sample| sample.sessions, 4.0),
    ("entries in their tables", |sample| sample.entries, 16.0),
];

/// What came of it.
#[derive(Debug)]
pub(super) struct Verdict {
    rows: Vec<Row>,
    traffic: Value,
}

#[derive(Debug)]
struct Row {
    name: &'static str,
    /// The middle of each third.
    thirds: [f64; 3],
    most: f64,
    is_flat: bool,
}

impl Verdict {
    pub(super) fn of(samples: &[Sample], traffic: &Value) -> Verdict {
        let row = |(name, read, besides): Rule| {
            let third = samples.len() / 3;
            let [first, second, last] = [0, 1, 2].map(|part| {
                let end = if part == 2 {
                    samples.len()
                } else {
                    third * (part + 1)
                };
                median(samples[third * part..end].iter().map(read).collect())
            });
            Row {
                name,
                thirds: [first, second, last],
                most: samples.iter().map(read).fold(0.0, f64::max),
                is_flat: !samples.is_empty() && last <= second * MORE + besides,
            }
        };
        Verdict {
            rows: RULES.into_iter().map(row).collect(),
            traffic: traffic.clone(),
        }
    }

    pub(super) fn is_good(&self) -> bool {
        let done = self.jobs().next().is_some() && self.jobs().all(|(_, count)| count > 0);
        self.rows.iter().all(|row| row.is_flat) && done && self.failed() == Some(0)
    }

    pub(super) fn markdown(&self) -> String {
        let mut text = String::from(
            "| held by the server | first third | second | last | most | verdict |\n|---|---:|---:|---:|---:|---|\n",
        );
        for row in &self.rows {
            let [first, second, last] = row.thirds.map(|middle| format!("{middle:.1}"));
            let verdict = if row.is_flat { "flat" } else { "grows" };
            writeln!(
                text,
                "| {} | {first} | {second} | {last} | {:.1} | {verdict} |",
                row.name, row.most
            )
            .expect("writing to a String");
        }
        let jobs: Vec<String> = self
            .jobs()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let (wires, deliveries) = (&self.traffic["wires"], &self.traffic["deliveries"]);
        let failed = self
            .failed()
            .map_or_else(|| "unknown".to_owned(), |failed| failed.to_string());
        writeln!(
            text,
            "\nDone on {wires} wires: {}; {deliveries} deliveries to webhooks. Unexpected errors: {failed}.",
            jobs.join(", ")
        )
        .expect("writing to a String");
        text
    }

    fn jobs(&self) -> impl Iterator<Item = (&str, u64)> {
        let jobs = self.traffic["jobs"].as_object().into_iter().flatten();
        jobs.map(|(name, count)| (name.as_str(), count.as_u64().unwrap_or(0)))
    }

    fn failed(&self) -> Option<u64> {
        self.traffic["failed"].as_u64()
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
