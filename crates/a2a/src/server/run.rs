//! The life of a task while somebody works on it.
//!
//! A run owns its task: it is the only one that appends to the task's stream. It polls the agent,
//! folds what the agent did into the task and commits it; what the agent does meanwhile is the next
//! commit. Messages and cancellations reach it through a mailbox, so which of two came first is
//! decided in one place. Each append names the generation it follows: the journal itself would refuse
//! a second owner.

use std::collections::VecDeque;
use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use store::{Commit, StreamId};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::agent::Failure;
use super::journal::{self, Scope};
use super::live::{Mailbox, Opened, Reply, Started};
use super::push::Registration;
use super::replay::{Outcome, Ticket};
use super::turn::{Outbox, Turn, TurnInput, Update};
use super::{Inner, id, upkeep};
use crate::error::Error;
use crate::sabotage::broken;
use crate::types::{ContextId, Message, Part, Role, Task, TaskId, TaskState};

mod change;

use change::{Begun, Pending, Recorded};

/// What can be asked of a run.
pub(super) enum Command {
    /// A message for the task.
    Message(Box<Incoming>),
    /// The end of the task.
    Cancel(oneshot::Sender<Result<Task, Error>>),
    /// The agent goes on where a process that ended left it.
    Resume(Box<Incoming>),
    /// The task ends FAILED, for this reason.
    Fail(&'static str),
}

/// A message on its way to an agent.
pub(super) struct Incoming {
    pub(super) asked: Arc<TurnInput>,
    /// Only on this generation of the task.
    pub(super) if_generation: Option<i64>,
    /// A webhook to be told of what comes of it.
    pub(super) webhook: Option<Registration>,
    /// The right to answer this message for the first time.
    pub(super) ticket: Option<Ticket>,
    /// Who waits for the answer, and for how much of it.
    pub(super) reply: Option<Reply>,
    pub(super) wants: Wants,
    /// An answer that is a message alone completes a task.
    pub(super) always_task: bool,
}

impl Incoming {
    /// Tells the caller that nothing comes of it. The ticket goes first: who corrects the message and
    /// sends it again is the first to send it.
    fn refuse(self, error: Error) {
        drop(self.ticket);
        if let Some(reply) = self.reply {
            // Whoever asked may have gone.
            let _ = reply.send(Err(error));
        }
    }
}

/// What the caller waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// The task once it rests.
    Rest,
    /// The task as soon as it exists.
    Begin,
    /// What happens to the task.
    Stream,
}

/// How an agent's turn ended; the outer failure is a panic.
type Ended = Result<Result<(), Failure>, ()>;

/// An agent's turn, under way.
type Answering = BoxFuture<'static, Ended>;

pub(super) struct Run {
    server: Arc<Inner>,
    scope: Scope,
    stream: StreamId,
    task_id: TaskId,
    context_id: ContextId,
    /// The task with all that is committed or pending; none before the agent's first update.
    task: Option<Task>,
    /// The message that opens the task, until it does.
    first: Option<Incoming>,
    /// Messages that are recorded and wait for the agent to end its turn.
    inbox: VecDeque<Arc<TurnInput>>,
    /// What was asked and not yet done.
    commands: VecDeque<Command>,
    mailbox: Arc<Mailbox>,
    /// The run can be found by the id of its task.
    listed: bool,
    outbox: Arc<Outbox>,
    cancelled: CancellationToken,
    /// When a cancelled agent's time is up.
    deadline: Option<Instant>,
    /// Who waits for the task to end, because they cancelled it.
    cancelling: Vec<oneshot::Sender<Result<Task, Error>>>,
    /// Who waits for the task to rest after a generation.
    resting: Vec<(i64, Reply)>,
    ended: Option<Ended>,
    pending: Pending,
    /// The journal lists the task among those worked on.
    marked: bool,
    /// The journal has the task.
    stored: bool,
    /// The agent's place among those at work.
    _place: Option<OwnedSemaphorePermit>,
}

impl Run {
    /// A run for a message that opens a task, or has a message for an answer.
    pub(super) fn new(
        server: Arc<Inner>,
        scope: Scope,
        incoming: Incoming,
        place: Option<OwnedSemaphorePermit>,
    ) -> Box<Self> {
        let now = server.now();
        let context_id = match &*incoming.asked.message.context_id {
            given if given.is_empty() || broken("r13") => {
                let label = server.agent_of(&scope).label(&incoming.asked.message);
                id::context(label.as_deref().unwrap_or(&server.label), now)
            }
            given => given.into(),
        };
        let mut run = Self::idle(server, scope, id::task(now), context_id, place);
        run.first = Some(incoming);
        run
    }

    /// A run for a task that nobody works on, and the first thing asked of it. The caller lists it.
    pub(super) fn of(
        server: Arc<Inner>,
        scope: Scope,
        task: &TaskId,
        command: Command,
        place: Option<OwnedSemaphorePermit>,
    ) -> Box<Self> {
        let mut run = Self::idle(server, scope, task.clone(), ContextId::from(""), place);
        run.commands.push_back(command);
        run.listed = true;
        run
    }

    fn idle(
        server: Arc<Inner>,
        scope: Scope,
        task_id: TaskId,
        context_id: ContextId,
        place: Option<OwnedSemaphorePermit>,
    ) -> Box<Self> {
        Box::new(Self {
            stream: journal::stream(&task_id),
            mailbox: Mailbox::new(server.limits.max_waiting_messages),
            outbox: Arc::new(Outbox::new(server.limits.max_waiting_updates)),
            server,
            scope,
            task_id,
            context_id,
            task: None,
            first: None,
            inbox: VecDeque::new(),
            commands: VecDeque::new(),
            listed: false,
            cancelled: CancellationToken::new(),
            deadline: None,
            cancelling: Vec::new(),
            resting: Vec::new(),
            ended: None,
            pending: Pending::default(),
            marked: false,
            stored: false,
            _place: place,
        })
    }

    pub(super) fn mailbox(&self) -> Arc<Mailbox> {
        self.mailbox.clone()
    }

    /// Works until there is nothing left to do for now.
    pub(super) async fn work(mut self: Box<Self>) {
        let server = self.server.clone();
        let mut agent = match &self.first {
            Some(incoming) => Some(self.turn(incoming.asked.clone())),
            // From here on nobody else writes the task: what is read now is what there is.
            None => match server.load(&self.scope, &self.task_id).await {
                Ok(task) => {
                    self.context_id = task.context_id.as_str().into();
                    self.marked = !task.is_settled();
                    self.task = Some(task);
                    self.stored = true;
                    None
                }
                Err(error) => return self.give_up(&error),
            },
        };
        let mut committing: Option<Commit> = None;
        loop {
            if committing.is_none() {
                agent = self.decide(agent);
                committing = self.commit();
                if committing.is_none() {
                    self.tell();
                    if agent.is_none() && self.leave() {
                        return;
                    }
                }
            }
            let grace = self.deadline.filter(|_| agent.is_some());
            tokio::select! {
                // The agent first: what it does without waiting becomes one commit.
                biased;
                ended = some(&mut agent) => {
                    agent = None;
                    self.ended = Some(ended);
                }
                committed = some(&mut committing) => {
                    committing = None;
                    match committed {
                        Ok(()) => self.tell(),
                        Err(error) => return self.give_up(&error.into()),
                    }
                }
                () = self.outbox.filled(), if committing.is_none() => {}
                () = self.mailbox.arrived() => self.commands.append(&mut self.mailbox.take()),
                () = wait_until(grace) => {
                    agent = None;
                    self.ended = Some(Ok(Ok(())));
                }
                () = server.halted.cancelled() => return,
            }
        }
    }

    /// Takes in all that has happened while nothing is being committed: so a commit holds what the
    /// task was folded with, no less and no more.
    fn decide(&mut self, mut agent: Option<Answering>) -> Option<Answering> {
        for update in self.outbox.take() {
            self.take(update);
        }
        if let Some(ended) = self.ended.take() {
            self.conclude(ended);
        }
        while let Some(command) = self.commands.pop_front() {
            self.obey(command, agent.is_some());
        }
        if agent.is_none()
            && !self.is_over()
            && let Some(asked) = self.inbox.pop_front()
        {
            // What the agent asked for has come before it asked.
            if self.state().is_interrupted() {
                self.set_status(TaskState::Working, None);
            }
            // What is pending was the last turn's, and nobody waits for it there any more.
            self.pending.updates = 0;
            self.outbox = Arc::new(Outbox::new(self.server.limits.max_waiting_updates));
            self.cancelled = CancellationToken::new();
            agent = Some(self.turn(asked));
        }
        agent
    }

    /// The agent's answer to a message, under way.
    fn turn(&self, asked: Arc<TurnInput>) -> Answering {
        let turn = Turn {
            asked,
            task: self.task.clone().map(Arc::new),
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            outbox: self.outbox.clone(),
            cancelled: self.cancelled.clone(),
            store: self.server.store.clone(),
        };
        let agent = self.server.agent_of(&self.scope);
        let answer = AssertUnwindSafe(async move { agent.answer(turn).await });
        // What the panic said went to the log by the panic hook.
        Box::pin(answer.catch_unwind().map(|ended| ended.map_err(drop)))
    }

    fn take(&mut self, update: Update) {
        self.pending.updates += 1;
        if self.is_over() {
            return;
        }
        match update {
            Update::Reply(message) if self.needs_no_task() => self.answer(message),
            Update::Reply(message) => self.set_status(TaskState::Completed, Some(message)),
            Update::Status(state, message) => self.set_status(state, message),
            Update::Artifact(artifact, chunk) => self.add_artifact(artifact, chunk),
            Update::Note(key, note) => self.keep(&key, note),
        }
    }

    /// Whether a message can be all of the answer.
    fn needs_no_task(&self) -> bool {
        let asked = self.first.as_ref();
        self.task.is_none() && !asked.is_some_and(|incoming| incoming.always_task)
    }

    /// The answer is a message: no task, and nothing to commit.
    fn answer(&mut self, mut message: Message) {
        let Some(first) = self.first.take() else {
            return;
        };
        self.sign(&mut message);
        message.task_id.clear();
        if let Some(ticket) = first.ticket {
            ticket.done(&Outcome::Message(Arc::new(message.clone())));
        }
        if let Some(reply) = first.reply {
            // Whoever asked may have gone.
            let _ = reply.send(Ok(Started::Message(message)));
        }
        self.outbox.close();
    }

    /// Gives a message of the agent's what it needs to be found.
    fn sign(&self, message: &mut Message) {
        if message.message_id.is_empty() {
            message.message_id = id::random();
        }
        message.role = Role::Agent;
        self.task_id.as_str().clone_into(&mut message.task_id);
        self.context_id.as_str().clone_into(&mut message.context_id);
    }

    /// An agent that has ended leaves a task that has ended, too, or waits.
    fn conclude(&mut self, ended: Ended) {
        self.outbox.close();
        let cancelled = self.deadline.take().is_some();
        if self.is_over() {
            return;
        }
        match ended {
            _ if cancelled => self.set_status(TaskState::Canceled, None),
            Ok(Ok(())) if self.state().is_interrupted() || !self.inbox.is_empty() => {}
            Ok(Ok(())) if self.task.is_some() => self.set_status(TaskState::Completed, None),
            Ok(Ok(())) => {
                let error = Error::InvalidAgentResponse("it gave none".to_owned());
                if let Some(first) = self.first.take() {
                    first.refuse(error);
                }
            }
            Ok(Err(failure)) => match (failure.refusal, self.first.take()) {
                (Some(error), Some(first)) => first.refuse(*error),
                (_, first) => {
                    self.first = first;
                    self.fail(failure.reason);
                }
            },
            Err(()) => self.fail("the agent crashed"),
        }
    }

    fn fail(&mut self, reason: impl Into<String>) {
        let message = Message {
            parts: vec![Part::text(reason)],
            ..Message::default()
        };
        self.set_status(TaskState::Failed, Some(message));
    }

    fn obey(&mut self, command: Command, working: bool) {
        match command {
            Command::Message(incoming) => self.receive(*incoming),
            Command::Resume(incoming) => self.inbox.push_back(incoming.asked),
            Command::Fail(reason) if !self.is_over() => self.fail(reason),
            Command::Fail(_) => {}
            Command::Cancel(reply) => {
                self.cancelling.push(reply);
                // How it ended is told when that is committed.
                if self.is_over() {
                    return;
                }
                if working {
                    // A second cancellation waits for the same end.
                    let end = Instant::now() + self.server.limits.cancel_grace;
                    self.deadline.get_or_insert(end);
                    self.cancelled.cancel();
                } else {
                    self.set_status(TaskState::Canceled, None);
                }
            }
        }
    }

    /// A message for the task: recorded now, answered when the agent is free.
    fn receive(&mut self, incoming: Incoming) {
        let task = self.task.get_or_insert_default();
        let refusal = match incoming.if_generation {
            _ if task.state().is_terminal() => {
                let why = format!("task {:?} has ended and takes no more messages", task.id);
                Some(Error::UnsupportedOperation(why))
            }
            Some(expected) if expected != task.generation => Some(Error::TaskGenerationMismatch {
                task: task.id.clone(),
                expected,
                found: task.generation,
            }),
            _ if self.inbox.len() >= self.server.limits.max_waiting_messages => {
                let why = format!("too many messages wait for task {:?}", task.id);
                Some(Error::Unavailable(why))
            }
            _ => None,
        };
        match refusal {
            None => self.record_received(incoming),
            Some(error) => self.pending.refused.push((incoming, error)),
        }
    }

    /// To cancel again what was cancelled is no fault; what ended otherwise cannot be.
    fn refuse_or_repeat(&self, reply: oneshot::Sender<Result<Task, Error>>) {
        let task = self.task.clone().unwrap_or_default();
        let _ = reply.send(match self.state() {
            TaskState::Canceled => Ok(task),
            state => Err(Error::TaskNotCancelable {
                task: task.id,
                state,
            }),
        });
    }

    /// Tells everybody whom it concerns what is committed, which is all there is.
    fn tell(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        self.stored = self.task.is_some();
        self.outbox.commit(pending.updates);
        for (incoming, error) in pending.refused {
            incoming.refuse(error);
        }
        for recorded in pending.recorded {
            self.begin(recorded);
        }
        for webhook in pending.webhooks {
            self.server.push.begin(&self.server, webhook);
        }
        let Some(task) = &self.task else { return };
        if task.is_settled() {
            let rested = |(after, _): &mut (i64, Reply)| *after < task.generation;
            for (_, reply) in self.resting.extract_if(.., rested) {
                let _ = reply.send(Ok(Started::Task(Box::new(task.clone()))));
            }
        }
        if pending.ends {
            self.server.agent_of(&self.scope).ended(&self.task_id);
        }
        if task.state().is_terminal() {
            for reply in std::mem::take(&mut self.cancelling) {
                self.refuse_or_repeat(reply);
            }
        }
    }

    /// A message is recorded: whoever sent it is told, or waits for more.
    fn begin(&mut self, recorded: Recorded) {
        if let Some(ticket) = recorded.ticket {
            ticket.done(&Outcome::Task(self.task_id.clone(), recorded.after));
        }
        let Some(reply) = recorded.reply else { return };
        let _ = match recorded.begun {
            Begun::Rest(after) => return self.resting.push((after, reply)),
            Begun::Task(task) => {
                let task = task.or_else(|| self.task.clone().map(Box::new));
                reply.send(Ok(Started::Task(task.unwrap_or_default())))
            }
            Begun::Stream(snapshot, follow) => reply.send(Ok(Started::Stream(Box::new(Opened {
                id: self.task_id.clone(),
                context: self.context_id.clone(),
                snapshot,
                follow,
            })))),
        };
    }

    /// Nothing is left to do: the run ends, unless somebody asked something in this very moment.
    fn leave(&mut self) -> bool {
        !self.listed || self.server.live.leave(&self.task_id, &self.mailbox)
    }

    /// The journal failed. Those who wait are told; the task, as it is there, is to end as soon as
    /// something can be written again.
    fn give_up(&mut self, error: &Error) {
        if self.stored {
            let server = self.server.clone();
            let later = upkeep::fail_later(server, self.scope.clone(), self.task_id.clone());
            self.server.runs.spawn(later);
        }
        self.server.live.abandon(&self.task_id);
        self.commands.append(&mut self.mailbox.take());
        let pending = std::mem::take(&mut self.pending);
        let recorded = pending.recorded.into_iter();
        let mut replies: Vec<_> = recorded.filter_map(|recorded| recorded.reply).collect();
        replies.extend(pending.refused.into_iter().filter_map(|(it, _)| it.reply));
        replies.extend(self.resting.drain(..).map(|(_, reply)| reply));
        for command in std::mem::take(&mut self.commands) {
            match command {
                Command::Message(incoming) | Command::Resume(incoming) => {
                    replies.extend(incoming.reply);
                }
                Command::Cancel(reply) => self.cancelling.push(reply),
                Command::Fail(_) => {}
            }
        }
        for reply in replies {
            let _ = reply.send(Err(error.clone()));
        }
        for reply in std::mem::take(&mut self.cancelling) {
            let _ = reply.send(Err(error.clone()));
        }
    }

    fn state(&self) -> TaskState {
        self.task
            .as_ref()
            .map_or(TaskState::Unspecified, Task::state)
    }

    fn is_over(&self) -> bool {
        self.state().is_terminal()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.outbox.close();
    }
}

/// Polls what is there; never ready when nothing is.
async fn some<F: Future + Unpin>(future: &mut Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}

async fn wait_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
