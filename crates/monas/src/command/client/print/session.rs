//! The messages of a session of the chat as text: reasoning, calls, output and differences as they come.

use serde_json::Value;
use workspace::chat::MessageType;
use workspace::chat::client::Received;

use super::{Printer, note, note_raw, printable, say, write_err, write_out, write_printable};

/// How many lines of what a command printed are shown; the agent has all of it.
const LINES: usize = 40;

/// How long the input of a call may be in the line that tells of it, in characters.
const INPUT: usize = 200;

/// Prints the messages of a session: answers and questions on standard output, everything else on standard error.
///
/// A model's words come in pieces, each with all of the text so far and under the id of the message that they become. The
/// printer knows what it has shown of it and prints what follows.
pub(in crate::command) struct SessionPrinter {
    printer: Printer,
    /// The message of which pieces were shown.
    live: String,
    thought: Growing,
    text: Growing,
    /// The answer, until it is known how the request ended.
    answer: Option<Received>,
    /// The output of the running command was shown.
    progressed: bool,
}

impl SessionPrinter {
    pub(in crate::command) fn new(printer: Printer) -> Self {
        Self {
            printer,
            live: String::new(),
            thought: Growing::default(),
            text: Growing::default(),
            answer: None,
            progressed: false,
        }
    }

    /// Prints a message. `own` says that the person at this terminal has said it.
    pub(in crate::command) fn message(&mut self, message: &Received, own: bool) {
        match (message.kind, message.action(), message.event()) {
            (MessageType::AgentAction, Some("reasoning"), _) => self.think(message),
            (MessageType::AgentAction, Some("response"), _) => self.answer = Some(message.clone()),
            (MessageType::AgentAction, _, _) => self.calls(message),
            (MessageType::UserCommand, _, _) if own => {}
            (MessageType::UserCommand, _, _) => {
                let said = message.text("command").unwrap_or_default();
                self.aside(&format!("said elsewhere: {said}"));
            }
            (MessageType::ApprovalRequest, _, _) => self.question(message),
            (MessageType::ToolResult, _, _) => self.result(message),
            (MessageType::WatchdogAlert, _, _) => {
                let text = |field| message.text(field).unwrap_or_default();
                let alert = format!("{}: {}", text("title"), text("description"));
                self.end_lines();
                note_raw(&self.printer.err.red(&printable(&alert)));
            }
            (_, _, Some(event)) => self.event(message, event),
            _ => {}
        }
    }

    fn event(&mut self, message: &Received, event: &str) {
        let data = |field| message.data(field).unwrap_or_default();
        match event {
            "progress" => {
                self.progressed = true;
                self.aside(data("message").trim_end());
            }
            "file_modified" => {
                self.aside(&format!("{} {}", data("operation"), data("path")));
                self.changes(&message.payload["data"]["deltas"]);
            }
            "task_completed" => self.answered(None),
            "task_failed" | "task_rejected" | "task_canceled" => {
                self.answered(Some(event.trim_start_matches("task_")));
            }
            "approval_decided" if data("decision") == "expired" => {
                self.aside(&format!("nobody answered in time: {}", data("action")));
            }
            "agent_paused" => self.aside("the agent is paused"),
            "agent_resumed" => self.aside("the agent goes on"),
            "agent_error" => {
                self.end_lines();
                note_raw(&self.printer.err.red(&printable(data("message"))));
            }
            "agent_recovered" => self.aside("the agent can go on again"),
            _ => {}
        }
    }

    /// Prints how a request ended: the answer, or a state and why.
    fn answered(&mut self, badly: Option<&str>) {
        let answer = self.answer.take();
        let text = answer.as_ref().and_then(|it| it.text("content"));
        let text = printable(text.unwrap_or_default().trim_end());
        let live = answer.is_some_and(|it| it.id == self.live);
        match badly {
            None if live => {
                write_err(self.thought.end_line());
                write_printable(&self.text.grow(&text));
                self.end_lines();
            }
            None => {
                self.end_lines();
                say(&text);
            }
            Some(state) => {
                self.end_lines();
                note_raw(&self.printer.err.red(state));
                note(&text);
            }
        }
        self.forget();
    }

    /// Prints what is new of a thought: what the model says on standard output, how it came to it on standard error.
    fn think(&mut self, message: &Received) {
        if self.live != message.id {
            self.end_lines();
            self.forget();
            self.live.clone_from(&message.id);
        }
        let content = message.text("content").unwrap_or_default().trim_end();
        let steps = message.payload["reasoning_steps"].as_array();
        let steps = steps.into_iter().flatten().filter_map(Value::as_str);
        let steps: Vec<_> = steps.filter(|it| !it.starts_with("Call ")).collect();
        // The content is what the model said, or how it came to it where it said nothing.
        let lines = content.lines().map(str::trim).filter(|it| !it.is_empty());
        let silent = !steps.is_empty() && lines.take(steps.len()).eq(steps.iter().copied());
        let (thought, said) = match silent {
            true => (content.to_owned(), ""),
            false => (steps.join("\n"), content),
        };
        let begins = self.thought.shown.is_empty() && !thought.is_empty();
        let new = self.thought.grow(&printable(&thought));
        if begins {
            note_raw(&self.printer.err.dim("thinking:"));
        }
        write_err(&self.printer.err.dim(&new));
        // Where a plan has no words of its own, the server says which calls follow; they are shown next.
        if !said.starts_with("I will call ") && !said.is_empty() {
            write_err(self.thought.end_line());
            write_printable(&self.text.grow(&printable(said)));
        }
        if message.payload.get("partial").is_none() {
            self.end_lines();
            self.forget();
        }
    }

    fn calls(&mut self, message: &Received) {
        self.progressed = false;
        let calls = message.payload["tool_calls"].as_array();
        for call in calls.into_iter().flatten() {
            let skill = call["tool"].as_str().unwrap_or_default();
            let with = match &*short(&words(&call["parameters"])) {
                "" => String::new(),
                input => format!(" ({input})"),
            };
            self.aside(&format!("calling {skill}{with}"));
        }
    }

    /// Prints what waits for a person, with the difference in colour.
    fn question(&mut self, message: &Received) {
        self.end_lines();
        let action = message.text("action").unwrap_or_default();
        if action == "question" {
            let text = message.text("description").unwrap_or_default();
            return say(text.trim_end());
        }
        let details = &message.payload["details"];
        let notes = details["notes"].as_array().into_iter().flatten();
        let notes: Vec<_> = notes.filter_map(Value::as_str).collect();
        let preview = details["preview"].as_str().unwrap_or_default().trim_end();
        let question = format!("May I call {action}? {}", notes.join(" "));
        let answers = "Answer yes, no (with a reason, if you like), session (yes, also for the rest of this conversation), or \
                       modify with another input";
        let text = printable(&format!("{}\n{answers}\n{preview}", question.trim_end()));
        write_out(&format!("{}\n", self.printer.out.diff(&text)));
    }

    fn result(&mut self, message: &Received) {
        let skill = message.text("tool").unwrap_or_default();
        let output = message.text("output").unwrap_or_default().trim_end();
        let data = &message.payload["data"];
        let printed = data["output"].is_string();
        if printed && !std::mem::take(&mut self.progressed) {
            let lines: Vec<&str> = output.lines().collect();
            lines.iter().take(LINES).for_each(|line| self.aside(line));
            if let Some(more) = lines.len().checked_sub(LINES).filter(|it| *it > 0) {
                self.aside(&format!("and {more} lines more"));
            }
        }
        let done = message.payload["success"] == true;
        let code = &message.payload["exit_code"];
        self.aside(&match (done, printed) {
            (true, _) => format!("{skill} is done"),
            (false, true) => format!("{skill} failed: exit code {code}"),
            (false, false) => format!("{skill} failed: {output}"),
        });
    }

    /// Prints the lines that came into a file, and where others went. A person who was asked has seen the same before.
    fn changes(&self, deltas: &Value) {
        let mut deltas: Vec<&Value> = deltas.as_array().into_iter().flatten().collect();
        // They are in the order in which they are applied, which is from the end.
        deltas.reverse();
        for delta in deltas.iter().take(LINES) {
            let (start, end) = (&delta["line_start"], &delta["line_end"]);
            let mut lines = match delta["operation"].as_str() {
                Some("insert") => format!("@@ before line {start} @@"),
                Some("delete") => format!("@@ lines {start} to {end} deleted @@"),
                _ => format!("@@ lines {start} to {end} replaced @@"),
            };
            let content = delta["content"].as_str().unwrap_or_default();
            for line in content.lines().take(LINES) {
                lines.push_str(&format!("\n+{line}"));
            }
            note_raw(&self.printer.err.diff(&printable(&lines)));
        }
    }

    /// Prints lines on standard error, so that the answer stands out.
    fn aside(&mut self, text: &str) {
        self.end_lines();
        for line in text.lines() {
            note_raw(&self.printer.err.dim(&format!("  {}", printable(line))));
        }
    }

    fn forget(&mut self) {
        self.live.clear();
        self.thought = Growing::default();
        self.text = Growing::default();
    }

    /// Ends the lines that are not ended.
    pub(in crate::command) fn end_lines(&mut self) {
        write_printable(self.text.end_line());
        write_err(self.thought.end_line());
    }
}

/// A text that grows, and how much of it was printed.
#[derive(Default)]
struct Growing {
    shown: String,
    /// Its line is not ended.
    open: bool,
}

impl Growing {
    /// The part of the text that is not printed yet. Another text begins on a line of its own.
    fn grow(&mut self, now: &str) -> String {
        let new = match now.strip_prefix(self.shown.as_str()) {
            Some(rest) => rest.to_owned(),
            None => format!("{}{now}", self.end_line()),
        };
        self.shown = now.to_owned();
        if !new.is_empty() {
            self.open = !new.ends_with('\n');
        }
        new
    }

    fn end_line(&mut self) -> &'static str {
        match std::mem::take(&mut self.open) {
            true => "\n",
            false => "",
        }
    }
}

/// The input of a call as a person reads it.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let fields = members.iter().filter(|(_, it)| !it.is_null());
            let fields = fields.map(|(name, it)| format!("{name}: {}", words(it)));
            fields.collect::<Vec<_>>().join("; ")
        }
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A text in one line, cut at some length.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(INPUT) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Growing, short, words};

    #[test]
    fn a_text_that_grows_is_printed_once() {
        let mut text = Growing::default();
        assert_eq!(text.grow("Let me"), "Let me");
        assert_eq!(text.grow("Let me look."), " look.");
        assert_eq!(text.grow("Let me look."), "");
        assert_eq!(text.grow("It is blue."), "\nIt is blue.");
        assert_eq!((text.end_line(), text.end_line()), ("\n", ""));
    }

    #[test]
    fn the_input_of_a_call_is_one_short_line() {
        let input = json!({ "path": "notes.md", "content": "one\ntwo", "none": null });
        assert_eq!(short(&words(&input)), "content: one two; path: notes.md");
        assert_eq!(short(&"x".repeat(300)).len(), 203);
    }
}
