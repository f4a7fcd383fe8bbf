//! `cargo xtask test`: everything a change must pass, quick checks first; `--fast`: the quick ones alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Result;
use crate::report::{Report, Tally};
use crate::tools::{self, Chromium, Node, Postgres, Python};
use crate::{examples, process, prove, tidy, types, workspace};

/// Folders with a `package-lock.json`, which lists npm packages that the tests use.
const NPM_FOLDERS: [&str; 10] = [
    "conformance/ag-ui",
    "conformance/capnweb",
    "conformance/mcp",
    "conformance/oidc",
    "conformance/page",
    "conformance/a2a/js",
    "conformance/a2a/v0_3/js",
    "conformance/signatures",
    "clients/typescript",
    "web",
];

/// The checks of every few minutes: they need nothing but cargo. Under three minutes when little has changed.
pub(crate) fn fast(root: &Path) -> Result<()> {
    let mut report = Report::start();
    format_and_tidy(root, &mut report)?;
    clippy(root, &mut report)?;
    report.step("unit tests", |tally| {
        // For the whole workspace, as clippy and all tests: other features would compile everything once more.
        let mut command = process::cargo(root);
        command.args(["test", "--workspace", "--no-fail-fast", "--lib", "--bins"]);
        process::watch(&mut command, |line| tally.add_summary(line))
    })?;
    report.finish();
    Ok(())
}

/// Everything that a change must pass. What is quick comes first, so that a small mistake is found within a minute.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut report = Report::start();
    format_and_tidy(root, &mut report)?;
    report.step("licences, bans, sources", |_| deny(root))?;
    let node = report.step("node", |_| {
        let node = tools::node(root)?;
        println!("node {}", node.version);
        for folder in NPM_FOLDERS {
            tools::npm_packages(root, folder, &node)?;
        }
        Ok(node)
    })?;
    let pythons = report.step("python", |_| {
        let v1_0 = tools::python(root, tools::A2A_V1_0)?;
        let v0_3 = tools::python(root, tools::A2A_V0_3)?;
        let acp = tools::python(root, tools::ACP)?;
        let openapi = tools::python(root, tools::OPENAPI)?;
        let bolt = tools::python(root, tools::BOLT)?;
        Ok([v1_0, v0_3, acp, openapi, bolt])
    })?;
    let chromium = report.step("chromium", |_| tools::chromium())?;
    let postgres = report.step("postgres", |_| tools::postgres())?;
    clippy(root, &mut report)?;
    report.step("docs", |_| docs(root))?;
    let rust_client = report.step("official Rust client", |_| tools::rust_client(root))?;
    let peers = Peers {
        node,
        pythons,
        rust_client,
        chromium,
        postgres,
    };
    report.step("build tests", |_| {
        let all = ["test", "--workspace", "--no-run"];
        cargo(root, &[&all[..], &ALL_TESTS].concat())
    })?;
    let verdicts = report.step("tests", |tally| all_tests(root, &peers, tally))?;
    report.step("proof", |_| prove::check(root, &verdicts))?;
    // Built as the tests are, so that nothing is compiled again for other features.
    report.step("types", |_| types::run(root, types::Files::Check))?;
    report.step("examples", |tally| {
        tally.passed = examples::run(root, examples::Expected::Compare)?;
        Ok(())
    })?;
    report.step("doc tests", |tally| {
        test(root, &peers, &["--doc"], |line| tally.add_summary(line))
    })?;
    report.step("each feature alone", |_| features(root))?;
    report.finish();
    Ok(())
}

/// The kinds of tests that are programs; doc tests are compiled one by one.
const ALL_TESTS: [&str; 3] = ["--lib", "--bins", "--tests"];

fn format_and_tidy(root: &Path, report: &mut Report) -> Result<()> {
    report.step("format", |_| {
        cargo(root, &["fmt", "--all", "--", "--check"])
    })?;
    report.step("tidy", |_| tidy::run(root))
}

fn clippy(root: &Path, report: &mut Report) -> Result<()> {
    report.step("clippy", |_| {
        let all = ["clippy", "--workspace", "--all-targets"];
        cargo(root, &[&all[..], &["--", "-D", "warnings"]].concat())
    })
}

/// What the tests drive us with, besides our own code.
struct Peers {
    node: Node,
    /// One for each version of A2A, one for ACP, one for our routes, and one for Bolt.
    pythons: [Python; 5],
    /// The driver of the official Rust client.
    rust_client: PathBuf,
    chromium: Chromium,
    postgres: Postgres,
}

impl Peers {
    fn offer_to(&self, command: &mut Command) {
        self.node.offer_to(command);
        for python in &self.pythons {
            python.offer_to(command);
        }
        self.chromium.offer_to(command);
        self.postgres.offer_to(command);
        command.env("MONAS_A2A_RUST", &self.rust_client);
    }
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<()> {
    process::run(process::cargo(root).args(arguments))
}

/// Runs all tests but those of documents. Tests that fail are run once more, one at a time: many of them start servers,
/// browsers and peers, and on two busy cores one of some thousands may wait longer than its time limit. What fails twice
/// has failed; what passes the second time is reported by name.
fn all_tests(root: &Path, peers: &Peers, tally: &mut Tally) -> Result<prove::Verdicts> {
    let mut verdicts = prove::Verdicts::default();
    // Programs of tests that have begun and not ended: one that a signal ends names no test that failed.
    let mut open = 0;
    let first = test(root, peers, &ALL_TESTS, |line| {
        open += i32::from(line.starts_with("running ") && line.contains(" test"));
        open -= i32::from(line.starts_with("test result:"));
        tally.add_summary(line);
        verdicts.add(line);
    });
    let failed = verdicts.take_failed();
    match first {
        Ok(()) => return Ok(verdicts),
        Err(error) if failed.is_empty() || failed.len() > MOST_REPEATED || open > 0 => {
            return Err(error);
        }
        Err(_) => {}
    }
    println!("\nrun again, one at a time: {}", failed.join(", "));
    let mut alone = vec!["--", "--exact", "--test-threads=1"];
    alone.extend(failed.iter().map(String::as_str));
    let mut again = Tally::default();
    let second = test(root, peers, &[&ALL_TESTS[..], &alone].concat(), |line| {
        again.add_summary(line);
        verdicts.add(line);
    });
    tally.passed += again.passed;
    tally.failed = again.failed;
    second?;
    println!("\npassed only when run again: {}", failed.join(", "));
    Ok(verdicts)
}

/// The most tests that are run again.
const MOST_REPEATED: usize = 12;

/// Runs tests of all packages; `seen` gets each line that they print.
fn test(root: &Path, peers: &Peers, kinds: &[&str], seen: impl FnMut(&str)) -> Result<()> {
    let mut command = process::cargo(root);
    command.args(["test", "--workspace", "--no-fail-fast"]);
    command.args(kinds);
    peers.offer_to(&mut command);
    process::watch(&mut command, seen)
}

/// Each feature of each crate must build without the others, and without a warning.
fn features(root: &Path) -> Result<()> {
    for package in workspace::packages(root)? {
        if package.features.is_empty() || !package.folder.starts_with("crates") {
            continue;
        }
        for feature in std::iter::once("").chain(package.features.iter().map(String::as_str)) {
            let shown = if feature.is_empty() { "none" } else { feature };
            println!("{}: {shown}", package.name);
            let mut command = process::cargo(root);
            // Clippy is `cargo check` that can deny warnings without rebuilding the dependencies.
            command.args(["clippy", "--quiet", "--lib", "--no-default-features"]);
            command.args(["--package", &package.name, "--features", feature]);
            command.args(["--", "-D", "warnings"]);
            process::run(&mut command)?;
        }
    }
    Ok(())
}

fn docs(root: &Path) -> Result<()> {
    let mut command = process::cargo(root);
    command.args(["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    process::run(&mut command)
}

fn deny(root: &Path) -> Result<()> {
    tools::cargo_deny(root)?;
    cargo(root, &["deny", "check", "licenses", "bans", "sources"])?;
    // Advisories are checked where a copy of their database is kept; the tests fetch none.
    if tools::has_advisories() {
        cargo(root, &["deny", "--offline", "check", "advisories"])?;
    }
    Ok(())
}
