//! The contents of lock files are read right.

use super::*;

#[test]
fn finds_the_version_of_a_locked_package() {
    let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n\
                [[package]]\nname = \"a-b\"\nversion = \"2.3.4\"\nsource = \"x\"\n";
    assert_eq!(locked_version(lock, "a-b"), Some("2.3.4"));
    assert_eq!(locked_version(lock, "a"), Some("1.0.0"));
    assert_eq!(locked_version(lock, "b"), None);
}
