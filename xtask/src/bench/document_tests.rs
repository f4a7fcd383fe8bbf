//! A table finds its place in the document, and leaves the others alone.

use super::*;

#[test]
fn replaces_only_the_section_of_its_bench() {
    let text = "a\n<!-- bench x: begin -->\nold\n<!-- bench x: end -->\n\
                <!-- bench y: begin -->\nkept\n<!-- bench y: end -->\nb\n";
    let new = replace_section(text, "x", "new\n").unwrap();
    assert_eq!(new, text.replace("old", "new"));
}

#[test]
fn finds_no_place_for_an_unknown_bench() {
    assert_eq!(replace_section("a\n", "x", "new\n"), None);
}
