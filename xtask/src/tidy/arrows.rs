//! Compares the dependencies between our crates with the table in `ARCHITECTURE.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::error::{Doing, Result};
use crate::workspace::{self, Package};

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) job: String,
    pub(super) depends_on: Arrows,
    pub(super) state: State,
}

/// The crates of ours that a crate depends on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrows {
    Everything,
    Only(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Here,
    Planned,
}

pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let path = root.join("ARCHITECTURE.md");
    let text = fs::read_to_string(&path).doing(|| format!("read {}", path.display()))?;
    Ok(compare(&table(&text), &workspace::packages(root)?))
}

/// Reads rows of four cells, ``| `name` | job | depends on | here or planned |``.
pub(super) fn table(text: &str) -> BTreeMap<String, Row> {
    text.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<(String, Row)> {
    let line = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [name, job, depends_on, state] = cells.as_slice() else {
        return None;
    };
    let name = quoted(name).next()?.to_owned();
    let state = match *state {
        "here" => State::Here,
        "planned" => State::Planned,
        _ => return None,
    };
    let depends_on = match *depends_on {
        "everything" => Arrows::Everything,
        names => Arrows::Only(quoted(names).map(str::to_owned).collect()),
    };
    let row = Row {
        job: (*job).to_owned(),
        depends_on,
        state,
    };
    Some((name, row))
}

/// The words between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Finds crates and arrows that only the table or only the manifests have, and rows that do not say what is there.
pub(super) fn compare(table: &BTreeMap<String, Row>, packages: &[Package]) -> Vec<String> {
    let ours: Vec<&Package> = packages
        .iter()
        .filter(|package| package.folder.starts_with("crates"))
        .collect();
    let mut findings = Vec::new();
    for package in &ours {
        let name = &package.name;
        if package.folder != Path::new("crates").join(name) {
            let folder = package.folder.display();
            findings.push(format!("{folder}: the folder's name differs from `{name}`"));
        }
        let Some(row) = table.get(name) else {
            findings.push(format!("ARCHITECTURE.md: no row for the crate `{name}`"));
            continue;
        };
        if row.state == State::Planned {
            findings.push(format!("ARCHITECTURE.md: `{name}` is here, not planned"));
        }
        // One sentence in one place: a row cannot promise what the crate itself does not say of itself.
        if row.state == State::Here && row.job != package.description {
            findings.push(format!(
                "ARCHITECTURE.md: the job of `{name}` is not the description in crates/{name}/Cargo.toml: {}",
                package.description
            ));
        }
        if let Arrows::Only(listed) = &row.depends_on {
            findings.extend(compare_arrows(name, listed, &package.arrows));
        }
    }
    for (name, row) in table {
        let there = ours.iter().any(|package| package.name == *name);
        if row.state == State::Here && !there {
            findings.push(format!("ARCHITECTURE.md: the crate `{name}` is not here"));
        }
    }
    findings
}

fn compare_arrows(name: &str, listed: &[String], arrows: &[String]) -> Vec<String> {
    let unlisted = arrows.iter().filter(|arrow| !listed.contains(arrow));
    let unlisted = unlisted.map(|arrow| {
        format!("crates/{name}/Cargo.toml: `{name}` may not depend on `{arrow}` (ARCHITECTURE.md)")
    });
    let gone = listed.iter().filter(|arrow| !arrows.contains(arrow));
    let gone = gone.map(|arrow| {
        format!("ARCHITECTURE.md: `{name}` does not depend on `{arrow}` (crates/{name}/Cargo.toml)")
    });
    unlisted.chain(gone).collect()
}
