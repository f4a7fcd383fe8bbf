//! Replies as text, and as JSON of the protocol.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use a2a::client::Client;
use a2a::types::wire::WireMessage;
use a2a::types::{Answer, Artifact, Content, Message, Part, SendMessageResponse, Task, TaskState};
use serde_json::{Value, json};
use skill::extension::{self, Progress, QuestionKind};

use super::failure::Failure;
use super::flags::{Output, Shown};
use events::EventPrinter;

mod color;
mod events;
mod form;
mod session;

pub(crate) use color::Color;
use color::Paint;
pub(in crate::command) use events::Manner;
pub(in crate::command) use session::SessionPrinter;

/// Prints replies in the output format. As text, answers go to standard output and everything else to standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    output: Output,
    out: Paint,
    err: Paint,
}

impl Printer {
    pub(crate) fn new(output: Output, color: Color) -> Self {
        Self {
            output,
            out: color.out(),
            err: color.err(),
        }
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

    /// Prints the answer to a message. Of a task, what it says and made is the answer.
    pub(in crate::command) fn answer(self, answer: &SendMessageResponse) {
        if self.output == Output::Json {
            return say_json(&String::from_utf8_lossy(&answer.to_json()));
        }
        match &answer.payload {
            Answer::Task(answered) => self.task_answer(answered),
            Answer::Message(answered) => say(message(answered).trim_end()),
            Answer::Unset => note("the agent gave an empty answer"),
        }
    }

    fn task_answer(self, task: &Task) {
        note(&headline(task));
        let (thoughts, made): (Vec<_>, Vec<_>) =
            task.artifacts.iter().partition(|it| is_reasoning(it));
        for thought in thoughts {
            let text = printable(parts_text(&thought.parts).trim_end());
            note_raw(&self.err.dim(&format!("thinking: {text}")));
        }
        if let Some(said) = task.status_message() {
            match task.state() {
                TaskState::InputRequired => self.question(said),
                TaskState::Failed | TaskState::Rejected | TaskState::Canceled => {
                    note(message(said).trim_end());
                }
                _ => say(message(said).trim_end()),
            }
        }
        let several = made.len() > 1;
        for made in made {
            if several {
                note(&label(made));
            }
            say(parts_text(&made.parts).trim_end());
        }
    }

    /// Prints what a task asks: the question, with a difference in colour, and the fields of its form.
    pub(in crate::command) fn question(self, said: &Message) {
        let text = printable(message(said).trim_end());
        let asked = extension::asked_in(said);
        let kind = asked.as_ref().map(|it| it.kind);
        match kind {
            Some(QuestionKind::Approval) => write_out(&format!("{}\n", self.out.diff(&text))),
            _ => write_out(&format!("{text}\n")),
        }
        let fields = match asked {
            Some(question) if question.kind == QuestionKind::Question => {
                form::fields(&question.schema)
            }
            _ => return,
        };
        for field in &fields {
            note(&format!("  {field}"));
        }
        if fields.len() > 1 {
            note("answer with a JSON object that has these fields");
        }
    }

    /// Prints how far a skill is.
    fn progress(self, progress: &Progress, said: &str) {
        let total = progress.total.map(|total| format!(" of {total}"));
        let far = format!("{}{}", progress.progress, total.unwrap_or_default());
        let line = match said.trim() {
            "" => far,
            said => format!("{far}: {said}"),
        };
        note_raw(&self.err.dim(&format!("  {}", printable(&line))));
    }

    /// The printer of the events of one stream.
    pub(in crate::command) fn follow(self, manner: Manner) -> EventPrinter {
        EventPrinter::new(self, manner)
    }

    /// What paints on standard error.
    pub(in crate::command) fn paint(self) -> Paint {
        self.err
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
    pub(crate) fn failure(self, failure: &Failure) {
        match self.output {
            Output::Json => note(&failure.json().to_string()),
            Output::Text => {
                let said = printable(&failure.to_string());
                note_raw(&format!("{} {said}", self.err.red("error:")));
                if let Some(hint) = failure.hint() {
                    note(&format!("hint: {hint}"));
                }
            }
        }
    }

    /// Whether the output is for people.
    pub(in crate::command) fn is_text(self) -> bool {
        self.output == Output::Text
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

/// Prints a line of ours on standard error, with colours in it.
pub(in crate::command) fn note_raw(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints a text of ours on standard error, without an end of line.
fn write_err(text: &str) {
    let _ = write!(io::stderr().lock(), "{text}");
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
    format!("{}\n{}", label(made), parts_text(&made.parts))
}

/// The name of an artifact in brackets.
fn label(made: &Artifact) -> String {
    let name = if made.name.is_empty() {
        &made.artifact_id
    } else {
        &made.name
    };
    format!("[{name}]")
}

/// The id of the artifact that agents of ours stream their reasoning in.
const REASONING: &str = "reasoning";

/// Whether an artifact is what a model thought on its way to the answer.
fn is_reasoning(made: &Artifact) -> bool {
    made.artifact_id == REASONING
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
pub(in crate::command) fn printable(text: &str) -> String {
    let harmless = |c: &char| !commands(*c) || matches!(c, '\n' | '\t');
    text.chars().filter(harmless).collect()
}

/// Whether a character could control a terminal: control characters, and those that change the direction of text.
fn commands(c: char) -> bool {
    let turns = |c| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns(c)
}

/// The name of a state in lowercase.
pub(crate) fn word(state: TaskState) -> String {
    let name = state.name().unwrap_or("unknown");
    let word = name.trim_start_matches("TASK_STATE_");
    word.to_ascii_lowercase().replace('_', "-")
}
