//! The stored form of a webhook.

use store::{Row, Value};

use crate::error::Error;
use crate::types::TaskPushNotificationConfig;
use crate::types::wire::WireMessage as _;

/// A webhook and its position in the stream of its task.
#[derive(Clone, Debug)]
pub(in crate::server) struct Webhook {
    pub(in crate::server) config: TaskPushNotificationConfig,
    /// The name of the form of its deliveries; empty for the protocol's own form.
    pub(in crate::server) dialect: String,
    /// The last generation that was delivered or need not be.
    pub(in crate::server) delivered: u64,
    pub(in crate::server) state: State,
}

/// Whether there is more to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::server) enum State {
    /// Events may still have to be delivered.
    Open,
    /// The task has ended and every event was delivered.
    Closed,
    /// It was given up; an operator can have it retried.
    Dead {
        /// When, in milliseconds since 1970.
        at: i64,
        /// Why the last attempt failed.
        reason: String,
    },
}

/// The numbers of the states in the column `open`.
pub(in crate::server) const OPEN: i64 = 1;
pub(in crate::server) const DEAD: i64 = 2;

impl Webhook {
    pub(in crate::server) fn key(&self) -> String {
        key(&self.config.task_id, &self.config.id)
    }

    pub(in crate::server) fn row(&self) -> Row {
        let delivered = i64::try_from(self.delivered).unwrap_or(i64::MAX);
        let (open, at, reason) = match &self.state {
            State::Closed => (0, 0, ""),
            State::Open => (OPEN, 0, ""),
            State::Dead { at, reason } => (DEAD, *at, &**reason),
        };
        Row {
            key: self.key(),
            columns: vec![
                self.config.task_id.as_str().into(),
                delivered.into(),
                open.into(),
                self.dialect.as_str().into(),
                at.into(),
                reason.into(),
            ],
            body: self.config.to_protobuf(),
        }
    }

    pub(in crate::server) fn read(row: &Row) -> Result<Self, Error> {
        let config = TaskPushNotificationConfig::from_protobuf(row.body.clone())
            .map_err(|error| Error::Internal(format!("webhook {}: {error}", row.key)))?;
        let number = |place: usize| match row.columns.get(place) {
            Some(Value::Integer(number)) => *number,
            _ => 0,
        };
        let text = |place: usize| match row.columns.get(place) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        Ok(Self {
            config,
            delivered: number(1).unsigned_abs(),
            state: match number(2) {
                OPEN => State::Open,
                DEAD => State::Dead {
                    at: number(4),
                    reason: text(5),
                },
                _ => State::Closed,
            },
            dialect: text(3),
        })
    }
}

/// Ids of tasks are ours and have no slash.
pub(in crate::server) fn key(task: &str, config: &str) -> String {
    format!("{task}/{config}")
}
