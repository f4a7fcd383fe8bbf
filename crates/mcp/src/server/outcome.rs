//! Writes a task or a message as the result of a tool.
//!
//! A result holds the same output three times: as text for models, as structured content for programs, and as the task or
//! message itself in an embedded resource with a tag URI (RFC 4151), for clients that know A2A.

use std::borrow::Cow;

use a2a::types::wire::WireMessage;
use a2a::types::{Artifact, Content, Message, Part, Task, TaskState, Timestamp};
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, Resource, ResourceContents};
use serde_json::{Value, json};
use skill::extension;

use super::{resource, task};

/// Writes results for one client; the revision it speaks decides the form.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultWriter<'a> {
    pub(super) authority: &'a str,
    /// Revision 2026-07-28: structured content may be any JSON value. Before, it must be an object.
    pub(super) modern: bool,
}

impl ResultWriter<'_> {
    /// The result of a task that ended. A skill that crashed is a JSON-RPC error instead.
    pub(super) fn of_task(self, task: &Task) -> Result<CallToolResult, ErrorData> {
        let status = task.status.as_ref();
        let said = status.and_then(|status| status.message.as_ref());
        let said = said.map(Message::text).filter(|said| !said.is_empty());
        if extension::failure_code(task).as_deref() == Some("crashed") {
            let said = said.unwrap_or_else(|| "the skill crashed".to_owned());
            return Err(ErrorData::internal_error(
                said,
                Some(json!({ "taskId": task.id })),
            ));
        }
        let mut content = Vec::new();
        if status.is_none_or(|status| status.state != TaskState::Completed) {
            let said = said.unwrap_or_else(|| unsuccessful(task).to_owned());
            content.push(ContentBlock::text(said));
            content.push(self.envelope(&task.id, task_date(task), &*without_history(task)));
            return Ok(CallToolResult::error(content));
        }
        let output = extension::output(task);
        content.extend(said.map(ContentBlock::text));
        content.extend(
            output
                .as_ref()
                .map(|output| ContentBlock::text(plain(output))),
        );
        content.extend(links(task));
        content.push(self.envelope(&task.id, task_date(task), &*without_history(task)));
        let mut result = CallToolResult::success(content);
        result.structured_content = output.filter(|output| self.modern || output.is_object());
        Ok(result)
    }

    /// The result of a call that the agent answered with a message.
    pub(super) fn of_message(self, message: &Message) -> CallToolResult {
        let mut content: Vec<ContentBlock> = message.parts.iter().filter_map(part).collect();
        let today = Timestamp::from_millis(now_millis());
        content.push(self.envelope(&message.message_id, today, message));
        CallToolResult::success(content)
    }

    /// The error result for a question that this client cannot show. It names the task, which keeps waiting.
    pub(super) fn unanswered(self, task: &Task) -> CallToolResult {
        let said = task
            .status
            .as_ref()
            .and_then(|status| status.message.as_ref());
        let asked = said.map(Message::text).unwrap_or_default();
        let told = format!(
            "This needs an answer first: {asked}\nTask {} waits for it; answer it over A2A.",
            task.id
        );
        let envelope = self.envelope(&task.id, task_date(task), &*without_history(task));
        CallToolResult::error(vec![ContentBlock::text(told), envelope])
    }

    fn envelope(self, id: &str, date: Timestamp, object: &impl WireMessage) -> ContentBlock {
        let json = String::from_utf8_lossy(&object.to_json()).into_owned();
        let date = date.to_string();
        let day = date.split('T').next().unwrap_or_default();
        let uri = format!("tag:{},{day}:{id}", self.authority);
        ContentBlock::resource(ResourceContents::text(json, uri).with_mime_type("application/json"))
    }
}

fn unsuccessful(task: &Task) -> &'static str {
    match task.status.as_ref().map(|status| status.state) {
        Some(TaskState::Canceled) => "the task was cancelled",
        Some(TaskState::Rejected) => "the task was rejected",
        Some(TaskState::AuthRequired) => "the task waits for the user to authenticate",
        _ => "the task failed",
    }
}

/// An output as text: a string without its quotes, any other value as JSON.
fn plain(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A part as content. Raw bytes have no place in it; they are in the embedded message.
fn part(part: &Part) -> Option<ContentBlock> {
    match &part.content {
        Content::Text(text) => Some(ContentBlock::text(text)),
        Content::Data(data) => Some(ContentBlock::text(data.0.to_string())),
        Content::Url(url) => {
            let name = match part.filename.is_empty() {
                true => url,
                false => &part.filename,
            };
            Some(ContentBlock::resource_link(Resource::new(url, name)))
        }
        _ => None,
    }
}

/// Links to the artifacts, except the output, which is in the result already.
fn links(task: &Task) -> impl Iterator<Item = ContentBlock> {
    let others = task.artifacts.iter();
    let others = others.filter(|artifact| artifact.artifact_id != extension::OUTPUT);
    others.map(|artifact: &Artifact| {
        ContentBlock::resource_link(resource::of_artifact(task, artifact))
    })
}

/// The task without its messages, which the caller sent itself.
fn without_history(task: &Task) -> Cow<'_, Task> {
    match task.history.is_empty() {
        true => Cow::Borrowed(task),
        false => Cow::Owned(Task {
            history: Vec::new(),
            ..task.clone()
        }),
    }
}

/// The date in the tag URI. The creation time, because the URI must not change when the result is written again.
fn task_date(task: &Task) -> Timestamp {
    task::created_at(task)
}

pub(super) fn now_millis() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}
