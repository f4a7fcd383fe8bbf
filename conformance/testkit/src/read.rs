//! Reads what a test looks for in a task.

use a2a::types::{Message, Part, Task, TaskState};
use serde_json::Value;
use skill::extension::{self, Question};

/// The state of a task.
pub fn state(task: &Task) -> TaskState {
    task.status.as_ref().unwrap().state
}

/// The text parts of a message, with a line end between them.
pub fn text(message: &Message) -> String {
    let texts: Vec<&str> = message.parts.iter().filter_map(Part::as_text).collect();
    texts.join("\n")
}

/// The text of the status message; empty if there is none.
pub fn status_text(task: &Task) -> String {
    let status = task.status.as_ref();
    let message = status.and_then(|status| status.message.as_ref());
    message.map(text).unwrap_or_default()
}

/// The output of the skill that worked on a task, if it has one yet.
pub fn output(task: &Task) -> Option<Value> {
    extension::output(task)
}

/// The open question of a task.
pub fn question(task: &Task) -> Option<Question> {
    extension::question(task)
}
