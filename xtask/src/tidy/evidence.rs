//! Evidence that a document cites is a test that is there.

use std::fs;
use std::path::Path;

use crate::error::{Doing, Result};

/// The document that cites.
const DOCUMENT: &str = "docs/satisfiability.md";

/// Where tests are that can be cited.
const TESTS: [&str; 3] = [
    "conformance/proof/tests/it",
    "crates/a2a/tests/it",
    "crates/capnweb/tests/model",
];

/// The bindings. A macro makes their cells, so that no function has this name.
const CELLS: [&str; 5] = ["jsonrpc", "rest", "grpc", "websocket", "capnweb"];

pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let path = root.join(DOCUMENT);
    let text = fs::read_to_string(&path).doing(|| format!("read {DOCUMENT}"))?;
    let there = |module: &str, test: &str| {
        let files = TESTS.iter().map(|folder| root.join(folder).join(module));
        let mut texts = files.filter_map(|file| fs::read_to_string(file.with_extension("rs")).ok());
        texts.any(|text| CELLS.contains(&test) || text.contains(&format!("fn {test}(")))
    };
    let missing = cited(&text).into_iter().filter(|name| {
        let (module, test) = name.split_once("::").unwrap_or((name, ""));
        !there(module, test)
    });
    Ok(missing
        .map(|name| format!("{DOCUMENT} cites {name}, which is no test"))
        .collect())
}

/// The names behind "evidence:", up to the end of the parenthesis.
pub(super) fn cited(text: &str) -> Vec<&str> {
    let parentheses = text.split("(evidence:").skip(1);
    let parentheses = parentheses.filter_map(|rest| rest.split(')').next());
    let quoted = parentheses.flat_map(|names| names.split('`').skip(1).step_by(2));
    quoted.collect()
}
