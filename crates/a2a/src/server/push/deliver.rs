//! The worker of one webhook.
//!
//! It follows the stream of its task, as a subscriber does, from the last generation that was delivered. For each event
//! it makes a delivery, offers it until it is taken, and commits the new position; only then does it look at the next
//! event. So events arrive in order, and a crash between delivery and commit sends the last one again, under the same
//! id: receivers drop what they have seen. Committing first would lose an event instead.
//!
//! A delivery is tried again with growing, randomised pauses. After the last attempt the webhook is dead: the row keeps
//! the time and the reason, and an operator can have it retried from the same position. The worker ends with the event
//! that ends the task, with the death of the webhook, or when it is replaced or deleted. It is owned by `Push`, which
//! aborts it and waits for it before the row is changed; otherwise an old worker could write over a new row.
//!
//! A webhook of another dialect gets whole tasks instead of events, so the worker folds them; parts of artifacts that
//! are followed by more events at that moment are not sent one by one. If the events were compacted, only the final
//! task is sent.

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
use crate::generation::{Generations, WITH_GENERATIONS};
use crate::limits::EVENTS_AT_ONCE;
use crate::sabotage::broken;
use crate::server::Inner;
use crate::server::journal::{self, Scope, TASKS, WEBHOOKS};
use crate::types::{ContextId, Task, TaskId, TaskPushNotificationConfig};
use crate::webhook::{self, Dialect};

/// The header in which the token of a webhook travels.
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// Delivers the events of the task until it has ended. After a failure of the journal it starts again from the stored
/// position.
pub(super) async fn serve(server: Arc<Inner>, mut row: Row) {
    let key = row.key.clone();
    while let Err(error) = deliver(&server, &row).await {
        tracing::warn!(webhook = key, %error, "webhook paused: the journal failed");
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
    if broken("r09_calling_back") {
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
    let caller = caller_of(&row);
    let mut follow = server.store.follow(&journal::stream(&id), delivered);
    while let Some(entries) = follow.next_many(EVENTS_AT_ONCE).await {
        let entries = match entries {
            Ok(entries) => entries,
            Err(store::Error::Compacted { .. }) => {
                return deliver_end(server, &caller, webhook).await;
            }
            Err(error) => return Err(error.into()),
        };
        for (place, entry) in entries.iter().enumerate() {
            let event = journal::event(entry, &id, context);
            let delivery = match dialect {
                None => Delivery::of_event(&webhook, &event),
                Some(dialect) => {
                    journal::apply(&mut task, entry, &id, context);
                    // A delivery is the whole task, so a part of an artifact can wait for the next event.
                    if event.state().is_none() && place + 1 < entries.len() {
                        continue;
                    }
                    Delivery::of_task(dialect, &task)
                }
            };
            let over = event.state().is_some_and(|state| state.is_terminal());
            webhook =
                hand_over(server, &caller, webhook, &delivery, entry.sequence(), over).await?;
            if webhook.state != State::Open {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The owner of the task. Deliveries take places of the owner's share.
fn caller_of(task: &Row) -> String {
    match task.columns.first() {
        Some(Value::Text(scope)) => Scope::stored(scope).caller().to_owned(),
        _ => String::new(),
    }
}

/// Delivers the final task in place of events that were compacted.
async fn deliver_end(server: &Inner, caller: &str, webhook: Webhook) -> Result<(), Error> {
    let wanted = webhook.config.task_id.clone();
    let found = server.store.read(move |view| {
        let row = view.row(&TASKS, &wanted)?;
        row.map(|row| journal::fold_row(view, &row)).transpose()
    });
    let Some(task) = found.await? else {
        return Ok(());
    };
    let generation = task.generation.unsigned_abs();
    let delivery = match server.push.dialect(&webhook.dialect) {
        Some(dialect) => Delivery::of_task(dialect, &task),
        None => Delivery::of_event(&webhook, &Event::new(task)),
    };
    hand_over(server, caller, webhook, &delivery, generation, true).await?;
    Ok(())
}

/// One request to a webhook.
struct Delivery {
    media_type: &'static str,
    body: Bytes,
}

impl Delivery {
    fn of_event(webhook: &Webhook, event: &Event) -> Self {
        let generations = match &*webhook.dialect {
            WITH_GENERATIONS => Generations::Shown,
            _ => Generations::Hidden,
        };
        Self {
            media_type: "application/a2a+json",
            body: event.encode(Format::Json, generations),
        }
    }

    fn of_task(dialect: &Dialect, task: &Task) -> Self {
        Self {
            media_type: dialect.media_type,
            body: (dialect.write)(task),
        }
    }
}

/// Makes one delivery, or gives the webhook up, and commits the new position. A crash before the commit repeats the
/// delivery.
async fn hand_over(
    server: &Inner,
    caller: &str,
    mut webhook: Webhook,
    delivery: &Delivery,
    generation: u64,
    over: bool,
) -> Result<Webhook, Error> {
    match offer(server, caller, &webhook.config, delivery, generation).await {
        Ok(()) => {
            server.counters.delivered();
            webhook.delivered = generation;
            if over {
                webhook.state = State::Closed;
            }
        }
        Err(error) => {
            server.counters.given_up();
            let (url, task) = (&webhook.config.url, &webhook.config.task_id);
            tracing::warn!(url, task, generation, %error, "webhook given up after its last attempt");
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

/// Posts a delivery until it succeeds or has failed as often as the limits allow.
async fn offer(
    server: &Inner,
    caller: &str,
    config: &TaskPushNotificationConfig,
    delivery: &Delivery,
    generation: u64,
) -> Result<(), Failed> {
    let limits = &server.limits;
    let mut backoff = Backoff::new(limits.push_pause, limits.push_pause_max, Jitter::Half);
    let mut attempt = 1;
    loop {
        let posted = {
            let _place = server.push.places.take(caller).await;
            let headers = headers(config, delivery, generation);
            let client = &server.push.client;
            client
                .post(&config.url, headers, delivery.body.clone())
                .await
        };
        let Err(error) = posted else { return Ok(()) };
        server.counters.delivery_failed();
        tracing::debug!(url = config.url, attempt, %error, "webhook delivery failed");
        if attempt >= limits.push_attempts {
            return Err(error);
        }
        attempt += 1;
        sleep(backoff.next_pause()).await;
    }
}

fn headers(config: &TaskPushNotificationConfig, delivery: &Delivery, generation: u64) -> HeaderMap {
    let id = utf8_percent_encode(&config.id, NON_ALPHANUMERIC);
    let id = format!("{}:{id}:{generation}", config.task_id);
    let mut headers = match super::secret(config) {
        Some(secret) => secret.headers(&id, SystemTime::now(), &delivery.body),
        None => HeaderMap::new(),
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(delivery.media_type));
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
