//! The expectations of conformance suites, as a list: how a message begins, and what follows.

use std::time::Duration;

use a2a::server::{Chunk, Over, Turn};
use a2a::types::{Part, TaskState};

use monas::serve::demo::artifact;

/// One thing to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Answer with a message and nothing else.
    Reply(&'static str),
    /// Say that the task is being worked on.
    Work,
    Make(Content),
    /// Make a piece of an artifact.
    Piece(&'static str, Chunk),
    /// Work for so long.
    Pause(Pause),
    /// Work until the task is cancelled.
    Hold,
    /// Wait for another message.
    Ask,
    /// End the task, and say something about it, or nothing.
    End(TaskState, Option<&'static str>),
}

/// What an artifact holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    Text(&'static str),
    File,
    FileUrl,
    Data,
}

/// How long work takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pause {
    Seconds(u64),
    /// Twice as long as the suite waits for a stream.
    TwiceTheTimeout,
}

use Content::{Data, File, FileUrl, Text};
use Step::{Ask, End, Hold, Make, Piece, Reply, Work};

const DONE: Step = End(TaskState::Completed, None);

/// The list. Where several prefixes fit the longest one counts.
const SCRIPTS: &[(&str, &[Step])] = &[
    (
        "tck-complete-task",
        &[End(TaskState::Completed, Some("Hello from TCK"))],
    ),
    (
        "tck-artifact-text",
        &[Make(Text("Generated text content")), DONE],
    ),
    ("tck-artifact-file", &[Make(File), DONE]),
    ("tck-artifact-file-url", &[Make(FileUrl), DONE]),
    ("tck-artifact-data", &[Make(Data), DONE]),
    ("tck-message-response", &[Reply("Direct message response")]),
    ("tck-input-required", &[Ask]),
    (
        "tck-reject-task",
        &[End(TaskState::Rejected, Some("rejected"))],
    ),
    (
        "tck-stream-001",
        &[Work, Make(Text("Stream hello from TCK")), DONE],
    ),
    ("tck-stream-002", &[DONE]),
    (
        "tck-stream-003",
        &[Work, Make(Text("Stream task lifecycle")), DONE],
    ),
    (
        "tck-stream-ordering-001",
        &[Work, Make(Text("Ordered output")), DONE],
    ),
    (
        "tck-stream-artifact-text",
        &[Work, Make(Text("Streamed text content")), DONE],
    ),
    ("tck-stream-artifact-file", &[Work, Make(File), DONE]),
    ("tck-stream-artifact-chunked", CHUNKED),
    (
        "test-resubscribe-message-id",
        &[Work, Step::Pause(Pause::TwiceTheTimeout), DONE],
    ),
    (
        "tck-long-running",
        &[Work, Step::Pause(Pause::Seconds(5)), DONE],
    ),
    ("tck-multi-turn", &[Ask]),
    ("tck-cancel", &[Work, Hold]),
    (
        "tck-stream-basic",
        &[Work, Make(Text("Stream hello from TCK")), DONE],
    ),
    ("tck-stream-chunked", CHUNKED),
    (
        "tck-task-failure",
        &[Work, End(TaskState::Failed, Some("failed as asked"))],
    ),
];

/// How ids of messages begin after which the suite of 0.3 continues or cancels the task: it waits for more, each time. Other
/// messages of that suite complete their task, as all do that are not listed here.
const OPEN: &[&str] = &[
    "cancel-test",
    "mapping-test",
    "test-cancel-message-id",
    "test-history-create-message-id",
    "test-history-message",
    "test-message-id",
    "test-resilience-message-id",
    "test-state-message-id",
    "test-update-message-id",
    "text-",
];

const CHUNKED: &[Step] = &[
    Work,
    Piece("chunk-1 ", Chunk::First),
    Piece("chunk-2", Chunk::Last),
    DONE,
];

/// The steps for a message with this id and this text in its first part. The id decides if it is in the list.
pub(super) fn find(message_id: &str, text: &str) -> Option<&'static [Step]> {
    let begins = |with: &str| {
        let fitting = SCRIPTS
            .iter()
            .filter(|(prefix, _)| with.starts_with(prefix));
        fitting
            .max_by_key(|(prefix, _)| prefix.len())
            .map(|(_, steps)| *steps)
    };
    let open = || {
        let mut open = OPEN.iter();
        open.any(|prefix| message_id.starts_with(prefix))
            .then_some(&[Work, Ask][..])
    };
    begins(message_id).or_else(open).or_else(|| begins(text))
}

/// Whether a script stops to hear more. The message that continues its task finishes it.
pub(super) fn asks(steps: &[Step]) -> bool {
    matches!(steps, [Ask, ..])
}

impl Step {
    /// Does it. `timeout` is how long the suite waits for a stream.
    pub(super) async fn perform(self, turn: &Turn, timeout: Duration) -> Result<(), Over> {
        match self {
            Reply(text) => turn.reply(turn.say(text)).await,
            Work => turn.working().await,
            Make(content) => turn.artifact(artifact("result", content.part())).await,
            Piece(text, chunk) => {
                turn.chunk(artifact("result", Part::text(text)), chunk)
                    .await
            }
            Step::Pause(pause) => {
                let pause = match pause {
                    Pause::Seconds(seconds) => Duration::from_secs(seconds),
                    Pause::TwiceTheTimeout => timeout * 2,
                };
                tokio::select! {
                    () = tokio::time::sleep(pause) => Ok(()),
                    () = turn.cancelled().cancelled() => Err(Over),
                }
            }
            Hold => {
                turn.cancelled().cancelled().await;
                Err(Over)
            }
            Ask => turn.ask("Please say more.").await,
            End(state, text) => turn.status(state, text.map(|text| turn.say(text))).await,
        }
    }
}

impl Content {
    fn part(self) -> Part {
        match self {
            Text(text) => Part::text(text),
            File => file(Part::raw("Generated file content")),
            FileUrl => file(Part::url("https://example.com/output.txt")),
            Data => Part::data(serde_json::json!({ "key": "value", "count": 42 })),
        }
    }
}

fn file(part: Part) -> Part {
    Part {
        filename: "output.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        ..part
    }
}
