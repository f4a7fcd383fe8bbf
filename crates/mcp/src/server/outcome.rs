//! Writes a task or a message as the result of a tool.
//!
//! A result holds the same output three times: as text for models, as structured content for programs, and as the task or
//! message itself in an embedded resource with a tag URI (RFC 4151), for clients that know A2A.

use a2a::types::wire::WireMessage;
use a2a::types::{Artifact, Content as PartContent, Message, Part, Task, TaskState, Timestamp};
use serde_json::{Value, json};
use skill::extension;

use super::content::{Content, Resource, ResourceBody, ResourceContents, ToolResult};
use super::rpc::RpcError;
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
    pub(super) fn of_task(self, mut task: Task) -> Result<ToolResult, RpcError> {
        let status = task.status.as_ref();
        let completed = status.is_some_and(|status| status.state == TaskState::Completed);
        let said = status.and_then(|status| status.message.as_ref());
        let said = said.map(Message::text).filter(|said| !said.is_empty());
        if !completed && extension::failure_code(&task).as_deref() == Some("crashed") {
            let said = said.unwrap_or_else(|| "the skill crashed".to_owned());
            return Err(RpcError::internal(said).with_data(json!({ "taskId": task.id })));
        }
        // The caller sent its messages itself.
        task.history.clear();
        if !completed {
            let said = said.unwrap_or_else(|| unsuccessful(&task).to_owned());
            let content = vec![Content::text(said), self.of(&task)];
            return Ok(ToolResult::error(content));
        }
        let output = extension::output(&task);
        let mut content = Vec::with_capacity(3);
        content.extend(said.map(Content::text));
        content.extend(output.as_ref().map(|output| Content::text(plain(output))));
        content.extend(links(&task));
        content.push(self.of(&task));
        let mut result = ToolResult::success(content);
        result.structured_content = output.filter(|output| self.modern || output.is_object());
        Ok(result)
    }

    /// The result of a call that the agent answered with a message.
    pub(super) fn of_message(self, message: &Message) -> ToolResult {
        let mut content: Vec<Content> = message.parts.iter().filter_map(part).collect();
        let today = Timestamp::from_millis(now_millis());
        content.push(self.envelope(&message.message_id, today, message));
        ToolResult::success(content)
    }

    /// The error result for a question that this client cannot show. It names the task, which keeps waiting.
    pub(super) fn unanswered(self, task: &Task) -> ToolResult {
        let said = task
            .status
            .as_ref()
            .and_then(|status| status.message.as_ref());
        let asked = said.map(Message::text).unwrap_or_default();
        let told = format!(
            "This needs an answer first: {asked}\nTask {} waits for it: answer it over A2A, or with `monas approvals answer`.",
            task.id
        );
        let mut task = task.clone();
        task.history.clear();
        ToolResult::error(vec![Content::text(told), self.of(&task)])
    }

    fn of(self, task: &Task) -> Content {
        // The creation time, because the URI must not change when the result is written again.
        self.envelope(&task.id, task::created_at(task), task)
    }

    fn envelope(self, id: &str, date: Timestamp, object: &impl WireMessage) -> Content {
        let json = object.to_json();
        let json = String::from_utf8(json.into()).unwrap_or_default();
        let date = date.to_string();
        let day = date.split('T').next().unwrap_or_default();
        Content::Resource {
            resource: ResourceContents {
                uri: format!("tag:{},{day}:{id}", self.authority),
                mime_type: "application/json".to_owned(),
                body: ResourceBody::Text(json),
            },
        }
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
fn part(part: &Part) -> Option<Content> {
    match &part.content {
        PartContent::Text(text) => Some(Content::text(text)),
        PartContent::Data(data) => Some(Content::text(data.0.to_string())),
        PartContent::Url(url) => {
            let name = match part.filename.is_empty() {
                true => url,
                false => &part.filename,
            };
            Some(Content::ResourceLink(Resource {
                uri: url.clone(),
                name: name.clone(),
                ..Resource::default()
            }))
        }
        _ => None,
    }
}

/// Links to the artifacts, except the output, which is in the result already.
fn links(task: &Task) -> impl Iterator<Item = Content> {
    let others = task.artifacts.iter();
    let others = others.filter(|artifact| artifact.artifact_id != extension::OUTPUT);
    others.map(|artifact: &Artifact| Content::ResourceLink(resource::of_artifact(task, artifact)))
}

pub(super) fn now_millis() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}
