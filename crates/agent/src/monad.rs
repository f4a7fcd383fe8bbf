//! An agent that is awake: one task that owns its state, and a mailbox. There is no lock, and no other way in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use memory::Millis;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::context::{Ability, Context};
use crate::error::Error;
use crate::event::Effect;
use crate::event::{Answer, EffectId, Event, Heard, Out, Perceived, TurnId, Verdict, Wish};
use crate::household::Parts;
use crate::journal::Journal;
use crate::prompt::{self, Brief};
use crate::step::Life;

/// Something that is put into the mailbox of an agent.
pub(crate) enum Post {
    /// Something to perceive; the answer comes when it is recorded.
    Perceive(Perceived, Option<oneshot::Sender<Outcome>>),
    /// Somebody works on a request for the agent, from now on.
    Attach {
        heard: Heard,
        abilities: Vec<Ability>,
        to: mpsc::UnboundedSender<Job>,
    },
    /// A task has ended, in whatever way.
    Gone(TurnId),
    /// Somebody wants to look.
    Look(Look),
    /// It is to sleep, now.
    Sleep,
}

/// A look at a life and at the number of its last event.
pub(crate) type Look = Box<dyn FnOnce(&Life, u64) + Send>;

/// What a step came to, for whoever waits for it.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Whether a call may be made.
    pub(crate) gate: Option<(Option<EffectId>, Verdict)>,
}

/// Something to do for a request, or its answer.
#[derive(Debug)]
pub(crate) enum Job {
    Do {
        wish: Wish,
        /// It may have been begun before: the process ended meanwhile, and nothing is known of it.
        again: bool,
        /// What is thought about, if it is to be thought.
        brief: Option<Box<Brief>>,
    },
    Say(Answer),
}

/// The owner of a state.
struct Owner {
    parts: Arc<Parts>,
    life: Life,
    journal: Journal,
    /// Who works on which request.
    working: BTreeMap<TurnId, mpsc::UnboundedSender<Job>>,
    /// Calls that are wanted or approved during a pause, whoever wants them. Nothing has become of that yet.
    held: Vec<(Perceived, oneshot::Sender<Outcome>)>,
    /// What the agent does for itself. It ends with the agent.
    own: JoinSet<Option<Perceived>>,
}

/// Lives until it has nothing to do for a while, or something is wrong. Says whether time matters to it.
pub(crate) async fn live(
    parts: Arc<Parts>,
    id: String,
    mut mailbox: mpsc::Receiver<Post>,
) -> Result<bool, Error> {
    let (journal, life) = Journal::open(parts.store.clone(), &id).await?;
    let mut owner = Owner {
        parts,
        life,
        journal,
        working: BTreeMap::new(),
        held: Vec::new(),
        own: JoinSet::new(),
    };
    owner.govern();
    let patience = owner.parts.sleep_after;
    let mut active = Instant::now();
    loop {
        let post = tokio::select! {
            biased;
            Some(done) = owner.own.join_next() => match done {
                Ok(Some(what)) => Some(Post::Perceive(what, None)),
                _ => continue,
            },
            post = tokio::time::timeout_at(active + patience, mailbox.recv()) => match post {
                Ok(Some(post)) => Some(post),
                // Nobody can reach it any more.
                Ok(None) => None,
                Err(_) if owner.at_rest() => None,
                Err(_) => {
                    active = Instant::now();
                    continue;
                }
            },
        };
        // That time passes is nothing to stay awake for.
        if !matches!(post, Some(Post::Perceive(Perceived::Ticked, _))) {
            active = Instant::now();
        }
        match post {
            Some(Post::Sleep) | None => break,
            Some(post) => owner.take(post).await?,
        }
    }
    // What came while it lay down is still taken; after that everybody has to wake it.
    mailbox.close();
    while let Some(post) = mailbox.recv().await {
        if !matches!(post, Post::Sleep) {
            owner.take(post).await?;
        }
    }
    owner.journal.settle(&owner.life).await?;
    Ok(owner.life.minds_time())
}

impl Owner {
    async fn take(&mut self, post: Post) -> Result<(), Error> {
        match post {
            Post::Perceive(
                what @ (Perceived::Wanted { .. } | Perceived::Decided { .. }),
                Some(reply),
            ) if self.life.context.paused => {
                self.held.retain(|(_, reply)| !reply.is_closed());
                self.held.push((what, reply));
            }
            Post::Perceive(what, reply) => {
                let outcome = self.perceive(what).await?;
                if let Some(reply) = reply {
                    // Whoever asked may have gone.
                    drop(reply.send(outcome));
                }
                if !self.life.context.paused {
                    self.release().await?;
                }
            }
            Post::Attach {
                heard,
                abilities,
                to,
            } => self.attach(heard, abilities, to).await?,
            Post::Gone(turn) => {
                self.working.remove(&turn);
                let context = &self.life.context;
                let waits = context.pending().iter().any(|it| it.turn == turn);
                if waits || context.turns.contains_key(&turn) {
                    self.perceive(Perceived::Cancelled { turn }).await?;
                }
            }
            Post::Look(look) => look(&self.life, self.journal.last()),
            Post::Sleep => {}
        }
        Ok(())
    }

    /// What was held is taken, now that there is no pause.
    async fn release(&mut self) -> Result<(), Error> {
        for (what, reply) in std::mem::take(&mut self.held) {
            // Nobody wants it any more.
            if reply.is_closed() {
                continue;
            }
            let outcome = self.perceive(what).await?;
            drop(reply.send(outcome));
        }
        Ok(())
    }

    /// It does nothing, and nobody does anything for it but wait for a person.
    fn at_rest(&self) -> bool {
        let context = &self.life.context;
        let mut working = self.working.iter();
        let busy = working.any(|(turn, to)| !to.is_closed() && context.works_on(turn));
        let held = self.held.iter().any(|(_, reply)| !reply.is_closed());
        !busy && !held && self.own.is_empty()
    }

    /// A step: decided, recorded, taken in, and given out, in this order.
    async fn perceive(&mut self, what: Perceived) -> Result<Outcome, Error> {
        let event = Event {
            at: (self.parts.clock)(),
            what,
        };
        let step = self.life.step(&event);
        if event.what == Perceived::Ticked && step.changes.is_empty() && step.out.is_empty() {
            return Ok(Outcome { gate: None });
        }
        self.journal.record(&event, &step, &self.life).await?;
        let version = self.life.context.law_version;
        step.changes
            .iter()
            .for_each(|change| self.life.apply(change));
        if self.life.context.law_version != version {
            self.govern();
        }
        let mut gate = None;
        for out in step.out {
            match out {
                Out::Do(wish) => self.give(wish, false),
                Out::Say { turn, answer } => {
                    if let Some(to) = self.working.remove(&turn) {
                        // Whoever worked on it may have gone; the answer is recorded.
                        drop(to.send(Job::Say(answer)));
                    }
                }
                Out::Gate { approval, verdict } => gate = Some((approval, verdict)),
                Out::Resume { turn } => self.resume(turn),
            }
        }
        Ok(Outcome { gate })
    }

    /// Its own memory follows its own law.
    fn govern(&self) {
        let Some(memory) = &self.parts.memory else {
            return;
        };
        let space = memory.space(&self.life.context.identity.id);
        if let Ok(space) = space
            && let Err(problem) = space.follow(self.life.law.layers())
        {
            tracing::warn!(%problem, "the memory of an agent does not follow its law");
        }
    }

    /// Hands something to whoever works on its request, or does it for the agent itself.
    fn give(&mut self, wish: Wish, again: bool) {
        match &wish.turn {
            Some(turn) => {
                let brief = matches!(wish.effect, Effect::Think)
                    .then(|| prompt::brief(&self.life, turn).map(Box::new))
                    .flatten();
                if let Some(to) = self.working.get(turn) {
                    drop(to.send(Job::Do { wish, again, brief }));
                }
            }
            None => self.begin(wish),
        }
    }

    fn begin(&mut self, wish: Wish) {
        let Effect::Begin { request, .. } = wish.effect else {
            return;
        };
        let errand = self.parts.errand.clone();
        let id = self.life.context.identity.id.clone();
        let effect = wish.id;
        self.own.spawn(async move {
            let begun = match errand {
                Some(errand) => errand.begin(&id, request).await,
                None => Err("nobody runs errands for this agent".to_owned()),
            };
            Some(match begun {
                Ok(()) => Perceived::Begun { effect },
                Err(message) => Perceived::Failed {
                    effect,
                    code: "errand".to_owned(),
                    message,
                },
            })
        });
    }

    /// Has a task go on that waits for a person.
    fn resume(&mut self, task: TurnId) {
        let Some(errand) = self.parts.errand.clone() else {
            return;
        };
        let id = self.life.context.identity.id.clone();
        self.own.spawn(async move {
            if let Err(problem) = errand.resume(&id, task).await {
                tracing::warn!(
                    agent = id,
                    problem,
                    "a task waits on, though nobody decided"
                );
            }
            None
        });
    }

    /// Somebody works on a request: on a new one, or on one that was left when a process ended.
    async fn attach(
        &mut self,
        heard: Heard,
        abilities: Vec<Ability>,
        to: mpsc::UnboundedSender<Job>,
    ) -> Result<(), Error> {
        if !same(&self.life.context, &abilities) {
            self.perceive(Perceived::Enabled { abilities }).await?;
        }
        let turn = heard.turn.clone();
        self.working.retain(|_, to| !to.is_closed());
        self.working.insert(turn.clone(), to);
        let known = self.life.context.turns.contains_key(&turn);
        if !known {
            self.perceive(Perceived::Heard(heard)).await?;
            return Ok(());
        }
        let wishes = self.life.context.wishes.values();
        let wishes = wishes.filter(|it| it.given && it.wish.turn.as_ref() == Some(&turn));
        let wishes: Vec<Wish> = wishes.map(|it| it.wish.clone()).collect();
        for wish in wishes {
            // A call that a person has not decided about was not begun.
            let place = format!("call-{}/", wish.id);
            let pending = self.life.context.pending();
            let waits = pending
                .iter()
                .any(|it| it.turn == turn && it.place.starts_with(&place));
            self.give(wish, !waits);
        }
        Ok(())
    }
}

fn same(context: &Context, abilities: &[Ability]) -> bool {
    context.abilities.len() == abilities.len()
        && abilities
            .iter()
            .all(|it| context.abilities.get(&it.id) == Some(it))
}

/// How long an agent that has nothing to do stays awake.
pub(crate) const SLEEP_AFTER: Duration = Duration::from_secs(60);

/// The time, in milliseconds since 1970.
pub(crate) fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
    })
}
