//! The state of a call that is under way: where a skill and the turn that it works for meet.
//!
//! A skill can outlive the turn it was called in: it asks, the turn ends, and the answer comes in another one.
//! The state stays. What the skill says goes to the current turn, and what must not be done or asked
//! twice is read from what was kept with the task.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a::server::{Over, Turn};
use a2a::types::{Artifact, Message, TaskState};
use access::Principal;
use bytes::Bytes;
use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skill::extension::Question;
use skill::{Call, Chunk, Context, Entry, Outcome, QuestionAnswer, SkillError, WaitGuard};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::fence::Fence;

/// A handle on the state of one call. Clones are the same call.
#[derive(Clone)]
pub(crate) struct CallState(Arc<Inner>);

struct Inner {
    now: Mutex<Now>,
    fence: Arc<Fence>,
    waits: Arc<Waits>,
    /// Wakes the driver of the call: the skill asks something.
    asked: Notify,
    /// One question at a time.
    asking: tokio::sync::Mutex<()>,
}

struct Now {
    turn: Turn,
    /// The task exists: something was said of it.
    begun: bool,
    /// What was kept with the task when the skill was begun again; empty the first time.
    kept: BTreeMap<String, Bytes>,
    /// How many questions were asked.
    questions: usize,
    /// How often something was done, by a name.
    counts: BTreeMap<String, usize>,
    /// What is asked and not answered.
    open: Option<Open>,
    /// The task has ended.
    ended: bool,
}

/// How long the skill has waited for others: that is not its own time.
#[derive(Default)]
struct Waits(Mutex<Waited>);

#[derive(Default)]
struct Waited {
    /// How many waits are under way, and when the first of them began.
    now: usize,
    since: Option<Instant>,
    /// The time of the waits that have ended.
    over: Duration,
}

impl Waits {
    fn lock(&self) -> MutexGuard<'_, Waited> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Open {
    question: Question,
    /// What its answer is kept under.
    key: String,
    shown: bool,
    reply: oneshot::Sender<QuestionAnswer>,
}

/// An answer as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    answer: QuestionAnswer,
    /// The message it came in.
    message: String,
}

impl Now {
    /// How often this was called before with the same name.
    fn count(&mut self, name: &str) -> usize {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count += 1;
        *count - 1
    }
}

impl CallState {
    /// The state of a call that begins in this turn. `kept` is what an earlier run of it kept with the task.
    pub(crate) fn new(turn: Turn, kept: BTreeMap<String, Bytes>, fence: Arc<Fence>) -> Self {
        Self(Arc::new(Inner {
            now: Mutex::new(Now {
                begun: turn.task().is_some(),
                turn,
                kept,
                questions: 0,
                counts: BTreeMap::new(),
                open: None,
                ended: false,
            }),
            fence,
            waits: Arc::default(),
            asked: Notify::new(),
            asking: tokio::sync::Mutex::new(()),
        }))
    }

    /// The turn that the skill works for now.
    pub(crate) fn turn(&self) -> Turn {
        self.lock().turn.clone()
    }

    /// Another turn takes the place of the one before.
    pub(crate) fn continue_in(&self, turn: Turn) {
        let mut now = self.lock();
        now.turn = turn;
        now.begun = true;
    }

    /// Whether a task came of the call already.
    pub(crate) fn has_begun(&self) -> bool {
        self.lock().begun
    }

    /// Says that the task is being worked on, if nothing was said before.
    pub(crate) async fn begin(&self) -> Result<(), SkillError> {
        if !std::mem::replace(&mut self.lock().begun, true) {
            self.turn().working().await.map_err(over)?;
        }
        Ok(())
    }

    /// Says how the work goes.
    async fn say(&self, message: Message) -> Result<(), SkillError> {
        self.lock().begun = true;
        let turn = self.turn();
        turn.status(TaskState::Working, Some(message))
            .await
            .map_err(over)
    }

    /// Waits for an answer to a question, for as long as it takes; nothing, if it is withdrawn. One that was answered
    /// before a restart is answered again: it is known by its scope, and by its place among the questions of that.
    pub(crate) async fn ask_as(
        &self,
        scope: &str,
        message: String,
        schema: Value,
        early: bool,
    ) -> Result<Option<QuestionAnswer>, SkillError> {
        let _one = self.0.asking.lock().await;
        let (reply, answered) = oneshot::channel();
        {
            let mut now = self.lock();
            let number = now.questions;
            now.questions += 1;
            let key = answer_key(scope, now.count(scope));
            if let Some(kept) = now.kept.get(&key) {
                return read::<Kept>(kept).map(|kept| Some(kept.answer));
            }
            let question = Question {
                message,
                schema,
                number,
                early,
            };
            let shown = false;
            now.open = Some(Open {
                question,
                key,
                shown,
                reply,
            });
        }
        self.0.asked.notify_one();
        let answered = answered.await.ok();
        if answered.is_none()
            && let Some(count) = self.lock().counts.get_mut(scope)
        {
            // Whoever asks again asks the same.
            *count -= 1;
        }
        Ok(answered)
    }

    /// What is asked is asked no more: it may have lost its point.
    pub(crate) fn withdraw(&self) {
        drop(self.lock().open.take());
    }

    /// The task has ended while the skill waited.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
    }

    /// The clock of the time limit stands still until the guard is dropped.
    pub(crate) fn waiting(&self) -> WaitGuard {
        let mut waits = self.0.waits.lock();
        waits.now += 1;
        waits.since.get_or_insert_with(Instant::now);
        Box::new(Waiting(self.0.waits.clone()))
    }

    /// How long the skill has waited so far.
    pub(crate) fn waited(&self) -> Duration {
        let waits = self.0.waits.lock();
        waits.over + waits.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Ends when the skill asks something that was not shown to anybody yet: what, and what its answer is kept under.
    pub(crate) async fn asked(&self) -> (Question, String) {
        loop {
            if let Some(open) = &mut self.lock().open
                && !std::mem::replace(&mut open.shown, true)
            {
                return (open.question.clone(), open.key.clone());
            }
            self.0.asked.notified().await;
        }
    }

    /// What is asked can be shown to somebody again.
    pub(crate) fn show_again(&self) {
        if let Some(open) = &mut self.lock().open {
            open.shown = false;
        }
    }

    /// Whether a message was taken as an answer before.
    pub(crate) fn took(&self, message: &str) -> bool {
        let now = self.lock();
        let mut answers = now.kept.iter().filter(|(key, _)| key.starts_with(ANSWER));
        answers.any(|(_, kept)| read::<Kept>(kept).is_ok_and(|kept| kept.message == message))
    }

    /// What is asked and not answered.
    pub(crate) fn open_question(&self) -> Option<Question> {
        let now = self.lock();
        now.open.as_ref().map(|open| open.question.clone())
    }

    /// Answers what is asked. The answer was kept before.
    pub(crate) fn answer(&self, answer: QuestionAnswer) {
        if let Some(open) = self.lock().open.take() {
            // A skill that gave up waiting does not need it.
            let _ = open.reply.send(answer);
        }
    }

    /// What an effect gave when it was done before.
    fn done_before(&self, key: &str) -> Option<Result<Value, SkillError>> {
        let now = self.lock();
        now.kept.get(&once_key(key)).map(|kept| read(kept))
    }

    /// Keeps what an effect gave. It is safe when this returns.
    async fn keep_result(&self, key: &str, value: &Value) -> Result<(), SkillError> {
        self.begin().await?;
        let bytes = write(value)?;
        let turn = self.turn();
        turn.note(once_key(key), bytes.clone())
            .await
            .map_err(over)?;
        turn.committed().await.map_err(over)?;
        self.lock().kept.insert(once_key(key), bytes);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.0.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait that is under way.
struct Waiting(Arc<Waits>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut waits = self.0.lock();
        waits.now -= 1;
        if waits.now == 0
            && let Some(since) = waits.since.take()
        {
            waits.over += since.elapsed();
        }
    }
}

impl Call for CallState {
    fn caller(&self) -> Principal {
        self.turn().caller().clone()
    }

    fn cancelled(&self) -> CancellationToken {
        self.turn().cancelled().clone()
    }

    fn is_over(&self) -> bool {
        self.lock().ended || self.cancelled().is_cancelled()
    }

    fn report(&self, message: Message) -> BoxFuture<'_, Result<(), SkillError>> {
        Box::pin(self.say(message))
    }

    fn artifact(&self, artifact: Artifact, chunk: Chunk) -> BoxFuture<'_, Result<(), SkillError>> {
        Box::pin(async move {
            self.begin().await?;
            let chunk = match chunk {
                Chunk::Whole => a2a::server::Chunk::Whole,
                Chunk::First => a2a::server::Chunk::First,
                Chunk::More => a2a::server::Chunk::More,
                Chunk::Last => a2a::server::Chunk::Last,
            };
            self.turn().chunk(artifact, chunk).await.map_err(over)
        })
    }

    fn ask<'a>(
        &'a self,
        scope: &'a str,
        message: String,
        schema: Value,
    ) -> BoxFuture<'a, Result<Option<QuestionAnswer>, SkillError>> {
        Box::pin(self.ask_as(scope, message, schema, false))
    }

    fn wait(&self) -> WaitGuard {
        self.waiting()
    }

    fn kept(&self, key: &str) -> Option<Result<Value, SkillError>> {
        self.done_before(key)
    }

    fn keep<'a>(&'a self, key: &'a str, value: Value) -> BoxFuture<'a, Result<(), SkillError>> {
        Box::pin(async move { self.keep_result(key, &value).await })
    }

    fn run(&self, skill: Arc<Entry>, input: Value, ctx: Context) -> BoxFuture<'static, Outcome> {
        let (fence, state) = (self.0.fence.clone(), self.clone());
        Box::pin(async move {
            let limit = fence.limit(&skill);
            let called = fence.call(skill, input, ctx, state.clone());
            let called = within(limit, &state, called).await;
            called.unwrap_or(Err(SkillError::TimedOut(limit)))
        })
    }
}

/// The task takes no more updates.
fn over(over: Over) -> SkillError {
    SkillError::Interrupted(over.to_string())
}

/// Ends work that takes longer than this, besides the time in which it waits for others.
pub(crate) async fn within<T>(
    limit: Duration,
    state: &CallState,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::pin!(work);
    let (began, before) = (Instant::now(), state.waited());
    loop {
        let end = || began + limit + state.waited().saturating_sub(before);
        tokio::select! {
            biased;
            done = &mut work => return Some(done),
            () = sleep_until(end()) => {}
        }
        if Instant::now() >= end() {
            return None;
        }
    }
}

/// Keeps an answer with its task. It is safe when this returns.
pub(crate) async fn keep_answer(
    turn: &Turn,
    key: &str,
    answer: &QuestionAnswer,
) -> Result<(), SkillError> {
    let kept = Kept {
        answer: answer.clone(),
        message: turn.message().message_id.clone(),
    };
    turn.note(key, write(&kept)?).await.map_err(over)?;
    turn.committed().await.map_err(over)
}

/// What the keys of answers begin with.
const ANSWER: &str = "answer/";

fn answer_key(scope: &str, place: usize) -> String {
    match scope {
        "" => format!("{ANSWER}{place}"),
        scope => format!("{ANSWER}{scope}/{place}"),
    }
}

fn once_key(key: &str) -> String {
    format!("once/{key}")
}

fn write<T: Serialize>(value: &T) -> Result<Bytes, SkillError> {
    let unwritten = |error: serde_json::Error| SkillError::Interrupted(error.to_string());
    serde_json::to_vec(value)
        .map(Bytes::from)
        .map_err(unwritten)
}

fn read<T: for<'de> Deserialize<'de>>(kept: &[u8]) -> Result<T, SkillError> {
    let unread = |error: serde_json::Error| {
        SkillError::Interrupted(format!("what was kept with the task is damaged: {error}"))
    };
    serde_json::from_slice(kept).map_err(unread)
}
