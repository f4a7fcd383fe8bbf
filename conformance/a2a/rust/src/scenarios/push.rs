//! Push: the four operations, and a real webhook that is told what happens.

use a2a::{
    DeleteTaskPushNotificationConfigRequest, GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest, TaskPushNotificationConfig, error_code,
};
use futures::future::try_join;
use serde_json::{Value, json};

use crate::probe::{Probe, Result, anything, check, check_fails, check_that, request, typed};
use crate::webhook::{Posted, Webhook};

pub(super) async fn push_configs(probe: &Probe) -> Result<()> {
    let client = &probe.client;
    let task = probe.start_held().await?.id;
    let first = client
        .create_push_config(&config(json!({"taskId": task, "id": "first"}))?)
        .await?;
    check(first.id.as_deref(), Some("first"), "the id given")?;
    check(&first.task_id, &task, "the task of the config")?;
    check(first.token.as_deref(), Some("a token"), "the token")?;
    let second = client
        .create_push_config(&config(json!({"taskId": task}))?)
        .await?;
    let made = second.id.unwrap_or_default();
    check_that(!made.is_empty() && made != "first", "no new id was made")?;

    let wanted: GetTaskPushNotificationConfigRequest =
        typed(json!({"taskId": task, "id": "first"}))?;
    check(
        client.get_push_config(&wanted).await?,
        first,
        "the config that was read",
    )?;
    let mut both = vec!["first".to_owned(), made.clone()];
    both.sort();
    check(ids(probe, &task).await?, both, "the configs listed")?;

    let gone: DeleteTaskPushNotificationConfigRequest =
        typed(json!({"taskId": task, "id": "first"}))?;
    client.delete_push_config(&gone).await?;
    client.delete_push_config(&gone).await?;
    check(ids(probe, &task).await?, [made], "the configs left")?;
    probe.cancel(&task).await?;
    Ok(())
}

pub(super) async fn push_config_unknown(probe: &Probe) -> Result<()> {
    let task = probe.send_for_task(&request("probe", "task")).await?;
    for id in [task.id, anything()] {
        let wanted: GetTaskPushNotificationConfigRequest =
            typed(json!({"taskId": id, "id": "nobody"}))?;
        check_fails(
            probe.client.get_push_config(&wanted),
            error_code::TASK_NOT_FOUND,
        )
        .await?;
    }
    Ok(())
}

pub(super) async fn push_config_for_unknown_task(probe: &Probe) -> Result<()> {
    let orphan = config(json!({"taskId": anything()}))?;
    check_fails(
        probe.client.create_push_config(&orphan),
        error_code::TASK_NOT_FOUND,
    )
    .await
}

pub(super) async fn push_from_the_start(probe: &Probe) -> Result<()> {
    let webhook = Webhook::listen().await?;
    let mut sent = request("tck-stream-ordering-001", "go");
    let push = config(json!({"url": webhook.url}))?;
    sent.configuration = Some(typed(json!({"taskPushNotificationConfig": push}))?);
    let (task, posted) = try_join(probe.send_for_task(&sent), webhook.until("completed")).await?;
    check_posted(&posted, &task.id)?;
    let updates: Vec<_> = posted
        .iter()
        .filter(|posted| posted.body.get("task").is_none())
        .map(Posted::told)
        .collect();
    check(
        updates,
        ["working", "artifact", "completed"],
        "the updates, in order",
    )
}

pub(super) async fn push_later(probe: &Probe) -> Result<()> {
    let webhook = Webhook::listen().await?;
    let task = probe.start_held().await?.id;
    let push = config(json!({"taskId": task, "url": webhook.url}))?;
    probe.client.create_push_config(&push).await?;
    let cancel = async { Ok(probe.cancel(&task).await?) };
    let (_, posted) = try_join(cancel, webhook.until("canceled")).await?;
    check_posted(&posted, &task)
}

fn check_posted(posted: &[Posted], task: &str) -> Result<()> {
    for Posted { headers, body } in posted {
        let told = body
            .as_object()
            .and_then(|body| body.values().next())
            .ok_or("an empty body")?;
        let about = told["taskId"].as_str().or(told["id"].as_str());
        check(about, Some(task), "the task of a notification")?;
        for (name, value) in [
            ("x-a2a-notification-token", "a token"),
            ("authorization", "Bearer secret"),
            ("content-type", "application/a2a+json"),
        ] {
            check(headers.get(name).map(String::as_str), Some(value), name)?;
        }
    }
    Ok(())
}

/// The ids of a task's configs, sorted.
async fn ids(probe: &Probe, task: &str) -> Result<Vec<String>> {
    let request: ListTaskPushNotificationConfigsRequest = typed(json!({"taskId": task}))?;
    let configs = probe.client.list_push_configs(&request).await?.configs;
    let mut ids: Vec<_> = configs.into_iter().filter_map(|config| config.id).collect();
    ids.sort();
    Ok(ids)
}

/// A config with these fields, a token and credentials.
fn config(fields: Value) -> Result<TaskPushNotificationConfig> {
    let mut json = json!({
        "url": "http://127.0.0.1:9/nobody",
        "token": "a token",
        "authentication": {"scheme": "Bearer", "credentials": "secret"},
    });
    for (name, value) in fields.as_object().into_iter().flatten() {
        json[name] = value.clone();
    }
    typed(json)
}
