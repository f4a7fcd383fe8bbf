//! Replies as text, and as JSON of the protocol.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use a2a::client::Client;
use a2a::types::wire::WireMessage;
use a2a::types::{Answer, Artifact, Content, Message, Part, SendMessageResponse, Task, TaskState};
use serde_json::{Value, json};

use super::failure::Failure;
use super::flags::{Output, Shown};

mod events;

pub(in crate::command) use events::EventPrinter;

/// Prints replies in the output format.
#[derive(Clone, Copy, Debug)]
pub(in crate::command) struct Printer {
    output: Output,
}

impl Printer {
    pub(in crate::command) fn new(output: Output) -> Self {
        Self { output }
    }

    /// Prints a message of the protocol: as JSON, or as this text.
    pub(in crate::command) fn reply<T: WireMessage>(
        self,
        reply: &T,
        text: impl FnOnce(&T) -> String,
    ) {
        match self.output {
            Output::Text => say(text(reply).trim_end()),
            Output::Json => say_json(&String::from_utf8_lossy(&reply.to_json())),
        }
    }

    /// Prints JSON that is not a message of the protocol, or a text.
    pub(in crate::command) fn value(self, value: &Value, text: &str) {
        match self.output {
            Output::Text => say(text.trim_end()),
            Output::Json => say_json(&value.to_string()),
        }
    }

    pub(in crate::command) fn answer(self, answer: &SendMessageResponse) {
        self.reply(answer, |answer| match &answer.payload {
            Answer::Task(answered) => task(answered),
            Answer::Message(answered) => message(answered),
            Answer::Unset => "(an empty answer)".to_owned(),
        });
    }

    /// The printer of the events of one stream.
    pub(in crate::command) fn follow(self) -> EventPrinter {
        EventPrinter::new(self.output)
    }

    pub(in crate::command) fn card(self, client: &Client) {
        match self.output {
            Output::Json => say_json(&client.raw_card().to_string()),
            Output::Text => say(crate::command::card::text(client).trim_end()),
        }
    }

    pub(in crate::command) fn settings(self, settings: &[Shown]) {
        let object = settings.iter().map(|it| {
            let shown = json!({ "value": it.value, "source": it.source });
            (it.name.to_owned(), shown)
        });
        let object = Value::Object(object.collect());
        let mut text = String::new();
        for it in settings {
            let value = if it.value.is_empty() { "-" } else { &it.value };
            let _ = writeln!(text, "{:<14} {value:<26} ({})", it.name, it.source);
        }
        self.value(&object, &text);
    }

    /// Prints an error on standard error.
    pub(in crate::command) fn failure(self, failure: &Failure) {
        match self.output {
            Output::Json => note(&failure.json().to_string()),
            Output::Text => {
                note(&format!("error: {failure}"));
                if let Some(hint) = failure.hint() {
                    note(&format!("hint: {hint}"));
                }
            }
        }
    }

    /// Whether progress is shown: text output, and standard error is a terminal.
    pub(in crate::command) fn is_watched(self) -> bool {
        self.output == Output::Text && io::stderr().is_terminal()
    }
}

/// Whether a write to standard output has failed for another reason than a closed pipe.
static UNWRITTEN: AtomicBool = AtomicBool::new(false);

/// Writes to standard output. A closed pipe is not an error.
fn write_out(text: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
        && !UNWRITTEN.swap(true, Ordering::Relaxed)
    {
        note(&format!("error: standard output: {error}"));
    }
}

/// Whether everything could be written.
pub(in crate::command) fn all_written() -> bool {
    !UNWRITTEN.load(Ordering::Relaxed)
}

/// Prints a line on standard output, without control characters.
pub(in crate::command) fn say(line: &str) {
    write_out(&format!("{}\n", printable(line)));
}

/// Prints a line of JSON with control characters escaped.
fn say_json(line: &str) {
    write_out(&format!("{}\n", escaped(line)));
}

/// A line in which characters that could control a terminal are escaped as in JSON and Cypher, so that exported data means
/// the same. Tabs stay.
pub(crate) fn escaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len() + 1);
    for c in line.chars() {
        if commands(c) && c != '\t' {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

/// Prints a line on standard error.
pub(in crate::command) fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(line));
}

/// Prints a text without an end of line, without control characters.
fn write_printable(text: &str) {
    write_out(&printable(text));
}

/// The id and state of a task in one line.
pub(in crate::command) fn headline(task: &Task) -> String {
    let state = task
        .status
        .as_ref()
        .map_or(TaskState::Unspecified, |it| it.state);
    format!(
        "{} task {} context {}",
        word(state),
        task.id,
        task.context_id
    )
}

/// A task as text: its state, the message of the state, its artifacts.
pub(in crate::command) fn task(task: &Task) -> String {
    let mut text = headline(task);
    let said = task
        .status
        .as_ref()
        .and_then(|status| status.message.as_ref());
    if let Some(said) = said {
        let _ = write!(text, "\n{}", message(said));
    }
    for made in &task.artifacts {
        let _ = write!(text, "\n{}", artifact(made));
    }
    text
}

fn artifact(made: &Artifact) -> String {
    let name = if made.name.is_empty() {
        &made.artifact_id
    } else {
        &made.name
    };
    format!("[{name}]\n{}", parts_text(&made.parts))
}

pub(in crate::command) fn message(said: &Message) -> String {
    parts_text(&said.parts)
}

/// A part as text; of files and data, a description.
fn parts_text(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        let name = if part.filename.is_empty() {
            "file"
        } else {
            &part.filename
        };
        let _ = match &part.content {
            Content::Text(plain) => write!(text, "{plain}"),
            Content::Raw(bytes) => {
                writeln!(text, "[{name} {} {} bytes]", part.media_type, bytes.len())
            }
            Content::Url(url) => writeln!(text, "[{name} {} {url}]", part.media_type),
            Content::Data(data) => {
                let data = serde_json::to_value(data).unwrap_or_default();
                writeln!(text, "{data}")
            }
            Content::Unset => Ok(()),
        };
    }
    text
}

/// Text without control characters. Names, ids and errors come from peers, too.
fn printable(text: &str) -> String {
    let harmless = |c: &char| !commands(*c) || matches!(c, '\n' | '\t');
    text.chars().filter(harmless).collect()
}

/// Whether a character could control a terminal: control characters, and those that change the direction of text.
fn commands(c: char) -> bool {
    let turns = |c| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns(c)
}

/// The name of a state in lowercase.
pub(in crate::command) fn word(state: TaskState) -> String {
    let name = state.name().unwrap_or("unknown");
    let word = name.trim_start_matches("TASK_STATE_");
    word.to_ascii_lowercase().replace('_', "-")
}
