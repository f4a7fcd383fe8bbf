//! Programs that do not compile, and the errors that their authors see.

#[test]
fn says_why_something_does_not_compile() {
    compile_errors::check("tests/macros/fail", &["capnweb"]);
}
