//! Work that outlives its request: a task of the journal as a task of MCP.

use std::time::Duration;

use a2a::types::{CancelTaskRequest, Task, TaskState, Timestamp};
use rmcp::RoleServer;
use rmcp::model::{
    self as mcp, CreateTaskResult, DetailedTask, ErrorData, GetTaskResult, JsonObject, TaskPayload,
    TaskStatus, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::question::{self, Asked, Given};
use super::{Handler, outcome, refused};
use crate::limits::Limits;

/// The answer to a call that goes on without its request.
pub(super) fn created(limits: &Limits, task: &Task) -> CreateTaskResult {
    let mut seed = described(limits, task);
    seed.status = match task.status.as_ref().map(|status| status.state) {
        Some(TaskState::InputRequired) => TaskStatus::InputRequired,
        _ => TaskStatus::Working,
    };
    CreateTaskResult::new(seed)
}

/// When a task was made, which its id tells.
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

/// What is said of a task whatever it does.
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
    described.status_message = said.map(outcome::text).filter(|said| !said.is_empty());
    described.poll_interval_ms = u64::try_from(limits.poll.as_millis()).ok();
    described
}

impl Handler {
    /// A task as it is now, with what came of it or what it asks.
    pub(super) async fn show_task(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let task = self.load(id, context).await?;
        let payload = match task.status.as_ref().map(|status| status.state) {
            Some(TaskState::Canceled) => TaskPayload::Cancelled,
            Some(TaskState::InputRequired) => match Asked::by(&task) {
                Some(asked) => TaskPayload::InputRequired {
                    input_requests: asked.requests(),
                },
                None => TaskPayload::Working,
            },
            Some(state) if state.is_terminal() => self.ended(&task),
            _ => TaskPayload::Working,
        };
        let described = described(self.limits(), &task);
        Ok(GetTaskResult::new(DetailedTask::new(described, payload)))
    }

    /// What comes of a task that has ended: a result, also of one that failed, or the error of one that crashed.
    fn ended(&self, task: &Task) -> TaskPayload {
        let writer = outcome::Writer {
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

    /// Takes the answer to what a task asks. What it does not ask is not for it.
    pub(super) async fn answer_task(
        &self,
        request: UpdateTaskParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let task = self.load(&request.task_id, context).await?;
        let asked = Asked::by(&task);
        let answer = asked.and_then(|asked| asked.answered(&task, &request.input_responses));
        let Some(Given::Answer(answer)) = answer else {
            return Ok(());
        };
        let mut request = question::message(answer, &task);
        let configuration = request.configuration.get_or_insert_default();
        configuration.return_immediately = true;
        configuration.history_length = Some(0);
        let sent = self.tasks().send_message(self.call_by(context), request);
        match sent.await {
            // Somebody else answered first, or ended it.
            Ok(_)
            | Err(
                a2a::Error::TaskGenerationMismatch { .. } | a2a::Error::UnsupportedOperation(_),
            ) => Ok(()),
            Err(error) => Err(refused(&error)),
        }
    }

    /// Ends a task. One that has ended stays as it is.
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
