//! MCP tasks: `tasks/get`, `tasks/update` and `tasks/cancel`, answered from tasks of the journal.

use std::collections::BTreeMap;
use std::time::Duration;

use a2a::types::{CancelTaskRequest, Message, Task, TaskState, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content::ToolResult;
use super::question::{self, FormResponse, InputRequests, PendingQuestion};
use super::request::Request;
use super::rpc::RpcError;
use super::{Handler, outcome, refused};
use crate::limits::Limits;

/// A task as MCP shows it, with what it has in its state.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownTask {
    task_id: String,
    status: TaskStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<String>,
    created_at: String,
    last_updated_at: String,
    /// Tasks stay: the member is required, and `null` says so.
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_interval_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<InputRequests>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ToolResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum TaskStatus {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

/// The parameters of `tasks/get` and `tasks/cancel`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskParams {
    task_id: String,
}

/// The parameters of `tasks/update`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateParams {
    task_id: String,
    input_responses: BTreeMap<String, Value>,
}

/// The reply to a call that continues after its request.
pub(super) fn created(limits: &Limits, task: &Task) -> ShownTask {
    let mut created = described(limits, task);
    if task.state() == TaskState::InputRequired {
        created.status = TaskStatus::InputRequired;
    }
    created
}

/// When a task was created: the time in its id (UUID version 7).
pub(super) fn created_at(task: &Task) -> Timestamp {
    let id = uuid::Uuid::parse_str(&task.id).ok();
    let made = id.and_then(|id| id.get_timestamp());
    let changed = task.status.as_ref().and_then(|status| status.timestamp);
    match made.map(|made| made.to_unix()) {
        Some((seconds, nanos)) => {
            let made = Duration::new(seconds, nanos).as_millis();
            Timestamp::from_millis(i64::try_from(made).unwrap_or(i64::MAX))
        }
        None => changed.unwrap_or_else(|| Timestamp::from_millis(outcome::now_millis())),
    }
}

/// The fields that a task has in every state.
fn described(limits: &Limits, task: &Task) -> ShownTask {
    let made = created_at(task);
    let status = task.status.as_ref();
    let changed = status.and_then(|status| status.timestamp).unwrap_or(made);
    let said = status.and_then(|status| status.message.as_ref());
    ShownTask {
        task_id: task.id.clone(),
        status: TaskStatus::Working,
        status_message: said.map(Message::text).filter(|said| !said.is_empty()),
        created_at: made.to_string(),
        last_updated_at: changed.to_string(),
        ttl_ms: None,
        poll_interval_ms: u64::try_from(limits.poll.as_millis()).ok(),
        input_requests: None,
        result: None,
        error: None,
    }
}

impl Handler {
    /// `tasks/get`: the task with its result or its open question.
    pub(super) async fn show_task(
        &self,
        params: TaskParams,
        request: &Request,
    ) -> Result<ShownTask, RpcError> {
        let task = self.load(&params.task_id, request).await?;
        let mut shown = described(self.limits(), &task);
        match task.state() {
            TaskState::Canceled => shown.status = TaskStatus::Cancelled,
            TaskState::InputRequired => {
                if let Some(question) = PendingQuestion::of(&task) {
                    shown.status = TaskStatus::InputRequired;
                    shown.input_requests = Some(question.requests());
                }
            }
            state if state.is_terminal() => self.show_end(&mut shown, task),
            _ => {}
        }
        Ok(shown)
    }

    /// A task that ended has a result, also if it failed, or the error of a skill that crashed.
    fn show_end(&self, shown: &mut ShownTask, task: Task) {
        let writer = outcome::ResultWriter {
            authority: &self.inner.config.authority,
            modern: true,
        };
        match writer.of_task(task) {
            Ok(result) => {
                shown.status = TaskStatus::Completed;
                shown.result = Some(result);
            }
            Err(error) => {
                shown.status = TaskStatus::Failed;
                shown.error = Some(error);
            }
        }
    }

    /// `tasks/update`: answers the open question. Responses to other questions are ignored.
    pub(super) async fn answer_task(
        &self,
        params: UpdateParams,
        request: &Request,
    ) -> Result<(), RpcError> {
        let task = self.load(&params.task_id, request).await?;
        let question = PendingQuestion::of(&task);
        let answer = question.and_then(|it| it.find_response(&task, &params.input_responses));
        let Some(FormResponse::Answer(answer)) = answer else {
            return Ok(());
        };
        let mut message = question::answer_request(answer, &task);
        let configuration = message.configuration.get_or_insert_default();
        configuration.return_immediately = true;
        configuration.history_length = Some(0);
        let sent = self.tasks().send_message(self.call_by(request), message);
        match sent.await {
            // Another client answered first, or the task ended.
            Ok(_)
            | Err(
                a2a::Error::TaskGenerationMismatch { .. } | a2a::Error::UnsupportedOperation(_),
            ) => Ok(()),
            Err(error) => Err(refused(&error)),
        }
    }

    /// `tasks/cancel`. A task that ended already stays as it is, which is not an error.
    pub(super) async fn end_task(
        &self,
        params: TaskParams,
        request: &Request,
    ) -> Result<(), RpcError> {
        let cancel = CancelTaskRequest {
            id: params.task_id,
            ..CancelTaskRequest::default()
        };
        match self
            .tasks()
            .cancel_task(self.call_by(request), cancel)
            .await
        {
            Ok(_) | Err(a2a::Error::TaskNotCancelable { .. }) => Ok(()),
            Err(error) => Err(refused(&error)),
        }
    }
}
