//! A request is thought about, by a model or by rules; the text is streamed to the caller.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use model::{Delta, Error, Model, Usage};
use skill::{Chunk, Context, SkillError, extension, reply};
use tokio::time::Instant;

use crate::event::{Call, EffectId, EventKind};
use crate::prompt::{self, Brief};
use crate::served::ANSWER;

/// What is streamed is gathered for so long, or until it is so much.
const GATHER: Duration = Duration::from_millis(20);
const GATHERED: usize = 4096;

/// The longest thought, in bytes.
const MOST: usize = 1 << 20;

/// The most calls of one answer.
const MOST_CALLS: usize = 256;

/// The artifact that holds how a model came to its answer.
const REASONING: &str = "reasoning";

pub(super) async fn think(
    model: &Arc<dyn Model>,
    ctx: &Context,
    effect: EffectId,
    brief: Option<Box<Brief>>,
) -> EventKind {
    let failed = |code: &str, message: String| EventKind::Failed {
        effect,
        code: code.to_owned(),
        message,
    };
    let Some(brief) = brief else {
        return failed("no-request", "there is nothing to think about".to_owned());
    };
    let request = prompt::request(&brief, ctx.skills());
    let mut deltas = model.reply(request);
    let mut text = Stream::new(ctx, extension::OUTPUT, ANSWER);
    let mut reasoning = Stream::new(ctx, REASONING, REASONING);
    let (mut calls, mut thoughts, mut usage) = (Vec::new(), Vec::new(), Usage::default());
    let mut size = 0;
    while let Some(delta) = deltas.next().await {
        let heard = match delta {
            Ok(Delta::Text(more)) => text.more(&more).await,
            Ok(Delta::Reasoning(more)) => reasoning.more(&more).await,
            Ok(Delta::Call(call)) => {
                size += call.id.len() + call.name.len() + call.arguments.to_string().len();
                calls.push(Call {
                    id: call.id,
                    skill: call.name,
                    input: call.arguments,
                });
                within(size, calls.len())
            }
            Ok(Delta::Thought(thought)) => {
                size += thought.len();
                thoughts.push(thought);
                within(size, thoughts.len())
            }
            Ok(Delta::Usage(so_far)) => {
                usage = so_far;
                Ok(())
            }
            Ok(Delta::End(_)) => {
                let ended = reasoning.end().await.and(text.end().await);
                if let Err(error) = ended {
                    return failed(error.code(), error.to_string());
                }
                let tokens = usage.total();
                let text = text.whole;
                return EventKind::Thought {
                    effect,
                    text,
                    calls,
                    thoughts,
                    tokens,
                };
            }
            Ok(_) => Ok(()),
            Err(error) => return failed(error.code(), error.to_string()),
        };
        if let Err(error) = heard {
            return failed(error.code(), error.to_string());
        }
    }
    let cut = Error::Cut("the answer has no end".to_owned());
    failed(cut.code(), cut.to_string())
}

/// Calls and thoughts of one answer, in bytes and in number, are bounded as its text is.
fn within(size: usize, count: usize) -> Result<(), SkillError> {
    match size <= MOST && count <= MOST_CALLS {
        true => Ok(()),
        false => Err(SkillError::coded("too-long", "the answer is too long")),
    }
}

/// A text that is handed over while it comes. What comes all at once is not: it is in the answer.
struct Stream<'a> {
    ctx: &'a Context,
    artifact: &'static str,
    name: &'static str,
    whole: String,
    /// How much of it was handed over.
    sent: usize,
    since: Option<Instant>,
}

impl<'a> Stream<'a> {
    fn new(ctx: &'a Context, artifact: &'static str, name: &'static str) -> Self {
        Self {
            ctx,
            artifact,
            name,
            whole: String::new(),
            sent: 0,
            since: None,
        }
    }

    async fn more(&mut self, more: &str) -> Result<(), SkillError> {
        if self.whole.len() + more.len() > MOST {
            return Err(SkillError::coded("too-long", "the answer is too long"));
        }
        self.whole.push_str(more);
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() >= GATHER || self.whole.len() - self.sent >= GATHERED {
            self.send(false).await?;
        }
        Ok(())
    }

    async fn end(&mut self) -> Result<(), SkillError> {
        match self.sent {
            0 => Ok(()),
            _ => self.send(true).await,
        }
    }

    async fn send(&mut self, last: bool) -> Result<(), SkillError> {
        let chunk = match (self.sent, last) {
            (0, _) => Chunk::First,
            (_, false) => Chunk::More,
            (_, true) => Chunk::Last,
        };
        let mut artifact = reply::text_artifact(self.artifact, &self.whole[self.sent..]);
        self.name.clone_into(&mut artifact.name);
        self.sent = self.whole.len();
        self.since = None;
        self.ctx.chunk(artifact, chunk).await
    }
}
