//! Recovery of tasks that a restart interrupted, and compaction and deletion of old ones.

use std::sync::Arc;
use std::time::Duration;

use access::Principal;
use futures_util::{StreamExt as _, stream};
use store::{Batch, Order, Query};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::Inner;
use super::agent::AfterRestart;
use super::journal::{self, NOTES, RUNNING, SENDS, Scope, TASKS, WEBHOOKS};
use super::push;
use super::run::{Command, Incoming, Run, Wants};
use super::turn::TurnInput;
use crate::error::Error;
use crate::types::wire::WireMessage as _;
use crate::types::{Role, SendMessageConfiguration, Task, TaskId};

/// The pause between two searches for old tasks.
const PERIOD: Duration = Duration::from_secs(60);

/// The number of interrupted tasks that are failed at the same time, and so share commits.
const ENDED_AT_ONCE: usize = 64;

/// The pause before a task whose journal failed is failed.
const PAUSE: Duration = Duration::from_secs(1);

/// The number of old tasks that one transaction handles.
const PORTION: usize = 256;

impl Inner {
    /// Recovers the tasks that were being worked on when the last process ended, and starts the webhooks.
    pub(super) async fn recover(self: &Arc<Self>) -> Result<(), store::Error> {
        let left = self
            .store
            .read(|view| {
                let running = view.rows(&Query::of(&RUNNING))?;
                let tasks = running.iter().map(|row| {
                    let scope = Scope::stored(&String::from_utf8_lossy(&row.body));
                    let id = TaskId::from(&row.key);
                    let Some(task) = journal::load(view, &scope, &id)? else {
                        return Ok(None);
                    };
                    let caller = scope.sender(journal::last_sender(view, &id)?);
                    Ok(Some((scope, caller, task)))
                });
                tasks
                    .filter_map(Result::transpose)
                    .collect::<Result<Vec<_>, store::Error>>()
            })
            .await?;
        let resumed = |(scope, _, task): &(Scope, Principal, Task)| {
            tracing::info!(task = task.id, "recovering a task interrupted by a restart");
            self.agent_of(scope).after_restart(task) == AfterRestart::Resume
        };
        let (resumed, failed): (Vec<_>, Vec<_>) = left.into_iter().partition(resumed);
        let ending = failed.into_iter().map(|(scope, _, task)| async move {
            let reason = "the server stopped while the task was being worked on";
            let command = Command::Fail(reason);
            let run = Run::of(self.clone(), scope, &TaskId::from(&task.id), command, None);
            run.work().await;
        });
        // No call is served before these tasks have ended.
        stream::iter(ending)
            .for_each_concurrent(ENDED_AT_ONCE, |ending| ending)
            .await;
        for (scope, caller, task) in resumed {
            let command = Command::Resume(Box::new(last_message(caller, &task)));
            if let Err(error) = self.command(&scope, &TaskId::from(&task.id), command) {
                tracing::error!(task = task.id, %error, "could not resume a task after a restart");
            }
        }
        let webhooks = self
            .store
            .read(|view| view.rows(&Query::of(&WEBHOOKS).equal("open", push::OPEN)))
            .await?;
        for webhook in webhooks {
            self.push.begin(self, webhook, None);
        }
        Ok(())
    }

    /// Calls the agent again for a task that waits.
    pub(super) async fn resume(self: &Arc<Self>, id: &TaskId) -> Result<(), Error> {
        let wanted = id.clone();
        let found = self.store.read(move |view| {
            let Some((scope, row)) = journal::find(view, &wanted)? else {
                return Ok(None);
            };
            let caller = scope.sender(journal::last_sender(view, &wanted)?);
            Ok(Some((scope, caller, journal::fold_row(view, &row)?)))
        });
        let (scope, caller, task) = found
            .await?
            .ok_or_else(|| Error::TaskNotFound(id.to_string()))?;
        let command = Command::Resume(Box::new(last_message(caller, &task)));
        self.command(&scope, &TaskId::from(&task.id), command)
    }

    /// The caller of a task, with what it might do when it sent its last message.
    pub(super) async fn caller_of(&self, id: &TaskId) -> Result<Principal, Error> {
        let wanted = id.clone();
        let found = self.store.read(move |view| {
            let Some((scope, _)) = journal::find(view, &wanted)? else {
                return Ok(None);
            };
            Ok(Some(scope.sender(journal::last_sender(view, &wanted)?)))
        });
        found
            .await?
            .ok_or_else(|| Error::TaskNotFound(id.to_string()))
    }

    /// Compacts and deletes a portion of what is due. Says whether there may be more.
    pub(super) async fn sweep(&self) -> Result<bool, store::Error> {
        let now = self.now().millis();
        let retention = self.limits.retention;
        let expired = now
            .saturating_sub(i64::try_from(self.limits.replay_time.as_millis()).unwrap_or(i64::MAX));
        let (batch, count, sends) = self
            .store
            .read(move |view| {
                let due = store::due(view, &retention, now, PORTION)?;
                let count = due.forget.len().max(due.compact.len());
                let mut batch = Batch::new();
                for (stream, _) in &due.forget {
                    batch = batch.forget(stream).delete(&TASKS, stream.as_str());
                    for webhook in view.rows(&Query::of(&WEBHOOKS).equal("task", stream.as_str()))? {
                        batch = batch.delete(&WEBHOOKS, &webhook.key);
                    }
                    for note in view.rows(&Query::of(&NOTES).equal("task", stream.as_str()))? {
                        batch = batch.delete(&NOTES, &note.key);
                    }
                }
                for (stream, state) in &due.compact {
                    let Some(row) = view.row(&TASKS, stream.as_str())? else { continue };
                    let task = journal::fold_row(view, &row)?;
                    let body = task.to_protobuf();
                    batch = batch.truncate(stream, state.last).put(&TASKS, store::Row { body, ..row });
                }
                // Sorted by age: the first one that is young enough ends the search.
                let oldest = view.rows(&Query::of(&SENDS).order(Order::Ascending("at")).limit(PORTION))?;
                let at = |row: &store::Row| matches!(row.columns.first(), Some(store::Value::Integer(at)) if *at < expired);
                let sends: Vec<String> = oldest.into_iter().take_while(at).map(|row| row.key).collect();
                for send in &sends {
                    batch = batch.delete(&SENDS, send);
                }
                Ok((batch, count, sends))
            })
            .await?;
        let more = count == PORTION || sends.len() == PORTION;
        if count > 0 || !sends.is_empty() {
            self.store.commit(batch).await?;
            self.replay.forget(sends.into_iter());
        }
        Ok(more)
    }
}

/// Compacts and deletes old tasks, once a minute, until the server stops.
pub(super) async fn tidy(server: Arc<Inner>) {
    let mut period = interval(PERIOD);
    period.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = period.tick() => {}
            () = server.stopping.cancelled() => return,
        }
        loop {
            match server.sweep().await {
                Ok(true) => tokio::task::yield_now().await,
                Ok(false) => break,
                Err(store::Error::Closed) => return,
                Err(error) => {
                    tracing::error!(%error, "could not compact and delete old tasks");
                    break;
                }
            }
        }
    }
}

/// Fails a task after a pause, because its run could not write to the journal. If that fails as well, its run comes back
/// here.
pub(super) async fn fail_later(server: Arc<Inner>, scope: Scope, task: TaskId) {
    tokio::select! {
        () = sleep(PAUSE) => {}
        () = server.halted.cancelled() => return,
    }
    let reason = "the journal failed while the task was being worked on";
    if server
        .command(&scope, &task, Command::Fail(reason))
        .is_err()
    {
        tracing::error!(task = %task, "could not fail a task after its journal failed");
    }
}

/// The last message of the caller, as the input of a resumed turn.
fn last_message(caller: Principal, task: &Task) -> Incoming {
    let said = task
        .history
        .iter()
        .rev()
        .find(|message| message.role == Role::User);
    Incoming {
        asked: Arc::new(TurnInput {
            message: said.cloned().unwrap_or_default(),
            configuration: SendMessageConfiguration::default(),
            metadata: None,
            caller,
            extensions: Vec::new(),
            trace: None,
            again: true,
        }),
        if_generation: None,
        webhook: None,
        ticket: None,
        reply: None,
        wants: Wants::Rest,
        always_task: false,
    }
}
