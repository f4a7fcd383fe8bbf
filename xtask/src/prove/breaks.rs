//! `cargo xtask prove --self-check`: each requirement broken in turn, and noticed on every binding.

use std::path::Path;
use std::time::Instant;

use super::table::{BINDINGS, REQUIREMENTS, Requirement};
use super::{Shown, Verdicts, test_programs, verdicts};
use crate::error::{Error, Result};

/// Builds once with the switch, then runs all requirements once whole and once with each of them broken.
pub(crate) fn run(root: &Path) -> Result<()> {
    println!("builds the tests with the switch that breaks requirements");
    let programs = test_programs(root, &["--package", "proof", "--features", "sabotage"])?;
    let modules: Vec<&str> = REQUIREMENTS.iter().map(|it| it.module).collect();
    let whole = verdicts(&programs, &modules, None, Shown::Nothing)?;
    let failed: Vec<&str> = whole.failed().collect();
    if !failed.is_empty() || whole.0.len() != REQUIREMENTS.len() * BINDINGS.len() {
        let why = format!(
            "{} cells, and these fail unbroken: {failed:?}",
            whole.0.len()
        );
        return Err(Error::Found(why));
    }
    println!("nothing broken: {} cells hold", whole.0.len());
    let mut rows = Vec::new();
    for requirement in REQUIREMENTS {
        let started = Instant::now();
        let broken = verdicts(
            &programs,
            &modules,
            Some(requirement.module),
            Shown::Nothing,
        )?;
        let row = Row::of(requirement, &broken);
        println!("{row} ({:.1} s)", started.elapsed().as_secs_f64());
        rows.push(row);
    }
    println!("\n| broken | its cells | others that noticed |\n|---|---|---|");
    for row in &rows {
        println!("| {} | {} | {} |", row.number, row.noticed(), row.others());
    }
    let unnoticed: Vec<&str> = rows
        .iter()
        .filter(|row| !row.green.is_empty())
        .map(|row| &*row.number)
        .collect();
    if unnoticed.is_empty() {
        println!("\nevery break is noticed on every binding");
        return Ok(());
    }
    Err(Error::Found(format!(
        "not noticed on every binding: {}",
        unnoticed.join(", ")
    )))
}

/// What came of one break.
struct Row {
    number: String,
    /// Bindings that passed although the requirement was broken.
    green: Vec<&'static str>,
    /// Other requirements, with how many of their cells noticed.
    others: Vec<(String, usize)>,
}

impl Row {
    fn of(broken: &Requirement, verdicts: &Verdicts) -> Self {
        let red = |requirement: &Requirement, binding: &str| {
            verdicts.0.get(&requirement.test(binding)) != Some(&true)
        };
        let green = BINDINGS.iter().filter(|(key, _)| !red(broken, key));
        let others = REQUIREMENTS.iter().filter(|it| it.module != broken.module);
        let others = others.map(|other| {
            let count = BINDINGS.iter().filter(|(key, _)| red(other, key)).count();
            (other.number(), count)
        });
        Self {
            number: broken.number(),
            green: green.map(|(_, name)| *name).collect(),
            others: others.filter(|(_, count)| *count > 0).collect(),
        }
    }

    fn noticed(&self) -> String {
        match &self.green[..] {
            [] => "all red".to_owned(),
            green => format!("STILL GREEN: {}", green.join(", ")),
        }
    }

    fn others(&self) -> String {
        let others: Vec<_> = self
            .others
            .iter()
            .map(|(number, count)| format!("{number} ({count})"))
            .collect();
        match others.is_empty() {
            true => "none".to_owned(),
            false => others.join(", "),
        }
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} broken: {}; others: {}",
            self.number,
            self.noticed(),
            self.others()
        )
    }
}
