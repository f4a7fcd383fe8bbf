//! The events of a stream as text, each piece of an artifact once.

use std::collections::BTreeMap;

use a2a::event::Event;
use a2a::types::wire::WireMessage as _;
use a2a::types::{Artifact, Event as Payload};

use super::{headline, message, note, parts_text, say, say_json, word, write_printable};
use crate::command::client::flags::Output;

/// Prints the events of one stream. As text, artifacts go to standard output as they grow, and states to standard error.
///
/// A server sends an artifact again, whole, after a restart or when a snapshot of the task begins a resumed stream. The
/// printer knows what it has shown of each artifact and prints only what follows; an artifact that was replaced by
/// another text is printed anew on a line of its own.
pub(in crate::command) struct EventPrinter {
    output: Output,
    shown: Shown,
}

impl EventPrinter {
    pub(super) fn new(output: Output) -> Self {
        Self {
            output,
            shown: Shown::default(),
        }
    }

    pub(in crate::command) fn event(&mut self, event: &Event) {
        if self.output == Output::Json {
            return say_json(&String::from_utf8_lossy(&event.response().to_json()));
        }
        match &event.response().payload {
            Payload::Task(begun) => {
                note(&headline(begun));
                for made in &begun.artifacts {
                    write_printable(&self.shown.piece(made, false));
                }
            }
            Payload::Message(said) => {
                write_printable(self.shown.end_line());
                say(&message(said));
            }
            Payload::StatusUpdate(update) => {
                let Some(status) = &update.status else { return };
                write_printable(self.shown.end_line());
                note(&format!("{} task {}", word(status.state), update.task_id));
                if let Some(said) = &status.message {
                    say(&message(said));
                }
            }
            Payload::ArtifactUpdate(update) => {
                if let Some(made) = &update.artifact {
                    write_printable(&self.shown.piece(made, update.append));
                }
                if update.last_chunk {
                    write_printable(self.shown.end_line());
                }
            }
            Payload::Unset => {}
        }
    }
}

/// What was printed of each artifact of a stream.
#[derive(Default)]
struct Shown {
    artifacts: BTreeMap<String, String>,
    /// The artifact in the line that is not ended.
    line: Option<String>,
}

impl Shown {
    /// What is to be printed for an update: only what follows the text that was printed before.
    fn piece(&mut self, made: &Artifact, append: bool) -> String {
        let text = parts_text(&made.parts);
        let known = self.artifacts.entry(made.artifact_id.clone()).or_default();
        let (new, anew) = match (append, text.strip_prefix(known.as_str())) {
            (true, _) => (text.as_str(), false),
            (false, Some(rest)) => (rest, false),
            (false, None) => (text.as_str(), true),
        };
        match append {
            true => known.push_str(&text),
            false => known.clone_from(&text),
        }
        if new.is_empty() {
            return String::new();
        }
        let other = self.line.as_ref().is_some_and(|it| *it != made.artifact_id);
        let begin = if self.line.is_some() && (anew || other) {
            "\n"
        } else {
            ""
        };
        self.line = (!new.ends_with('\n')).then(|| made.artifact_id.clone());
        format!("{begin}{new}")
    }

    fn end_line(&mut self) -> &'static str {
        self.line.take().map_or("", |_| "\n")
    }
}

#[cfg(test)]
mod tests {
    use a2a::types::{Artifact, Part};

    use super::Shown;

    fn output(text: &str) -> Artifact {
        Artifact {
            artifact_id: "output".to_owned(),
            parts: vec![Part::text(text)],
            ..Artifact::default()
        }
    }

    #[test]
    fn a_text_that_is_sent_again_is_printed_once() {
        let mut shown = Shown::default();
        assert_eq!(shown.piece(&output("You "), false), "You ");
        assert_eq!(shown.piece(&output("said"), true), "said");
        assert_eq!(shown.piece(&output("You said: hi"), false), ": hi");
        assert_eq!(shown.end_line(), "\n");
        assert_eq!(shown.piece(&output("You said: hi"), false), "");
        assert_eq!(shown.end_line(), "", "the line has ended");
    }

    #[test]
    fn another_text_is_printed_on_a_line_of_its_own() {
        let mut shown = Shown::default();
        assert_eq!(shown.piece(&output("Let me look."), false), "Let me look.");
        assert_eq!(shown.piece(&output("It is blue."), false), "\nIt is blue.");
    }
}
