//! Webhooks that were given up: listed for an operator, and retried on request.

use store::{Batch, Query};

use super::row::{DEAD, State, Webhook};
use crate::error::Error;
use crate::server::Server;
use crate::server::journal::WEBHOOKS;
use crate::types::Timestamp;

/// A webhook that was given up: it refused an event, or could not be reached, too often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadWebhook {
    /// Its name in a request to retry it.
    pub id: String,
    /// The task it wants to know about.
    pub task: String,
    /// Its address, without the query, which may be secret.
    pub url: String,
    /// The last generation that was delivered.
    pub delivered: u64,
    /// Why the last attempt failed.
    pub reason: String,
    /// When it was given up.
    pub at: Timestamp,
}

impl Server {
    /// The webhooks that were given up, by id, those after `after`: at most `limit` of them.
    pub async fn dead_webhooks(
        &self,
        after: &str,
        limit: usize,
    ) -> Result<Vec<DeadWebhook>, Error> {
        let query = Query::of(&WEBHOOKS).equal("open", DEAD).after_key(after);
        let query = query.limit(limit);
        let rows = self.inner.store.read(move |view| view.rows(&query)).await?;
        let mut dead = Vec::new();
        for row in rows {
            let webhook = Webhook::read(&row)?;
            if let State::Dead { at, reason } = webhook.state {
                let url = webhook.config.url;
                dead.push(DeadWebhook {
                    id: row.key,
                    task: webhook.config.task_id,
                    url: url.split('?').next().unwrap_or_default().to_owned(),
                    delivered: webhook.delivered,
                    reason,
                    at: Timestamp::from_millis(at),
                });
            }
        }
        Ok(dead)
    }

    /// Retries a webhook from the position at which it was given up. Says whether there is such a webhook.
    pub async fn replay_webhook(&self, id: &str) -> Result<bool, Error> {
        let wanted = id.to_owned();
        let row = self
            .inner
            .store
            .read(move |view| view.row(&WEBHOOKS, &wanted))
            .await?;
        let Some(mut webhook) = row.as_ref().map(Webhook::read).transpose()? else {
            return Ok(false);
        };
        if !matches!(webhook.state, State::Dead { .. }) {
            return Ok(false);
        }
        webhook.state = State::Open;
        let row = webhook.row();
        let opened = Batch::new().put(&WEBHOOKS, row.clone());
        self.inner.store.commit(opened).await?;
        self.inner.push.begin(&self.inner, row, None);
        Ok(true)
    }
}
