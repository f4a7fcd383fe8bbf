//! The corpus of the fuzz targets, run once.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/targets.rs"]
mod targets;

/// Runs every file of a corpus. A failure names the file.
fn run(corpus: &str, target: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(corpus);
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("it can be listed").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "the corpus is empty");
    for path in paths {
        let input = fs::read(&path).expect("it can be read");
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target(&input)));
        assert!(result.is_ok(), "{} fails", path.display());
    }
}

#[test]
fn expressions_are_read_and_printed() {
    run("expression", targets::expression);
}

#[test]
fn sessions_survive() {
    run("session", targets::session);
}
