//! The page in a real browser, against the real program: the files of `conformance/page`, each a test here, and the tests
//! of `web` that need no browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    let folder = folder.canonicalize().unwrap();
    assert!(
        folder.join("node_modules").is_dir(),
        "the npm packages are missing: run `cargo xtask test`, or `npm ci --prefix {}`",
        folder.display()
    );
    folder
}

/// Runs files of node's test runner, which must all pass.
fn pass(name: &str, files: &[&str]) {
    let node = std::env::var_os("MONAS_NODE").unwrap_or_else(|| "node".into());
    let output = Command::new(node)
        .args(["--test", "--test-reporter=spec", "--test-concurrency=1"])
        .args(files)
        .current_dir(folder(name))
        .env("MONAS_PROGRAM", env!("CARGO_BIN_EXE_monas"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{files:?}: {printed}{wrong}");
}

/// A test for each file of `conformance/page`.
macro_rules! browsed {
    ($($name:ident: $file:literal,)*) => {
        $(
            #[test]
            fn $name() {
                pass("conformance/page", &[$file]);
            }
        )*

        const BROWSED: &[&str] = &[$($file),*];
    };
}

browsed! {
    the_build_is_what_the_sources_give: "build.test.mjs",
    people_talk_with_the_agent: "chat.test.mjs",
    views_that_a_caller_may_not_see_say_so: "denied.test.mjs",
    files_are_read_and_changed: "files.test.mjs",
    the_first_visit_ends_with_a_useful_answer: "first-run.test.mjs",
    the_journal_is_read: "journal.test.mjs",
    large_conversations_and_journals_stay_small: "large.test.mjs",
    the_law_is_read_and_changed: "law.test.mjs",
    memory_is_read_and_forgotten: "memory.test.mjs",
    questions_are_answered: "questions.test.mjs",
    malicious_content_does_nothing: "safety.test.mjs",
    settings_are_read_and_changed: "settings.test.mjs",
    a_conversation_is_shared_and_taken_back: "share.test.mjs",
    terminals_are_shared: "terminal.test.mjs",
    every_view_is_accessible: "views.test.mjs",
    tasks_agents_and_the_wire_are_followed: "world.test.mjs",
}

#[test]
fn every_file_of_tests_is_run() {
    let mut files: Vec<String> = std::fs::read_dir(folder("conformance/page"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .filter(|it| it.ends_with(".test.mjs"))
        .collect();
    files.sort_unstable();
    assert_eq!(files, BROWSED);
}

#[test]
fn the_parts_of_the_page_do_what_they_say() {
    let folder = folder("web").join("tests");
    let files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .filter(|it| it.ends_with(".test.mjs"))
        .map(|it| format!("tests/{it}"))
        .collect();
    assert!(!files.is_empty());
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    pass("web", &files);
}
