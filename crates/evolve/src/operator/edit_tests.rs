use super::*;
use crate::component::Component;
use crate::source::Source;
use crate::syntax;
use std::collections::HashSet;

/// The candidates that are one edit away and can be parsed.
fn around(path: &str, text: &str) -> HashSet<String> {
    let component = Component::of_files("c", vec![Source::parse(path, text).unwrap()]);
    let content = component.content();
    let files = component.parse(&content);
    let parent = Parent {
        component: &component,
        content: &content,
        files: &files,
    };
    let edited = neighbours(parent)
        .into_iter()
        .map(|it| content.edited(&it).unwrap());
    let fit = edited.filter(|it| component.parse(it).iter().all(|it| it.faults() == 0));
    fit.map(|it| {
        it.blocks[0]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    })
    .collect()
}

#[test]
fn the_repair_of_a_planted_fault_is_one_edit_away() {
    for (path, wrong, right) in [
        (
            "a.py",
            "def f(a):\n    for b in a:\n        if b > 1:\n            g(b)\n",
            "def f(a): for b in a: if b >= 1: g(b)",
        ),
        (
            "a.py",
            "def f(a):\n    g(a)\n    g(a)\n    return a\n",
            "def f(a): g(a) return a",
        ),
        (
            "a.py",
            "def f(a):\n    for b in a:\n        g(b)\n",
            "def f(a): for b in a: g(b) break",
        ),
        (
            "a.rs",
            "fn f(a: u8, b: u8) -> bool { a < 1 && b < 2 }",
            "fn f(a: u8, b: u8) -> bool { a < 1 || b < 2 }",
        ),
        (
            "a.rs",
            "fn f(a: &str) -> String { a.to_owned().clone() }",
            "fn f(a: &str) -> String { a.to_owned() }",
        ),
        (
            "a.ts",
            "function f(a: number, b: number) { return g(a, b); }",
            "function f(a: number, b: number) { return g(b, a); }",
        ),
        (
            "a.js",
            "function f(a) { if (a) { g(); } return a; }",
            "function f(a) { if (!((a))) { g(); } return a; }",
        ),
        (
            "a.go",
            "package p\nfunc f(a int, b int) int {\n\ta = a + 1\n\treturn a\n}\n",
            "package p func f(a int, b int) int { a = a + 1 return b }",
        ),
    ] {
        let found = around(path, wrong);
        assert!(found.contains(right), "{path}: {right}\n{found:#?}");
    }
}

#[test]
fn nothing_outside_of_the_blocks_is_edited() {
    let text = "a = 1\n# EVOLVE-BLOCK-START\nb = a + 2\n# EVOLVE-BLOCK-END\nc = a + 3\n";
    let source = Source::parse("x.py", text).unwrap();
    let component = Component::of_files("c", vec![source]);
    let content = component.content();
    let files = component.parse(&content);
    let parent = Parent {
        component: &component,
        content: &content,
        files: &files,
    };
    let all = neighbours(parent);
    assert!(!all.is_empty());
    let hashes: HashSet<String> = all
        .iter()
        .map(|it| {
            let edited = content.edited(it).unwrap();
            let texts = component.texts(&edited);
            assert!(texts[0].1.starts_with("a = 1\n") && texts[0].1.ends_with("c = a + 3\n"));
            syntax::fingerprint(component.parse(&edited).iter(), "")
        })
        .collect();
    assert!(hashes.len() > 5);
}
