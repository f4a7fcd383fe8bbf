//! Streams: their order, their chunks, several on one task, and going on after a cut.

use a2a::{StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, error_code};
use futures::TryStreamExt;
use futures::future::try_join_all;

use crate::probe::{
    Events, Probe, Result, anything, check, check_state, check_stream_fails, first_task, next,
    request, subscription, text_of, told,
};

/// The prefix of messages that lead to a task which works for a while and then completes by itself.
const PAUSING: &str = "test-resubscribe-message-id";

pub(super) async fn stream_message_answer(probe: &Probe) -> Result<()> {
    let events = probe.stream(&request("probe", "echo hello")).await?;
    match events.as_slice() {
        [StreamResponse::Message(message)] => {
            check(text_of(&message.parts), "echo hello", "the text")
        }
        other => Err(format!("not one message but {other:?}").into()),
    }
}

pub(super) async fn stream_in_order(probe: &Probe) -> Result<()> {
    let events = probe
        .stream(&request("tck-stream-ordering-001", "go"))
        .await?;
    check(
        tell(&events),
        ["task", "Working", "artifact: Ordered output", "Completed"],
        "the events",
    )?;
    let task = first_task(events.first())?;
    for event in &events[1..] {
        let (task_id, context_id) = match event {
            StreamResponse::StatusUpdate(update) => (&update.task_id, &update.context_id),
            StreamResponse::ArtifactUpdate(update) => (&update.task_id, &update.context_id),
            _ => continue,
        };
        check(
            (task_id, context_id),
            (&task.id, &task.context_id),
            "the ids in an update",
        )?;
    }
    Ok(())
}

pub(super) async fn stream_chunks(probe: &Probe) -> Result<()> {
    let events = probe
        .stream(&request("tck-stream-artifact-chunked", "go"))
        .await?;
    let chunks: Vec<_> = artifacts(&events).collect();
    let seen: Vec<_> = chunks
        .iter()
        .map(|chunk| {
            let flags = (
                chunk.append.unwrap_or(false),
                chunk.last_chunk.unwrap_or(false),
            );
            (text_of(&chunk.artifact.parts), flags)
        })
        .collect();
    let expected = [
        ("chunk-1 ".to_owned(), (false, false)),
        ("chunk-2".to_owned(), (true, true)),
    ];
    check(seen, expected, "the chunks with append and lastChunk")?;
    check(
        &chunks[0].artifact.artifact_id,
        &chunks[1].artifact.artifact_id,
        "the artifact of both",
    )?;
    let kept = probe.get(&first_task(events.first())?.id).await?;
    check(
        all_text(&kept),
        "chunk-1 chunk-2",
        "the artifact in the end",
    )
}

pub(super) async fn stream_many_chunks(probe: &Probe) -> Result<()> {
    // Deltas may be joined on their way, so what counts is what they say together.
    let events = probe.stream(&request("probe", "burst 200")).await?;
    check(
        events.last().map(told),
        Some("Completed".to_owned()),
        "the last event",
    )?;
    let said: String = artifacts(&events)
        .map(|chunk| text_of(&chunk.artifact.parts))
        .collect();
    let expected: String = (0..200).map(|i| format!("c{i} ")).collect();
    check(&said, &expected, "what the chunks say")?;
    let kept = probe.get(&first_task(events.first())?.id).await?;
    check(all_text(&kept), expected, "what the artifact says")
}

pub(super) async fn stream_file(probe: &Probe) -> Result<()> {
    let events = probe
        .stream(&request("tck-stream-artifact-file", "go"))
        .await?;
    let parts = artifacts(&events).flat_map(|update| &update.artifact.parts);
    let files: Vec<_> = parts
        .map(|part| (part.filename.as_deref(), part.media_type.as_deref()))
        .collect();
    check(
        files,
        [(Some("output.txt"), Some("text/plain"))],
        "the files",
    )
}

pub(super) async fn stream_to_input_required(probe: &Probe) -> Result<()> {
    let asked = probe.stream(&request("tck-input-required", "go")).await?;
    check(
        asked.last().map(told),
        Some("InputRequired".to_owned()),
        "the last event",
    )?;
    let mut follow_up = request("tck-complete-task", "more");
    follow_up.message.task_id = Some(first_task(asked.first())?.id.clone());
    let answered = probe.stream(&follow_up).await?;
    check(
        answered.last().map(told),
        Some("Completed".to_owned()),
        "the last event of the follow-up",
    )
}

pub(super) async fn subscribe_sees_the_rest(probe: &Probe) -> Result<()> {
    let (first, task) = working(probe).await?;
    let mut second = probe.subscribe(&task.id).await?;
    let snapshot = next(&mut second).await?;
    let snapshot = first_task(Some(&snapshot))?;
    check(&snapshot.id, &task.id, "the task in the snapshot")?;
    check_state(snapshot, TaskState::Working)?;
    for rest in try_join_all([first, second].map(TryStreamExt::try_collect::<Vec<_>>)).await? {
        check(tell(&rest), ["Completed"], "the rest of a stream")?;
    }
    Ok(())
}

pub(super) async fn closing_a_stream_leaves_other_streams_alone(probe: &Probe) -> Result<()> {
    let (first, task) = working(probe).await?;
    let mut second = probe.subscribe(&task.id).await?;
    next(&mut second).await?;
    drop(first);
    let rest: Vec<_> = second.try_collect().await?;
    check(tell(&rest), ["Completed"], "the rest of the other stream")?;
    check_state(&probe.get(&task.id).await?, TaskState::Completed)
}

pub(super) async fn subscribe_sees_a_cancel(probe: &Probe) -> Result<()> {
    let task = probe.start_held().await?;
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut stream = probe.subscribe(&task.id).await?;
        first_task(Some(&next(&mut stream).await?))?;
        streams.push(stream);
    }
    probe.cancel(&task.id).await?;
    let rest = try_join_all(streams.into_iter().map(TryStreamExt::try_collect::<Vec<_>>)).await?;
    check(
        rest[0].last().map(told),
        Some("Canceled".to_owned()),
        "how a stream ended",
    )?;
    for other in &rest[1..] {
        check(other, &rest[0], "another stream")?;
    }
    Ok(())
}

pub(super) async fn subscribe_to_finished(probe: &Probe) -> Result<()> {
    let task = probe.send_for_task(&request("probe", "task")).await?;
    check_stream_fails(probe.subscribe(&task.id), error_code::UNSUPPORTED_OPERATION).await
}

pub(super) async fn subscribe_to_unknown(probe: &Probe) -> Result<()> {
    check_stream_fails(probe.subscribe(&anything()), error_code::TASK_NOT_FOUND).await
}

pub(super) async fn resume_with_a_cursor(probe: &Probe) -> Result<()> {
    // A task's events are numbered from 1, so the number of events seen is the cursor.
    let whole = probe.stream(&request("probe", "burst 5")).await?;
    let id = &first_task(whole.first())?.id;
    for seen in 1..whole.len() {
        let client = probe
            .client_with("Last-Event-ID", &seen.to_string())
            .await?;
        let stream = client.subscribe_to_task(&subscription(id)).await?;
        let rest: Vec<_> = stream.try_collect().await?;
        check(
            &rest[..],
            &whole[seen..],
            &format!("what follows event {seen}"),
        )?;
    }
    Ok(())
}

/// A stream of a task that has begun to work, and that task.
async fn working(probe: &Probe) -> Result<(Events, Task)> {
    let mut events = probe
        .client
        .send_streaming_message(&request(PAUSING, "go"))
        .await?;
    let first = next(&mut events).await?;
    let task = first_task(Some(&first))?.clone();
    while told(&next(&mut events).await?) != "Working" {}
    Ok((events, task))
}

fn tell(events: &[StreamResponse]) -> Vec<String> {
    events.iter().map(told).collect()
}

fn artifacts(events: &[StreamResponse]) -> impl Iterator<Item = &TaskArtifactUpdateEvent> {
    events.iter().filter_map(|event| match event {
        StreamResponse::ArtifactUpdate(update) => Some(update),
        _ => None,
    })
}

fn all_text(task: &Task) -> String {
    let artifacts = task.artifacts.iter().flatten();
    artifacts.map(|artifact| text_of(&artifact.parts)).collect()
}
