//! Every kind of part, there and back.

use a2a::{Part, PartContent, TaskState};
use serde_json::json;

use crate::probe::{
    Probe, Result, check, check_state, check_that, request, request_of, text_of, typed,
};

pub(super) async fn text_artifact(probe: &Probe) -> Result<()> {
    let part = only_part(probe, "tck-artifact-text").await?;
    check(part.as_text(), Some("Generated text content"), "the text")
}

pub(super) async fn file_bytes_artifact(probe: &Probe) -> Result<()> {
    let part = only_part(probe, "tck-artifact-file").await?;
    check_name_and_type(&part)?;
    match part.content {
        PartContent::Raw(bytes) => check_that(!bytes.is_empty(), "there are no bytes"),
        other => Err(format!("not bytes but {other:?}").into()),
    }
}

pub(super) async fn file_url_artifact(probe: &Probe) -> Result<()> {
    let part = only_part(probe, "tck-artifact-file-url").await?;
    check_name_and_type(&part)?;
    let url = PartContent::Url("https://example.com/output.txt".to_owned());
    check(part.content, url, "the address")
}

pub(super) async fn data_artifact(probe: &Probe) -> Result<()> {
    let part = only_part(probe, "tck-artifact-data").await?;
    match part.content {
        // This client hands out every number as a double.
        PartContent::Data(data) => check(data, json!({"key": "value", "count": 42.0}), "the data"),
        other => Err(format!("not data but {other:?}").into()),
    }
}

pub(super) async fn parts_come_back(probe: &Probe) -> Result<()> {
    let all: Vec<u8> = (0..=255).collect();
    // No data of `null` and no whole numbers: this client itself changes them over JSON.
    let sent: Vec<Part> = vec![
        typed(
            json!({"text": "Grüße, 世界 \u{1f30d}", "metadata": {"nested": {"list": ["two", null, true, 0.5]}}}),
        )?,
        Part::raw(all)
            .with_filename("bytes.txt")
            .with_media_type("text/plain"),
        Part::url("https://example.com/a?b=c#d")
            .with_filename("page.txt")
            .with_media_type("text/plain"),
        Part::data(json!({"a": [-2.5, null, {"b": []}], "c": {}}))
            .with_media_type("application/json"),
        Part::data(json!([[], "x", false])),
        Part::data(json!("a bare string")),
    ];
    let task = probe
        .send_for_task(&request_of("tck-complete-task", sent.clone()))
        .await?;
    check_state(&task, TaskState::Completed)?;
    let kept = probe.get(&task.id).await?.history.unwrap_or_default();
    check(&kept[0].parts, &sent, "the parts in the history")
}

pub(super) async fn large_message(probe: &Probe) -> Result<()> {
    let text = format!("task {}", "x".repeat(1_000_000));
    let task = probe.send_for_task(&request("probe", &text)).await?;
    let artifacts = task.artifacts.unwrap_or_default();
    let same = artifacts.len() == 1 && text_of(&artifacts[0].parts) == text;
    check_that(same, "a megabyte did not come back as it was")
}

async fn only_part(probe: &Probe, prefix: &str) -> Result<Part> {
    let task = probe.send_for_task(&request(prefix, "go")).await?;
    check_state(&task, TaskState::Completed)?;
    let artifacts = task.artifacts.into_iter().flatten();
    let mut parts: Vec<Part> = artifacts.flat_map(|artifact| artifact.parts).collect();
    check(parts.len(), 1, "the parts of the artifacts")?;
    Ok(parts.remove(0))
}

fn check_name_and_type(part: &Part) -> Result<()> {
    check(
        part.filename.as_deref(),
        Some("output.txt"),
        "the file name",
    )?;
    check(
        part.media_type.as_deref(),
        Some("text/plain"),
        "the media type",
    )
}
