//! The place of a table in `docs/benchmarks.md`, and of the pictures beside it.

use std::fs;
use std::path::Path;

use crate::error::{Doing, Error, Result};

/// Replaces the section that is marked with the name of a bench.
pub(crate) fn write(root: &Path, bench: &str, section: &str) -> Result<()> {
    let path = root.join("docs/benchmarks.md");
    let text = fs::read_to_string(&path).doing(|| format!("read {}", path.display()))?;
    let text = replace_section(&text, bench, section)
        .ok_or_else(|| Error::Answer(format!("{} has no section of {bench}", path.display())))?;
    fs::write(&path, text).doing(|| format!("write {}", path.display()))
}

/// Writes a file of its own under `docs/`.
pub(crate) fn put(root: &Path, name: &str, text: &str) -> Result<()> {
    let path = root.join("docs").join(name);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).doing(|| format!("create {}", folder.display()))?;
    }
    fs::write(&path, text).doing(|| format!("write {}", path.display()))
}

fn replace_section(text: &str, bench: &str, section: &str) -> Option<String> {
    let begin = format!("<!-- bench {bench}: begin -->");
    let end = format!("<!-- bench {bench}: end -->");
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{section}{end}{after}"))
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
