//! The operations that get, list and cancel tasks.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use store::{Order, Query, Row, Value, View};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Inner;
use super::journal::{self, Scope, TASKS};
use super::run::Command;
use crate::error::Error;
use crate::fold;
use crate::limits::{DEFAULT_PAGE, MAX_ID, MAX_PAGE, MAX_PAGE_BYTES, ROWS_AT_ONCE};
use crate::sabotage::broken;
use crate::service::Call;
use crate::types::wire::WireMessage as _;
use crate::types::{
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, ListTasksResponse, Task, TaskId, TaskState,
};

impl Inner {
    /// A task of the scope as it is in the journal.
    pub(super) async fn load(&self, scope: &Scope, id: &TaskId) -> Result<Task, Error> {
        if id.len() > MAX_ID {
            // No id of ours is so long, and the error text would repeat it.
            return Err(Error::invalid(format!("ids have at most {MAX_ID} bytes")));
        }
        let (scope, wanted) = (scope.clone(), id.clone());
        let task = self
            .store
            .read(move |view| journal::load(view, &scope, &wanted))
            .await?;
        task.ok_or_else(|| Error::TaskNotFound(id.to_string()))
    }

    /// Ends when the task has a later generation.
    pub(super) async fn wait_for_change(&self, task: &Task) -> Result<(), Error> {
        let mut follow = self.store.follow(
            &journal::stream(&TaskId::from(&task.id)),
            task.generation.unsigned_abs(),
        );
        tokio::select! {
            change = follow.next() => match change {
                Some(Ok(_)) | Some(Err(store::Error::Compacted { .. })) => Ok(()),
                Some(Err(error)) => Err(error.into()),
                None => Err(Error::TaskNotFound(task.id.clone())),
            },
            () = self.patience_over() => Err(Error::Unavailable("the server is stopping".to_owned())),
        }
    }

    /// Ends when a call that waits for a task has to be answered because the server stops.
    pub(super) async fn patience_over(&self) {
        self.stopping.cancelled().await;
        let _ = timeout(self.limits.stop_grace, self.halted.cancelled()).await;
    }

    pub(super) async fn get(
        self: Arc<Self>,
        call: Call,
        request: GetTaskRequest,
    ) -> Result<Task, Error> {
        check_history(request.history_length)?;
        let scope = Scope::new(&call.caller, &request.tenant);
        let id = TaskId::from(request.id);
        let mut task = self.load(&scope, &id).await?;
        if let Some(known) = request.current_generation
            && task.generation <= known
            && !task.state().is_terminal()
        {
            // When the time is over the unchanged task is the answer.
            if let Ok(changed) = timeout(self.limits.long_poll, self.wait_for_change(&task)).await {
                changed?;
                task = self.load(&scope, &id).await?;
            }
        }
        fold::cut_history(&mut task, request.history_length);
        Ok(task)
    }

    pub(super) async fn list(
        self: Arc<Self>,
        call: Call,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, Error> {
        check_history(request.history_length)?;
        let page_size = page_size(request.page_size)?;
        if let Some(only) = call.caller.bounds().task.clone() {
            return self.list_one(&call, request, only, page_size).await;
        }
        let mut query =
            Query::of(&TASKS).equal("scope", Scope::new(&call.caller, &request.tenant).as_str());
        if !request.context_id.is_empty() {
            query = query.equal("context", &*request.context_id);
        }
        if request.status != TaskState::Unspecified {
            query = query.equal("state", i64::from(request.status.number()));
        }
        if let Some(after) = &request.status_timestamp_after {
            query = query.at_least("updated", after.millis());
        }
        let all = query.clone();
        query = query.order(Order::Descending("updated"));
        if !request.page_token.is_empty() {
            let (updated, key) = read_token(&request.page_token).ok_or_else(|| {
                Error::invalid_field("pageToken", "is not a token of this server")
            })?;
            query = query.after(updated, &key);
        }
        let part = TaskPart::of(&request);
        let ((mut tasks, more), total) = self
            .store
            .read(move |view| Ok((page(view, query, page_size, part)?, view.count(&all)?)))
            .await?;
        if broken("r04_task_state") {
            tasks.clear();
        }
        let next_page_token = match tasks.last() {
            Some(last) if more => write_token(journal::updated(last), &last.id),
            _ => String::new(),
        };
        Ok(ListTasksResponse {
            tasks,
            next_page_token,
            page_size: i32::try_from(page_size).unwrap_or(MAX_PAGE),
            total_size: i32::try_from(total).unwrap_or(i32::MAX),
        })
    }

    /// The list of a caller that may see one task: that task, if it is as asked.
    async fn list_one(
        &self,
        call: &Call,
        request: ListTasksRequest,
        only: String,
        page_size: usize,
    ) -> Result<ListTasksResponse, Error> {
        let scope = Scope::new(&call.caller, &request.tenant);
        let part = TaskPart::of(&request);
        let found = self.store.read(move |view| {
            let row = view.row(&TASKS, &only)?;
            let row = row.filter(|row| is_listed(row, &scope, &request));
            row.map(|row| part.fold(view, &row)).transpose()
        });
        let tasks: Vec<Task> = found.await?.into_iter().collect();
        Ok(ListTasksResponse {
            total_size: i32::try_from(tasks.len()).unwrap_or(i32::MAX),
            tasks,
            next_page_token: String::new(),
            page_size: i32::try_from(page_size).unwrap_or(MAX_PAGE),
        })
    }

    pub(super) async fn cancel(
        self: Arc<Self>,
        call: Call,
        request: CancelTaskRequest,
    ) -> Result<Task, Error> {
        let scope = Scope::new(&call.caller, &request.tenant);
        let id = TaskId::from(request.id);
        let task = self.load(&scope, &id).await?;
        match task.state() {
            TaskState::Canceled => return Ok(task),
            state if state.is_terminal() => {
                return Err(Error::TaskNotCancelable {
                    task: task.id,
                    state,
                });
            }
            _ if broken("r05_cancellation") => return Ok(task),
            _ => {}
        }
        let (reply, replied) = oneshot::channel();
        self.command(&scope, &id, Command::Cancel(reply))?;
        replied
            .await
            .unwrap_or_else(|_| Err(Error::Unavailable("the server is stopping".to_owned())))
    }
}

/// Whether a task belongs to a scope and is as a list asks. There is no page after the first.
fn is_listed(row: &Row, scope: &Scope, request: &ListTasksRequest) -> bool {
    let [
        Value::Text(owner),
        Value::Text(context),
        Value::Integer(state),
        Value::Integer(updated),
        ..,
    ] = &row.columns[..]
    else {
        return false;
    };
    let since = request.status_timestamp_after.as_ref();
    owner == scope.as_str()
        && (request.context_id.is_empty() || *context == request.context_id)
        && (request.status == TaskState::Unspecified
            || *state == i64::from(request.status.number()))
        && since.is_none_or(|it| *updated >= it.millis())
        && request.page_token.is_empty()
}

/// What a list shows of each task.
#[derive(Clone, Copy)]
struct TaskPart {
    history: Option<i32>,
    artifacts: bool,
}

impl TaskPart {
    fn of(request: &ListTasksRequest) -> Self {
        Self {
            history: request.history_length,
            artifacts: request.include_artifacts.unwrap_or(false),
        }
    }

    fn fold(self, view: &dyn View, row: &Row) -> Result<Task, store::Error> {
        if self.history == Some(0) && !self.artifacts {
            return journal::fold_status(view, row);
        }
        let mut task = journal::fold_row(view, row)?;
        fold::cut_history(&mut task, self.history);
        if !self.artifacts {
            task.artifacts.clear();
        }
        Ok(task)
    }
}

/// The next tasks that a query finds, and whether there are more. The page ends with the task that fills it.
fn page(
    view: &dyn View,
    mut query: Query,
    most: usize,
    part: TaskPart,
) -> Result<(Vec<Task>, bool), store::Error> {
    let (mut tasks, mut bytes) = (Vec::new(), 0);
    loop {
        let rows = view.rows(&query.clone().limit(ROWS_AT_ONCE))?;
        for row in &rows {
            if tasks.len() == most || bytes >= MAX_PAGE_BYTES {
                return Ok((tasks, true));
            }
            let task = part.fold(view, row)?;
            bytes += task.size();
            tasks.push(task);
        }
        let last = rows.last().filter(|_| rows.len() == ROWS_AT_ONCE);
        match last.map(|row| (&row.key, row.columns.get(3))) {
            Some((key, Some(Value::Integer(updated)))) => query = query.after(*updated, key),
            _ => return Ok((tasks, false)),
        }
    }
}

fn check_history(length: Option<i32>) -> Result<(), Error> {
    match length {
        Some(length) if length < 0 => Err(Error::invalid_field("historyLength", "is negative")),
        _ => Ok(()),
    }
}

fn page_size(asked: Option<i32>) -> Result<usize, Error> {
    match asked.unwrap_or(DEFAULT_PAGE) {
        size @ 1..=MAX_PAGE => Ok(size.unsigned_abs() as usize),
        size => Err(Error::invalid_field(
            "pageSize",
            format!("{size} is not between 1 and {MAX_PAGE}"),
        )),
    }
}

/// The token of the page after this task. Opaque to callers; it holds nothing but the position.
fn write_token(updated: i64, key: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{updated} {key}"))
}

fn read_token(token: &str) -> Option<(i64, String)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    let (updated, key) = text.split_once(' ')?;
    Some((updated.parse().ok()?, key.to_owned()))
}
