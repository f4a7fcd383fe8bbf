//! Which element fits a description.

use vision::{Element, Kind, Position, Source, find};

fn page() -> Vec<Element> {
    let elements = [
        (Kind::Link, "Pricing"),
        (Kind::Input, "Search or jump to..."),
        (Kind::Button, "Sign in"),
        (Kind::Button, "Add to basket"),
        (Kind::Checkbox, "Remember me on this device"),
        (Kind::Link, "Search history"),
        (Kind::Select, "Most popular"),
    ];
    let numbered = (1..).zip(elements);
    let element = |(index, (kind, text)): (u32, (Kind, &str))| Element {
        index,
        kind,
        text: Some(text.to_owned()),
        position: Position {
            x: 0,
            y: index * 40,
            width: 100,
            height: 30,
        },
        confidence: 0.9,
        source: Source::Shape,
    };
    numbered.map(element).collect()
}

#[track_caller]
fn check(description: &str, expected: Option<u32>) {
    let found = find(&page(), description);
    assert_eq!(
        found.best.map(|it| it.index),
        expected,
        "{description}: {found:?}"
    );
}

#[test]
fn finds_by_text_kind_and_meaning() {
    check("Looking for repository search box", Some(2));
    check("the Sign in button", Some(3));
    check("log in", Some(3));
    check("Put it in the cart: add to cart", Some(4));
    check("the link to the prices", Some(1));
    check("search history", Some(6));
    check("remember me", Some(5));
    // A letter that was misread.
    check("Pricjng", Some(1));
}

#[test]
fn says_when_nothing_fits_and_tells_alternatives() {
    check("export as spreadsheet", None);
    check("", None);
    let found = find(&page(), "search");
    let all: Vec<u32> = found.alternatives.iter().map(|it| it.index).collect();
    assert_eq!(found.best.unwrap().index, 2);
    assert!(all.contains(&6), "{all:?}");
}
