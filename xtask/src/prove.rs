//! `cargo xtask prove`: every requirement on every binding, by tests that are executed in that very run.
//!
//! `cargo xtask test` runs the tests of the proof once, with all others, and hands their verdicts over ([`check`]).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Doing as _, Error, Result};
use crate::process;

mod breaks;
mod table;
#[cfg(test)]
#[path = "prove_tests.rs"]
mod tests;

pub(crate) use breaks::run as self_check;
use table::{BINDINGS, LAWS, REQUIREMENTS};

/// Where the table is.
const DOCUMENT: &str = "docs/proof.md";

/// The verdict of a test that did not run.
const MISSING: &str = "**MISSING**";

/// What to do with the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Files {
    Write,
    Check,
}

/// Runs the tests of the proof, and writes the table of what they showed or compares it.
pub(crate) fn run(root: &Path, files: Files) -> Result<()> {
    let programs = test_programs(root, &["--package", "proof"])?;
    let mut shown = verdicts(&programs, &[], None, Shown::Lines)?;
    for evidence in ELSEWHERE {
        let programs = evidence.programs(root)?;
        shown.join(verdicts(&programs, evidence.words, None, Shown::Lines)?);
    }
    conclude(root, files, &shown)
}

/// Evidence in the tests of another package.
struct Elsewhere {
    package: &'static str,
    /// The test program.
    program: &'static str,
    features: &'static [&'static str],
    /// The tests with one of these words in their names; without words all.
    words: &'static [&'static str],
}

const ELSEWHERE: &[Elsewhere] = &[
    Elsewhere {
        package: "a2a",
        program: "it",
        features: &["--all-features"],
        words: &["binding::every_binding_serves_every_row"],
    },
    Elsewhere {
        package: "a2a",
        program: "model",
        features: &["--all-features"],
        words: &[],
    },
    Elsewhere {
        package: "capnweb",
        program: "model",
        features: &[],
        words: &[],
    },
];

impl Elsewhere {
    fn programs(&self, root: &Path) -> Result<Vec<PathBuf>> {
        let which = ["--package", self.package, "--test", self.program];
        let built = process::build(root, &[&which[..], self.features].concat())?;
        let programs = built
            .into_iter()
            .filter(|built| built.is_test() && built.package == self.package);
        Ok(programs.map(|built| built.path).collect())
    }
}

/// Compares the table with the verdicts of tests that have run.
pub(crate) fn check(root: &Path, verdicts: &Verdicts) -> Result<()> {
    conclude(root, Files::Check, verdicts)
}

fn conclude(root: &Path, files: Files, verdicts: &Verdicts) -> Result<()> {
    let document = document(verdicts);
    let path = root.join(DOCUMENT);
    match files {
        Files::Write => {
            std::fs::write(&path, &document).doing(|| format!("write {DOCUMENT}"))?;
            println!("wrote {DOCUMENT}");
        }
        Files::Check => {
            let found = std::fs::read_to_string(&path).doing(|| format!("read {DOCUMENT}"))?;
            if found != document {
                let why = "it is not what the tests show: run `cargo xtask prove`";
                return Err(Error::Found(format!("{DOCUMENT}: {why}")));
            }
        }
    }
    let failed: Vec<&str> = verdicts.failed().collect();
    if failed.is_empty() && !document.contains(MISSING) {
        println!("{}", summary());
        return Ok(());
    }
    Err(Error::Found(format!(
        "not shown: {}; see {DOCUMENT}",
        failed.join(", ")
    )))
}

fn summary() -> String {
    let cells = REQUIREMENTS.len() * BINDINGS.len();
    let (requirements, bindings, laws) = (REQUIREMENTS.len(), BINDINGS.len(), LAWS.len());
    format!(
        "{requirements} requirements on {bindings} bindings: {cells} cells hold; {laws} laws hold"
    )
}

/// Names of tests that ran, each with whether it passed.
#[derive(Default)]
pub(crate) struct Verdicts(BTreeMap<String, bool>);

impl Verdicts {
    /// Takes the verdict from a line that a test program prints; other lines have none. Where tests of two packages have
    /// the same name, both must pass.
    pub(crate) fn add(&mut self, line: &str) {
        if let Some((name, passed)) = verdict(line) {
            *self.0.entry(name).or_insert(true) &= passed;
        }
    }

    /// Takes over the verdicts of other tests.
    fn join(&mut self, others: Self) {
        for (name, passed) in others.0 {
            *self.0.entry(name).or_insert(true) &= passed;
        }
    }

    /// The tests that failed. Their verdicts are forgotten, for they are run again.
    pub(crate) fn take_failed(&mut self) -> Vec<String> {
        let failed = self.0.extract_if(.., |_, passed| !*passed);
        failed.map(|(name, _)| name).collect()
    }

    fn failed(&self) -> impl Iterator<Item = &str> {
        let failed = self.0.iter().filter(|(_, passed)| !**passed);
        failed.map(|(name, _)| name.as_str())
    }

    /// What a test showed; a test that did not run shows nothing.
    fn word(&self, test: &str) -> &'static str {
        match self.0.get(test) {
            Some(true) => "holds",
            Some(false) => "**FAILS**",
            None => MISSING,
        }
    }
}

/// Builds tests, those of the proof among them, and gives the programs of the proof.
fn test_programs(root: &Path, packages: &[&str]) -> Result<Vec<PathBuf>> {
    let built = process::build(root, &[packages, &["--tests"]].concat())?;
    let tests = built
        .into_iter()
        .filter(|built| built.is_test() && built.package == "proof");
    Ok(tests.map(|built| built.path).collect())
}

/// Whether the tests' own lines are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Lines,
    Nothing,
}

/// Runs the tests with one of the words in their names; without words all tests.
fn verdicts(
    programs: &[PathBuf],
    words: &[&str],
    broken: Option<&str>,
    shown: Shown,
) -> Result<Verdicts> {
    let mut verdicts = Verdicts::default();
    for program in programs {
        let mut command = Command::new(program);
        // They wait more than they work, above all when something is broken.
        command.args(words).arg("--test-threads=8");
        command.stderr(Stdio::null());
        if let Some(requirement) = broken {
            command.env("MONAS_BREAK", requirement);
        }
        if shown == Shown::Lines {
            command.stderr(Stdio::inherit());
        }
        let output = command
            .output()
            .doing(|| format!("start {}", process::line(&command)))?;
        let text = String::from_utf8_lossy(&output.stdout);
        if shown == Shown::Lines {
            print!("{text}");
        }
        text.lines().for_each(|line| verdicts.add(line));
    }
    Ok(verdicts)
}

/// The name and the verdict in a line such as `test r03_streaming::grpc ... ok`.
fn verdict(line: &str) -> Option<(String, bool)> {
    let (name, verdict) = line.strip_prefix("test ")?.split_once(" ... ")?;
    Some((name.to_owned(), verdict.trim() == "ok"))
}

fn document(verdicts: &Verdicts) -> String {
    let mut text = String::from(INTRODUCTION);
    text.push_str(&matrix(verdicts));
    for requirement in REQUIREMENTS {
        let number = requirement.number();
        write!(text, "\n## {number}: {}\n\n{HEAD}", requirement.what).expect("texts grow");
        for ((binding, name), means) in BINDINGS.iter().zip(requirement.means) {
            let test = requirement.test(binding);
            let verdict = verdicts.word(&test);
            writeln!(text, "| {name} | {means} | `{test}` | {verdict} |").expect("texts grow");
        }
    }
    write!(
        text,
        "\n## Laws\n\n| what holds of all bindings together | evidence | verdict |\n|---|---|---|\n"
    )
    .expect("texts grow");
    for law in LAWS {
        let verdict = verdicts.word(law.test);
        writeln!(text, "| {} | `{}` | {verdict} |", law.what, law.test).expect("texts grow");
    }
    text
}

/// All verdicts at one glance.
fn matrix(verdicts: &Verdicts) -> String {
    let names = BINDINGS.map(|(_, name)| name).join(" | ");
    let mut text = format!("\n| requirement | {names} |\n|---|---|---|---|---|---|\n");
    for requirement in REQUIREMENTS {
        let cells = BINDINGS.map(|(key, _)| verdicts.word(&requirement.test(key)));
        let (number, what) = (requirement.number(), requirement.what);
        writeln!(text, "| {number}: {what} | {} |", cells.join(" | ")).expect("texts grow");
    }
    text
}

const HEAD: &str =
    "| binding | means, or stated equivalent | evidence | verdict |\n|---|---|---|---|\n";

const INTRODUCTION: &str = "\
# Proof

The requirements of the protocol, each executed on every binding, in version 1.0 and in version 0.3. Each piece of
evidence is a test of the package `proof` (`conformance/proof/tests/it`): a real server in the test's process, our
client at the other end of a real socket. Of the laws, `binding::…` is a test of the package `a2a`, and the two models are
`cargo test -p a2a --test model` and `cargo test -p capnweb --test model`.

`cargo xtask prove` runs the tests and writes this file; `cargo xtask prove --check`, a part of `cargo xtask test`,
fails when it is not what the tests show. `cargo xtask prove --self-check` breaks the implementation of each
requirement in turn, by a switch that is compiled for this purpose only, and shows that its row turns red.
";
