//! MCP tasks: `tasks/get`, `tasks/update` and `tasks/cancel`, answered from tasks of the journal.

use std::time::Duration;

use a2a::types::{CancelTaskRequest, Message, Task, TaskState, Timestamp};
use rmcp::RoleServer;
use rmcp::model::{
    self as mcp, CreateTaskResult, DetailedTask, ErrorData, GetTaskResult, JsonObject, TaskPayload,
    TaskStatus, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::question::{self, FormResponse, PendingQuestion};
use super::{Handler, outcome, refused};
use crate::limits::Limits;

/// The reply to a call that continues after its request.
pub(super) fn created(limits: &Limits, task: &Task) -> CreateTaskResult {
    let mut seed = described(limits, task);
    seed.status = match task.status.as_ref().map(|status| status.state) {
        Some(TaskState::InputRequired) => TaskStatus::InputRequired,
        _ => TaskStatus::Working,
    };
    CreateTaskResult::new(seed)
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
fn described(limits: &Limits, task: &Task) -> mcp::Task {
    let made = created_at(task);
    let status = task.status.as_ref();
    let changed = status.and_then(|status| status.timestamp).unwrap_or(made);
    let mut described = mcp::Task::new(
        &task.id,
        TaskStatus::Working,
        made.to_string(),
        changed.to_string(),
    );
    let said = status.and_then(|status| status.message.as_ref());
    described.status_message = said.map(Message::text).filter(|said| !said.is_empty());
    described.poll_interval_ms = u64::try_from(limits.poll.as_millis()).ok();
    described
}

impl Handler {
    /// `tasks/get`: the task with its result or its open question.
    pub(super) async fn show_task(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let task = self.load(id, context).await?;
        let payload = match task.status.as_ref().map(|status| status.state) {
            Some(TaskState::Canceled) => TaskPayload::Cancelled,
            Some(TaskState::InputRequired) => match PendingQuestion::of(&task) {
                Some(question) => TaskPayload::InputRequired {
                    input_requests: question.requests(),
                },
                None => TaskPayload::Working,
            },
            Some(state) if state.is_terminal() => self.ended(&task),
            _ => TaskPayload::Working,
        };
        let described = described(self.limits(), &task);
        Ok(GetTaskResult::new(DetailedTask::new(described, payload)))
    }

    /// The payload of a task that ended: a result, also if the task failed, or the error of a skill that crashed.
    fn ended(&self, task: &Task) -> TaskPayload {
        let writer = outcome::ResultWriter {
            authority: &self.inner.config.authority,
            modern: true,
        };
        match writer.of_task(task) {
            Ok(result) => TaskPayload::Completed {
                result: object(&result),
            },
            Err(error) => TaskPayload::Failed {
                error: object(&error),
            },
        }
    }

    /// `tasks/update`: answers the open question. Responses to other questions are ignored.
    pub(super) async fn answer_task(
        &self,
        request: UpdateTaskParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let task = self.load(&request.task_id, context).await?;
        let question = PendingQuestion::of(&task);
        let answer = question.and_then(|it| it.find_response(&task, &request.input_responses));
        let Some(FormResponse::Answer(answer)) = answer else {
            return Ok(());
        };
        let mut request = question::answer_request(answer, &task);
        let configuration = request.configuration.get_or_insert_default();
        configuration.return_immediately = true;
        configuration.history_length = Some(0);
        let sent = self.tasks().send_message(self.call_by(context), request);
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
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let request = CancelTaskRequest {
            id: id.to_owned(),
            ..CancelTaskRequest::default()
        };
        match self
            .tasks()
            .cancel_task(self.call_by(context), request)
            .await
        {
            Ok(_) | Err(a2a::Error::TaskNotCancelable { .. }) => Ok(()),
            Err(error) => Err(refused(&error)),
        }
    }
}

fn object(value: &impl serde::Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}
