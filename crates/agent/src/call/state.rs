//! The state of a running call, shared by the skill and the turn that drives it.
//!
//! A skill can outlive the turn it was called in: it asks, the turn ends, and the answer comes in another one.
//! The state stays. What the skill says goes to the current turn, and what must not be done or asked
//! twice is read from what was kept with the task.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a::server::{Over, Turn};
use a2a::types::{Artifact, Message, TaskState};
use access::{Permission, Principal};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skill::extension::{self, Question, QuestionKind};
use skill::{Call, Chunk, Context, Entry, Outcome, QuestionAnswer, SkillError, WaitGuard};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::fence::Fence;
use crate::context::Questions;
use crate::handle::AgentHandle;

/// The state of one call: what a skill, and the skills it calls, share with the turn they work for. Clones are the same
/// call.
///
/// It owns the current turn, the question that is open, the clock of waiting, and what is known from before a restart:
/// results of effects, from the notes of the task, and questions with their answers, from the journal of the agent. The
/// skill reaches it through its context, as an implementation of [`Call`]; the driver ([`Running`](super::Running))
/// reaches it directly. There is one question at a time: a second skill that asks waits for the first answer.
///
/// A question is opened by the skill, taken by the driver, and answered or withdrawn by the driver of some turn. A
/// question of a skill has a place, its scope and its number in that, by which the journal knows it; an approval or a
/// question of the agent itself is recorded by what asked it and has none. The message of the current turn is the answer
/// only to a question that was shown before: after a restart the last message of the task is delivered once more, and a
/// new question must not be answered by it.
///
/// Nothing is said of the task until the skill waits for something, so that a call that only computes is one commit.
#[derive(Clone)]
pub(crate) struct CallState(Arc<Inner>);

struct Inner {
    now: Mutex<Now>,
    fence: Arc<Fence>,
    agent: AgentHandle,
    /// The call was begun before, in another process.
    again: bool,
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
    /// Results of effects that were kept with the task; empty the first time.
    kept: BTreeMap<String, Bytes>,
    /// The questions of the task as the journal has them; empty the first time.
    recorded: Questions,
    /// How many questions were asked.
    questions: usize,
    /// How often something was done, by a name.
    counts: BTreeMap<String, usize>,
    /// What is asked and not answered.
    open: Option<Open>,
    /// The text of the artifact `output` that was handed over in pieces.
    streamed: Streamed,
    /// The name of the person that gave the last answer.
    speaker: Option<String>,
    /// The task has ended.
    ended: bool,
}

/// The output of a call as its followers have it from the pieces that were sent, so that the same text is not sent again
/// when the call ends.
#[derive(Default)]
struct Streamed {
    text: String,
    /// The last piece was sent.
    whole: bool,
}

impl Streamed {
    fn note(&mut self, artifact: &Artifact, chunk: Chunk) {
        if artifact.artifact_id != extension::OUTPUT {
            return;
        }
        if matches!(chunk, Chunk::Whole | Chunk::First) {
            self.text.clear();
        }
        let texts = artifact.parts.iter().filter_map(a2a::types::Part::as_text);
        texts.for_each(|text| self.text.push_str(text));
        self.whole = matches!(chunk, Chunk::Whole | Chunk::Last);
    }
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

/// What is asked.
struct QuestionDraft {
    message: String,
    schema: Value,
    kind: QuestionKind,
    from: Option<String>,
}

/// The longest question, in bytes: a preview of 128 KiB, and what can be answered.
const MAX_QUESTION: usize = 136 * 1024;

struct Open {
    question: Question,
    /// Its place in the journal. None: what asked it records it.
    place: Option<String>,
    /// It was shown before the current turn, so that the message of this turn can be the answer.
    shown_before: bool,
    /// The driver has it.
    taken: bool,
    reply: oneshot::Sender<Given>,
}

/// A question that the driver is to show, or to answer with the message at hand.
#[derive(Clone)]
pub(crate) struct ToShow {
    pub(crate) question: Question,
    pub(crate) place: Option<String>,
    pub(crate) shown_before: bool,
}

/// An answer, with the message that it came in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    pub(crate) answer: QuestionAnswer,
    /// The caller who sent the message.
    pub(crate) by: String,
    /// That caller has the permission to answer approvals.
    pub(crate) may_approve: bool,
    /// The id of the message.
    pub(crate) message: String,
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
    /// The state of a call that begins in this turn.
    pub(crate) fn new(turn: Turn, fence: Arc<Fence>, agent: AgentHandle) -> Self {
        Self::of(
            turn,
            BTreeMap::new(),
            Questions::default(),
            fence,
            agent,
            false,
        )
    }

    /// The state of a call that is begun again: with what was kept with its task, and what the journal has of its
    /// questions.
    pub(crate) fn again(
        turn: Turn,
        kept: BTreeMap<String, Bytes>,
        recorded: Questions,
        fence: Arc<Fence>,
        agent: AgentHandle,
    ) -> Self {
        Self::of(turn, kept, recorded, fence, agent, true)
    }

    fn of(
        turn: Turn,
        kept: BTreeMap<String, Bytes>,
        recorded: Questions,
        fence: Arc<Fence>,
        agent: AgentHandle,
        again: bool,
    ) -> Self {
        Self(Arc::new(Inner {
            now: Mutex::new(Now {
                begun: turn.task().is_some(),
                turn,
                kept,
                recorded,
                questions: 0,
                counts: BTreeMap::new(),
                open: None,
                streamed: Streamed::default(),
                speaker: None,
                ended: false,
            }),
            fence,
            agent,
            again,
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

    /// Whether the followers of the task have this output already, piece by piece.
    pub(crate) fn has_streamed(&self, output: &Value) -> bool {
        let now = self.lock();
        now.streamed.whole && output.as_str() == Some(now.streamed.text.as_str())
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

    /// The agent that has the questions of the call in its journal.
    pub(crate) fn agent(&self) -> &AgentHandle {
        &self.0.agent
    }

    /// The name of the speaker of a message of the current turn, and whether it may answer approvals.
    pub(crate) fn speaker_of(&self, message: &Message) -> (String, bool) {
        let tasks = &self.agent().population.0.tasks;
        let turn = self.turn();
        match tasks.speaker(&message.message_id) {
            // A speaker that answers in the name of another caller was allowed to.
            Some(person) => (person, true),
            None => {
                let speaker = crate::turn::speaker(turn.caller(), message);
                (speaker, turn.caller().may(Permission::Approve))
            }
        }
    }

    /// Asks a question of a skill. It is known by its scope, and by its place among the questions of that; one that was
    /// answered before a restart is not asked again.
    async fn ask_recorded(
        &self,
        scope: &str,
        from: Option<&str>,
        message: String,
        schema: Value,
    ) -> Result<Option<QuestionAnswer>, SkillError> {
        let _one = self.0.asking.lock().await;
        let (place, shown_before) = {
            let mut now = self.lock();
            let place = place(scope, now.count(scope));
            if let Some(answer) = now.recorded.answer(&place) {
                let answer = answer.clone();
                now.speaker = now.recorded.answered_by(&place).map(str::to_owned);
                now.questions += 1;
                return Ok(Some(answer));
            }
            let open = now.recorded.open();
            let shown = open.is_some_and(|it| it.place == place && it.message == message);
            (place, shown)
        };
        let asked = QuestionDraft {
            message,
            schema,
            kind: QuestionKind::Question,
            from: from.map(str::to_owned),
        };
        let given = self.open(asked, Some(place), shown_before).await?;
        if given.is_none()
            && let Some(count) = self.lock().counts.get_mut(scope)
        {
            // To ask again is to ask the same.
            *count -= 1;
        }
        Ok(given.map(|it| it.answer))
    }

    /// Asks a question that is recorded as something else: an approval, or an effect of the agent. None: it was withdrawn.
    pub(crate) async fn ask_recorded_elsewhere(
        &self,
        message: String,
        schema: Value,
        shown_before: bool,
        kind: QuestionKind,
    ) -> Result<Option<Given>, SkillError> {
        let _one = self.0.asking.lock().await;
        let asked = QuestionDraft {
            message,
            schema,
            kind,
            from: None,
        };
        self.open(asked, None, shown_before).await
    }

    /// Whether the call was begun before, in another process.
    pub(crate) fn is_again(&self) -> bool {
        self.0.again
    }

    /// Opens a question for the driver to show, and waits for the answer.
    ///
    /// A question is shown whole, with characters that are not seen written out, or not at all.
    async fn open(
        &self,
        asked: QuestionDraft,
        place: Option<String>,
        shown_before: bool,
    ) -> Result<Option<Given>, SkillError> {
        let message = skill::visible(&asked.message);
        if message.len() > MAX_QUESTION {
            let why = format!(
                "the question is longer than the {MAX_QUESTION} bytes that a person is shown"
            );
            return Err(SkillError::coded("too-much", why));
        }
        let (reply, answered) = oneshot::channel();
        {
            let mut now = self.lock();
            let number = now.questions;
            now.questions += 1;
            now.open = Some(Open {
                question: Question {
                    message,
                    schema: asked.schema,
                    number,
                    // An approval is asked before the skill begins.
                    early: asked.kind == QuestionKind::Approval,
                    kind: asked.kind,
                    from: asked.from,
                },
                place,
                shown_before,
                taken: false,
                reply,
            });
        }
        self.0.asked.notify_one();
        Ok(answered.await.ok())
    }

    /// Withdraws the open question, for example because its time is over.
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

    /// Ends when there is a question that the driver does not have yet.
    pub(crate) async fn asked(&self) -> ToShow {
        loop {
            if let Some(open) = &mut self.lock().open
                && !std::mem::replace(&mut open.taken, true)
            {
                return ToShow {
                    question: open.question.clone(),
                    place: open.place.clone(),
                    shown_before: open.shown_before,
                };
            }
            self.0.asked.notified().await;
        }
    }

    /// The question is shown: the driver of a later turn may answer it, or show it again.
    pub(crate) fn shown(&self) {
        if let Some(open) = &mut self.lock().open {
            open.taken = false;
            open.shown_before = true;
        }
    }

    /// How many messages of this id were taken as answers before.
    pub(crate) fn times_taken(&self, message: &str) -> usize {
        let now = self.lock();
        now.recorded
            .taken
            .iter()
            .filter(|it| *it == message)
            .count()
    }

    /// Whether a question waits for its answer.
    pub(crate) fn has_question(&self) -> bool {
        self.lock().open.is_some()
    }

    /// Answers the open question.
    pub(crate) fn answer(&self, given: Given) {
        let mut now = self.lock();
        now.speaker = Some(given.by.clone());
        if let Some(open) = now.open.take() {
            // A skill that gave up waiting does not need it.
            let _ = open.reply.send(given);
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

    fn speaker(&self) -> String {
        let speaker = self.lock().speaker.clone();
        speaker.unwrap_or_else(|| self.caller().to_string())
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
            self.lock().streamed.note(&artifact, chunk);
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
        Box::pin(self.ask_recorded(scope, None, message, schema))
    }

    fn ask_from<'a>(
        &'a self,
        scope: &'a str,
        server: &'a str,
        message: String,
        schema: Value,
    ) -> BoxFuture<'a, Result<Option<QuestionAnswer>, SkillError>> {
        Box::pin(self.ask_recorded(scope, Some(server), message, schema))
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

/// The place of a question in the journal.
fn place(scope: &str, number: usize) -> String {
    match scope {
        "" => number.to_string(),
        scope => format!("{scope}/{number}"),
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
