//! Text as a person may rely on it: characters that are not seen, or that are taken for others, are written out.

/// The text with misleading characters written as `\u{202e}`: those that are invisible, that look like a blank, or that
/// change the direction of writing. Line ends and tabs stay. Otherwise a question could contain other text than the screen
/// shows (CVE-2021-42574, "Trojan Source").
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for letter in text.chars() {
        match deceives(letter) {
            true => visible.extend(letter.escape_unicode()),
            false => visible.push(letter),
        }
    }
    visible
}

/// Whether this character can make a text look like a different one: all of `Default_Ignorable_Code_Point`, line
/// separators that not every program treats as such, controls, and blanks other than the space.
fn deceives(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => true,
        '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' => true,
        '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        // Egyptian format controls and blanks.
        '\u{13430}'..='\u{1343f}' | '\u{13441}'..='\u{13446}' => true,
        // Blanks that are no space: no-break, ogham, of fixed width, ideographic, braille, a note without a head.
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' => true,
        '\u{3000}' | '\u{2800}' | '\u{1d159}' | '\u{16fe4}' => true,
        _ => letter.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn everything_that_is_not_seen_is_written_out() {
        let hidden = [
            0xe0100, 0xe01ef, 0xfe00, 0xfe0f, 0x3164, 0x115f, 0x1160, 0xffa0, 0x34f, 0x17b4,
            0x180b, 0x2800, 0x1d173, 0x1bca0, 0x13430, 0x202e, 0x200b, 0xe0041, 0x2028, 0xfeff,
            0x1b, 0xa0, 0x3000,
        ];
        for code in hidden {
            let letter = char::from_u32(code).unwrap();
            let shown = visible(&format!("a{letter}b"));
            assert_eq!(shown, format!("a\\u{{{code:x}}}b"));
        }
        let plain = "naïve \tcafé — 日本語 🎉\n";
        assert_eq!(visible(plain), plain);
        assert_eq!(visible(&visible("a\u{202e}b")), visible("a\u{202e}b"));
    }
}
