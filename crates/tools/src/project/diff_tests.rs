//! A preview shows every character that would be written.

use super::*;

#[test]
fn characters_that_deceive_are_shown_as_what_they_are() {
    let deceiving = "+a\u{202e}b\u{1b}[2Kc\r\n";
    assert_eq!(visible(deceiving), "+a\\u{202e}b\\u{1b}[2Kc\\u{d}\n");
    let hidden = "+d\te\u{200b}\u{e0041}\n";
    assert_eq!(visible(hidden), "+d\te\\u{200b}\\u{e0041}\n");
    let honest = "+naïve 漢字 😀 עברית\tx";
    assert_eq!(visible(honest), honest);
}
