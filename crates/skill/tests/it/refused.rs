//! Code that defines no skill does not compile, and the compiler says why.

#[test]
fn what_is_no_skill_does_not_compile() {
    compile_errors::check("tests/fail", &["skill", "schemars", "serde"]);
}
