//! The worker of one webhook.

use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use store::{Batch, Row, Value};
use tokio::time::sleep;

use super::{columns, config};
use crate::error::Error;
use crate::event::{Event, Format};
use crate::server::Inner;
use crate::server::journal::{self, TASKS, WEBHOOKS};
use crate::types::TaskPushNotificationConfig;

/// The header in which the token of a webhook travels.
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// Delivers what happens to the task until it has ended. When the journal fails, it is tried again
/// from where the journal says it was.
pub(super) async fn serve(server: Arc<Inner>, mut row: Row) {
    let key = row.key.clone();
    while let Err(error) = deliver(&server, row).await {
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

async fn deliver(server: &Inner, row: Row) -> Result<(), Error> {
    let config = config(&row)?;
    let task = config.task_id.clone();
    let delivered = match row.columns.get(1) {
        Some(Value::Integer(delivered)) => delivered.unsigned_abs(),
        _ => 0,
    };
    let wanted = task.clone();
    let found = server
        .store
        .read(move |view| view.row(&TASKS, &wanted))
        .await?;
    let context = match found.as_ref().and_then(|row| row.columns.get(1)) {
        Some(Value::Text(context)) => context.clone(),
        _ => return Ok(()),
    };
    let mut follow = server.store.follow(&journal::stream(&task), delivered);
    while let Some(entry) = follow.next().await {
        let entry = match entry {
            Ok(entry) => entry,
            // The task has long ended, and nobody took what happened to it.
            Err(store::Error::Compacted { first, .. }) => {
                let columns = columns(&task, first.saturating_sub(1), false);
                let closed = Batch::new().put(&WEBHOOKS, Row { columns, ..row });
                return Ok(server.store.commit(closed).await?);
            }
            Err(error) => return Err(error.into()),
        };
        let event = journal::event(&entry, &task, &context);
        offer(server, &config, &event).await;
        let over = event.state().is_some_and(|state| state.is_terminal());
        let row = Row {
            columns: columns(&task, entry.sequence(), !over),
            ..row.clone()
        };
        server
            .store
            .commit(Batch::new().put(&WEBHOOKS, row))
            .await?;
        if over {
            return Ok(());
        }
    }
    Ok(())
}

/// Offers an event until it is taken or has been refused too often. The next one waits.
async fn offer(server: &Inner, config: &TaskPushNotificationConfig, event: &Event) {
    let limits = &server.limits;
    let mut pause = limits.push_pause;
    for attempt in 1..=limits.push_attempts {
        let posted = {
            // Places are never closed; without one there would be one delivery more.
            let _place = server.push.places.acquire().await;
            server
                .push
                .client
                .post(&config.url, headers(config), event.encode(Format::Json))
                .await
        };
        match posted {
            Ok(()) => return,
            Err(error) => {
                tracing::debug!(url = config.url, attempt, %error, "a webhook did not take an event")
            }
        }
        if attempt < limits.push_attempts {
            sleep(spread(pause)).await;
            pause = (pause * 2).min(limits.push_pause_max);
        }
    }
    tracing::warn!(
        url = config.url,
        task = config.task_id,
        cursor = event.cursor(),
        "a webhook missed an event"
    );
}

/// Many webhooks of one host that failed together do not come back together.
fn spread(pause: Duration) -> Duration {
    let random = uuid::Uuid::new_v4().as_u128() as u32;
    pause.mul_f64(0.75 + 0.5 * f64::from(random) / f64::from(u32::MAX))
}

fn headers(config: &TaskPushNotificationConfig) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/a2a+json"),
    );
    let authentication = config
        .authentication
        .as_ref()
        .filter(|it| !it.scheme.is_empty());
    let authorization = authentication.map(|it| format!("{} {}", it.scheme, it.credentials));
    for (name, value) in [
        (AUTHORIZATION, authorization.as_deref()),
        (TOKEN, Some(&*config.token)),
    ] {
        // It was checked when it was registered.
        let value = value.map(str::trim).filter(|value| !value.is_empty());
        if let Some(mut value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
    headers
}
