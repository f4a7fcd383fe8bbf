//! Webhooks: what happens to a task, posted to where its caller wants it.
//!
//! The journal is the queue. A webhook is a row with the last generation it got, and a worker that
//! follows the task's stream from there: events arrive in order, at least once, and a restart goes on
//! where the last process left off.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use store::{Batch, Query, Row, Value};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::journal::{Scope, WEBHOOKS};
use super::run::state;
use super::{Inner, id};
use crate::error::Error;
use crate::limits::Limits;
use crate::service::Call;
use crate::types::wire::WireMessage as _;
use crate::types::{
    DeleteTaskPushNotificationConfigRequest, Empty, GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    TaskPushNotificationConfig,
};

mod deliver;
mod guard;
#[cfg(test)]
#[path = "push/guard_tests.rs"]
mod guard_tests;
mod post;

pub use guard::Targets;
pub(super) use guard::check;

/// The webhooks of a server, and the workers that serve them.
pub(super) struct Push {
    targets: Targets,
    client: post::Client,
    places: Semaphore,
    workers: Mutex<HashMap<String, JoinHandle<()>>>,
}

/// A webhook as it is stored; `delivered` is the last generation it need not get.
pub(super) fn row(task: &str, mut config: TaskPushNotificationConfig, delivered: u64) -> Row {
    if config.id.is_empty() {
        config.id = id::random();
    }
    task.clone_into(&mut config.task_id);
    Row {
        key: key(task, &config.id),
        columns: columns(task, delivered, true),
        body: config.to_protobuf(),
    }
}

fn columns(task: &str, delivered: u64, open: bool) -> Vec<Value> {
    let delivered = i64::try_from(delivered).unwrap_or(i64::MAX);
    vec![task.into(), delivered.into(), i64::from(open).into()]
}

/// Ids of tasks are ours and have no slash.
fn key(task: &str, config: &str) -> String {
    format!("{task}/{config}")
}

fn config(row: &Row) -> Result<TaskPushNotificationConfig, Error> {
    let config = TaskPushNotificationConfig::from_protobuf(row.body.clone());
    config.map_err(|error| Error::Internal(format!("webhook {}: {error}", row.key)))
}

impl Push {
    pub(super) fn new(targets: Targets, limits: &Limits) -> Self {
        Self {
            targets,
            client: post::Client::new(targets, limits.push_time),
            places: Semaphore::new(limits.max_deliveries),
            workers: Mutex::default(),
        }
    }

    pub(super) fn targets(&self) -> Targets {
        self.targets
    }

    /// Begins to serve a webhook that is in the store.
    pub(super) fn begin(&self, server: &Arc<Inner>, row: Row) {
        let key = row.key.clone();
        let mut workers = self.lock();
        workers.retain(|_, worker| !worker.is_finished());
        let worker = tokio::spawn(deliver::serve(server.clone(), row));
        if let Some(before) = workers.insert(key, worker) {
            before.abort();
        }
    }

    /// Ends the worker of a webhook. When this returns it writes nothing any more.
    async fn end(&self, key: &str) {
        let worker = self.lock().remove(key);
        if let Some(worker) = worker {
            worker.abort();
            let _ = worker.await;
        }
    }

    /// Ends all workers.
    pub(super) async fn stop(&self) {
        let workers = std::mem::take(&mut *self.lock());
        for worker in workers.into_values() {
            worker.abort();
            let _ = worker.await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, JoinHandle<()>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    pub(super) async fn create_push(
        self: Arc<Self>,
        call: Call,
        request: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, Error> {
        check(&request, self.push.targets())?;
        let scope = Scope::new(&call.caller, &request.tenant);
        let task = self.load(&scope, &request.task_id).await?;
        self.check_room(&task.id, &request.id).await?;
        let mut row = row(&task.id, request, task.generation.unsigned_abs());
        if state(&task).is_terminal() {
            row.columns = columns(&task.id, task.generation.unsigned_abs(), false);
        }
        // One of the same id is replaced, and with it what it still had to deliver.
        self.push.end(&row.key).await;
        self.store
            .commit(Batch::new().put(&WEBHOOKS, row.clone()))
            .await?;
        let created = config(&row)?;
        if !state(&task).is_terminal() {
            self.push.begin(&self, row);
        }
        Ok(created)
    }

    pub(super) async fn get_push(
        self: Arc<Self>,
        call: Call,
        request: GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let scope = Scope::new(&call.caller, &request.tenant);
        let task = self.load(&scope, &request.task_id).await?;
        let wanted = key(&task.id, &request.id);
        let row = self
            .store
            .read(move |view| view.row(&WEBHOOKS, &wanted))
            .await?;
        let row =
            row.ok_or_else(|| Error::TaskNotFound(format!("{}/{}", request.task_id, request.id)))?;
        config(&row)
    }

    pub(super) async fn list_push(
        self: Arc<Self>,
        call: Call,
        request: ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, Error> {
        let scope = Scope::new(&call.caller, &request.tenant);
        let task = self.load(&scope, &request.task_id).await?;
        let size = match request.page_size {
            0 => self.limits.max_push_configs,
            size => usize::try_from(size)
                .map_err(|_| Error::invalid_field("pageSize", "is negative"))?,
        };
        // Sorted by key, so the id of the last one is the cursor.
        let rows = self.webhooks(&task.id).await?;
        let configs: Result<Vec<_>, Error> = rows.iter().map(config).collect();
        let mut configs = configs?;
        configs.retain(|config| config.id > request.page_token);
        let more = configs.len() > size;
        configs.truncate(size);
        let last = configs.last().filter(|_| more);
        let next_page_token = last.map(|config| config.id.clone()).unwrap_or_default();
        Ok(ListTaskPushNotificationConfigsResponse {
            configs,
            next_page_token,
        })
    }

    pub(super) async fn delete_push(
        self: Arc<Self>,
        call: Call,
        request: DeleteTaskPushNotificationConfigRequest,
    ) -> Result<Empty, Error> {
        let scope = Scope::new(&call.caller, &request.tenant);
        let task = self.load(&scope, &request.task_id).await?;
        let key = key(&task.id, &request.id);
        self.push.end(&key).await;
        self.store
            .commit(Batch::new().delete(&WEBHOOKS, &key))
            .await?;
        Ok(Empty::default())
    }

    /// Whether a task may have another webhook, or one of this id instead of the one it has.
    pub(super) async fn check_room(&self, task: &str, id: &str) -> Result<(), Error> {
        let (others, key) = (self.webhooks(task).await?, key(task, id));
        if others.len() >= self.limits.max_push_configs && !others.iter().any(|it| it.key == key) {
            let why = format!("task {task:?} has {} webhooks already", others.len());
            return Err(Error::invalid(why));
        }
        Ok(())
    }

    async fn webhooks(&self, task: &str) -> Result<Vec<Row>, Error> {
        let query = Query::of(&WEBHOOKS).equal("task", task);
        Ok(self.store.read(move |view| view.rows(&query)).await?)
    }
}
