//! One task while its agent works on it: the run polls the agent, folds its updates into the task and commits them.
//!
//! [`Run`] is the page to read first; [`change`] holds what it appends.

use std::collections::VecDeque;
use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use access::budget::{Budgets, Clock};
use dial::trace::{Kind, Span};
use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use store::{Commit, StreamId};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::agent::{Agent, Failure};
use super::journal::{self, Scope};
use super::live::{Mailbox, Opened, Reply, Started};
use super::push::Registration;
use super::replay::{Outcome, Ticket};
use super::turn::{Outbox, Turn, TurnInput, Update, size_of_parts};
use super::{Inner, id, upkeep};
use crate::error::Error;
use crate::sabotage::broken;
use crate::types::{ContextId, Message, Part, Role, Task, TaskId, TaskState};

mod change;

use change::{Begun, Pending, Recorded};

/// A command to the run of a task.
pub(super) enum Command {
    /// Record a message for the task, and have the agent answer it.
    Message(Box<Incoming>),
    /// Cancel the task; the sender gets the task once it has ended.
    Cancel(oneshot::Sender<Result<Task, Error>>),
    /// Call the agent again with the last message, which is in the journal already.
    Resume(Box<Incoming>),
    /// End the task FAILED, for this reason.
    Fail(&'static str),
}

/// A message on its way to an agent.
pub(super) struct Incoming {
    pub(super) asked: Arc<TurnInput>,
    /// Refuse the message unless the task is at this generation.
    pub(super) if_generation: Option<i64>,
    /// A webhook to register for the task.
    pub(super) webhook: Option<Registration>,
    /// The right to answer this message for the first time; dropped with a refusal, so that a corrected message is new.
    pub(super) ticket: Option<Ticket>,
    /// The caller that waits for the first reply.
    pub(super) reply: Option<Reply>,
    pub(super) wants: Wants,
    /// The caller knows tasks only: an answer that is a message alone becomes a completed task.
    pub(super) always_task: bool,
}

impl Incoming {
    /// Tells the caller that the message is refused. The ticket goes first: a caller that corrects the message and sends
    /// it again at once must be taken for the first.
    fn refuse(self, error: Error) {
        drop(self.ticket);
        if let Some(reply) = self.reply {
            // The caller may have disconnected.
            let _ = reply.send(Err(error));
        }
    }
}

/// The moment at which a caller gets its first reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// When the task is settled.
    Rest,
    /// As soon as the message is recorded.
    Begin,
    /// As soon as the message is recorded, followed by the events of the task.
    Stream,
}

/// The result of an agent's turn; the outer failure is a panic.
type Ended = Result<Result<(), Failure>, ()>;

/// The future of an agent's turn.
type Answering = BoxFuture<'static, Ended>;

/// The owner of one task while its agent works on it, and the only writer of the task's stream.
///
/// It owns the task as it will be after the next commit, the agent's future, the mailbox through which messages and
/// cancellations arrive, and the callers that wait for replies. Other calls read the journal; they reach the run only
/// through its mailbox. So two commands have an order, and each append names the generation it follows: if there were a
/// second owner, the store would refuse its commit.
///
/// [`work`](Self::work) is one loop. While no commit is under way it *decides*: it takes the agent's updates, then the end
/// of the agent's turn, then the commands, and folds each into the task. This order is part of the contract: what an
/// agent said before it ended comes before the ending, and a cancellation that arrives together with an update sees the
/// task after the update. Then it hands all of it to the journal as one batch (events, row, notes, webhooks, sends), and
/// only when that is committed does it *tell*: replies, stream snapshots, refusals, webhooks. Nothing is told before its
/// commit, since a crash in between would have told a lie. While the commit runs the agent is polled on; what it does
/// meanwhile is the next commit. That is why a turn that never waits costs one transaction.
///
/// A run begins for a message that names no task ([`Run::new`]; the task exists with the agent's first update, and an
/// answer that is a message alone makes none), or for a command to a task that has no run ([`Run::of`]). It ends when
/// no agent is at work, nothing is pending and its mailbox is empty; leaving the list and looking into the mailbox happen
/// under one lock, so that no command is lost. When the journal fails it answers all waiters with the error and has
/// the task failed later. When the server halts it is dropped as it is: the next start finds its task in `RUNNING`.
///
/// Why not a lock on each task and a commit for each update: an agent that streams would pay a transaction for every
/// word, and the order of a cancellation and a completion would depend on the scheduler.
pub(super) struct Run {
    server: Arc<Inner>,
    scope: Scope,
    stream: StreamId,
    task_id: TaskId,
    context_id: ContextId,
    /// The task with everything that is committed or pending; `None` before the agent's first update.
    task: Option<Task>,
    /// The message that opens the task, until it does.
    first: Option<Incoming>,
    /// Messages that are recorded and wait for the end of the agent's present turn.
    inbox: VecDeque<Arc<TurnInput>>,
    /// Commands that were taken from the mailbox and not yet obeyed.
    commands: VecDeque<Command>,
    mailbox: Arc<Mailbox>,
    /// Whether the run is in the list of live runs, where commands find it.
    listed: bool,
    outbox: Arc<Outbox>,
    cancelled: CancellationToken,
    /// The moment at which a cancelled agent is dropped.
    deadline: Option<Instant>,
    /// The callers that cancelled the task and wait for its end.
    cancelling: Vec<oneshot::Sender<Result<Task, Error>>>,
    /// The callers that wait until the task is settled after a generation.
    resting: Vec<(i64, Reply)>,
    ended: Option<Ended>,
    pending: Pending,
    /// Whether the task is in the table `RUNNING`.
    marked: bool,
    /// The state and the time of the task's row as it was last written; `None` when that is not known.
    row: Option<(TaskState, i64)>,
    /// Whether the journal has the task.
    stored: bool,
    /// The state of the task as callers know it.
    told: TaskState,
    /// The permit to have an agent work, released when the run ends.
    _place: Option<OwnedSemaphorePermit>,
}

impl Run {
    /// A run for a message that names no task: it opens one, or is answered with a message alone.
    pub(super) fn new(
        server: Arc<Inner>,
        scope: Scope,
        incoming: Incoming,
        place: Option<OwnedSemaphorePermit>,
    ) -> Box<Self> {
        let now = server.now();
        let context_id = match &*incoming.asked.message.context_id {
            given if given.is_empty() || broken("r13_context") => {
                let label = server.agent_of(&scope).label(&incoming.asked.message);
                id::context(label.as_deref().unwrap_or(&server.label), now)
            }
            given => given.into(),
        };
        let mut run = Self::idle(server, scope, id::task(now), context_id, place);
        run.first = Some(incoming);
        run
    }

    /// A run for a task that has none, and its first command. The caller enters it into the list of live runs.
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
            row: None,
            stored: false,
            told: TaskState::Submitted,
            _place: place,
        })
    }

    pub(super) fn mailbox(&self) -> Arc<Mailbox> {
        self.mailbox.clone()
    }

    /// Works until no agent is at work and no command waits.
    pub(super) async fn work(mut self: Box<Self>) {
        let server = self.server.clone();
        let mut agent = match &self.first {
            Some(incoming) => Some(self.turn(incoming.asked.clone())),
            // The run is listed, so it is the only writer from here on: what is read now cannot change meanwhile.
            None => match server.load(&self.scope, &self.task_id).await {
                Ok(task) => {
                    self.context_id = task.context_id.as_str().into();
                    self.marked = !task.is_settled();
                    self.told = task.state();
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
                // The agent first: all that it does without waiting becomes one commit.
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

    /// Folds everything that has arrived into the task. Called only while nothing is being committed, so that a commit
    /// holds exactly the events that the task was folded with.
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
            // The answer had arrived before the agent asked its question.
            if self.state().is_interrupted() {
                self.set_status(TaskState::Working, None);
            }
            // The pending updates were made by the last turn, which has ended and waits for no commit.
            self.pending.updates = 0;
            self.outbox = Arc::new(Outbox::new(self.server.limits.max_waiting_updates));
            self.cancelled = CancellationToken::new();
            agent = Some(self.turn(asked));
        }
        agent
    }

    /// Calls the agent with a message.
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
        let (trace, tenant) = (turn.asked.trace.clone(), self.scope.tenant().to_owned());
        self.server.counters.turn();
        let budgets = self.server.budgets.clone();
        let answer = async move {
            let mut span = Span::start(Kind::Internal, "turn");
            if span.is_recorded() {
                span.set("monas.task", turn.task_id.to_string());
                span.set("monas.context", turn.context_id.to_string());
                span.set("monas.agent", tenant.clone());
            }
            let answered = span.within(answer(&*agent, turn, &budgets, &tenant)).await;
            if let Err(failure) = &answered {
                span.fail(failure);
            }
            answered
        };
        let answer = AssertUnwindSafe(dial::trace::within(trace, answer));
        // The panic hook has logged its message.
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

    /// Whether a message alone may be the answer.
    fn needs_no_task(&self) -> bool {
        let asked = self.first.as_ref();
        self.task.is_none() && !asked.is_some_and(|incoming| incoming.always_task)
    }

    /// Answers with a message: there is no task, and nothing to commit.
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
            // The caller may have disconnected.
            let _ = reply.send(Ok(Started::Message(message)));
        }
        self.outbox.close();
    }

    /// Fills in the ids and the role of a message of the agent.
    fn sign(&self, message: &mut Message) {
        if message.message_id.is_empty() {
            message.message_id = id::random();
        }
        message.role = Role::Agent;
        self.task_id.as_str().clone_into(&mut message.task_id);
        self.context_id.as_str().clone_into(&mut message.context_id);
    }

    /// The agent's turn has ended: the task ends with it, unless it waits for input or another message is in the inbox.
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
                // The reply is sent when the end is committed.
                if self.is_over() {
                    return;
                }
                if working {
                    // A second cancellation does not extend the time.
                    let end = Instant::now() + self.server.limits.cancel_grace;
                    self.deadline.get_or_insert(end);
                    self.cancelled.cancel();
                } else {
                    self.set_status(TaskState::Canceled, None);
                }
            }
        }
    }

    /// Takes a message for the task: it is recorded now, and answered when the agent's present turn has ended.
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

    /// Answers a cancellation of a task that has ended: success if it was cancelled, otherwise an error.
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

    /// Sends the replies that were waiting for the commit; called when everything so far is committed.
    fn tell(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let stored = std::mem::replace(&mut self.stored, self.task.is_some());
        self.outbox.commit(pending.updates);
        for (incoming, error) in pending.refused {
            incoming.refuse(error);
        }
        for recorded in pending.recorded {
            self.begin(recorded);
        }
        for (webhook, trace) in pending.webhooks {
            self.server.push.begin(&self.server, webhook, trace);
        }
        if !stored && self.stored {
            self.server.counters.entered(TaskState::Submitted);
        }
        let state = self.state();
        if self.told != state {
            self.told = state;
            self.server.counters.entered(state);
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

    /// A message is recorded: its caller gets the first reply, or goes on waiting until the task is settled.
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

    /// Takes the run off the list, unless a command arrived meanwhile. Says whether the run may end.
    fn leave(&mut self) -> bool {
        !self.listed || self.server.live.leave(&self.task_id, &self.mailbox)
    }

    /// The journal failed: all waiting callers get the error, and the task, as far as it is stored, is failed as soon as
    /// the journal can be written again.
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

/// Has the agent answer, within the budgets of its caller, of itself and of a call.
async fn answer(
    agent: &dyn Agent,
    turn: Turn,
    budgets: &Budgets,
    tenant: &str,
) -> Result<(), Failure> {
    let over = |exceeded| Failure::refusal(Error::BudgetExceeded(exceeded));
    let account = budgets.open(turn.caller().name(), Some(tenant), Clock::Counted);
    let account = account.map_err(over)?;
    let message = size_of_parts(&turn.message().parts);
    account.hold(message as u64).map_err(over)?;
    account.run(agent.answer(turn)).await.map_err(over)?
}

/// Polls the future if there is one; otherwise never ready.
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
