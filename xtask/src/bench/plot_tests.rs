//! A bar is as long as its figure, and no text breaks the picture.

use super::*;

fn bar(name: &str, length: f64) -> Bar {
    Bar {
        name: name.to_owned(),
        length,
        text: length.to_string(),
        pale: false,
    }
}

#[test]
fn bars_are_in_proportion() {
    let svg = bars("a title", &[bar("long", 50.0), bar("short", 12.5)]);
    assert!(
        svg.contains("width=\"400.0\"") && svg.contains("width=\"100.0\""),
        "{svg}"
    );
    assert!(svg.ends_with("</svg>\n"));
}

#[test]
fn names_cannot_break_the_picture() {
    let svg = bars("a < b", &[bar("x & y", 1.0)]);
    assert!(
        svg.contains("a &lt; b") && svg.contains("x &amp; y"),
        "{svg}"
    );
}
