//! The context of a skill, besides its input: ways to speak, to ask and to call.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use a2a::types::Artifact;
use access::Principal;
use access::budget::{self, Account};
use model::Model;
use model::layer::Payer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::call::{Call, QuestionAnswer};
use crate::error::SkillError;
use crate::extension::{CALLED, Called, PROGRESS, Progress, put};
use crate::grants::Grants;
use crate::handler::typed;
use crate::registry::Registry;
use crate::reply::{Chunk, Reply, said};
use crate::skill::SkillInput;

/// How many skills can call each other, one inside the other.
const DEPTH: usize = 8;

/// A handle on the running call, made for one skill. Clones are the same.
///
/// It adds to the [`Call`] what differs between the skills that run in one task: which skill it is, what that one was
/// granted, how deep the calls are nested, and the scope that its questions and effects are kept under. Everything that
/// the caller or the store sees goes through the call; the context itself keeps no more than counts.
///
/// A skill may be begun again after a restart, with the same input and without any of its local variables. Two rules make
/// that safe. The n-th question of a scope gets the n-th recorded answer, and [`once`](Self::once) gives the recorded
/// result of its key instead of doing the effect again. So a replayable skill must ask its questions in the same order
/// whenever it has the same input and the same answers, and must put what it may not do twice into `once`; if it asks
/// in an order that depends on the time or on chance, an answer meets another question. Work that runs side by side gets
/// a scope for each part ([`scoped`](Self::scoped)), so that the parts do not count each other's questions.
///
/// The skill sees only what it was granted: [`skills`](Self::skills) is a registry that was narrowed for it, and a call of
/// anything else fails as if the skill did not exist. Dropping the future of a skill cancels it; a context that was
/// cloned out of it then gets errors from the call.
#[derive(Clone)]
pub struct Context {
    call: Arc<dyn Call>,
    grants: Arc<Grants>,
    task: Arc<str>,
    conversation: Arc<str>,
    skill: Arc<str>,
    depth: usize,
    scope: Arc<str>,
    /// How often something was done in this run, by scope and name.
    counts: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Context {
    /// A context for a skill that is called in a task of a conversation, both by their ids. An empty skill is the agent
    /// itself, which was granted every skill.
    pub fn new(
        call: Arc<dyn Call>,
        grants: Arc<Grants>,
        task: &str,
        conversation: &str,
        skill: &str,
    ) -> Self {
        Self {
            call,
            grants,
            task: task.into(),
            conversation: conversation.into(),
            skill: skill.into(),
            depth: 0,
            scope: "".into(),
            counts: Arc::default(),
        }
    }

    pub fn caller(&self) -> Principal {
        self.call.caller()
    }

    /// The name of the person that gave the last answer: the caller, or the one named by an agent that passed it on.
    pub fn speaker(&self) -> String {
        self.call.speaker()
    }

    /// The task that the work is, or will be if it becomes one.
    pub fn task_id(&self) -> String {
        self.task.to_string()
    }

    /// The conversation it belongs to.
    pub fn context_id(&self) -> String {
        self.conversation.to_string()
    }

    /// Fires when the caller cancels the task. A skill that goes on is ended soon after.
    pub fn cancelled(&self) -> CancellationToken {
        self.call.cancelled()
    }

    /// Whether the task has ended or is being cancelled. A skill that is dropped for that can take back what it began
    /// elsewhere.
    pub fn is_over(&self) -> bool {
        self.call.is_over()
    }

    /// The account of the turn that the skill works in now: what it starts outside of its own future, such as a child process, is
    /// charged there. After a question it is another turn, so it is asked for when it is used.
    pub fn account(&self) -> Account {
        budget::current()
    }

    /// Says how far it is, of how much if that is known.
    pub async fn progress(
        &self,
        progress: f64,
        total: Option<f64>,
        text: impl Into<String>,
    ) -> Result<(), SkillError> {
        let mut message = said(text.into());
        let progress = serde_json::to_value(Progress { progress, total });
        put(&mut message, PROGRESS, progress.unwrap_or_default());
        self.call.report(message).await
    }

    /// Says that a call of a skill begins or has ended, in words and for programs.
    pub async fn report_call(
        &self,
        called: &Called,
        text: impl Into<String>,
    ) -> Result<(), SkillError> {
        let mut message = said(text.into());
        let called = serde_json::to_value(called).unwrap_or_default();
        put(&mut message, CALLED, called);
        self.call.report(message).await
    }

    /// Tells the operator something; callers do not see it.
    pub fn log(&self, text: impl fmt::Display) {
        tracing::info!(skill = &*self.skill, task = self.task_id(), "{text}");
    }

    /// Hands over something made. An artifact of the same id is replaced.
    pub async fn artifact(&self, artifact: Artifact) -> Result<(), SkillError> {
        self.chunk(artifact, Chunk::Whole).await
    }

    /// Hands over a part of something that is still being made.
    pub async fn chunk(&self, artifact: Artifact, chunk: Chunk) -> Result<(), SkillError> {
        self.call.artifact(artifact, chunk).await
    }

    /// Asks the caller, and waits for the answer for as long as it takes. The task waits for input
    /// meanwhile. A skill that is replayable is begun again if the server is restarted in between, and gets the
    /// answers it had; any other fails then.
    pub async fn ask<T: SkillInput>(&self, question: impl Into<String>) -> Result<T, SkillError> {
        let schema = crate::registry::schema::<T>();
        typed(self.ask_for(schema, question).await?)
    }

    /// The same with a schema that is known only now.
    pub async fn ask_for(
        &self,
        schema: Value,
        question: impl Into<String>,
    ) -> Result<Value, SkillError> {
        let question = question.into();
        loop {
            let asked = self.ask_while(schema.clone(), question.clone());
            if let Some(answer) = asked.await? {
                return Ok(answer);
            }
        }
    }

    /// Asks for a tool server. The question says which server asks, in its text and for programs: a server must not be
    /// taken for the agent, and its question not for an approval.
    pub async fn ask_for_server(
        &self,
        server: &str,
        schema: Value,
        question: &str,
    ) -> Result<Value, SkillError> {
        let quoted: Vec<String> = question.lines().map(|line| format!("> {line}")).collect();
        let question = format!("The tool server {server} asks:\n{}", quoted.join("\n"));
        loop {
            let asked = self
                .call
                .ask_from(&self.scope, server, question.clone(), schema.clone());
            match asked.await? {
                Some(QuestionAnswer::Given(answer)) => return Ok(answer),
                Some(QuestionAnswer::Declined) => return Err(SkillError::Declined),
                None => {}
            }
        }
    }

    /// As [`ask`](Self::ask), for a question that can expire. Returns `None` when the task is resumed without an answer
    /// (`a2a::Server::resume`): the skill decides whether to ask again.
    pub async fn ask_while(
        &self,
        schema: Value,
        question: impl Into<String>,
    ) -> Result<Option<Value>, SkillError> {
        match self.call.ask(&self.scope, question.into(), schema).await? {
            Some(QuestionAnswer::Given(answer)) => Ok(Some(answer)),
            Some(QuestionAnswer::Declined) => Err(SkillError::Declined),
            None => Ok(None),
        }
    }

    /// Waits for others, for as long as it takes: that is not the skill's own time, which is limited. Questions need no
    /// such word.
    pub async fn waiting<T>(&self, others: impl Future<Output = T>) -> T {
        let _waiting = self.call.wait();
        others.await
    }

    /// Does something that must not be done twice, however often the skill is begun again: what it gave is kept
    /// with the task under this key, and given again instead.
    ///
    /// It is done at least once and kept after that; an end of the process between the two is the one
    /// moment in which it can be done again.
    pub async fn once<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        effect: impl Future<Output = Result<T, SkillError>>,
    ) -> Result<T, SkillError> {
        let key = &*match &*self.scope {
            "" => key.to_owned(),
            scope => format!("{scope}/{key}"),
        };
        if let Some(before) = self.call.kept(key) {
            return typed(before?);
        }
        let done = effect.await?;
        let unwritten = |error: serde_json::Error| SkillError::Interrupted(error.to_string());
        let value = serde_json::to_value(&done).map_err(unwritten)?;
        self.call.keep(key, value).await?;
        Ok(done)
    }

    /// The same, with its answers and effects kept under this name. After a restart questions are known by their
    /// place among those of the same name, so that work which goes on in the middle, rather than from its
    /// beginning, finds what belongs to it. A skill that is called has the scope of its caller.
    #[must_use]
    pub fn scoped(&self, scope: &str) -> Self {
        let scope = match &*self.scope {
            "" => scope.into(),
            outer => format!("{outer}/{scope}").into(),
        };
        Self {
            scope,
            ..self.clone()
        }
    }

    /// What its answers and effects are kept under; see [`Context::scoped`].
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// How often this was called with the same word before, under this scope and in this run of the work. So the same
    /// thing done twice has two names, and the same two when the work is begun again.
    pub fn count(&self, what: &str) -> usize {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(format!("{}#{what}", self.scope)).or_default();
        *count += 1;
        *count - 1
    }

    /// The skills it was granted.
    pub fn skills(&self) -> &Registry {
        self.grants.of(&self.skill)
    }

    /// The language model it was granted. Without one there is an error of the code `no-model`: what answers by
    /// rules is no language model.
    pub fn model(&self) -> Result<Arc<dyn Model>, SkillError> {
        let model = self.grants.model(&self.skill)?.clone();
        Ok(Arc::new(Payer::new(
            model,
            self.caller().person().to_string(),
        )))
    }

    /// Calls one of the skills it was granted, within its own task.
    pub async fn call(&self, skill: &str, input: Value) -> Result<Reply<Value>, SkillError> {
        if self.depth >= DEPTH {
            let why = format!("calls of skills are nested more than {DEPTH} deep");
            return Err(SkillError::failed(why));
        }
        let entry = self.skills().entry(skill).cloned();
        let entry = entry.ok_or_else(|| SkillError::Unknown(skill.to_owned()))?;
        let ctx = Self {
            skill: skill.into(),
            depth: self.depth + 1,
            ..self.clone()
        };
        match self.call.run(entry, input, ctx).await {
            // It is this skill's fault, not that of its caller.
            Err(error @ SkillError::InvalidInput(_)) => Err(SkillError::coded(
                error.code(),
                format!("skill {skill:?}: {error}"),
            )),
            outcome => outcome,
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("skill", &self.skill)
            .finish_non_exhaustive()
    }
}
