//! Sending and waiting: message answers, tasks, follow-ups, contexts.

use a2a::{Message, Role, SendMessageRequest, Task, TaskState, error_code};
use serde_json::json;

use crate::probe::{
    Client, Probe, Result, anything, check, check_fails, check_state, check_that, request, task_of,
    text_of, typed,
};

pub(super) async fn send_message_answer(probe: &Probe) -> Result<()> {
    let message = probe
        .send_for_message(&request("probe", "echo hello"))
        .await?;
    check(&message.role, &Role::Agent, "the role of the answer")?;
    check(
        text_of(&message.parts),
        "echo hello",
        "the text of the answer",
    )?;
    check_that(
        !message.message_id.is_empty(),
        "the answer has no message id",
    )?;
    let context = message.context_id.unwrap_or_default();
    check_that(!context.is_empty(), "the answer names no context")
}

pub(super) async fn send_task(probe: &Probe) -> Result<()> {
    let sent = request("probe", "task hello");
    let task = probe.send_for_task(&sent).await?;
    check_state(&task, TaskState::Completed)?;
    let artifacts = task.artifacts.iter().flatten();
    let texts: Vec<_> = artifacts.map(|artifact| text_of(&artifact.parts)).collect();
    check(texts, ["task hello"], "the artifacts")?;
    let first = history(&task).first().ok_or("there is no history")?;
    check(
        &first.message_id,
        &sent.message.message_id,
        "the first message",
    )?;
    check(
        &first.task_id,
        &Some(task.id.clone()),
        "the task filled in there",
    )?;
    check(
        &first.context_id,
        &Some(task.context_id.clone()),
        "the context filled in there",
    )?;
    check_that(
        task.status.timestamp.is_some(),
        "the status has no timestamp",
    )
}

pub(super) async fn send_status_message(probe: &Probe) -> Result<()> {
    let task = probe
        .send_for_task(&request("tck-complete-task", "go"))
        .await?;
    check_state(&task, TaskState::Completed)?;
    let message = task.status.message.ok_or("the status has no message")?;
    check(
        text_of(&message.parts),
        "Hello from TCK",
        "the text of the status",
    )
}

pub(super) async fn send_rejected(probe: &Probe) -> Result<()> {
    let task = probe
        .send_for_task(&request("tck-reject-task", "go"))
        .await?;
    check_state(&task, TaskState::Rejected)
}

pub(super) async fn send_failed(probe: &Probe) -> Result<()> {
    let task = probe
        .send_for_task(&request("tck-task-failure", "go"))
        .await?;
    check_state(&task, TaskState::Failed)
}

pub(super) async fn send_return_immediately(probe: &Probe) -> Result<()> {
    let task = probe.start_held().await?;
    check_that(!task.id.is_empty(), "the task has no id")?;
    check_state(&probe.get(&task.id).await?, TaskState::Working)
}

pub(super) async fn send_history_length(probe: &Probe) -> Result<()> {
    let mut sent = request("probe", "task");
    sent.configuration = Some(typed(json!({"historyLength": 0}))?);
    let task = probe.send_for_task(&sent).await?;
    check(
        history(&task).len(),
        0,
        "messages in the history of length 0",
    )
}

pub(super) async fn send_again_is_one_task(probe: &Probe) -> Result<()> {
    let (sent, client) = (request("probe", "task once"), keyed(probe).await?);
    let first = task_of(client.send_message(&sent).await?)?;
    let second = task_of(client.send_message(&sent).await?)?;
    check(
        second.id,
        first.id,
        "the task of a message that was sent twice",
    )
}

/// A client that names all of its sends by one key.
async fn keyed(probe: &Probe) -> Result<Client> {
    probe.client_with("Idempotency-Key", &anything()).await
}

pub(super) async fn send_with_used_id_is_new(probe: &Probe) -> Result<()> {
    let sent = request("probe", "task once");
    let first = probe.send_for_task(&sent).await?;
    let second = probe.send_for_task(&sent).await?;
    check_that(
        second.id != first.id,
        "the old task is the answer to a new message",
    )
}

pub(super) async fn send_again_with_other_text(probe: &Probe) -> Result<()> {
    let mut sent = request("probe", "task once");
    let client = keyed(probe).await?;
    client.send_message(&sent).await?;
    sent.message.parts = request("probe", "task twice").message.parts;
    check_fails(client.send_message(&sent), error_code::INVALID_PARAMS).await
}

pub(super) async fn context_is_kept(probe: &Probe) -> Result<()> {
    let context = Some(format!("context-{}", anything()));
    let mut sent = request("probe", "task");
    sent.message.context_id.clone_from(&context);
    let task = probe.send_for_task(&sent).await?;
    check(
        Some(task.context_id),
        context.clone(),
        "the context of the task",
    )?;
    let mut sent = request("probe", "echo");
    sent.message.context_id.clone_from(&context);
    let message = probe.send_for_message(&sent).await?;
    check(message.context_id, context, "the context of the answer")
}

pub(super) async fn input_required(probe: &Probe) -> Result<()> {
    let asked = probe
        .send_for_task(&request("tck-input-required", "first"))
        .await?;
    check_state(&asked, TaskState::InputRequired)?;
    let answered = probe.send_for_task(&follow_up(&asked.id, "second")).await?;
    check(
        &answered.id,
        &asked.id,
        "the task that the follow-up went to",
    )?;
    check(
        &answered.context_id,
        &asked.context_id,
        "the context inferred from the task",
    )?;
    check_state(&answered, TaskState::Completed)?;
    let said: Vec<_> = history(&answered)
        .iter()
        .filter(|message| message.role == Role::User)
        .map(|message| text_of(&message.parts))
        .collect();
    check(said, ["first", "second"], "what the user said")
}

pub(super) async fn history_length(probe: &Probe) -> Result<()> {
    let asked = probe
        .send_for_task(&request("tck-input-required", "first"))
        .await?;
    probe.send_for_task(&follow_up(&asked.id, "second")).await?;
    let whole = history(&probe.get(&asked.id).await?).to_vec();
    check_that(whole.len() >= 2, "the whole history has too few messages")?;
    let newest = &whole[whole.len() - 1..];
    for (length, expected) in [(0, &[][..]), (1, newest), (100, &whole)] {
        let task = probe.get_with_history(&asked.id, Some(length)).await?;
        check(
            history(&task),
            expected,
            &format!("the history of length {length}"),
        )?;
    }
    Ok(())
}

pub(super) async fn follow_up_to_finished(probe: &Probe) -> Result<()> {
    let task = probe.send_for_task(&request("probe", "task")).await?;
    let more = follow_up(&task.id, "more");
    check_fails(
        probe.client.send_message(&more),
        error_code::UNSUPPORTED_OPERATION,
    )
    .await
}

pub(super) async fn follow_up_to_unknown(probe: &Probe) -> Result<()> {
    let more = follow_up(&anything(), "more");
    check_fails(probe.client.send_message(&more), error_code::TASK_NOT_FOUND).await
}

pub(super) async fn follow_up_in_other_context(probe: &Probe) -> Result<()> {
    let asked = probe
        .send_for_task(&request("tck-input-required", "go"))
        .await?;
    let mut more = follow_up(&asked.id, "more");
    more.message.context_id = Some(format!("other-{}", anything()));
    check_fails(probe.client.send_message(&more), error_code::INVALID_PARAMS).await
}

fn follow_up(task: &str, text: &str) -> SendMessageRequest {
    let mut more = request("tck-complete-task", text);
    more.message.task_id = Some(task.into());
    more
}

fn history(task: &Task) -> &[Message] {
    task.history.as_deref().unwrap_or_default()
}
