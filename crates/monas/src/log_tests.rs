//! Nothing that a caller chooses can begin a line of the log, steer a terminal, or turn the direction of a text.

use std::io::Write as _;
use std::sync::{Arc, Mutex};

use super::*;

/// What peers could send as a name, a path or a part of an error.
const ATTACKS: [&str; 6] = [
    "ada\n2026-01-01T00:00:00Z  INFO call caller=\"root\"",
    "ada\r\nforged",
    "ada\u{1b}[2J\u{1b}]0;owned\u{7}",
    "ada\u{202e}nimda",
    "ada\u{2028}forged\u{2066}x",
    "ada\0\u{9b}31m",
];

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Written {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The lines that an event with this text in a field, in an error and in its message becomes.
fn logged(text: &str, format: Format) -> Vec<String> {
    let written = Written::default();
    let writer = SafeLines::new(written.clone(), format);
    let subscriber = tracing_subscriber::fmt().with_writer(writer);
    let log = || tracing::info!(caller = text, error = %text, path = ?text, "call of {text}");
    match format {
        Format::Text => {
            tracing::subscriber::with_default(subscriber.with_ansi(true).finish(), log);
        }
        Format::Json => {
            let subscriber = subscriber.with_ansi(false).event_format(JsonLines);
            tracing::subscriber::with_default(subscriber.finish(), log);
        }
    }
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    text.split_terminator('\n').map(str::to_owned).collect()
}

#[test]
fn an_event_is_one_line_of_text_whatever_its_fields_are() {
    for attack in ATTACKS {
        let lines = logged(attack, Format::Text);
        assert_eq!(lines.len(), 1, "{lines:?}");
        let mut rest = &*lines[0];
        while let Some(at) = rest.find(is_harmful) {
            // The formatter's own colours are all that is left.
            let length = colour(&rest[at..]);
            assert!(length.is_some(), "{attack:?}: {:?}", &rest[at..]);
            rest = &rest[at + length.unwrap()..];
        }
    }
}

#[test]
fn an_event_is_one_object_of_json_with_its_fields_as_they_were() {
    for attack in ATTACKS {
        let lines = logged(attack, Format::Json);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(!lines[0].contains(is_harmful), "{lines:?}");
        let event: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(event["caller"], attack);
        assert_eq!(event["level"], "INFO");
    }
}

#[test]
fn a_harmless_line_is_written_as_it_is() {
    let mut written = Written::default();
    let mut writer = SafeLines::new(written.clone(), Format::Text).make_writer();
    writer.write_all("plain, Grüße, 日本\n".as_bytes()).unwrap();
    written.flush().unwrap();
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    assert_eq!(text, "plain, Grüße, 日本\n");
}
