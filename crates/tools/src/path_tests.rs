//! Parsing of paths: accepted spellings and refused ones.

use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: &str) {
    assert_eq!(
        ProjectPath::parse(text).unwrap().to_string(),
        expected,
        "{text:?}"
    );
}

fn refused(text: &str) -> Problem {
    match ProjectPath::parse(text) {
        Err(Error::Path { problem, .. }) => problem,
        other => panic!("{text:?} gives {other:?}"),
    }
}

#[test]
fn a_place_has_one_spelling() {
    for text in [
        "notes/today.md",
        "/project/notes/today.md",
        "./notes//today.md",
        "/project//./notes/today.md/",
    ] {
        check(text, "/project/notes/today.md");
    }
    for text in ["/project", "/project/", ".", "./", "/project/./"] {
        check(text, "/project");
        assert!(ProjectPath::parse(text).unwrap().is_root());
    }
}

#[test]
fn names_that_look_like_something_else_are_names() {
    for text in [
        "...",
        "..a",
        "a..",
        "~",
        "~root",
        "project/x",
        "$HOME",
        "%2e%2e",
        "C:",
        "file:",
        "a b",
        "ä",
        ".git",
        "…",
    ] {
        check(text, &format!("/project/{text}"));
    }
    // Unicode characters that look like dots and slashes are ordinary characters.
    check("․․∕etc", "/project/․․∕etc");
    check("file:///etc/passwd", "/project/file:/etc/passwd");
}

#[test]
fn what_leads_out_is_refused_by_its_text_alone() {
    for text in [
        "..",
        "../x",
        "a/..",
        "a/../b",
        "/project/..",
        "/project/../etc/passwd",
        "./../x",
        "a/b/../../../c",
    ] {
        assert_eq!(refused(text), Problem::Parent, "{text}");
    }
    for text in [
        "/",
        "/etc/passwd",
        "//project/x",
        "/projectile",
        "/Project/x",
        "/project\u{0}/x",
        "/./project/x",
        "/../project",
    ] {
        assert_eq!(refused(text), Problem::Absolute, "{text}");
    }
    for text in [
        "a\0b",
        "a\nb",
        "\u{1b}[2J",
        "..\\..\\x",
        "C:\\Windows",
        "\\\\server\\share",
        "a\u{85}b",
        "/project/a\0",
    ] {
        assert_eq!(refused(text), Problem::Character, "{text:?}");
    }
    assert_eq!(refused(""), Problem::Empty);
    assert_eq!(refused(&"a".repeat(256)), Problem::TooLong);
    assert_eq!(refused(&"a/".repeat(3000)), Problem::TooLong);
    assert_eq!(refused(&"a/".repeat(65)), Problem::TooDeep);
    check(&"a".repeat(255), &format!("/project/{}", "a".repeat(255)));
}

#[test]
fn an_error_says_what_is_wrong_and_repeats_little() {
    let error = ProjectPath::parse(&format!("/etc/\u{1b}[31m{}", "x".repeat(5000))).unwrap_err();
    assert!(error.to_string().len() < 200, "{error}");
    assert!(!error.to_string().contains('\u{1b}'));
    let error = ProjectPath::parse("/etc/passwd").unwrap_err().to_string();
    assert_eq!(
        error,
        "\"/etc/passwd\": outside of the project, which is /project"
    );
}

/// Pieces of path attacks, concatenated in random order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("/".to_owned()),
        Just("..".to_owned()),
        Just(".".to_owned()),
        Just("/project".to_owned()),
        Just("project".to_owned()),
        Just("\0".to_owned()),
        Just("\\".to_owned()),
        Just("~".to_owned()),
        Just("%2e%2e%2f".to_owned()),
        Just("\u{202e}".to_owned()),
        "[a-z]{1,3}",
        any::<String>(),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_path_is_relative_and_has_only_names(text in pieces()) {
        let Ok(path) = ProjectPath::parse(&text) else { return Ok(()) };
        prop_assert!(path.as_path().is_relative());
        for part in path.as_path().components() {
            let fits = matches!(part, std::path::Component::Normal(_)) || path.is_root();
            prop_assert!(fits, "{text:?} has {part:?}");
        }
        prop_assert!(!path.as_str().contains(['\0', '\\', '\n']));
    }

    #[test]
    fn a_path_that_is_shown_is_the_same_path(text in pieces()) {
        let Ok(path) = ProjectPath::parse(&text) else { return Ok(()) };
        prop_assert_eq!(&ProjectPath::parse(&path.to_string()).unwrap(), &path);
        prop_assert_eq!(&ProjectPath::parse(path.as_str()).unwrap(), &path);
        if let Some((folder, name)) = path.split() {
            prop_assert_eq!(&folder.join(name).unwrap(), &path);
        }
    }

    #[test]
    fn text_with_two_dots_as_a_name_is_never_a_path(before in "[a-z/]{0,8}", after in "[a-z/]{0,8}") {
        let text = format!("/project/{before}/../{after}");
        prop_assert_eq!(refused(&text), Problem::Parent);
    }
}
