//! The border between a skill and what runs it.

use a2a::types::{Artifact, Message};
use access::Principal;
use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::error::SkillError;
use crate::registry::Entry;
use crate::reply::{Chunk, Outcome};

/// A call that is under way, as the [`Context`] of its skill reaches it.
///
/// A skill knows nothing of tasks, turns, journals and protocols: it speaks, asks and calls through its context, and
/// the context passes that on to an implementation of this trait. There are two: the calls of the crate `agent`,
/// which are tasks of a server, outlive the turn they were begun in and survive a restart; and [`MemoryCall`], for
/// tests of skills, which needs no server. The trait stands at the border so that a crate of skills builds neither a
/// server nor a protocol.
///
/// One call serves all skills that run inside of it: those that the first one calls share the task, the questions and
/// what is kept, and are told apart by the scope that the context adds to keys.
///
/// [`MemoryCall`]: crate::MemoryCall
pub trait Call: Send + Sync + 'static {
    /// The caller of the current turn. Another turn of the same task may have another one.
    fn caller(&self) -> Principal;

    /// The name of the person that gave the last answer: the caller, or the one named by an agent that passed it on.
    fn speaker(&self) -> String {
        self.caller().to_string()
    }

    /// Fires when the caller cancels the task in the current turn.
    fn cancelled(&self) -> CancellationToken;

    /// Whether the task has ended or is being cancelled, so that its result is not needed.
    fn is_over(&self) -> bool;

    /// Sets the task WORKING with this message.
    fn report(&self, message: Message) -> BoxFuture<'_, Result<(), SkillError>>;

    /// Adds an artifact, or a chunk of one, to the task.
    fn artifact(&self, artifact: Artifact, chunk: Chunk) -> BoxFuture<'_, Result<(), SkillError>>;

    /// Asks and waits for the answer, for as long as it takes. None: the question was withdrawn.
    ///
    /// A question is known by its scope and its place among the questions of that scope. One that was answered before
    /// a restart is not asked again: the recorded answer is returned.
    fn ask<'a>(
        &'a self,
        scope: &'a str,
        message: String,
        schema: Value,
    ) -> BoxFuture<'a, Result<Option<QuestionAnswer>, SkillError>>;

    /// The same for a question of a tool server, which is named to the person who answers.
    fn ask_from<'a>(
        &'a self,
        scope: &'a str,
        server: &'a str,
        message: String,
        schema: Value,
    ) -> BoxFuture<'a, Result<Option<QuestionAnswer>, SkillError>> {
        let _ = server;
        self.ask(scope, message, schema)
    }

    /// Stops the clock of the time limit until the guard is dropped.
    fn wait(&self) -> WaitGuard;

    /// What [`keep`](Self::keep) kept under this key, in this run or before a restart.
    fn kept(&self, key: &str) -> Option<Result<Value, SkillError>>;

    /// Keeps the result of an effect with the task. It is durable when this returns.
    fn keep<'a>(&'a self, key: &'a str, value: Value) -> BoxFuture<'a, Result<(), SkillError>>;

    /// Runs another skill inside of this call, within its own time limit.
    fn run(&self, skill: Arc<Entry>, input: Value, ctx: Context) -> BoxFuture<'static, Outcome>;
}

/// The answer to a question of a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionAnswer {
    /// An answer that fulfils the schema of the question.
    Given(Value),
    /// The caller refuses to answer.
    Declined,
}

/// While it is held, the time that passes does not count as the skill's own.
pub type WaitGuard = Box<dyn Send + Sync>;
