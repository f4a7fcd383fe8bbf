//! The skills of the demo agent.

use std::time::Duration;

use a2a::types::Part;
use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Chunk, Context, Reply, SkillError, SkillInput, reply, skill};

use super::{BURST, artifact};

/// A text.
#[derive(Debug, Deserialize, JsonSchema, SkillInput)]
pub struct Text {
    /// The text.
    pub text: String,
}

/// Says what you said.
#[skill(tags = ["demo"], examples = ["echo hello"], read_only, idempotent)]
pub async fn echo(input: Text) -> Result<String, SkillError> {
    Ok(input.text)
}

/// Makes an artifact of what you said.
#[skill(tags = ["demo"], examples = ["task hello"], read_only, idempotent)]
pub(crate) async fn task(input: Text) -> Result<Reply<String>, SkillError> {
    let made = reply::success("Here it is.");
    Ok(made
        .artifact(artifact("task", Part::text(input.text)))
        .into())
}

/// How much is streamed.
#[derive(Debug, Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Burst {
    /// In how many pieces.
    #[schemars(range(min = 1, max = 100_000))]
    pieces: u32,
    /// How long to wait before each, in milliseconds.
    #[serde(default)]
    #[schemars(range(max = 60_000))]
    pause_ms: u64,
}

/// Streams an artifact in as many pieces as you like, with a pause between them.
#[skill(tags = ["demo"], examples = ["burst 20 100ms"], read_only, replayable)]
pub(crate) async fn burst(input: Burst, ctx: Context) -> Result<Reply<String>, SkillError> {
    let pause = Duration::from_millis(input.pause_ms);
    for piece in 0..input.pieces {
        if piece > 0 && !pause.is_zero() {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = ctx.cancelled().cancelled_owned() => return Err(SkillError::Cancelled),
            }
        }
        // After a restart the first piece replaces the artifact made so far.
        let chunk = match (piece, piece + 1 == input.pieces) {
            (0, true) => Chunk::Whole,
            (0, false) => Chunk::First,
            (_, false) => Chunk::More,
            (_, true) => Chunk::Last,
        };
        let text = Part::text(format!("c{piece} "));
        ctx.chunk(artifact(BURST, text), chunk).await?;
    }
    Ok(reply::success(format!("{} pieces", input.pieces)).into())
}
