//! A call without a server: what tests of skills run them in.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::types::{Artifact, Message, Part};
use access::Principal;
use futures_core::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::call::{Call, QuestionAnswer, WaitGuard};
use crate::context::Context;
use crate::error::SkillError;
use crate::grants::Grants;
use crate::registry::{Entry, Registry};
use crate::reply::{Chunk, Outcome, Reply};

/// Calls of skills in memory, for tests.
///
/// Input and output are checked as in a served agent. Questions are answered from a list given in advance; progress
/// and artifacts are recorded for the test to look at. There is no approval, no time limit and nothing durable: what a
/// test needs of those it tests with the crate `agent`.
///
/// ```
/// # use schemars::JsonSchema;
/// # use serde::Deserialize;
/// # use serde_json::json;
/// # use skill::{Context, MemoryCall, Registry, Reply, SkillError, SkillInput, skill};
/// # #[derive(Deserialize, JsonSchema, SkillInput)]
/// # struct Nothing {}
/// # #[derive(Deserialize, JsonSchema, SkillInput)]
/// # struct Answer { yes: bool }
/// /// Asks a question.
/// #[skill(tags = ["demo"], examples = ["ask me"])]
/// async fn ask(_input: Nothing, ctx: Context) -> Result<bool, SkillError> {
///     Ok(ctx.ask::<Answer>("Sure?").await?.yes)
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let call = MemoryCall::new(Registry::new().with(ask)?).answer(json!({ "yes": true }));
/// assert_eq!(call.output("ask", json!({})).await?, json!(true));
/// assert_eq!(call.questions(), ["Sure?"]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct MemoryCall {
    grants: Arc<Grants>,
    state: Arc<Mutex<State>>,
    cancelled: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    answers: VecDeque<QuestionAnswer>,
    questions: Vec<String>,
    reports: Vec<String>,
    artifacts: Vec<Artifact>,
    kept: BTreeMap<String, Value>,
}

impl MemoryCall {
    /// Calls of these skills. Each may call all of them, and there is no language model.
    pub fn new(skills: Registry) -> Self {
        let grants = Grants::new(skills, &Registry::new(), &BTreeMap::new());
        Self {
            grants: Arc::new(grants.expect("nothing is granted that could be unknown")),
            state: Arc::default(),
            cancelled: CancellationToken::new(),
        }
    }

    /// Answers the next question that has no answer yet.
    #[must_use]
    pub fn answer(self, answer: Value) -> Self {
        self.lock().answers.push_back(QuestionAnswer::Given(answer));
        self
    }

    /// Declines the next question that has no answer yet.
    #[must_use]
    pub fn decline(self) -> Self {
        self.lock().answers.push_back(QuestionAnswer::Declined);
        self
    }

    pub async fn reply(&self, skill: &str, input: Value) -> Outcome {
        let entry = self.grants.offered().entry(skill).cloned();
        let entry = entry.ok_or_else(|| SkillError::Unknown(skill.to_owned()))?;
        let ctx = Context::new(
            Arc::new(self.clone()),
            self.grants.clone(),
            "task",
            "context",
            skill,
        );
        self.run(entry, input, ctx).await
    }

    /// Calls a skill that replies with an output.
    pub async fn output(&self, skill: &str, input: Value) -> Result<Value, SkillError> {
        match self.reply(skill, input).await? {
            Reply::Done(output) => Ok(output),
            other => Err(SkillError::failed(format!("no output: {other:?}"))),
        }
    }

    /// The texts of the questions so far.
    pub fn questions(&self) -> Vec<String> {
        self.lock().questions.clone()
    }

    /// The texts of the progress reports so far.
    pub fn reports(&self) -> Vec<String> {
        self.lock().reports.clone()
    }

    /// The artifacts so far; chunks are not put together.
    pub fn artifacts(&self) -> Vec<Artifact> {
        self.lock().artifacts.clone()
    }

    pub fn cancel(&self) {
        self.cancelled.cancel();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call for MemoryCall {
    fn caller(&self) -> Principal {
        Principal::anonymous()
    }

    fn cancelled(&self) -> CancellationToken {
        self.cancelled.clone()
    }

    fn is_over(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    fn report(&self, message: Message) -> BoxFuture<'_, Result<(), SkillError>> {
        let texts: Vec<&str> = message.parts.iter().filter_map(Part::as_text).collect();
        self.lock().reports.push(texts.join("\n"));
        Box::pin(std::future::ready(Ok(())))
    }

    fn artifact(&self, artifact: Artifact, _: Chunk) -> BoxFuture<'_, Result<(), SkillError>> {
        self.lock().artifacts.push(artifact);
        Box::pin(std::future::ready(Ok(())))
    }

    fn ask<'a>(
        &'a self,
        _scope: &'a str,
        message: String,
        _schema: Value,
    ) -> BoxFuture<'a, Result<Option<QuestionAnswer>, SkillError>> {
        let mut state = self.lock();
        let answer = state.answers.pop_front();
        let missing = || SkillError::failed(format!("the test has no answer to {message:?}"));
        let answered = answer.ok_or_else(missing).map(Some);
        state.questions.push(message);
        Box::pin(std::future::ready(answered))
    }

    fn wait(&self) -> WaitGuard {
        Box::new(())
    }

    fn kept(&self, key: &str) -> Option<Result<Value, SkillError>> {
        self.lock().kept.get(key).cloned().map(Ok)
    }

    fn keep<'a>(&'a self, key: &'a str, value: Value) -> BoxFuture<'a, Result<(), SkillError>> {
        self.lock().kept.insert(key.to_owned(), value);
        Box::pin(std::future::ready(Ok(())))
    }

    fn run(&self, skill: Arc<Entry>, input: Value, ctx: Context) -> BoxFuture<'static, Outcome> {
        Box::pin(async move {
            let faults = skill.input_faults(&input);
            if !faults.is_empty() {
                return Err(SkillError::InvalidInput(faults));
            }
            let reply = skill.run(input, ctx).await?;
            skill.check_output(reply)
        })
    }
}
