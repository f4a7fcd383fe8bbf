//! The worker of one webhook.

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use dial::{Backoff, Jitter};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use store::{Batch, Row, Value};
use tokio::time::sleep;

use super::post::Failed;
use super::row::{State, Webhook};
use crate::error::Error;
use crate::event::{Event, Format};
use crate::limits::EVENTS_AT_ONCE;
use crate::sabotage::broken;
use crate::server::Inner;
use crate::server::journal::{self, TASKS, WEBHOOKS};
use crate::types::{ContextId, Task, TaskId, TaskPushNotificationConfig};
use crate::webhook::{self, Dialect};

/// The header in which the token of a webhook travels.
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// Delivers what happens to the task until it has ended. When the journal fails, it is tried again
/// from where the journal says it was.
pub(super) async fn serve(server: Arc<Inner>, mut row: Row) {
    let key = row.key.clone();
    while let Err(error) = deliver(&server, &row).await {
        tracing::warn!(webhook = key, %error, "a webhook waits for the journal");
        sleep(server.limits.push_pause_max).await;
        let wanted = key.clone();
        let found = server.store.read(move |view| view.row(&WEBHOOKS, &wanted));
        match found.await {
            Ok(Some(found)) => row = found,
            Ok(None) | Err(_) => return,
        }
    }
}

async fn deliver(server: &Inner, row: &Row) -> Result<(), Error> {
    let mut webhook = Webhook::read(row)?;
    if broken("r9") {
        return Ok(());
    }
    let dialect = server.push.dialect(&webhook.dialect);
    let id = TaskId::from(&webhook.config.task_id);
    let (wanted, delivered) = (id.clone(), webhook.delivered);
    let found = server.store.read(move |view| {
        let Some(row) = view.row(&TASKS, &wanted)? else {
            return Ok(None);
        };
        let task = match dialect {
            Some(_) => journal::fold_to(view, &row, delivered)?,
            None => Task::default(),
        };
        Ok(Some((row, task)))
    });
    let Some((row, mut task)) = found.await? else {
        return Ok(());
    };
    let Some(Value::Text(context)) = row.columns.get(1) else {
        return Ok(());
    };
    let context = &ContextId::from(context);
    let mut follow = server.store.follow(&journal::stream(&id), delivered);
    while let Some(entries) = follow.next_many(EVENTS_AT_ONCE).await {
        let entries = match entries {
            Ok(entries) => entries,
            Err(store::Error::Compacted { .. }) => return deliver_end(server, webhook).await,
            Err(error) => return Err(error.into()),
        };
        for (place, entry) in entries.iter().enumerate() {
            let event = journal::event(entry, &id, context);
            let letter = match dialect {
                None => Letter::of_event(&event),
                Some(dialect) => {
                    journal::apply(&mut task, entry, &id, context);
                    // What is told is the whole task, so pieces of it can wait for the next that is there.
                    if event.state().is_none() && place + 1 < entries.len() {
                        continue;
                    }
                    Letter::of_task(dialect, &task)
                }
            };
            let over = event.state().is_some_and(|state| state.is_terminal());
            webhook = hand_over(server, webhook, &letter, entry.sequence(), over).await?;
            if webhook.state != State::Open {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// What is left to tell of a task that ended so long ago that its events are gone: how it ended.
async fn deliver_end(server: &Inner, webhook: Webhook) -> Result<(), Error> {
    let wanted = webhook.config.task_id.clone();
    let found = server.store.read(move |view| {
        let row = view.row(&TASKS, &wanted)?;
        row.map(|row| journal::fold_row(view, &row)).transpose()
    });
    let Some(task) = found.await? else {
        return Ok(());
    };
    let generation = task.generation.unsigned_abs();
    let letter = match server.push.dialect(&webhook.dialect) {
        Some(dialect) => Letter::of_task(dialect, &task),
        None => Letter::of_event(&Event::new(task)),
    };
    hand_over(server, webhook, &letter, generation, true).await?;
    Ok(())
}

/// What is posted.
struct Letter {
    media_type: &'static str,
    body: Bytes,
}

impl Letter {
    fn of_event(event: &Event) -> Self {
        Self {
            media_type: "application/a2a+json",
            body: event.encode(Format::Json),
        }
    }

    fn of_task(dialect: &Dialect, task: &Task) -> Self {
        Self {
            media_type: dialect.media_type,
            body: (dialect.write)(task),
        }
    }
}

/// Has a letter taken, or gives the webhook up, and commits how far it is. What was taken before a crash
/// that prevents this is offered again.
async fn hand_over(
    server: &Inner,
    mut webhook: Webhook,
    letter: &Letter,
    generation: u64,
    over: bool,
) -> Result<Webhook, Error> {
    match offer(server, &webhook.config, letter, generation).await {
        Ok(()) => {
            webhook.delivered = generation;
            if over {
                webhook.state = State::Closed;
            }
        }
        Err(error) => {
            let (url, task) = (&webhook.config.url, &webhook.config.task_id);
            tracing::warn!(url, task, generation, %error, "a webhook was given up");
            webhook.state = State::Dead {
                at: server.now().millis(),
                reason: error.to_string(),
            };
        }
    }
    let batch = Batch::new().put(&WEBHOOKS, webhook.row());
    server.store.commit(batch).await?;
    Ok(webhook)
}

/// Offers a letter until it is taken or has been refused too often. The next one waits.
async fn offer(
    server: &Inner,
    config: &TaskPushNotificationConfig,
    letter: &Letter,
    generation: u64,
) -> Result<(), Failed> {
    let limits = &server.limits;
    let mut backoff = Backoff::new(limits.push_pause, limits.push_pause_max, Jitter::Half);
    let mut attempt = 1;
    loop {
        let posted = {
            // Places are never closed; without one there would be one delivery more.
            let _place = server.push.places.acquire().await;
            let headers = headers(config, letter, generation);
            let client = &server.push.client;
            client.post(&config.url, headers, letter.body.clone()).await
        };
        let Err(error) = posted else { return Ok(()) };
        tracing::debug!(url = config.url, attempt, %error, "a webhook did not take an event");
        if attempt >= limits.push_attempts {
            return Err(error);
        }
        attempt += 1;
        sleep(backoff.next_pause()).await;
    }
}

fn headers(config: &TaskPushNotificationConfig, letter: &Letter, generation: u64) -> HeaderMap {
    let id = utf8_percent_encode(&config.id, NON_ALPHANUMERIC);
    let id = format!("{}:{id}:{generation}", config.task_id);
    let mut headers = match super::secret(config) {
        Some(secret) => secret.headers(&id, SystemTime::now(), &letter.body),
        None => HeaderMap::new(),
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(letter.media_type));
    let mut insert = |name: HeaderName, value: &str| {
        // It was checked when it was registered.
        let value = Some(value.trim()).filter(|value| !value.is_empty());
        if let Some(mut value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            value.set_sensitive(name != webhook::ID);
            headers.insert(name, value);
        }
    };
    insert(webhook::ID, &id);
    insert(TOKEN, &config.token);
    if let Some(authentication) = &config.authentication
        && !authentication.scheme.is_empty()
        && !super::signs(authentication)
    {
        let authorization = format!("{} {}", authentication.scheme, authentication.credentials);
        insert(AUTHORIZATION, &authorization);
    }
    headers
}
