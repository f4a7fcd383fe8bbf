use super::*;

fn hash(path: &str, text: &str) -> String {
    let whole = 0..text.len();
    let parsed = Parsed::new(Language::of(path), text.to_owned(), vec![whole]);
    fingerprint([&parsed].into_iter(), "")
}

#[test]
fn comments_and_layout_do_not_make_another_candidate() {
    for (path, one, same, other) in [
        (
            "a.py",
            "def f(a):\n    return a+1\n",
            "def f(a):  # adds\n\n    return a + 1\n",
            "def f(a):\n    return a+2\n",
        ),
        (
            "a.rs",
            "fn f() -> u8 { 1 }",
            "// one\nfn f() -> u8 {\n    1\n}",
            "fn f() -> u8 { 2 }",
        ),
        (
            "a.ts",
            "let a = 'x y';",
            "let a  =  'x y'; // text",
            "let a = 'x  y';",
        ),
        (
            "a.go",
            "package a\nfunc f() { g() }",
            "package a\n\nfunc f() {\n\tg()\n}",
            "package a\nfunc f() { h() }",
        ),
        ("a.txt", "one\ntwo", "one  \ntwo\n", "one two"),
    ] {
        assert_eq!(hash(path, one), hash(path, same), "{path}");
        assert_ne!(hash(path, one), hash(path, other), "{path}");
    }
}

#[test]
fn indentation_that_moves_a_statement_is_another_candidate() {
    let inside = "for a in b:\n    c()\n    d()\n";
    let after = "for a in b:\n    c()\nd()\n";
    assert_ne!(hash("a.py", inside), hash("a.py", after));
}
