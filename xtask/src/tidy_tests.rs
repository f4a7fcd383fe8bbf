//! The repository passes its own checks, and the checks find what they look for.

use std::path::PathBuf;

use super::arrows::{self, Arrows, State};
use super::words::Count;
use super::{Repository, docs, evidence, files, findings, paths, sabotage, strings, words};
use crate::workspace::{self, Package};

#[test]
fn the_repository_is_tidy() {
    let root = workspace::root();
    let repository = Repository::read(&root).expect("the files can be read");
    let found = findings(&root, &repository).expect("the checks can run");
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn finds_what_a_document_cites() {
    let text = "So (evidence: `a::b`,\n`c::d`). And (`no::evidence`).";
    assert_eq!(evidence::cited(text), ["a::b", "c::d"]);
}

const TABLE: &str = "
| crate | job | depends on | state |
|---|---|---|---|
| `store` | keeps | nothing of ours | here |
| `agent` | acts | `store` | here |
| `model` | thinks | nothing of ours | planned |
| `monas` | the binary | everything | here |
";

fn package(name: &str, arrows: &[&str]) -> Package {
    let description = match name {
        "store" => "keeps",
        "agent" => "acts",
        "model" => "thinks",
        _ => "the binary",
    };
    Package {
        name: name.to_owned(),
        description: description.to_owned(),
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
    assert_eq!(table["store"].depends_on, Arrows::Only(Vec::new()));
    assert_eq!(table["model"].state, State::Planned);
    assert_eq!(table["monas"].depends_on, Arrows::Everything);
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
        package("agent", &["store"]),
        package("monas", &[]),
    ];
    let found = arrows::compare(&arrows::table(TABLE), &packages);
    assert_eq!(
        found,
        ["crates/store/Cargo.toml: `store` may not depend on `agent` (ARCHITECTURE.md)"]
    );
}

#[test]
fn finds_an_arrow_that_no_manifest_has() {
    let packages = [
        package("store", &[]),
        package("agent", &[]),
        package("monas", &[]),
    ];
    let found = arrows::compare(&arrows::table(TABLE), &packages);
    assert_eq!(
        found,
        ["ARCHITECTURE.md: `agent` does not depend on `store` (crates/agent/Cargo.toml)"]
    );
}

#[test]
fn finds_a_row_that_promises_more_than_the_crate() {
    let mut store = package("store", &[]);
    store.description = "keeps little".to_owned();
    let packages = [store, package("agent", &["store"]), package("monas", &[])];
    let found = arrows::compare(&arrows::table(TABLE), &packages);
    assert_eq!(
        found,
        [
            "ARCHITECTURE.md: the job of `store` is not the description in crates/store/Cargo.toml: keeps little"
        ]
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
fn finds_packages_that_would_break_requirements() {
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

#[test]
fn finds_paths_of_documents_that_do_not_exist() {
    let files = [
        "README.md",
        "docs/a2a.md",
        "crates/a2a/src/server/send.rs",
        "crates/a2a/tests/it/main.rs",
        "xtask/src/main.rs",
    ];
    let tree = paths::Tree::new(files.into_iter());
    let check = |document: &str, text: &str| paths::missing(&tree, document, text);
    let fine = "`crates/a2a/src/server` and `a2a/server/send`, `send.rs`, `server/send.rs`; [a](docs/a2a.md#part) and \
                [b](https://example.org/gone.md)\n`examples/NN_name.rs`, `crates/a2a/.venv`, `cargo run -p a2a`, \
                `and/or`, `/a2a/jsonrpc`\n```\nsocket -> a2a/server (one port)\n```\n";
    assert_eq!(check("ARCHITECTURE.md", fine), []);
    let gone = "one\n`crates/a2a/src/gone.rs`, `gone.rs`, `a2a/gone`\n[a](gone.md)\n```\nsocket -> a2a/old\n```\n";
    let found = check("ARCHITECTURE.md", gone);
    let found: Vec<(usize, &str)> = found.iter().map(|(at, path)| (*at, &**path)).collect();
    let expected = [
        (2, "crates/a2a/src/gone.rs"),
        (2, "gone.rs"),
        (2, "a2a/gone"),
        (3, "gone.md"),
        (5, "a2a/old"),
    ];
    assert_eq!(found, expected);
    // A link is relative to its document; in documents for users `a2a/gone` can be a method of a protocol.
    assert_eq!(
        check("docs/mcp.md", "[a](a2a.md) [b](../README.md) `a2a/gone`"),
        []
    );
    assert!(paths::is_document("crates/capnweb/README.md"));
    assert!(!paths::is_document("CHANGELOG.md"));
}

#[test]
fn counts_riddle_words_and_captions() {
    let text = "/// The name.\nstruct A;\n\n/// Two lines\n/// are no caption.\nstruct B;\n// Whoever asks, and \
                whose task it is.\nlet whose = 1; // nobody\n// wholesome\n";
    let mut counts = words::Counts::default();
    counts.add("a.rs", text);
    counts.add("b.md", "// nobody\n");
    let typescript = "/** The name. */\n/**\n * It is no longer there.\n */\n";
    counts.add("c.ts", typescript);
    let expected = words::Count {
        comments: 8,
        riddles: 2,
        captions: 2,
        ..words::Count::default()
    };
    assert_eq!(counts.total(), expected);
    let found = counts.findings();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("250.0 in 1,000") && found[0].contains("c.ts (1)"),
        "{found:?}"
    );
}

#[test]
fn allows_few_riddle_words_and_captions() {
    let mut counts = words::Counts::default();
    counts.add("a.rs", &"// A plain sentence about tasks.\n".repeat(101));
    counts.add("b.rs", "// Nobody knows.\n");
    assert_eq!(counts.findings(), Vec::<String>::new());
    counts.add("c.rs", &"/// The name.\nlet a = 1;\n".repeat(200));
    let found = counts.findings();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("200 captions"), "{found:?}");
}

#[test]
fn counts_comments_without_a_subject_and_strings_with_riddle_words() {
    let text = "/// What is done.\n/// Which is more.\nfn a() {\n    // Who asks.\n    let b = \"nobody // here\";\n    // Whatever.\n}\n";
    let mut counts = words::Counts::default();
    counts.add("crates/a/src/a.rs", text);
    counts.add("crates/a/src/a_tests.rs", "let a = \"nobody\";\n");
    counts.add("crates/a/tests/it/a.rs", "let a = \"nobody\";\n");
    let Count {
        opened, strings, ..
    } = counts.total();
    assert_eq!((opened, strings), (2, 1));
    let many = "// What is done.\nlet a = \"whose\";\n".repeat(2_000);
    counts.add("crates/a/src/b.rs", &many);
    let found = counts.findings();
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn finds_the_string_literals_of_a_file() {
    let text = r##"let a = "one \" // two"; // "comment"
        /* "block" */ let b = ['"', '\'', 'x']; fn c<'a>(d: &'a str) -> &'a str { "three" }
        let e = br#"four "five" six"#; let r = r"seven"; for_each("eight");"##;
    let found = strings::literals(text);
    let expected = [
        r#"one \" // two"#,
        "three",
        r#"four "five" six"#,
        "seven",
        "eight",
    ];
    assert_eq!(found, expected);
}
