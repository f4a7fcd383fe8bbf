//! Skills that behave in each of the ways that clients are tested for.

use std::time::Duration;

use a2a::types::Part;
use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Chunk, Context, DefinitionError, Registry, SkillError, SkillInput, skill};

use monas::serve::demo::artifact;
use monas::serve::demo::skills::{Text, echo};

pub(crate) fn all() -> Result<Registry, DefinitionError> {
    let skills = Registry::new().with(echo)?.with(approve)?;
    skills.with(slow)?.with(boom)
}

/// The answer to the question of `approve`.
#[derive(Debug, Deserialize, JsonSchema, SkillInput)]
struct ApprovalReply {
    /// In words.
    answer: String,
}

/// Asks once, and says what it was answered.
#[skill(tags = ["conformance"], examples = ["approve this"], replayable)]
async fn approve(input: Text, ctx: Context) -> Result<String, SkillError> {
    let ApprovalReply { answer } = ctx.ask(format!("Approve {:?}?", input.text)).await?;
    Ok(format!("{}: {answer}", input.text))
}

/// Streams for six seconds.
#[skill(tags = ["conformance"], examples = ["take your time"])]
async fn slow(input: Text, ctx: Context) -> Result<String, SkillError> {
    for piece in 0..60 {
        let chunk = if piece == 0 {
            Chunk::First
        } else {
            Chunk::More
        };
        let text = Part::text(format!("{piece} "));
        ctx.chunk(artifact("slow", text), chunk).await?;
        ctx.progress(f64::from(piece), Some(60.0), "still at it")
            .await?;
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(100)) => {}
            () = ctx.cancelled().cancelled_owned() => return Err(SkillError::Cancelled),
        }
    }
    Ok(input.text)
}

/// Fails.
#[skill(tags = ["conformance"], examples = ["fail"])]
async fn boom(input: Text) -> Result<String, SkillError> {
    Err(SkillError::failed(format!(
        "failed as asked: {}",
        input.text
    )))
}
