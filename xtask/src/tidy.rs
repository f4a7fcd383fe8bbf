//! Checks of the repository itself, each also a test of this package.
//!
//! - [`arrows`]: crates depend on each other only as the table in `ARCHITECTURE.md` says;
//! - [`docs`]: every public struct, enum and trait of a crate has a doc comment;
//! - [`evidence`]: what a document cites as evidence is a test;
//! - [`files`]: every module says what it is for, the README stays short, no file names a path of
//!   one machine, only the binary reads the environment, and the session has no I/O, clock or tasks;
//! - [`sabotage`]: nothing but the proof breaks requirements.

use std::path::Path;

use crate::error::{Error, Result};

mod arrows;
mod docs;
mod evidence;
mod files;
mod sabotage;

#[cfg(test)]
#[path = "tidy_tests.rs"]
mod tests;

/// Runs every check and reports all findings at once.
pub(crate) fn run(root: &Path) -> Result<()> {
    let findings = findings(root)?;
    if findings.is_empty() {
        return Ok(());
    }
    Err(Error::Found(findings.join("\n")))
}

fn findings(root: &Path) -> Result<Vec<String>> {
    let mut findings = arrows::check(root)?;
    findings.extend(evidence::check(root)?);
    findings.extend(files::check(root)?);
    findings.extend(sabotage::check(root)?);
    Ok(findings)
}
