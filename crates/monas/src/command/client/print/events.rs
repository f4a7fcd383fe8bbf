//! The events of a stream as text, each piece of an artifact once.

use std::collections::BTreeMap;

use a2a::event::Event;
use a2a::types::wire::WireMessage as _;
use a2a::types::{Artifact, Event as Payload, TaskState, TaskStatus};
use skill::extension;

use super::{
    Printer, headline, is_reasoning, message, note, note_raw, parts_text, printable, say, say_json,
    word, write_err, write_printable,
};
use crate::command::client::flags::Output;

/// How much is said besides the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Manner {
    /// Every state, with the id of the task.
    Stream,
    /// What a person in a conversation wants to see: no ids, and no state that only reports progress.
    Chat,
}

/// Prints the events of one stream. As text, answers go to standard output as they grow; states, progress and reasoning to
/// standard error.
///
/// A server sends an artifact again, whole, after a restart or when a snapshot of the task begins a resumed stream. The
/// printer knows what it has shown of each artifact and prints only what follows; an artifact that was replaced by
/// another text is printed anew on a line of its own.
pub(in crate::command) struct EventPrinter {
    printer: Printer,
    manner: Manner,
    answers: Shown,
    thoughts: Shown,
}

impl EventPrinter {
    pub(super) fn new(printer: Printer, manner: Manner) -> Self {
        Self {
            printer,
            manner,
            answers: Shown::default(),
            thoughts: Shown::default(),
        }
    }

    pub(in crate::command) fn event(&mut self, event: &Event) {
        if self.printer.output == Output::Json {
            return say_json(&String::from_utf8_lossy(&event.response().to_json()));
        }
        match &event.response().payload {
            Payload::Task(begun) => {
                if self.manner == Manner::Stream {
                    note(&headline(begun));
                }
                for made in &begun.artifacts {
                    self.piece(made, false);
                }
            }
            Payload::Message(said) => {
                self.end_lines();
                say(&message(said));
            }
            Payload::StatusUpdate(update) => {
                let Some(status) = &update.status else { return };
                self.status(&update.task_id, status);
            }
            Payload::ArtifactUpdate(update) => {
                if let Some(made) = &update.artifact {
                    self.piece(made, update.append);
                }
                if update.last_chunk {
                    self.end_lines();
                }
            }
            Payload::Unset => {}
        }
    }

    fn status(&mut self, task: &str, status: &TaskStatus) {
        self.end_lines();
        let said = status.message.as_ref();
        if let Some(said) = said.filter(|it| extension::called(it).is_some()) {
            // It says that the task is worked on, and by what.
            let line = format!("  {}", printable(&message(said)));
            return note_raw(&self.printer.err.dim(&line));
        }
        let badly = matches!(
            status.state,
            TaskState::Failed | TaskState::Rejected | TaskState::Canceled
        );
        let state = word(status.state);
        match self.manner {
            Manner::Stream => note(&format!("{state} task {task}")),
            Manner::Chat if badly => note_raw(&self.printer.err.red(&state)),
            Manner::Chat => {}
        }
        let Some(said) = &status.message else { return };
        if let Some(progress) = extension::progress(said) {
            return self.printer.progress(&progress, &message(said));
        }
        match message(said) {
            text if text.trim().is_empty() => {}
            text if badly => note(&text),
            _ if status.state == TaskState::InputRequired => self.printer.question(said),
            text => say(&text),
        }
    }

    /// Prints what an update adds to an artifact.
    fn piece(&mut self, made: &Artifact, append: bool) {
        if is_reasoning(made) {
            write_printable(self.answers.end_line());
            let begins = !self.thoughts.artifacts.contains_key(&made.artifact_id);
            let piece = printable(&self.thoughts.piece(made, append));
            if begins && !piece.is_empty() {
                note_raw(&self.printer.err.dim("thinking:"));
            }
            write_err(&self.printer.err.dim(&piece));
        } else {
            write_err(self.thoughts.end_line());
            write_printable(&self.answers.piece(made, append));
        }
    }

    fn end_lines(&mut self) {
        write_printable(self.answers.end_line());
        write_err(self.thoughts.end_line());
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
