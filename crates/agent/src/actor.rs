//! An agent that is awake: one task that owns its state, and a mailbox. There is no lock, and no other way in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use memory::Millis;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::context::{Ability, Change, Context, Identity};
use crate::delegate::Tasks;
use crate::error::Error;
use crate::event::Effect;
use crate::event::{
    EffectId, Event, EventKind, Intent, Outgoing, Request, TurnAnswer, TurnId, Verdict,
};
use crate::forgetting::Redaction;
use crate::journal::Journal;
use crate::law::Law;
use crate::limits::UNCOMMITTED;
use crate::population::Parts;
use crate::prompt::{self, Brief};
use crate::step::AgentState;

/// Something that is put into the mailbox of an agent.
pub(crate) enum Mail {
    /// Something to perceive; the answer comes when it is recorded.
    Perceive(EventKind, Option<oneshot::Sender<Outcome>>),
    /// A call that is about to be made: what the law says about it, without recording anything.
    Judge(EventKind, oneshot::Sender<Outcome>),
    /// The journal is about to be read: everything recorded so far is to be in it.
    Flush(oneshot::Sender<()>),
    /// A turn works on a request for the agent, from now on.
    Attach {
        heard: Request,
        abilities: Vec<Ability>,
        to: mpsc::UnboundedSender<Job>,
    },
    /// A task has ended: completed, failed, rejected or cancelled.
    Gone(TurnId),
    /// Words of forgotten records are to be taken out of the journal and the state: these records of the journal have them,
    /// and what was recorded since may. The request in which they are forgotten is named, if there is one.
    Redact {
        redaction: Box<Redaction>,
        records: Vec<u64>,
        turn: TurnId,
        reply: oneshot::Sender<()>,
    },
    /// The state is to be looked at.
    Look(Look),
    /// It is to sleep, now.
    Sleep,
}

/// The time at which an agent must be told that time has passed, in milliseconds since 1970.
#[derive(Debug)]
pub(crate) struct Due(AtomicI64);

impl Due {
    pub(crate) fn new(at: Option<Millis>) -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(at.unwrap_or(Millis::MAX))))
    }

    pub(crate) fn set(&self, at: Option<Millis>) {
        self.0.store(at.unwrap_or(Millis::MAX), Ordering::Relaxed);
    }

    pub(crate) fn at(&self) -> Millis {
        self.0.load(Ordering::Relaxed)
    }
}

/// A function that reads the state of an agent and the number of its last event.
pub(crate) type Look = Box<dyn FnOnce(&AgentState, u64) + Send>;

/// The result of a step, for the sender of its event.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Whether a call may be made.
    pub(crate) gate: Option<(Option<EffectId>, Verdict)>,
    /// Whether anything changed: a question that was recorded before changes nothing.
    pub(crate) changed: bool,
}

/// Something to do for a request, or its answer.
#[derive(Debug)]
pub(crate) enum Job {
    Do {
        intent: Intent,
        /// It may have been begun before: the process ended meanwhile, and nothing is known of it.
        again: bool,
        /// The input of the model, for the effect `Think`.
        brief: Option<Box<Brief>>,
    },
    Say(TurnAnswer),
}

/// The actor of an agent that is awake: the one task that owns its state.
///
/// Everything that reaches the agent is mail. The actor takes it one at a time: it makes the step (pure), adds the event
/// to the journal, applies the changes to the state, commits if anything leaves the agent for good, and only then gives
/// out what follows: effects to the turn that works on the request, verdicts and replies to their senders, tasks of its
/// own to the task server. Because there is one actor there is no lock, and two messages that arrive together have an
/// order that the journal shows.
///
/// Effects are not done here but by the turn that attached itself for the request (`turn.rs`): it has the task, the
/// caller and the cancellation. A turn that ends takes its unfinished effects with it; they stay in the state, and are
/// given out again when the task is taken up. Results come back as mail, so a slow model or skill holds nothing up.
///
/// During a pause, calls that ask the law and decisions about calls are held as mail, with their senders waiting; effects
/// are recorded and not given out. The actor ends when there was no mail for a while and no turn works for it: it
/// commits, writes a snapshot and is gone until the next mail. If a commit fails it ends at once, with what was not
/// committed; turns attach to its successor, which reads the journal.
///
/// If anything were given out before the commit, a restart could repeat it without knowing: a call made twice, a question
/// that is shown and forgotten, an answer that differs from the journal.
struct Actor {
    parts: Arc<Parts>,
    tasks: Tasks,
    state: AgentState,
    journal: Journal,
    /// The turn that works on each request.
    working: BTreeMap<TurnId, mpsc::UnboundedSender<Job>>,
    /// Calls that are wanted or approved during a pause, and judgements about them. They are taken up after it.
    held: Vec<Mail>,
    /// What the agent does for itself. It ends with the agent.
    own: JoinSet<Option<EventKind>>,
    /// Since when events wait for a commit, if any do.
    added: Option<Instant>,
    /// When it must be told that time has passed; the population reads it, also while the agent sleeps.
    due: Arc<Due>,
    /// The birth event of a plain agent with an empty journal. It is applied at once and recorded with the first other
    /// event, so that reading the status of such an agent writes nothing.
    unrecorded_birth: Option<(Event, Vec<Change>)>,
    /// What is forgotten in requests that are under way: their answers may repeat it.
    forgetting: BTreeMap<TurnId, Box<Redaction>>,
}

/// Runs the actor until it was idle for a while or an error occurred. Returns whether it has timers or unfinished work.
pub(crate) async fn run_actor(
    parts: Arc<Parts>,
    tasks: Tasks,
    id: String,
    plain: Option<Identity>,
    due: Arc<Due>,
    mut mailbox: mpsc::Receiver<Mail>,
) -> Result<bool, Error> {
    let store = parts.store.clone();
    let (journal, state) = match plain {
        Some(_) => Journal::open_plain(store, &id).await?,
        None => Journal::open(store, &id).await?,
    };
    let mut actor = Actor {
        parts,
        tasks,
        state,
        journal,
        working: BTreeMap::new(),
        held: Vec::new(),
        own: JoinSet::new(),
        added: None,
        due,
        unrecorded_birth: None,
        forgetting: BTreeMap::new(),
    };
    if let Some(identity) = plain.filter(|_| actor.journal.last() == 0) {
        actor.begin_plain(identity);
    }
    actor.govern();
    actor.due.set(actor.state.due());
    let patience = actor.parts.sleep_after;
    let mut active = Instant::now();
    loop {
        let due = actor.next(active + patience);
        let post = tokio::select! {
            biased;
            Some(done) = actor.own.join_next() => match done {
                Ok(Some(what)) => Some(Mail::Perceive(what, None)),
                _ => continue,
            },
            post = tokio::time::timeout_at(due, mailbox.recv()) => match post {
                Ok(Some(post)) => Some(post),
                // All handles are gone.
                Ok(None) => None,
                Err(_) if actor.journal.uncommitted() > 0 => {
                    actor.flush().await?;
                    continue;
                }
                Err(_) if actor.at_rest() => None,
                Err(_) => {
                    active = Instant::now();
                    continue;
                }
            },
        };
        // A tick alone does not count as activity.
        if !matches!(post, Some(Mail::Perceive(EventKind::Ticked, _))) {
            active = Instant::now();
        }
        match post {
            Some(Mail::Sleep) | None => break,
            Some(post) => actor.take(post).await?,
        }
    }
    // Mail that came meanwhile is still taken; later mail wakes the agent again.
    mailbox.close();
    while let Some(post) = mailbox.recv().await {
        if !matches!(post, Mail::Sleep) {
            actor.take(post).await?;
        }
    }
    actor.journal.settle(&actor.state).await?;
    Ok(actor.state.minds_time())
}

impl Actor {
    /// Gives a plain agent its identity and an empty law, without recording it yet: its journal begins with its first
    /// question.
    fn begin_plain(&mut self, identity: Identity) {
        let what = EventKind::Born {
            identity,
            goals: Vec::new(),
            law: Box::new(Law::empty()),
        };
        let at = (self.parts.clock)();
        let born = Event { at, what };
        let changes = self.state.step(&born).changes;
        changes.iter().for_each(|change| self.state.apply(change));
        self.unrecorded_birth = Some((born, changes));
    }

    async fn take(&mut self, post: Mail) -> Result<(), Error> {
        match post {
            Mail::Judge(..)
            | Mail::Perceive(EventKind::Wanted { .. } | EventKind::Decided { .. }, Some(_))
                if self.state.context.paused =>
            {
                self.held.retain(is_waited_for);
                self.held.push(post);
            }
            Mail::Perceive(what, reply) => {
                let outcome = self.perceive(what).await?;
                if let Some(reply) = reply {
                    // The sender may have gone.
                    drop(reply.send(outcome));
                }
                if !self.state.context.paused {
                    self.release().await?;
                }
            }
            Mail::Judge(what, reply) => {
                let outcome = self.judge(what).await?;
                drop(reply.send(outcome));
            }
            Mail::Flush(reply) => {
                self.flush().await?;
                // The sender may have gone.
                let _ = reply.send(());
            }
            Mail::Attach {
                heard,
                abilities,
                to,
            } => self.attach(heard, abilities, to).await?,
            Mail::Gone(turn) => {
                self.working.remove(&turn);
                let context = &self.state.context;
                let waits = context.pending().iter().any(|it| it.turn == turn);
                if waits || context.turns.contains_key(&turn) {
                    let turn = turn.clone();
                    self.perceive(EventKind::Cancelled { turn }).await?;
                }
                self.perceive(EventKind::Closed { turn }).await?;
            }
            Mail::Redact {
                redaction,
                records,
                turn,
                reply,
            } => {
                let redaction = self.redact(redaction, records).await?;
                if self.state.context.turns.contains_key(&turn) {
                    self.forgetting.insert(turn, redaction);
                }
                // The sender may have gone.
                let _ = reply.send(());
            }
            Mail::Look(look) => look(&self.state, self.journal.last()),
            Mail::Sleep => {}
        }
        Ok(())
    }

    /// Takes words out of the journal and the state.
    async fn redact(
        &mut self,
        mut redaction: Box<Redaction>,
        records: Vec<u64>,
    ) -> Result<Box<Redaction>, Error> {
        self.added = None;
        let journal = &mut self.journal;
        self.state = journal.redact(&mut redaction, records, &self.state).await?;
        Ok(redaction)
    }

    /// Processes the mail that was held back during a pause.
    async fn release(&mut self) -> Result<(), Error> {
        for post in std::mem::take(&mut self.held) {
            if is_waited_for(&post) {
                Box::pin(self.take(post)).await?;
            }
        }
        Ok(())
    }

    /// When the actor has something to do even if nothing reaches it: to commit, or to lie down.
    fn next(&self, rest: Instant) -> Instant {
        match self.added {
            Some(since) => rest.min(since + COMMIT_WITHIN),
            None => rest,
        }
    }

    async fn flush(&mut self) -> Result<(), Error> {
        self.added = None;
        self.journal.flush(&self.state).await
    }

    /// What the law says about a call. A call of the agent's own that changes something leaves the agent here, so that
    /// what led to it is committed first.
    async fn judge(&mut self, what: EventKind) -> Result<Outcome, Error> {
        let at = (self.parts.clock)();
        let own = match &what {
            EventKind::Wanted { turn, skill, .. } => {
                let context = &self.state.context;
                context.turns.contains_key(turn) && !context.is_read_only(skill)
            }
            _ => false,
        };
        let step = self.state.step(&Event { at, what });
        let mut gate = None;
        for out in step.out {
            if let Outgoing::Gate { approval, verdict } = out {
                gate = Some((approval, verdict));
            }
        }
        if own && matches!(gate, Some((_, Verdict::Go(_)))) {
            self.flush().await?;
        }
        let changed = !step.changes.is_empty();
        Ok(Outcome { gate, changed })
    }

    /// Whether it does nothing, and no turn does anything for it but wait for a person.
    fn at_rest(&self) -> bool {
        let context = &self.state.context;
        let mut working = self.working.iter();
        let busy = working.any(|(turn, to)| !to.is_closed() && context.works_on(turn));
        let held = self.held.iter().any(is_waited_for);
        !busy && !held && self.own.is_empty()
    }

    /// A step: decided, recorded, taken in, and given out, in this order. What leaves the agent for good leaves after
    /// the commit.
    async fn perceive(&mut self, what: EventKind) -> Result<Outcome, Error> {
        let event = Event {
            at: (self.parts.clock)(),
            what,
        };
        let step = self.state.step(&event);
        let changed = !step.changes.is_empty();
        if changed || event.what.is_news() {
            if let Some((born, changes)) = self.unrecorded_birth.take() {
                self.journal.add(&born, &changes)?;
            }
            self.journal.add(&event, &step.changes)?;
            self.added.get_or_insert_with(Instant::now);
        }
        let version = self.state.context.law_version;
        step.changes
            .iter()
            .for_each(|change| self.state.apply(change));
        if self.state.context.law_version != version {
            self.govern();
        }
        if changed {
            self.due.set(self.state.due());
        }
        let leaves = event.what.is_acknowledged() || step.out.iter().any(leaves_for_good);
        if leaves || self.journal.uncommitted() >= UNCOMMITTED {
            self.flush().await?;
        }
        let mut gate = None;
        let mut said = Vec::new();
        for out in step.out {
            match out {
                Outgoing::Do(intent) => self.give(intent, false),
                Outgoing::Say { turn, answer } => {
                    said.extend(self.forgetting.remove(&turn));
                    if let Some(to) = self.working.remove(&turn) {
                        // The worker may have gone; the answer is recorded.
                        drop(to.send(Job::Say(answer)));
                    }
                }
                Outgoing::Gate { approval, verdict } => gate = Some((approval, verdict)),
                Outgoing::Resume { turn } => self.resume(turn),
            }
        }
        // The caller has the answer as it is.
        for redaction in said {
            self.redact(redaction, Vec::new()).await?;
        }
        Ok(Outcome { gate, changed })
    }

    /// Its own memory follows its own law.
    fn govern(&self) {
        let Some(memory) = &self.parts.memory else {
            return;
        };
        let space = memory.space(&self.state.context.identity.id);
        if let Ok(space) = space
            && let Err(problem) = space.follow(self.state.law.layers())
        {
            tracing::warn!(%problem, "could not apply the memory rules of the law");
        }
    }

    /// Hands an effect to the turn that works on its request, or does it for the agent itself.
    fn give(&mut self, intent: Intent, again: bool) {
        match &intent.turn {
            Some(turn) => {
                let brief = matches!(intent.effect, Effect::Think)
                    .then(|| prompt::brief(&self.state, turn).map(Box::new))
                    .flatten();
                if let Some(to) = self.working.get(turn) {
                    drop(to.send(Job::Do {
                        intent,
                        again,
                        brief,
                    }));
                }
            }
            None => self.begin(intent),
        }
    }

    fn begin(&mut self, intent: Intent) {
        let Effect::Begin { request, .. } = intent.effect else {
            return;
        };
        let tasks = self.tasks.clone();
        let id = self.state.context.identity.id.clone();
        let effect = intent.id;
        self.own.spawn(async move {
            Some(match tasks.begin(&id, request).await {
                Ok(()) => EventKind::Begun { effect },
                Err(error) => EventKind::Failed {
                    effect,
                    code: "own-task".to_owned(),
                    message: error.to_string(),
                },
            })
        });
    }

    /// Has a task go on that waits for a person.
    fn resume(&mut self, task: TurnId) {
        let tasks = self.tasks.clone();
        let id = self.state.context.identity.id.clone();
        self.own.spawn(async move {
            if let Err(error) = tasks.resume(&task).await {
                tracing::warn!(agent = id, %task, %error, "could not resume a task after its question expired");
            }
            None
        });
    }

    /// A turn works on a request: on a new one, or on one that was left when a process ended.
    async fn attach(
        &mut self,
        heard: Request,
        abilities: Vec<Ability>,
        to: mpsc::UnboundedSender<Job>,
    ) -> Result<(), Error> {
        if !same(&self.state.context, &abilities) {
            self.perceive(EventKind::Enabled { abilities }).await?;
        }
        let turn = heard.turn.clone();
        self.working.retain(|_, to| !to.is_closed());
        self.working.insert(turn.clone(), to);
        let known = self.state.context.turns.contains_key(&turn);
        if !known {
            self.perceive(EventKind::Heard(heard)).await?;
            return Ok(());
        }
        let intents = self.state.context.intents.values();
        let intents = intents.filter(|it| it.given && it.intent.turn.as_ref() == Some(&turn));
        let intents: Vec<Intent> = intents.map(|it| it.intent.clone()).collect();
        for intent in intents {
            // A call that a person has not decided about was not begun.
            let place = format!("call-{}/", intent.id);
            let pending = self.state.context.pending();
            let waits = pending
                .iter()
                .any(|it| it.turn == turn && it.place.starts_with(&place));
            self.give(intent, !waits);
        }
        Ok(())
    }
}

/// Whether the sender of something that is held still waits.
fn is_waited_for(post: &Mail) -> bool {
    match post {
        Mail::Perceive(_, Some(reply)) | Mail::Judge(_, reply) => !reply.is_closed(),
        _ => true,
    }
}

/// Whether something is done for good once it is given out, so that the events before it must be durable. To recall
/// and to think can be repeated, and a task that is taken up again remembers only what it has not remembered; a call is
/// stopped at the gate, where the law is asked about it.
pub(crate) fn leaves_for_good(out: &Outgoing) -> bool {
    match out {
        Outgoing::Do(intent) => match intent.effect {
            Effect::Recall { .. }
            | Effect::Think
            | Effect::Call { .. }
            | Effect::Remember { .. }
            | Effect::Amend { .. }
            | Effect::Test { .. } => false,
            Effect::Clarify { .. } | Effect::Begin { .. } => true,
        },
        Outgoing::Gate { verdict, .. } => !matches!(verdict, Verdict::No(_) | Verdict::Rejected(_)),
        Outgoing::Say { .. } | Outgoing::Resume { .. } => true,
    }
}

fn same(context: &Context, abilities: &[Ability]) -> bool {
    context.abilities.len() == abilities.len()
        && abilities
            .iter()
            .all(|it| context.abilities.get(&it.id) == Some(it))
}

/// How long an event waits for a commit at most: the result of a call is durable soon, however long the agent thinks
/// about it.
const COMMIT_WITHIN: Duration = Duration::from_millis(25);

/// How long an agent that has nothing to do stays awake.
pub(crate) const SLEEP_AFTER: Duration = Duration::from_secs(60);

/// The time, in milliseconds since 1970.
pub(crate) fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
    })
}
