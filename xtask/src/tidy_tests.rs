//! The repository passes its own checks, and the checks find what they look for.

use std::path::PathBuf;

use super::arrows::{self, Arrows, State};
use super::{docs, evidence, files, findings, sabotage};
use crate::workspace::{self, Package};

#[test]
fn the_repository_is_tidy() {
    let found = findings(&workspace::root()).expect("the checks can run");
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn finds_what_a_document_cites() {
    let text = "So (evidence: `a::b`,\n`c::d`). And (`no::evidence`).";
    assert_eq!(evidence::cited(text), ["a::b", "c::d"]);
}

const TABLE: &str = "
| crate | job | may depend on | state |
|---|---|---|---|
| `store` | keeps | nothing of ours | here |
| `agent` | acts | `store`, `model` | here |
| `model` | thinks | nothing of ours | planned |
| `monas` | the binary | everything | here |
";

fn package(name: &str, arrows: &[&str]) -> Package {
    Package {
        name: name.to_owned(),
        folder: PathBuf::from("crates").join(name),
        arrows: arrows.iter().map(|name| (*name).to_owned()).collect(),
        features: Vec::new(),
        turns_on: Vec::new(),
        examples: Vec::new(),
    }
}

#[test]
fn reads_the_table_of_crates() {
    let table = arrows::table(TABLE);
    assert_eq!(table.len(), 4);
    assert_eq!(table["store"].may_depend_on, Arrows::Only(Vec::new()));
    assert_eq!(table["model"].state, State::Planned);
    assert_eq!(table["monas"].may_depend_on, Arrows::Everything);
}

#[test]
fn allows_the_arrows_of_the_table() {
    let packages = [
        package("store", &[]),
        package("agent", &["store"]),
        package("monas", &["agent", "store"]),
    ];
    let found = arrows::compare(&arrows::table(TABLE), &packages);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn finds_an_arrow_that_is_not_in_the_table() {
    let packages = [
        package("store", &["agent"]),
        package("agent", &[]),
        package("monas", &[]),
    ];
    let found = arrows::compare(&arrows::table(TABLE), &packages);
    assert_eq!(
        found,
        ["crates/store/Cargo.toml: `store` may not depend on `agent` (ARCHITECTURE.md)"]
    );
}

#[test]
fn finds_rows_that_do_not_say_what_is_there() {
    let packages = [
        package("store", &[]),
        package("model", &[]),
        package("utils", &[]),
        package("monas", &[]),
    ];
    let found = arrows::compare(&arrows::table(TABLE), &packages);
    assert_eq!(
        found,
        [
            "ARCHITECTURE.md: `model` is here, not planned",
            "ARCHITECTURE.md: no row for the crate `utils`",
            "ARCHITECTURE.md: the crate `agent` is not here",
        ]
    );
}

#[test]
fn finds_a_module_without_a_first_line() {
    let found = files::check_file("crates/capnweb/src/stub.rs", "use std::fmt;\n");
    assert_eq!(found.len(), 1);
    let fine = files::check_file("crates/capnweb/src/stub.rs", "//! What we hold.\n");
    assert!(fine.is_empty());
}

#[test]
fn finds_public_types_without_a_doc_comment() {
    let text = "/// Documented.\n#[derive(\n    Clone,\n)]\npub struct Documented;\n\n\
                #[derive(Debug)]\npub enum Bare {\n    /// A variant.\n    One,\n}\n\n\
                pub fn free() {}\n\npub struct $Name;\n\npub trait Silent {}\n";
    let found = docs::undocumented(text);
    assert_eq!(found, [(8, "Bare"), (17, "Silent")]);
    assert_eq!(
        files::check_file("crates/a2a/src/a.rs", "//! A.\npub struct A;\n"),
        ["crates/a2a/src/a.rs:2: `A` is public and has no doc comment"]
    );
    assert!(files::check_file("xtask/src/a.rs", "//! A.\npub struct A;\n").is_empty());
}

#[test]
fn finds_paths_of_one_machine() {
    let home = concat!("/", "home/");
    let path = format!("see {home}ada/notes");
    assert_eq!(files::check_file("docs/a.md", &path).len(), 1);
    let address = format!("see https://example.org{home}page");
    assert!(files::check_file("docs/a.md", &address).is_empty());
}

#[test]
fn finds_a_library_that_reads_the_environment() {
    let text = "//! A.\nlet home = std::env::var(\"HOME\");\n";
    assert_eq!(files::check_file("crates/capnweb/src/a.rs", text).len(), 1);
    assert!(files::check_file("crates/monas/src/a.rs", text).is_empty());
}

#[test]
fn finds_a_long_readme() {
    let text = "line\n".repeat(150);
    assert_eq!(files::check_file("README.md", &text).len(), 1);
}

#[test]
fn finds_a_clock_in_the_session() {
    let text =
        "//! One session.\n\n// An Instant in a comment is none.\nlet now = Instant::now();\n";
    let found = files::check_file("crates/capnweb/src/session.rs", text);
    assert_eq!(
        found,
        ["crates/capnweb/src/session.rs:4: this is pure: no I/O, clock or tasks (Instant)"]
    );
    assert_eq!(
        files::check_file("crates/capnweb/src/stream.rs", text),
        Vec::<String>::new()
    );
}

#[test]
fn finds_who_would_break_requirements() {
    let on = |by: &str, what: &str| (by.to_owned(), what.to_owned());
    let mut a2a = package("a2a", &[]);
    a2a.turns_on = vec![on("default", "sabotage"), on("sabotage", "access/sabotage")];
    let mut monas = package("monas", &["a2a"]);
    monas.turns_on = vec![on("its dependency on a2a", "sabotage")];
    let found = sabotage::found(&[a2a, monas]);
    let expected = [
        "a2a: default turns on sabotage",
        "monas: its dependency on a2a turns on sabotage",
    ];
    assert_eq!(found, expected);
}
