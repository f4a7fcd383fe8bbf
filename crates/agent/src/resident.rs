//! An agent as others hold it: it can be spoken to, looked at and stopped. There is nothing by which it could be
//! changed from outside; what it is told is an event, and what follows from that is its own business.

use std::sync::Arc;

use serde::Serialize;
use skill::Registry;
use tokio::sync::oneshot;

use crate::approval::{Approval, Grant};
use crate::context::State;
use crate::error::Error;
use crate::event::Perceived;
use crate::household::Household;
use crate::journal::{self, Checked, Record};
use crate::law::{Edit, Law, Refused};
use crate::monad::{Outcome, Post};
use crate::step::Life;
use crate::why::{self, Explanation};

/// A handle on an agent. Clones are handles on the same one.
#[derive(Clone, Debug)]
pub struct Resident {
    pub(crate) household: Household,
    pub(crate) id: String,
}

/// What an agent does, for whoever asks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// What it is known by.
    pub id: String,
    /// What it does.
    pub state: State,
    /// Whether it was told to stop where it is.
    pub paused: bool,
    /// What went wrong, if it cannot go on.
    pub fault: Option<String>,
    /// The requests that it works on.
    pub working: usize,
    /// The requests that wait for their turn, the next one first, with how much they matter.
    pub queue: Vec<(String, u8)>,
    /// The calls that wait for a person.
    pub approvals: Vec<Approval>,
    /// The decisions that count for later calls.
    pub grants: Vec<Grant>,
    /// The last event of its journal.
    pub event: u64,
    /// The hash of its law, and which version it is.
    pub law: (String, u64),
}

/// A law that an agent had, with why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Version {
    /// The event by which it became its law.
    pub event: u64,
    /// What it is known by.
    pub hash: String,
    /// Why it was adopted.
    pub why: String,
    /// By whom it was proposed.
    pub by: String,
    /// The law.
    pub law: Arc<Law>,
}

impl Resident {
    /// What it is known by.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it does. This wakes it.
    pub async fn status(&self) -> Result<Status, Error> {
        self.look(|life, event| {
            let context = life.context();
            let queue = context.queue().into_iter();
            Status {
                id: context.identity().id.clone(),
                state: context.state(),
                paused: context.is_paused(),
                fault: context.fault().map(str::to_owned),
                working: context.busy(),
                queue: queue
                    .map(|(id, priority)| (id.to_owned(), priority))
                    .collect(),
                approvals: context.pending().into_iter().cloned().collect(),
                grants: context.grants().to_vec(),
                event,
                law: (life.law().hash(), context.law_version),
            }
        })
        .await
    }

    /// What it goes by.
    pub async fn law(&self) -> Result<Arc<Law>, Error> {
        self.look(|life, _| life.law.clone()).await
    }

    /// A copy of all that it knows and does, as it is at an event.
    pub async fn life(&self) -> Result<(Life, u64), Error> {
        self.look(|life, event| (life.clone(), event)).await
    }

    /// Tells it to stop where it is. What is under way is finished; nothing new is begun, and nothing is lost.
    pub async fn pause(&self) -> Result<(), Error> {
        self.perceive(Perceived::Paused).await.map(drop)
    }

    /// Tells it to go on.
    pub async fn resume(&self) -> Result<(), Error> {
        self.perceive(Perceived::Resumed).await.map(drop)
    }

    /// Proposes a change of its law, for those who govern it. The fixed rules decide; either way it is recorded.
    pub async fn propose(&self, edit: Edit, by: &str) -> Result<Arc<Law>, Error> {
        let law = self.law().await?;
        let refused: Option<Refused> = edit.apply(&law).err();
        let by = by.to_owned();
        self.perceive(Perceived::Proposed { edit, by }).await?;
        match refused {
            Some(refused) => Err(refused.into()),
            None => self.law().await,
        }
    }

    /// Every law it ever had, the first one first.
    pub async fn laws(&self) -> Result<Vec<Version>, Error> {
        Ok(why::laws(&self.history().await?))
    }

    /// Why it did, said or holds something. Each sentence of the answer cites the events it rests on.
    pub async fn why(&self, question: &str) -> Result<Explanation, Error> {
        Ok(why::explain(&self.history().await?, question))
    }

    /// Everything it perceived and what that changed, with the numbers of the events.
    pub async fn history(&self) -> Result<Vec<(u64, Record)>, Error> {
        journal::history(&self.household.0.parts.store, &self.id).await
    }

    /// Makes every step of its journal again, and compares.
    pub async fn check(&self) -> Result<Checked, Error> {
        journal::check(&self.household.0.parts.store, &self.id).await
    }

    /// What all of its journal adds up to, without any whole that was written down; and the last event.
    pub async fn replay(&self) -> Result<(Life, u64), Error> {
        journal::replay(&self.household.0.parts.store, &self.id).await
    }

    /// Puts it to sleep, once it has done what it was told before.
    pub async fn sleep(&self) -> Result<(), Error> {
        self.household.0.send(&self.id, Post::Sleep).await
    }

    /// Its own skills: `remember` and `recall`, if there is memory.
    pub fn skills(&self) -> Registry {
        crate::skills::of(self)
    }

    pub(crate) async fn perceive(&self, what: Perceived) -> Result<Outcome, Error> {
        let (reply, outcome) = oneshot::channel();
        let post = Post::Perceive(what, Some(reply));
        self.household.0.send(&self.id, post).await?;
        outcome.await.map_err(|_| Error::Stopped)
    }

    pub(crate) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Life, u64) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, seen) = oneshot::channel();
        let look = move |life: &Life, event: u64| drop(reply.send(look(life, event)));
        self.household
            .0
            .send(&self.id, Post::Look(Box::new(look)))
            .await?;
        seen.await.map_err(|_| Error::Stopped)
    }

    /// A task of its waits for an answer from now on, or goes on.
    pub(crate) async fn waits(&self, task: &str, waits: bool) {
        let turn = task.to_owned();
        // An agent that has stopped says so to the next caller.
        drop(self.perceive(Perceived::Waits { turn, waits }).await);
    }

    /// A task has ended, in whatever way.
    pub(crate) fn task_ended(&self, task: &str) {
        self.household.0.gone(&self.id, task);
    }
}
