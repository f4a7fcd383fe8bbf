//! A skill at work, from turn to turn: driven, parked while it waits for an answer, and taken up again.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use a2a::server::{Failure, Turn};
use a2a::types::{Message, TaskState};
use futures_core::future::BoxFuture;
use futures_util::poll;
use indexmap::IndexMap;
use tokio::time::Instant;

use skill::extension::{self, Question};
use skill::{Fault, Outcome, Reply, SkillError, WaitGuard};

use super::state::{CallState, keep_answer};
use crate::resident::Resident;

/// A skill that was called and has not ended.
pub(crate) struct Running {
    pub(crate) id: String,
    pub(crate) work: BoxFuture<'static, Outcome>,
    pub(crate) state: CallState,
    /// How long it may work yet, and how long it may work at all.
    pub(crate) left: Duration,
    pub(crate) limit: Duration,
    /// It waits to be taken up again.
    pub(crate) parked: Option<WaitGuard>,
    /// The agent that thinks, if it is no skill.
    pub(crate) thinks: Option<Resident>,
}

/// Skills that wait for an answer, by task. When there are too many, who waited longest is given up: it is begun
/// again when its answer comes, if it can be.
pub(crate) struct Parked {
    waiting: Mutex<IndexMap<String, Running>>,
    limit: usize,
}

impl Parked {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            limit,
        }
    }

    pub(crate) fn take(&self, task: &str) -> Option<Running> {
        self.lock().swap_remove(task)
    }

    fn put(&self, task: &str, running: Running) {
        let mut waiting = self.lock();
        let full = waiting.len() >= self.limit;
        let oldest = full.then(|| waiting.shift_remove_index(0)).flatten();
        waiting.insert(task.to_owned(), running);
        // What the skill held is let go of outside of the lock.
        drop(waiting);
        drop(oldest);
    }

    fn lock(&self) -> MutexGuard<'_, IndexMap<String, Running>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Works until the skill ends or asks what this message does not answer.
    pub(crate) async fn drive(
        mut self,
        turn: Turn,
        mut answer: Option<Message>,
        parked: &Parked,
    ) -> Result<(), Failure> {
        let (began, state) = (Instant::now(), self.state.clone());
        // While it was parked it waited.
        drop(self.parked.take());
        let before = state.waited();
        let left = self.left;
        let worked = || {
            began
                .elapsed()
                .saturating_sub(state.waited().saturating_sub(before))
        };
        // What a skill does without waiting needs no word about being worked on.
        if let Poll::Ready(outcome) = poll!(self.work.as_mut()) {
            return self.end(&turn, outcome).await;
        }
        if state.open_question().is_none() {
            state.begin().await.map_err(|error| failed(&error))?;
        }
        loop {
            let (question, key) = tokio::select! {
                biased;
                outcome = self.work.as_mut() => return self.end(&turn, outcome).await,
                question = state.asked() => question,
                () = tokio::time::sleep(left.saturating_sub(worked())) => {
                    if worked() < left {
                        continue;
                    }
                    let late = Err(SkillError::TimedOut(self.limit));
                    return self.end(&turn, late).await;
                }
            };
            let answer = answer.take().filter(|it| came_after(&turn, &question, it));
            let faults = match answer.map(|message| question.read(&message)) {
                Some(Ok(answer)) => {
                    let kept = keep_answer(&turn, &key, &answer).await;
                    kept.map_err(|error| failed(&error))?;
                    state.answer(answer);
                    continue;
                }
                Some(Err(faults)) => faults,
                None => Vec::new(),
            };
            // The question is open and can be shown again: an answer may come in the very next moment.
            state.show_again();
            self.left = left.saturating_sub(worked());
            self.parked = Some(state.waiting());
            let task = turn.task_id().to_string();
            if let Some(agent) = &self.thinks {
                agent.waits(&task, true).await;
            }
            parked.put(&task, self);
            let asked = turn.status(TaskState::InputRequired, Some(question.message(&faults)));
            return Ok(asked.await?);
        }
    }

    /// What comes of the skill becomes what the task says last.
    async fn end(self, turn: &Turn, outcome: Outcome) -> Result<(), Failure> {
        let begun = self.state.has_begun();
        match outcome {
            Ok(Reply::Done(output)) => {
                let artifact = extension::output_artifact(&self.id, output);
                turn.artifact(artifact).await?;
                turn.complete().await?;
            }
            Ok(Reply::Message(message)) => turn.reply(message).await?,
            Ok(Reply::Task(ending)) => {
                for artifact in ending.artifacts {
                    turn.artifact(artifact).await?;
                }
                turn.status(ending.state, ending.message).await?;
            }
            Err(SkillError::InvalidInput(faults)) if !begun => {
                return Err(Failure::refusal(invalid(&faults)));
            }
            Err(SkillError::Cancelled) => turn.status(TaskState::Canceled, None).await?,
            Err(error) => {
                let state = match error {
                    SkillError::Refused(_) | SkillError::Declined => TaskState::Rejected,
                    _ => TaskState::Failed,
                };
                let why = extension::failed(&error);
                turn.status(state, Some(why)).await?;
            }
        }
        Ok(())
    }
}

/// The task ends FAILED, with the error in words and for programs.
pub(crate) async fn fail(turn: &Turn, error: &SkillError) -> Result<(), Failure> {
    let why = extension::failed(error);
    Ok(turn.status(TaskState::Failed, Some(why)).await?)
}

/// What the caller is told about input that is none.
pub(crate) fn invalid(faults: &[Fault]) -> a2a::Error {
    let violations = faults.iter().map(|fault| {
        let field = format!("message.parts{}", fault.pointer.replace('/', "."));
        a2a::error::Violation {
            field,
            description: fault.problem.clone(),
        }
    });
    a2a::Error::InvalidParams {
        message: SkillError::InvalidInput(faults.to_vec()).to_string(),
        violations: violations.collect(),
    }
}

fn failed(error: &SkillError) -> Failure {
    Failure::new(error.to_string())
}

/// Whether a message came after the question was shown. One that came earlier cannot mean it, whatever it says: it
/// was for a question that somebody else has answered, or for none.
fn came_after(turn: &Turn, question: &Question, message: &Message) -> bool {
    let history = turn.task().map_or(&[][..], |task| &task.history);
    let mut earlier = history
        .iter()
        .take_while(|it| it.message_id != message.message_id);
    earlier.any(|it| extension::asked_in(it).is_some_and(|it| it.number == question.number))
}
