//! What a person is shown is what would be written.

use super::*;

#[test]
fn characters_that_deceive_are_shown_as_what_they_are() {
    let text = "+a\u{202e}b\u{1b}[2Kc\r\n+d\te\u{200b}\u{e0041}\n";
    let expected = "+a\\u{202e}b\\u{1b}[2Kc\\u{d}\n+d\te\\u{200b}\\u{e0041}\n";
    assert_eq!(shown(text, 1000), expected);
    let honest = "+naïve 漢字 😀 עברית\n-\tx";
    assert_eq!(shown(honest, 1000), honest);
}

#[test]
fn a_long_diff_is_cut_between_lines_and_says_so() {
    let text = "+12345678\n".repeat(10);
    let expected = format!(
        "{}... 7 more lines are not shown\n",
        "+12345678\n".repeat(3)
    );
    assert_eq!(shown(&text, 35), expected);
    assert_eq!(
        shown(&"x".repeat(50), 35),
        "... 1 more lines are not shown\n"
    );
}
