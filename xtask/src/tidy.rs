//! Checks of the repository itself, each also a test of this package.
//!
//! - [`arrows`]: the table in `ARCHITECTURE.md` says what the manifests say: which crates there are, what each is for
//!   and which of our crates it depends on;
//! - [`docs`]: every public struct, enum and trait of a crate has a doc comment;
//! - [`evidence`]: what a document cites as evidence is a test;
//! - [`files`]: every module says what it is for, the README stays short, no file names a path of
//!   one machine, only the binary reads the environment, and the session has no I/O, clock or tasks;
//! - [`paths`]: every path that a document names exists;
//! - [`sabotage`]: nothing but the proof breaks requirements;
//! - [`words`]: comments and texts say what they mean: few riddle words, few captions; `strings` finds the texts.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

mod arrows;
mod docs;
mod evidence;
mod files;
mod paths;
mod sabotage;
mod strings;
mod words;

#[cfg(test)]
#[path = "tidy_tests.rs"]
mod tests;

/// Runs every check and reports all findings at once.
pub(crate) fn run(root: &Path) -> Result<()> {
    let repository = Repository::read(root)?;
    println!("{}", repository.words().total());
    let findings = findings(root, &repository)?;
    if findings.is_empty() {
        return Ok(());
    }
    Err(Error::Found(findings.join("\n")))
}

fn findings(root: &Path, repository: &Repository) -> Result<Vec<String>> {
    let mut findings = arrows::check(root)?;
    findings.extend(evidence::check(root)?);
    findings.extend(repository.files());
    findings.extend(repository.paths());
    findings.extend(sabotage::check(root)?);
    findings.extend(repository.words().findings());
    Ok(findings)
}

/// The text files of the repository, read once for all checks.
#[derive(Debug)]
struct Repository {
    /// Everything that git tracks or would track.
    names: Vec<String>,
    /// Those that are text, with it.
    texts: Vec<(String, String)>,
}

impl Repository {
    fn read(root: &Path) -> Result<Repository> {
        let names = files::names(root)?;
        let read = |name: &String| {
            // A file may be listed and just deleted, or not be text.
            let text = fs::read_to_string(root.join(name)).ok()?;
            Some((name.clone(), text))
        };
        let texts = names.iter().filter_map(read).collect();
        Ok(Repository { names, texts })
    }

    fn files(&self) -> impl Iterator<Item = String> {
        let texts = self.texts.iter();
        texts.flat_map(|(name, text)| files::check_file(name, text))
    }

    fn paths(&self) -> Vec<String> {
        let tree = paths::Tree::new(self.names.iter().map(String::as_str));
        let documents = self.texts.iter();
        let documents = documents.filter(|(name, _)| paths::is_document(name));
        let missing = documents.flat_map(|(name, text)| {
            let missing = paths::missing(&tree, name, text).into_iter();
            missing.map(move |(line, path)| format!("{name}:{line}: {path} does not exist"))
        });
        missing.collect()
    }

    fn words(&self) -> words::Counts {
        let mut counts = words::Counts::default();
        for (name, text) in &self.texts {
            counts.add(name, text);
        }
        counts
    }
}
