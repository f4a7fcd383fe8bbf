//! Tasks: reading and cancelling them.

use a2a::{TaskState, error_code};

use crate::probe::{Probe, Result, anything, check, check_fails, check_state, request};

pub(super) async fn get_unknown(probe: &Probe) -> Result<()> {
    check_fails(probe.get(&anything()), error_code::TASK_NOT_FOUND).await
}

pub(super) async fn cancel_working(probe: &Probe) -> Result<()> {
    let task = probe.start_held().await?;
    let cancelled = probe.cancel(&task.id).await?;
    check(&cancelled.id, &task.id, "the cancelled task")?;
    check_state(&cancelled, TaskState::Canceled)?;
    check_state(&probe.get(&task.id).await?, TaskState::Canceled)
}

pub(super) async fn cancel_input_required(probe: &Probe) -> Result<()> {
    let task = probe
        .send_for_task(&request("tck-input-required", "go"))
        .await?;
    check_state(&probe.cancel(&task.id).await?, TaskState::Canceled)
}

pub(super) async fn cancel_finished(probe: &Probe) -> Result<()> {
    let task = probe.send_for_task(&request("probe", "task")).await?;
    check_fails(probe.cancel(&task.id), error_code::TASK_NOT_CANCELABLE).await?;
    check_state(&probe.get(&task.id).await?, TaskState::Completed)
}

pub(super) async fn cancel_unknown(probe: &Probe) -> Result<()> {
    check_fails(probe.cancel(&anything()), error_code::TASK_NOT_FOUND).await
}
