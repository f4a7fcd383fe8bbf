//! How agents are woken: mail starts the actor of one that sleeps, and the actor ends when there is nothing to do.

use std::sync::Arc;

use memory::Millis;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Inner;
use crate::actor::{self, Mail};
use crate::error::Error;
use crate::limits::MAILBOX;

/// When an agent that has stopped is next woken by the clock, in milliseconds after that.
const RETRY: Millis = 5_000;

/// The actor of an agent that is awake.
pub(super) struct Awake {
    pub(super) mailbox: mpsc::Sender<Mail>,
    pub(super) task: JoinHandle<()>,
}

impl Inner {
    pub(crate) fn is_awake(&self, id: &str) -> bool {
        self.lock().get(id).is_some_and(|slot| slot.awake.is_some())
    }

    /// Puts something into the mailbox of an agent, and wakes it if it sleeps. Waits while the mailbox is full.
    pub(crate) async fn send(self: &Arc<Self>, id: &str, post: Mail) -> Result<(), Error> {
        let mut post = post;
        // An actor that stopped in this moment is started again, but not without limit.
        for _ in 0..8 {
            let mailbox = self.mailbox(id)?;
            match mailbox.send(post).await {
                Ok(()) => return Ok(()),
                Err(mpsc::error::SendError(back)) => post = back,
            }
        }
        Err(self.stopped())
    }

    /// Why an agent has stopped: nothing can be recorded, or there is something wrong with it.
    pub(crate) fn stopped(&self) -> Error {
        match self.parts.store.is_full() {
            true => Error::Full,
            false => Error::Stopped,
        }
    }

    fn mailbox(self: &Arc<Self>, id: &str) -> Result<mpsc::Sender<Mail>, Error> {
        let mut agents = self.lock();
        let slot = agents
            .get_mut(id)
            .ok_or_else(|| Error::Unknown(id.to_owned()))?;
        if let Some(awake) = &slot.awake
            && !awake.mailbox.is_closed()
        {
            return Ok(awake.mailbox.clone());
        }
        let before = slot.awake.take();
        let plain = slot.plain.clone();
        let due = slot.due.clone();
        let (mailbox, letters) = mpsc::channel(MAILBOX);
        let (inner, name, own) = (Arc::clone(self), id.to_owned(), mailbox.downgrade());
        let task = tokio::spawn(async move {
            if let Some(before) = before {
                // The old actor writes its snapshot first. A panic was reported by the runtime.
                drop(before.mailbox);
                drop(before.task.await);
            }
            let timed = match actor::run_actor(
                Arc::clone(&inner.parts),
                inner.tasks.clone(),
                name.clone(),
                plain,
                due.clone(),
                letters,
            )
            .await
            {
                Ok(timed) => timed,
                Err(problem) => {
                    tracing::error!(agent = name, %problem, "agent stopped by an error; the next message starts it again");
                    let now = (inner.parts.clock)();
                    due.set(Some(now.saturating_add(RETRY)));
                    true
                }
            };
            let mut agents = inner.lock();
            if let Some(slot) = agents.get_mut(&name) {
                slot.timed = timed;
                // Unless it was woken again meanwhile.
                let closed = slot.awake.as_ref().is_some_and(|it| it.mailbox.is_closed());
                if closed
                    && own.upgrade().is_some_and(|own| {
                        slot.awake
                            .as_ref()
                            .is_some_and(|it| it.mailbox.same_channel(&own))
                    })
                {
                    slot.awake = None;
                }
            }
        });
        slot.awake = Some(Awake {
            mailbox: mailbox.clone(),
            task,
        });
        Ok(mailbox)
    }

    /// A task has ended. An agent that sleeps with nothing open is not woken for it.
    pub(crate) fn gone(self: &Arc<Self>, id: &str, task: &str) {
        let concerns = {
            let agents = self.lock();
            agents
                .get(id)
                .is_some_and(|slot| slot.timed || slot.awake.is_some())
        };
        if concerns {
            let (inner, id, task) = (Arc::clone(self), id.to_owned(), task.into());
            // The task server does not wait for it.
            self.telling
                .spawn(async move { drop(inner.send(&id, Mail::Gone(task)).await) });
        }
    }
}
