//! Checks that read the repository's own files, a file at a time.

use std::path::Path;
use std::process::Command;

use super::docs;
use crate::error::Result;
use crate::process;

/// A reader should get through the README in one sitting.
const README_LINES: usize = 150;

/// Where machines keep their users' files. Written in two parts so that this file passes as well.
const MACHINE_FOLDERS: [&str; 4] = [
    concat!("/", "home/"),
    concat!("/", "root/"),
    concat!("/", "Users/"),
    concat!("/", "work/"),
];

/// What the pure middle must do without: it takes a value and the time, and returns what follows.
const IMPURE: [&str; 7] = [
    "tokio",
    "Instant",
    "SystemTime",
    "std::net",
    "std::fs",
    "std::thread",
    "spawn",
];

/// All findings for one file, given its path from the root and its text.
pub(super) fn check_file(name: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if is_module(name) && !text.starts_with("//! ") {
        findings.push(format!(
            "{name}: the first line does not say what the module is for (//! …)"
        ));
    }
    if name == "README.md" && text.lines().count() >= README_LINES {
        findings.push(format!("{name}: not under {README_LINES} lines"));
    }
    if is_crate_source(name) {
        let undocumented = docs::undocumented(text).into_iter();
        findings.extend(undocumented.map(|(line, item)| {
            format!("{name}:{line}: `{item}` is public and has no doc comment")
        }));
    }
    for (index, line) in text.lines().enumerate() {
        if names_a_machine_path(line) {
            findings.push(format!("{name}:{}: a path of one machine", index + 1));
        }
        if is_pure(name)
            && let Some(word) = IMPURE
                .iter()
                .find(|word| is_code(line) && line.contains(**word))
        {
            findings.push(format!(
                "{name}:{}: this is pure: no I/O, clock or tasks ({word})",
                index + 1
            ));
        }
        if is_library_source(name) && line.contains("std::env") {
            findings.push(format!(
                "{name}:{}: only `monas` reads the environment and the command line",
                index + 1
            ));
        }
    }
    findings
}

/// What git tracks or would track.
pub(super) fn names(root: &Path) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "-z",
    ]);
    git.current_dir(root);
    let names = process::output(&mut git)?;
    let names = names.split('\0').filter(|name| !name.is_empty());
    Ok(names.map(str::to_owned).collect())
}

/// Rust files that are part of a program or library, in contrast to inputs of compile tests.
fn is_module(name: &str) -> bool {
    let source = ["/src/", "/tests/it/", "/examples/", "/benches/"]
        .iter()
        .any(|folder| name.contains(folder));
    name.ends_with(".rs") && (source || name.starts_with("examples/"))
}

fn is_crate_source(name: &str) -> bool {
    name.starts_with("crates/") && name.contains("/src/") && name.ends_with(".rs")
}

fn is_library_source(name: &str) -> bool {
    is_crate_source(name) && !name.ends_with("_tests.rs") && !name.starts_with("crates/monas/")
}

/// The pure middle: the protocol's session; the steps of an agent; what memory decides and how it ranks; the gate for
/// change.
const PURE: [&str; 18] = [
    "crates/agent/src/approval",
    "crates/agent/src/context",
    "crates/agent/src/event",
    "crates/agent/src/law",
    "crates/agent/src/prompt",
    "crates/agent/src/step",
    "crates/agent/src/text",
    "crates/agent/src/why",
    "crates/capnweb/src/session",
    "crates/memory/src/claim",
    "crates/memory/src/decide",
    "crates/memory/src/graph",
    "crates/memory/src/index",
    "crates/memory/src/recall/",
    "crates/memory/src/rules",
    "crates/memory/src/space",
    "crates/memory/src/text",
    "crates/revise/src/",
    "crates/watch/src/",
];

fn is_pure(name: &str) -> bool {
    let inside = |pure: &str| {
        let rest = name.strip_prefix(pure);
        rest.is_some_and(|rest| pure.ends_with('/') || rest == ".rs" || rest.starts_with('/'))
    };
    PURE.iter().any(|pure| inside(pure))
}

fn is_code(line: &str) -> bool {
    !line.trim_start().starts_with("//")
}

/// Whether a line holds a path that starts in a user's folder; `https://host/home/` does not.
fn names_a_machine_path(line: &str) -> bool {
    MACHINE_FOLDERS.iter().any(|folder| {
        line.match_indices(folder).any(|(start, _)| {
            let before = line[..start].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "._-~}$/".contains(c))
        })
    })
}
