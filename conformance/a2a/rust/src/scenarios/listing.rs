//! ListTasks: every filter, pages, order, and what is left out.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use a2a::{ListTasksRequest, ListTasksResponse, Task, error_code};
use serde_json::{Value, json};

use crate::probe::{Probe, Result, anything, check, check_fails, check_that, request, typed};

pub(super) async fn list_by_context(probe: &Probe) -> Result<()> {
    let (context, tasks) = some_tasks(probe, 3).await?;
    let listed = list(probe, json!({"contextId": context})).await?;
    check_newest_first(&listed.tasks, &tasks)?;
    check(listed.total_size, 3, "the total size")?;
    check(listed.next_page_token, "", "the next page")?;
    let nothing = list(probe, json!({"contextId": anything()})).await?;
    check(
        (nothing.tasks.len(), nothing.total_size),
        (0, 0),
        "an unknown context",
    )
}

pub(super) async fn list_by_state(probe: &Probe) -> Result<()> {
    let (context, finished) = some_tasks(probe, 1).await?;
    let mut asking = request("tck-input-required", "go");
    asking.message.context_id = Some(context.clone());
    let asked = probe.send_for_task(&asking).await?;
    for (state, expected) in [
        ("TASK_STATE_COMPLETED", finished),
        ("TASK_STATE_INPUT_REQUIRED", vec![asked.id]),
        ("TASK_STATE_FAILED", vec![]),
    ] {
        let listed = list(probe, json!({"contextId": context, "status": state})).await?;
        check(ids(&listed), expected, state)?;
    }
    Ok(())
}

pub(super) async fn list_by_time(probe: &Probe) -> Result<()> {
    let (context, tasks) = some_tasks(probe, 3).await?;
    let second = probe.get(&tasks[1]).await?.status.timestamp;
    let filter = json!({"contextId": context, "statusTimestampAfter": second});
    let listed = list(probe, filter).await?;
    let newer = tasks[1..].iter().all(|task| ids(&listed).contains(task));
    check_that(newer, "a task is missing that is as new as the second")?;
    let stamps = listed.tasks.iter().map(|task| task.status.timestamp);
    check_that(
        stamps.into_iter().all(|stamp| stamp >= second),
        "a task is too old",
    )
}

pub(super) async fn list_pages(probe: &Probe) -> Result<()> {
    let (context, tasks) = some_tasks(probe, 5).await?;
    let (mut seen, mut sizes) = (Vec::new(), Vec::new());
    let mut token = String::new();
    while sizes.is_empty() || !token.is_empty() && sizes.len() < 6 {
        let filter = json!({"contextId": context, "pageSize": 2, "pageToken": token});
        let page = list(probe, filter).await?;
        check(page.total_size, 5, "the total size")?;
        sizes.push(page.tasks.len());
        seen.extend(page.tasks);
        token = page.next_page_token;
    }
    check(sizes, [2, 2, 1], "the sizes of the pages")?;
    check_newest_first(&seen, &tasks)
}

pub(super) async fn list_artifacts(probe: &Probe) -> Result<()> {
    let (context, _) = some_tasks(probe, 1).await?;
    for (filter, expected) in [
        (json!({"contextId": context}), 0),
        (json!({"contextId": context, "includeArtifacts": true}), 1),
    ] {
        let listed = list(probe, filter).await?;
        let artifacts = listed.tasks[0].artifacts.as_ref().map_or(0, Vec::len);
        check(artifacts, expected, "artifacts")?;
    }
    Ok(())
}

pub(super) async fn list_history_length(probe: &Probe) -> Result<()> {
    let (context, _) = some_tasks(probe, 1).await?;
    for length in [0, 1] {
        let listed = list(
            probe,
            json!({"contextId": context, "historyLength": length}),
        )
        .await?;
        let history = listed.tasks[0].history.as_ref().map_or(0, Vec::len);
        check(history, length, "messages in the history")?;
    }
    Ok(())
}

pub(super) async fn list_bad_page_size(probe: &Probe) -> Result<()> {
    for size in [0, -1, 101] {
        let filter: ListTasksRequest = typed(json!({"pageSize": size}))?;
        check_fails(probe.client.list_tasks(&filter), error_code::INVALID_PARAMS).await?;
    }
    Ok(())
}

pub(super) async fn list_bad_page_token(probe: &Probe) -> Result<()> {
    let filter: ListTasksRequest = typed(json!({"pageToken": "no such page"}))?;
    check_fails(probe.client.list_tasks(&filter), error_code::INVALID_PARAMS).await
}

/// A context of their own, and the ids of finished tasks in it, oldest first.
async fn some_tasks(probe: &Probe, count: usize) -> Result<(String, Vec<String>)> {
    let context = format!("list-{}", anything());
    let mut tasks = Vec::new();
    for number in 0..count {
        let mut sent = request("probe", &format!("task {number}"));
        sent.message.context_id = Some(context.clone());
        tasks.push(probe.send_for_task(&sent).await?.id);
    }
    Ok((context, tasks))
}

async fn list(probe: &Probe, filter: Value) -> Result<ListTasksResponse> {
    Ok(probe.client.list_tasks(&typed(filter)?).await?)
}

fn ids(listed: &ListTasksResponse) -> Vec<String> {
    listed.tasks.iter().map(|task| task.id.clone()).collect()
}

/// These very tasks; those of one instant may stand in any order.
fn check_newest_first(listed: &[Task], tasks: &[String]) -> Result<()> {
    let known: BTreeSet<&String> = tasks.iter().collect();
    let found: BTreeSet<&String> = listed.iter().map(|task| &task.id).collect();
    check((found, listed.len()), (known, tasks.len()), "the tasks")?;
    let in_order = listed.is_sorted_by_key(|task| Reverse(task.status.timestamp));
    check_that(in_order, "they are not in the order of their times")
}
