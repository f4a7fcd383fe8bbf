//! What does not compile, and what its author is told.

#[test]
fn says_why_something_does_not_compile() {
    compile_errors::check("tests/macros/fail", &["capnweb"]);
}
