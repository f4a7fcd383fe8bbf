//! Webhooks: the events of a task, posted to an address of its caller.
//!
//! The journal is the queue. A webhook is a row with the last generation that was delivered, and a worker that follows
//! the task's stream from there: events arrive in order and at least once, and a restart continues where the last
//! process stopped. A webhook that fails too often is given up; its row stays until an operator has it retried.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dial::trace;
use store::{Batch, Query, Row};
use tokio::task::JoinHandle;

use super::journal::{Scope, WEBHOOKS};
use super::{Config, Inner, id};
use crate::error::Error;
use crate::sabotage::broken;
use crate::service::Call;
use crate::types::{
    AuthenticationInfo, DeleteTaskPushNotificationConfigRequest, Empty,
    GetTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, TaskId, TaskPushNotificationConfig,
};
use crate::webhook::{self, Dialect, Secret};

mod dead;
#[cfg(feature = "http")]
mod deliver;
mod guard;
#[cfg(test)]
#[path = "push/guard_tests.rs"]
mod guard_tests;
mod places;
#[cfg(feature = "http")]
mod post;
mod row;

pub use dead::DeadWebhook;
pub use dial::Reach;
pub(super) use guard::check;
use places::Places;
pub(super) use row::OPEN;
use row::{State, Webhook, key};

/// The webhooks of a server: one worker for each that has events to come.
pub(super) struct Push {
    targets: Reach,
    dialects: Vec<&'static Dialect>,
    #[cfg(feature = "http")]
    client: post::WebhookClient,
    places: Places,
    workers: Mutex<HashMap<String, JoinHandle<()>>>,
}

/// A webhook as a caller registers it, with the dialect of that call.
#[derive(Clone, Debug)]
pub(super) struct Registration {
    pub(super) config: TaskPushNotificationConfig,
    /// The form of the deliveries, as [`Call::webhook_dialect`].
    pub(super) dialect: &'static str,
}

impl Registration {
    /// The webhook for a task; events after the generation `delivered` are sent.
    pub(super) fn of(self, task: &TaskId, delivered: u64) -> Webhook {
        let mut config = self.config;
        if config.id.is_empty() {
            config.id = id::random();
        }
        task.as_str().clone_into(&mut config.task_id);
        Webhook {
            config,
            dialect: self.dialect.to_owned(),
            delivered,
            state: State::Open,
        }
    }
}

/// Whether the credentials of a webhook are a signing secret, which is never sent.
fn signs(authentication: &AuthenticationInfo) -> bool {
    authentication.scheme.eq_ignore_ascii_case(webhook::SCHEME)
}

fn secret(config: &TaskPushNotificationConfig) -> Option<Secret> {
    let authentication = config.authentication.as_ref().filter(|it| signs(it))?;
    Secret::new(&authentication.credentials)
}

impl Push {
    pub(super) fn new(config: &Config) -> Self {
        let (targets, limits) = (config.push_targets, &config.limits);
        Self {
            targets,
            dialects: config.dialects.clone(),
            #[cfg(feature = "http")]
            client: post::WebhookClient::new(&config.dialer, targets, limits.push_time),
            places: Places::new(limits),
            workers: Mutex::default(),
        }
    }

    pub(super) fn targets(&self) -> Reach {
        self.targets
    }

    /// The form of deliveries with this name; `None` for the protocol's own form, also if the name is unknown to this
    /// version of the server.
    fn dialect(&self, word: &str) -> Option<&'static Dialect> {
        self.dialects.iter().find(|it| it.name == word).copied()
    }

    /// Starts the worker of a stored webhook, in place of one that it may have. Its deliveries are part of a trace as long as
    /// this process runs.
    #[cfg(feature = "http")]
    pub(super) fn begin(&self, server: &Arc<Inner>, row: Row, trace: Option<trace::Scope>) {
        let key = row.key.clone();
        let mut workers = self.lock();
        workers.retain(|_, worker| !worker.is_finished());
        let worker = tokio::spawn(trace::within(trace, deliver::serve(server.clone(), row)));
        if let Some(before) = workers.insert(key, worker) {
            before.abort();
        }
    }

    /// Without HTTP nothing is delivered. The row stays open, for a server that has it.
    #[cfg(not(feature = "http"))]
    pub(super) fn begin(&self, _: &Arc<Inner>, _: Row, _: Option<trace::Scope>) {}

    /// Ends the worker of a webhook. When this returns, the worker has made its last write.
    async fn end(&self, key: &str) {
        let worker = self.lock().remove(key);
        if let Some(worker) = worker {
            worker.abort();
            let _ = worker.await;
        }
    }

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
        if cfg!(not(feature = "http")) {
            return Err(Error::PushNotificationNotSupported);
        }
        check(&request, self.push.targets())?;
        let scope = Scope::new(&call.caller, &request.tenant);
        let id = TaskId::from(&request.task_id);
        let task = self.load(&scope, &id).await?;
        self.check_room(&id, &request.id).await?;
        let registration = Registration {
            config: request,
            dialect: call.webhook_dialect(),
        };
        let mut webhook = registration.of(&id, task.generation.unsigned_abs());
        if task.state().is_terminal() {
            webhook.state = State::Closed;
        }
        if broken("r06_push_configuration") {
            return Ok(webhook.config);
        }
        let row = webhook.row();
        // A webhook of the same id is replaced, together with its undelivered events.
        self.push.end(&row.key).await;
        self.store
            .commit(Batch::new().put(&WEBHOOKS, row.clone()))
            .await?;
        if webhook.state == State::Open {
            self.push.begin(&self, row, trace::scope());
        }
        Ok(webhook.config)
    }

    pub(super) async fn get_push(
        self: Arc<Self>,
        call: Call,
        request: GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let scope = Scope::new(&call.caller, &request.tenant);
        let task = TaskId::from(&request.task_id);
        self.load(&scope, &task).await?;
        let wanted = key(&task, &request.id);
        let row = self
            .store
            .read(move |view| view.row(&WEBHOOKS, &wanted))
            .await?;
        let row =
            row.ok_or_else(|| Error::TaskNotFound(format!("{}/{}", request.task_id, request.id)))?;
        Ok(Webhook::read(&row)?.config)
    }

    pub(super) async fn list_push(
        self: Arc<Self>,
        call: Call,
        request: ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, Error> {
        let scope = Scope::new(&call.caller, &request.tenant);
        let task = TaskId::from(request.task_id);
        self.load(&scope, &task).await?;
        let size = match request.page_size {
            0 => self.limits.max_push_configs,
            size => usize::try_from(size)
                .map_err(|_| Error::invalid_field("pageSize", "is negative"))?,
        };
        // Sorted by key, so the id of the last one is the cursor.
        let rows = self.webhooks(&task).await?;
        let configs = rows.iter().map(|row| Ok(Webhook::read(row)?.config));
        let mut configs = configs.collect::<Result<Vec<_>, Error>>()?;
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
        let task = TaskId::from(request.task_id);
        self.load(&scope, &task).await?;
        let key = key(&task, &request.id);
        self.push.end(&key).await;
        self.store
            .commit(Batch::new().delete(&WEBHOOKS, &key))
            .await?;
        Ok(Empty::default())
    }

    /// Refuses a webhook beyond the limit of the task, unless it replaces one of the same id.
    pub(super) async fn check_room(&self, task: &TaskId, id: &str) -> Result<(), Error> {
        let (others, key) = (self.webhooks(task).await?, key(task, id));
        if others.len() >= self.limits.max_push_configs && !others.iter().any(|it| it.key == key) {
            let why = format!("task {task:?} has {} webhooks already", others.len());
            return Err(Error::invalid(why));
        }
        Ok(())
    }

    async fn webhooks(&self, task: &TaskId) -> Result<Vec<Row>, Error> {
        let query = Query::of(&WEBHOOKS).equal("task", task.as_str());
        Ok(self.store.read(move |view| view.rows(&query)).await?)
    }
}
