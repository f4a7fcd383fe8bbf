//! Where a skill and the turn that it works for meet.
//!
//! A skill can outlive the turn it was called in: it asks, the turn ends, and the answer comes in another one.
//! The desk stays. What the skill says goes to whichever turn sits there, and what must not be done or asked
//! twice is read from what was kept with the task.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a::server::Turn;
use a2a::types::{Message, TaskState};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::error::SkillError;
use crate::extension::Question;

pub(crate) struct Desk {
    sitting: Mutex<Sitting>,
    /// Wakes who drives the skill: it asks something.
    asked: Notify,
    /// One question at a time.
    asking: tokio::sync::Mutex<()>,
}

struct Sitting {
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
    waits: Waits,
    /// The task has.
    ended: bool,
}

/// How long the skill has waited for others: that is not its own time.
#[derive(Default)]
struct Waits {
    /// So many wait now, since then.
    now: usize,
    since: Option<Instant>,
    /// What is over.
    over: Duration,
}

struct Open {
    question: Question,
    /// What its answer is kept under.
    key: String,
    shown: bool,
    reply: oneshot::Sender<Answered>,
}

/// An answer as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    answer: Answered,
    /// The message it came in.
    message: String,
}

/// How a question was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answered {
    Given(Value),
    Declined,
}

impl Sitting {
    /// How often this was called before with the same name.
    fn count(&mut self, name: &str) -> usize {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count += 1;
        *count - 1
    }
}

impl Desk {
    /// A desk for a skill that is called in this turn. `kept` is what an earlier run of it left.
    pub(crate) fn new(turn: Turn, kept: BTreeMap<String, Bytes>) -> Self {
        Self {
            sitting: Mutex::new(Sitting {
                begun: turn.task().is_some(),
                turn,
                kept,
                questions: 0,
                counts: BTreeMap::new(),
                open: None,
                waits: Waits::default(),
                ended: false,
            }),
            asked: Notify::new(),
            asking: tokio::sync::Mutex::new(()),
        }
    }

    /// The turn that the skill works for now.
    pub(crate) fn turn(&self) -> Turn {
        self.lock().turn.clone()
    }

    /// Another turn takes the place of the one before.
    pub(crate) fn sit(&self, turn: Turn) {
        let mut sitting = self.lock();
        sitting.turn = turn;
        sitting.begun = true;
    }

    /// Whether a task came of the call already.
    pub(crate) fn has_begun(&self) -> bool {
        self.lock().begun
    }

    /// Says that the task is being worked on, if nothing was said before.
    pub(crate) async fn begin(&self) -> Result<(), SkillError> {
        if !std::mem::replace(&mut self.lock().begun, true) {
            self.turn().working().await?;
        }
        Ok(())
    }

    /// Says how the work goes.
    pub(crate) async fn say(&self, message: Message) -> Result<(), SkillError> {
        self.lock().begun = true;
        let turn = self.turn();
        Ok(turn.status(TaskState::Working, Some(message)).await?)
    }

    /// Waits for an answer to a question, for as long as it takes; nothing, if it is withdrawn. One that was answered
    /// before a restart is answered again: it is known by its scope, and by its place among the questions of that.
    pub(crate) async fn ask(
        &self,
        scope: &str,
        message: String,
        schema: Value,
        early: bool,
    ) -> Result<Option<Answered>, SkillError> {
        let _one = self.asking.lock().await;
        let (reply, answered) = oneshot::channel();
        {
            let mut sitting = self.lock();
            let number = sitting.questions;
            sitting.questions += 1;
            let key = answer_key(scope, sitting.count(scope));
            if let Some(kept) = sitting.kept.get(&key) {
                return read::<Kept>(kept).map(|kept| Some(kept.answer));
            }
            let question = Question {
                message,
                schema,
                number,
                early,
            };
            let shown = false;
            sitting.open = Some(Open {
                question,
                key,
                shown,
                reply,
            });
        }
        self.asked.notify_one();
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

    pub(crate) fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// From now on somebody waits, until the guard is dropped.
    pub(crate) fn wait(self: &Arc<Self>) -> Waiting {
        let waits = &mut self.lock().waits;
        waits.now += 1;
        waits.since.get_or_insert_with(Instant::now);
        Waiting(self.clone())
    }

    /// How long there was waiting so far.
    pub(crate) fn waited(&self) -> Duration {
        let waits = &self.lock().waits;
        waits.over + waits.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(crate) fn count(&self, name: &str) -> usize {
        self.lock().count(name)
    }

    /// Ends when the skill asks something that was not shown to anybody yet: what, and what its answer is kept under.
    pub(crate) async fn asked(&self) -> (Question, String) {
        loop {
            if let Some(open) = &mut self.lock().open
                && !std::mem::replace(&mut open.shown, true)
            {
                return (open.question.clone(), open.key.clone());
            }
            self.asked.notified().await;
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
        let sitting = self.lock();
        let mut answers = sitting
            .kept
            .iter()
            .filter(|(key, _)| key.starts_with(ANSWER));
        answers.any(|(_, kept)| read::<Kept>(kept).is_ok_and(|kept| kept.message == message))
    }

    /// What is asked and not answered.
    pub(crate) fn open_question(&self) -> Option<Question> {
        let sitting = self.lock();
        sitting.open.as_ref().map(|open| open.question.clone())
    }

    /// Answers what is asked. The answer was kept before.
    pub(crate) fn answer(&self, answer: Answered) {
        if let Some(open) = self.lock().open.take() {
            // A skill that gave up waiting does not need it.
            let _ = open.reply.send(answer);
        }
    }

    /// What an effect gave when it was done before.
    pub(crate) fn done_before(&self, key: &str) -> Option<Result<Value, SkillError>> {
        let sitting = self.lock();
        sitting.kept.get(&once_key(key)).map(|kept| read(kept))
    }

    /// Keeps what an effect gave. It is safe when this returns.
    pub(crate) async fn keep(&self, key: &str, value: &Value) -> Result<(), SkillError> {
        self.begin().await?;
        let bytes = write(value)?;
        let turn = self.turn();
        turn.note(once_key(key), bytes.clone()).await?;
        turn.committed().await?;
        self.lock().kept.insert(once_key(key), bytes);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Sitting> {
        self.sitting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody waits for as long as this is there.
pub(crate) struct Waiting(Arc<Desk>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let waits = &mut self.0.lock().waits;
        waits.now -= 1;
        if waits.now == 0
            && let Some(since) = waits.since.take()
        {
            waits.over += since.elapsed();
        }
    }
}

/// Ends work that takes longer than this, besides the time in which it waits for others.
pub(crate) async fn within<T>(
    limit: Duration,
    desk: &Desk,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::pin!(work);
    let (began, before) = (Instant::now(), desk.waited());
    loop {
        let end = || began + limit + desk.waited().saturating_sub(before);
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
    answer: &Answered,
) -> Result<(), SkillError> {
    let kept = Kept {
        answer: answer.clone(),
        message: turn.message().message_id.clone(),
    };
    turn.note(key, write(&kept)?).await?;
    Ok(turn.committed().await?)
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
