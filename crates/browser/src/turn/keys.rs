//! Keys and chords by their names.

use serde_json::{Value, json};

use crate::error::Error;

/// A key with its modifiers, as Chromium takes it.
#[derive(Debug, PartialEq)]
pub(crate) struct Chord {
    key: String,
    code: String,
    number: u32,
    text: Option<String>,
    modifiers: u32,
}

/// Names, codes, numbers and texts of keys that are no letters.
const NAMED: [(&str, &str, u32, &str); 22] = [
    ("Enter", "Enter", 13, "\r"),
    ("Tab", "Tab", 9, ""),
    ("Escape", "Escape", 27, ""),
    ("Backspace", "Backspace", 8, ""),
    ("Delete", "Delete", 46, ""),
    ("Insert", "Insert", 45, ""),
    ("Home", "Home", 36, ""),
    ("End", "End", 35, ""),
    ("PageUp", "PageUp", 33, ""),
    ("PageDown", "PageDown", 34, ""),
    ("ArrowUp", "ArrowUp", 38, ""),
    ("ArrowDown", "ArrowDown", 40, ""),
    ("ArrowLeft", "ArrowLeft", 37, ""),
    ("ArrowRight", "ArrowRight", 39, ""),
    (" ", "Space", 32, " "),
    ("F1", "F1", 112, ""),
    ("F2", "F2", 113, ""),
    ("F3", "F3", 114, ""),
    ("F4", "F4", 115, ""),
    ("F5", "F5", 116, ""),
    ("F10", "F10", 121, ""),
    ("F12", "F12", 123, ""),
];

/// Reads a chord such as `Enter`, `Control+A` and `Shift+Tab`.
pub(crate) fn parse(text: &str) -> Result<Chord, Error> {
    let unknown = || Error::Unfit {
        doing: format!("press {text:?}"),
        problem:
            "it is no key: use a letter, or a name such as Enter, Escape, ArrowDown, Control+A"
                .to_owned(),
    };
    let mut modifiers = 0;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('+').filter(|(_, after)| !after.is_empty()) {
        modifiers |= match before.to_lowercase().as_str() {
            "alt" => 1,
            "control" | "ctrl" => 2,
            "meta" | "command" | "cmd" => 4,
            "shift" => 8,
            _ => return Err(unknown()),
        };
        rest = after;
    }
    let wanted = match rest.to_lowercase().as_str() {
        "space" => " ".to_owned(),
        "esc" => "escape".to_owned(),
        "return" => "enter".to_owned(),
        "up" | "down" | "left" | "right" => format!("arrow{}", rest.to_lowercase()),
        other => other.to_owned(),
    };
    let named = NAMED.iter().find(|(key, ..)| key.to_lowercase() == wanted);
    if let Some((key, code, number, typed)) = named {
        let types = !typed.is_empty() && modifiers & !8 == 0;
        return Ok(Chord {
            key: (*key).to_owned(),
            code: (*code).to_owned(),
            number: *number,
            text: types.then(|| (*typed).to_owned()),
            modifiers,
        });
    }
    let mut letters = rest.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else {
        return Err(unknown());
    };
    let upper = letter.to_ascii_uppercase();
    let code = match upper {
        'A'..='Z' => format!("Key{upper}"),
        '0'..='9' => format!("Digit{upper}"),
        _ => String::new(),
    };
    let number = if code.is_empty() { 0 } else { u32::from(upper) };
    Ok(Chord {
        key: letter.to_string(),
        code,
        number,
        text: (modifiers & !8 == 0).then(|| letter.to_string()),
        modifiers,
    })
}

impl Chord {
    /// The events of pressing and releasing it.
    pub(crate) fn events(&self) -> [Value; 2] {
        let mut down = json!({
            "type": if self.text.is_some() { "keyDown" } else { "rawKeyDown" },
            "key": self.key, "code": self.code, "windowsVirtualKeyCode": self.number, "modifiers": self.modifiers,
        });
        if let Some(text) = &self.text {
            down["text"] = json!(text);
        }
        // Without its command Chromium passes a chord to the page and does not edit by it.
        let command = match (self.modifiers, self.key.to_lowercase().as_str()) {
            (2 | 4, "a") => Some("selectAll"),
            (2 | 4, "z") => Some("undo"),
            _ => None,
        };
        if let Some(command) = command {
            down["commands"] = json!([command]);
        }
        let up = json!({
            "type": "keyUp", "key": self.key, "code": self.code, "windowsVirtualKeyCode": self.number,
            "modifiers": self.modifiers,
        });
        [down, up]
    }
}
