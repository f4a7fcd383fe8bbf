//! What does not compile, and what its author is told.

#[test]
fn says_why_something_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/macros/fail/*.rs");
}
