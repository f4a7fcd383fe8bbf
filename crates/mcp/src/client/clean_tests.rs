//! Texts of servers lose their control characters.

use super::{NAME, clean, is_name, line, without_types};

#[test]
fn what_acts_on_a_terminal_is_left_out() {
    assert_eq!(clean("a\u{1b}[31mb\0c\r\nd", 99), "a[31mbc\nd");
    assert_eq!(clean("right\u{202e}tfel\u{200b}", 99), "righttfel");
    assert_eq!(line(" two\nlines\t", 99), "two lines");
}

#[test]
fn what_is_too_long_ends_between_two_characters() {
    assert_eq!(clean("äöü", 5), "äö");
    assert_eq!(clean("abc", 0), "");
}

#[test]
fn a_name_is_one_that_can_be_shown_as_it_is() {
    assert!(is_name("read_file") && is_name("Größe"));
    for wrong in [
        "",
        " x",
        "a\nb",
        "a\u{7}",
        "a\u{202e}b",
        &"x".repeat(NAME + 1),
    ] {
        assert!(!is_name(wrong), "{wrong:?}");
    }
}

#[test]
fn errors_name_no_types() {
    let error = "Send message error Transport [mcp::client::host::ProgressTransport<rmcp::Worker<[u8; 2]>>] error: refused";
    assert_eq!(
        without_types(error),
        "Send message error Transport error: refused"
    );
    for text in ["[1, 2] stays", "an open [ stays", "plain", "] [a::b"] {
        assert_eq!(without_types(text), text);
    }
}

/// Regression: a server that was not there was reported with the names of Rust types.
#[test]
fn of_an_error_of_the_library_the_cause_is_kept() {
    let said = "Send message error Transport [a::B<c::D>] error: Client error: connect to 127.0.0.1:9: refused, when \
                send discover request";
    assert_eq!(super::cause(said), "connect to 127.0.0.1:9: refused");
    assert_eq!(
        super::cause("connection closed: early"),
        "connection closed: early"
    );
}
