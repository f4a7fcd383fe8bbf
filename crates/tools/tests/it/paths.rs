//! No text given as a path reads or changes anything outside of the project.

use std::fs;

use proptest::prelude::*;

use crate::support::{Bed, SECRET};

/// Known path traversal attacks and our own, one JSON string on each line.
const CORPUS: &str = include_str!("paths.txt");

fn bed() -> Bed {
    let bed = Bed::new();
    bed.put("file", "inside");
    bed.put("folder/file", "inside");
    bed.link(&bed.outside, "out");
    bed.link("../outside", "up");
    bed.link("../../outside/secret.txt", "folder/leak");
    bed.link("/", "all");
    bed.link("folder", "in");
    bed
}

#[test]
fn nothing_in_the_corpus_leads_out() {
    let bed = bed();
    let mut count = 0;
    for line in CORPUS.lines().filter(|line| !line.starts_with('#')) {
        let text: String = serde_json::from_str(line).unwrap();
        // Attacks can name the absolute path of the test's own folder.
        let here = bed.outside.display().to_string();
        let text = text.replace("OUTSIDE", &here);
        assert!(!bed.try_all(&text).contains(SECRET), "{text:?}");
        count += 1;
    }
    assert!(count > 60, "the corpus is read");
    bed.check_outside();
}

#[test]
fn the_corpus_would_notice() {
    // The same attacks succeed against plain `std::fs`.
    let bed = bed();
    let naive = |text: &str| fs::read_to_string(bed.root.join(text)).unwrap_or_default();
    for line in [
        "out/secret.txt",
        "../outside/secret.txt",
        "up/secret.txt",
        "folder/leak",
    ] {
        assert!(CORPUS.contains(&format!("\"{line}\"")), "{line}");
        assert_eq!(naive(line), SECRET);
    }
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "/",
        "/",
        "/",
        "..",
        ".",
        "/project",
        "project",
        "file",
        "folder",
        "out",
        "up",
        "all",
        "in",
        "leak",
        "secret.txt",
        "deep",
        "new",
        "outside",
        "workspace",
        "\\",
        "\0",
        "~",
        " ",
    ]);
    prop::collection::vec(piece, 1..10).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_text_leads_out(texts in prop::collection::vec(texts(), 1..20)) {
        let bed = bed();
        for text in &texts {
            prop_assert!(!bed.try_all(text).contains(SECRET), "{text:?}");
        }
        bed.check_outside();
    }
}
