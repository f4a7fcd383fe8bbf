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

use crate::answer;

use super::state::{CallState, Given, ToShow};

/// A call that has not ended: the future of a skill, or of the agent's own thinking, and the state that it shares with
/// its driver.
///
/// It is driven by one turn of the task server at a time. A turn polls it until it ends or asks. A question is taken to
/// the journal of the agent first, if it is one of a skill; then the call is parked under the id of its task; then the
/// status INPUT_REQUIRED shows the question on every wire, and the turn ends. The next message is another turn: it
/// takes the call out of the parking, reads the message as the answer, records it and goes on polling. A message that
/// was sent before the question was shown is no answer to it. After a restart nothing is parked: the skill is begun
/// again from the first message of the task, finds the answers it had in the journal, and stops at the question that
/// is open; a skill that is not replayable fails instead, unless it had not begun.
///
/// The time limit counts work, not waiting: while the call is parked, or a skill says that it waits for others, the
/// clock stands still.
pub(crate) struct Running {
    pub(crate) id: String,
    pub(crate) work: BoxFuture<'static, Outcome>,
    pub(crate) state: CallState,
    /// How long it may work yet, and how long it may work at all.
    pub(crate) left: Duration,
    pub(crate) limit: Duration,
    /// It waits to be taken up again.
    pub(crate) parked: Option<WaitGuard>,
}

/// Calls that wait for an answer, by the id of their task.
///
/// A parked call is a future that is not polled: it holds memory, and what its skill holds, but no thread and no place
/// among the agents at work. It is taken out by the turn that brings the answer, by a turn that withdraws the question,
/// or when its task ends. What is parked is lost with the process; the journal of the agent is what survives.
///
/// The number is limited. When there are too many, the call that waited longest is dropped: it is begun again when its
/// answer comes, like after a restart, if its skill is replayable.
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
        // Values of the skill are dropped outside of the lock.
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
        if !state.has_question() {
            state.begin().await.map_err(|error| failed(&error))?;
        }
        loop {
            let asked = tokio::select! {
                biased;
                outcome = self.work.as_mut() => return self.end(&turn, outcome).await,
                asked = state.asked() => asked,
                () = tokio::time::sleep(left.saturating_sub(worked())) => {
                    if worked() < left {
                        continue;
                    }
                    let late = Err(SkillError::TimedOut(self.limit));
                    return self.end(&turn, late).await;
                }
            };
            let task = turn.task_id().as_str();
            let ToShow {
                question,
                place,
                shown_before,
            } = asked;
            let answer = answer
                .take()
                .filter(|it| shown_before && came_after(&turn, &question, it));
            let read = answer.map(|message| (answer::read(&question, &message), message));
            let faults = match read {
                Some((Ok(answer), message)) => {
                    let (by, may_approve) = state.speaker_of(&message);
                    let given = Given {
                        answer,
                        by,
                        may_approve,
                        message: message.message_id,
                    };
                    if let Some(place) = &place {
                        let recorded = state.agent().answered(task, place, &given).await;
                        recorded.map_err(|error| Failure::new(error.to_string()))?;
                    }
                    state.answer(given);
                    continue;
                }
                Some((Err(faults), _)) => faults,
                None => Vec::new(),
            };
            if let Some(place) = &place {
                let recorded = state.agent().asked(&turn, place, &question).await;
                recorded.map_err(|error| Failure::new(error.to_string()))?;
            }
            // Parked before the question is seen: an answer may come in the very next moment.
            state.shown();
            self.left = left.saturating_sub(worked());
            self.parked = Some(state.waiting());
            parked.put(task, self);
            let asked = turn.status(TaskState::InputRequired, Some(question.message(&faults)));
            return Ok(asked.await?);
        }
    }

    /// Writes the outcome of the skill as the last update of the task.
    async fn end(self, turn: &Turn, outcome: Outcome) -> Result<(), Failure> {
        let begun = self.state.has_begun();
        match outcome {
            Ok(Reply::Done(output)) => {
                // A client that prints events as they come would show a repeated text twice.
                if !self.state.has_streamed(&output) {
                    let artifact = extension::output_artifact(&self.id, output);
                    turn.artifact(artifact).await?;
                }
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
            Err(SkillError::Forbidden { refusal, .. }) if !begun => {
                return Err(Failure::refusal(refusal.into()));
            }
            Err(SkillError::Cancelled) => turn.status(TaskState::Canceled, None).await?,
            Err(error) => {
                let state = match error {
                    SkillError::NotApproved(_) => TaskState::Canceled,
                    SkillError::Refused(_)
                    | SkillError::Forbidden { .. }
                    | SkillError::Declined => TaskState::Rejected,
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

/// The error for input that does not fit the schema.
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

/// Whether a message came after the question was shown. One that came earlier cannot mean it: it
/// was for a question that another message has answered, or for none.
fn came_after(turn: &Turn, question: &Question, message: &Message) -> bool {
    let history = turn.task().map_or(&[][..], |task| &task.history);
    // Clients may use an id twice: the newest message that bears it is meant.
    let place = history
        .iter()
        .rposition(|it| it.message_id == message.message_id);
    let mut earlier = history[..place.unwrap_or(history.len())].iter();
    earlier.any(|it| extension::asked_in(it).is_some_and(|it| it.number == question.number))
}
