//! A request is thought about, by a model or by rules; the text is streamed to the caller.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use model::rules::{self, NoModel, Plan, Rules};
use model::{Delta, End, Error, Message, Model, Request, Usage};
use skill::{Chunk, Context, SkillError, extension, reply};
use tokio::time::{Instant, timeout};

use crate::event::{Call, EffectId, EventKind};
use crate::limits;
use crate::prompt::{self, Brief};
use crate::served::ANSWER;
use crate::text::{bounded, json_length};

mod remembering;
#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;

/// Streamed text is sent after this time, or when this many bytes have gathered.
const GATHER: Duration = Duration::from_millis(20);
const GATHERED: usize = 4096;

/// The longest thought, in bytes.
const MOST: usize = 1 << 20;

/// The most calls of one answer.
const MOST_CALLS: usize = 256;

/// The artifact that holds how a model came to its answer.
const REASONING: &str = "reasoning";

/// How long a model may be silent before the caller is told that it is waited for, and how often that is said.
const SILENCE: Duration = Duration::from_secs(15);

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
    if let Some(thought) = kept_at_once(&request) {
        return thought.event(effect);
    }
    // Where rules are all there is, they say so; beside a model they must not.
    let cause = match model.name() == rules::NAME {
        true => NoModel::NotConfigured,
        false => NoModel::NotNeeded,
    };
    let by_rules: Arc<dyn Model> = Arc::new(Rules { cause });
    let model = match is_for_rules(&request) {
        true => &by_rules,
        false => model,
    };
    let (error, begun) = match hear(model, ctx, request.clone()).await {
        Ok(thought) if thought.empty => return unsaid(thought, &request).event(effect),
        Ok(thought) => return thought.event(effect),
        Err(Interrupted::Caller(error)) => return failed(error.code(), error.to_string()),
        Err(Interrupted::Model { error, begun }) => (error, begun),
    };
    let advice = advice(&error);
    tracing::warn!(
        model = model.name(),
        code = error.code(),
        %error,
        advice,
        "language model request failed"
    );
    let told = error.to_string();
    let stop = if told.ends_with(['.', '?', '!']) {
        ""
    } else {
        "."
    };
    let told = format!("{told}{stop} {advice}");
    // Words that the caller has seen cannot be taken back.
    if begun {
        return failed(error.code(), told);
    }
    match without_model(&request) {
        Some(Plan::Calls(calls)) => Thought::of_calls(calls).event(effect),
        Some(Plan::Answer(text)) => {
            let text = match is_about_results(&request) {
                true => text,
                false => format!("{text}\n(My language model gave no answer: {told})"),
            };
            Thought::of_text(text).event(effect)
        }
        Some(Plan::Decline(why)) => {
            let mut thought = Thought::of_text(why);
            thought.declined = true;
            thought.event(effect)
        }
        _ => failed(error.code(), told),
    }
}

/// What an empty answer of a model comes to: what rules can do, or the note that it is empty.
fn unsaid(thought: Thought, request: &Request) -> Thought {
    match without_model(request) {
        Some(Plan::Calls(calls)) => Thought {
            tokens: thought.tokens,
            ..Thought::of_calls(calls)
        },
        _ => thought,
    }
}

/// What to look at when a model gives no answer: the setting, or what to wait for.
fn advice(error: &Error) -> &'static str {
    match error {
        Error::Auth(_) => "Look at model.key (or model.key_file).",
        Error::Quota(_) => "Look at the account of model.key at the provider.",
        Error::RateLimited { .. } => "Ask again later.",
        Error::Refused(_) => "Look at model.name, and at model.url.",
        Error::Server(_) => "Ask again later; the fault is at model.url.",
        Error::Unreachable(_) => "Look at model.url: does the server run there?",
        Error::Malformed(_) | Error::Cut(_) => "Look at model.url and model.name.",
        Error::Budget(_) => "Look at model.max_tokens, model.max_cost and model.budget_period.",
        Error::TimedOut(_) => {
            "Look at model.wait and model.timeout, and whether the model is busy."
        }
        _ => "Look at model.name.",
    }
}

/// What rules make of a request that a model gave no answer to: calls, or an answer that they understand it for.
fn without_model(request: &Request) -> Option<Plan> {
    let cause = NoModel::Failed;
    match request.messages.last()? {
        Message::Result(_) => {
            let results = Rules { cause }.results(request);
            Some(Plan::Answer(results))
        }
        Message::User(said) => Some(rules::plan_with(said, &request.tools, cause)),
        Message::Quoted(words) => Some(rules::plan_with(&words.text, &request.tools, cause)),
        _ => None,
    }
}

fn is_about_results(request: &Request) -> bool {
    matches!(request.messages.last(), Some(Message::Result(_)))
}

/// What a model came to.
#[derive(Default)]
struct Thought {
    text: String,
    calls: Vec<Call>,
    thoughts: Vec<String>,
    tokens: u64,
    /// The request was not understood or cannot be done, and the text says so.
    declined: bool,
    /// The model said nothing and called nothing.
    empty: bool,
    /// How the model came to it.
    reasoning: String,
}

impl Thought {
    fn of_text(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    fn of_calls(calls: Vec<model::Call>) -> Self {
        let calls = calls.into_iter().map(|call| Call {
            id: call.id,
            skill: call.name,
            input: call.arguments,
        });
        Self {
            calls: calls.collect(),
            ..Self::default()
        }
    }

    fn event(self, effect: EffectId) -> EventKind {
        EventKind::Thought {
            effect,
            text: self.text,
            calls: self.calls,
            thoughts: self.thoughts,
            tokens: self.tokens,
            declined: self.declined,
            reasoning: self.reasoning,
        }
    }
}

/// Why there is no thought.
enum Interrupted {
    Model {
        error: Error,
        /// The caller was handed a part of the answer.
        begun: bool,
    },
    /// The answer cannot be handed over, or is too long.
    Caller(SkillError),
}

impl From<SkillError> for Interrupted {
    fn from(error: SkillError) -> Self {
        Self::Caller(error)
    }
}

/// Hears a model out. Its text is handed over while it comes; a caller that hears nothing for long is told so.
async fn hear(
    model: &Arc<dyn Model>,
    ctx: &Context,
    request: Request,
) -> Result<Thought, Interrupted> {
    let mut deltas = model.reply(request);
    let mut text = Stream::new(ctx, extension::OUTPUT, ANSWER);
    let mut reasoning = Stream::new(ctx, REASONING, REASONING);
    let mut thought = Thought::default();
    let (mut usage, mut size) = (Usage::default(), 0);
    let mut silent = Duration::ZERO;
    loop {
        let delta = match timeout(SILENCE, deltas.next()).await {
            Ok(delta) => delta,
            Err(_) => {
                silent += SILENCE;
                let says = format!(
                    "Still waiting for the language model {}: {} s without a word.",
                    model.name(),
                    silent.as_secs()
                );
                ctx.progress(silent.as_secs_f64(), None, says).await?;
                continue;
            }
        };
        silent = Duration::ZERO;
        let begun = text.sent > 0;
        match delta {
            Some(Ok(Delta::Text(more))) => text.more(&more).await?,
            Some(Ok(Delta::Reasoning(more))) => reasoning.more(&more).await?,
            Some(Ok(Delta::Call(call))) => {
                size += call.id.len() + call.name.len() + json_length(&call.arguments);
                thought.calls.push(Call {
                    id: call.id,
                    skill: known(ctx, call.name),
                    input: call.arguments,
                });
                within(size, thought.calls.len())?;
            }
            Some(Ok(Delta::Thought(more))) => {
                size += more.len();
                thought.thoughts.push(more);
                within(size, thought.thoughts.len())?;
            }
            Some(Ok(Delta::Usage(so_far))) => usage = so_far,
            Some(Ok(Delta::End(end))) => {
                let said = text.whole.trim();
                thought.empty = said.is_empty() && thought.calls.is_empty();
                if let Some(note) = shortfall(end, &text.whole, &thought) {
                    text.more(&note).await?;
                }
                reasoning.end().await?;
                text.end().await?;
                thought.tokens = usage.total();
                thought.declined = end == End::Declined;
                thought.text = text.whole;
                thought.reasoning = bounded(&reasoning.whole, limits::REASONING);
                return Ok(thought);
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(Interrupted::Model { error, begun }),
            None => {
                let error = Error::Cut("the answer has no end".to_owned());
                return Err(Interrupted::Model { error, begun });
            }
        }
    }
}

/// What is to be said of an answer that is empty or not whole.
fn shortfall(end: End, text: &str, thought: &Thought) -> Option<String> {
    let line = if text.is_empty() { "" } else { "\n\n" };
    let note = match end {
        End::Length => "[The answer is cut off here: it reached the length limit of the model.]",
        End::Withheld => "[The model or its provider withheld the rest of the answer.]",
        _ if text.trim().is_empty() && thought.calls.is_empty() => {
            "[The language model gave an empty answer. Ask again in other words, or look at model.name.]"
        }
        _ => return None,
    };
    Some(format!("{line}{note}"))
}

/// The skill that a model means: models often write `file_read` for `file-read`.
fn known(ctx: &Context, name: String) -> String {
    let skills = ctx.skills();
    if skills.get(&name).is_some() {
        return name;
    }
    let label = skill::to_label(&name);
    match skills.get(&label) {
        Some(_) => label,
        None => name,
    }
}

/// Calls and thoughts of one answer, in bytes and in number, are bounded as its text is.
fn within(size: usize, count: usize) -> Result<(), SkillError> {
    match size <= MOST && count <= MOST_CALLS {
        true => Ok(()),
        false => Err(SkillError::coded("too-long", "the answer is too long")),
    }
}

/// Whether rules answer although there is a model: a command with a slash, and what a person tells the agent to remember. That
/// is kept at once; a model could answer in words and keep nothing.
fn is_for_rules(request: &Request) -> bool {
    // Results of calls are for what made the calls.
    let said = request.messages.iter().rev().find_map(|it| match it {
        Message::User(said) => Some(said.trim()),
        _ => None,
    });
    let Some(said) = said else {
        return false;
    };
    if !said.starts_with('/') {
        return to_remember(request, said).is_some();
    }
    let first = said.split_whitespace().next().unwrap_or_default();
    let name = first.trim_start_matches('/');
    let known = request.tools.iter().any(|it| it.name == name) || matches!(name, "help" | "?");
    // A text of several lines may be in no form that rules know. What names no skill is refused, and not guessed at.
    match known {
        true => !said.contains('\n'),
        false => !is_path(first),
    }
}

/// Whether a word that begins with a slash is plainly a path: it has another slash in it, or a point.
fn is_path(word: &str) -> bool {
    let rest = word.trim_start_matches('/');
    rest.is_empty() || rest.contains('/') || rest.contains('.')
}

/// What a person tells the agent to remember, if the message says so and asks nothing else.
fn to_remember(request: &Request, said: &str) -> Option<String> {
    request.tools.iter().find(|it| it.name == REMEMBER)?;
    remembering::told(said)
}

/// What a person tells the agent to remember in the last message, as a call.
fn kept_at_once(request: &Request) -> Option<Thought> {
    let Some(Message::User(said)) = request.messages.last() else {
        return None;
    };
    let text = to_remember(request, said.trim())?;
    Some(Thought::of_calls(vec![model::Call {
        id: "call-0".to_owned(),
        name: REMEMBER.to_owned(),
        arguments: serde_json::json!({ "text": text }),
    }]))
}

/// The skill that remembers.
const REMEMBER: &str = "remember";

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
