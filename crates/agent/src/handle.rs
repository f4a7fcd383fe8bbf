//! A handle on an agent: send it events, read its state, pause it. A handle cannot change the state: every request
//! becomes an event, and the agent's own step decides what follows.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use skill::Registry;
use skill::extension::Question;
use tokio::sync::oneshot;

use crate::actor::{Mail, Outcome};
use crate::approval::{Approval, Grant};
use crate::call::Given;
use crate::context::{Questions, State};
use crate::error::Error;
use crate::event::{EventKind, TurnId};
use crate::journal::{self, Checked, Record};
use crate::law::Law;
use crate::plan::Plan;
use crate::population::Population;
use crate::step::AgentState;
use crate::text;
use crate::waiting::WaitingQuestion;
use crate::why::{self, Explanation};

/// A handle on an agent. Clones are handles on the same one.
#[derive(Clone, Debug)]
pub struct AgentHandle {
    pub(crate) population: Population,
    pub(crate) id: String,
}

/// What an agent does at the moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// What it is known by.
    pub id: String,
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
    /// The other questions that wait for a person.
    pub questions: Vec<WaitingQuestion>,
    /// The decisions that count for later calls.
    pub grants: Vec<Grant>,
    /// The last event of its journal.
    pub event: u64,
    /// The hash of its law, and which version it is.
    pub law: (String, u64),
    /// When each timer was last due, in milliseconds since 1970.
    pub timers: BTreeMap<String, i64>,
    /// What it has planned for the requests that it works on.
    pub plans: Vec<Plan>,
    /// The requests that were begun and not answered, each with its caller, the first one first.
    #[serde(skip)]
    pub tasks: Vec<(TurnId, String)>,
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
    /// The caller who proposed it.
    pub by: String,
    pub law: Arc<Law>,
}

impl AgentHandle {
    /// What it is known by.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it does. This wakes it.
    pub async fn status(&self) -> Result<Status, Error> {
        self.look(|state, event| {
            let context = state.context();
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
                questions: context.waiting_questions(),
                grants: context.grants().to_vec(),
                event,
                law: (state.law().hash(), context.law_version),
                timers: BTreeMap::clone(&context.timers),
                plans: context.plans(state.law()),
                tasks: context.begun(),
            }
        })
        .await
    }

    /// The law in force.
    pub async fn law(&self) -> Result<Arc<Law>, Error> {
        self.look(|state, _| state.law.clone()).await
    }

    /// A copy of all that it knows and does, as it is at an event.
    pub async fn state(&self) -> Result<(AgentState, u64), Error> {
        self.look(|state, event| (state.clone(), event)).await
    }

    /// Tells it to stop where it is. What is under way is finished; nothing new is begun, and nothing is lost.
    pub async fn pause(&self) -> Result<(), Error> {
        self.perceive(EventKind::Paused).await.map(drop)
    }

    /// Tells it to go on.
    pub async fn resume(&self) -> Result<(), Error> {
        self.perceive(EventKind::Resumed).await.map(drop)
    }

    /// Ends a grant.
    pub async fn revoke(&self, grant: &str, by: &str) -> Result<(), Error> {
        let (grant, by) = (grant.to_owned(), by.to_owned());
        let unknown = Error::NoGrant(grant.clone());
        let revoked = self.perceive(EventKind::Revoked { grant, by }).await?;
        match revoked.changed {
            true => Ok(()),
            false => Err(unknown),
        }
    }

    /// Compares it with other agents by the law that it has from now on.
    pub(crate) async fn settle_print(&self) -> Result<Arc<Law>, Error> {
        let law = self.law().await?;
        self.population.0.settle_print(&self.id, &law);
        Ok(law)
    }

    /// Every law it ever had, the first one first.
    pub async fn laws(&self) -> Result<Vec<Version>, Error> {
        Ok(why::laws(&self.history().await?))
    }

    /// Why it did, said or holds something. Each sentence of the answer cites the events it rests on.
    pub async fn why(&self, question: &str) -> Result<Explanation, Error> {
        let history = self.history().await?;
        let mut explanation = why::explain(&history, question);
        let records = self.records_about(question).await?;
        explanation.add(why::about_memory(&history, question, &records));
        Ok(explanation)
    }

    /// Why it did what it did last in a conversation of a caller, in words for that caller. Requests that have not ended,
    /// such as the one that asks, do not count.
    pub async fn why_last(&self, caller: &str, conversation: &str) -> Result<Explanation, Error> {
        let history = self.history().await?;
        Ok(why::explain_last(&history, caller, conversation))
    }

    /// The records of its memory that say what a question is about, with their texts.
    async fn records_about(&self, question: &str) -> Result<Vec<(String, String)>, Error> {
        let memory = self.population.0.parts.memory.as_ref();
        let Some(space) = memory.and_then(|memory| memory.space(&self.id).ok()) else {
            return Ok(Vec::new());
        };
        let mut recall = memory::Recall::new(question);
        recall.noted = memory::Noted::Look;
        let answer = space.recall(recall).await;
        let answer = answer.map_err(|error| Error::Record(error.to_string()))?;
        let found = answer.hits.iter().map(|hit| &hit.record);
        let found = found.filter(|it| {
            text::relevance(&it.content.text, [question]) >= 0.6
                || question.contains(it.id.as_str())
        });
        let found = found.map(|it| (it.id.to_string(), text::bounded(&it.content.text, 200)));
        Ok(found.collect())
    }

    /// Everything it perceived and what that changed, with the numbers of the events.
    pub async fn history(&self) -> Result<Vec<(u64, Record)>, Error> {
        self.flush().await?;
        journal::history(&self.population.0.parts.store, &self.id).await
    }

    /// The last records of its journal, at most so many.
    pub(crate) async fn recent(&self, most: u64) -> Result<Vec<(u64, Record)>, Error> {
        self.flush().await?;
        let last = self.look(|_, event| event).await?;
        let store = &self.population.0.parts.store;
        journal::after(store, &self.id, last.saturating_sub(most)).await
    }

    /// Makes every step of its journal again, and compares.
    pub async fn check(&self) -> Result<Checked, Error> {
        self.flush().await?;
        journal::check(&self.population.0.parts.store, &self.id).await
    }

    /// What all of its journal adds up to, without any whole that was written down; and the last event.
    pub async fn replay(&self) -> Result<(AgentState, u64), Error> {
        self.flush().await?;
        journal::replay(&self.population.0.parts.store, &self.id).await
    }

    /// Puts it to sleep, once it has done what it was told before.
    pub async fn sleep(&self) -> Result<(), Error> {
        self.population.0.send(&self.id, Mail::Sleep).await
    }

    /// Its own skills, if there is memory: to remember, recall and forget, to remind, to tell about itself, and boards.
    pub fn skills(&self) -> Registry {
        crate::skills::of(self)
    }

    pub(crate) async fn perceive(&self, what: EventKind) -> Result<Outcome, Error> {
        let (reply, outcome) = oneshot::channel();
        let post = Mail::Perceive(what, Some(reply));
        self.population.0.send(&self.id, post).await?;
        outcome.await.map_err(|_| self.population.0.stopped())
    }

    pub(crate) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&AgentState, u64) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, seen) = oneshot::channel();
        let look = move |state: &AgentState, event: u64| drop(reply.send(look(state, event)));
        self.population
            .0
            .send(&self.id, Mail::Look(Box::new(look)))
            .await?;
        seen.await.map_err(|_| self.population.0.stopped())
    }

    /// Records that a skill asks something in a task. The record is durable when this returns.
    pub(crate) async fn asked(
        &self,
        turn: &a2a::server::Turn,
        place: &str,
        question: &Question,
    ) -> Result<(), Error> {
        let asked = EventKind::Asked {
            turn: turn.task_id().as_str().into(),
            place: place.to_owned(),
            question: question.clone(),
            of: turn.caller().to_string(),
            conversation: turn.context_id().to_string(),
        };
        self.perceive(asked).await.map(drop)
    }

    /// Records the answer to a question of a skill. The message that it came in is durable already, so that the record
    /// may wait for the next commit.
    pub(crate) async fn answered(
        &self,
        turn: &str,
        place: &str,
        given: &Given,
    ) -> Result<(), Error> {
        let answered = EventKind::Answered {
            turn: turn.into(),
            place: place.to_owned(),
            answer: given.answer.clone(),
            by: given.by.clone(),
            message: given.message.clone(),
        };
        self.perceive(answered).await.map(drop)
    }

    /// The questions of a task that is taken up again, as the journal has them.
    pub(crate) async fn questions(&self, turn: &str) -> Result<Questions, Error> {
        let turn = TurnId::from(turn);
        let found = self.look(move |state, _| state.context().questions.get(&turn).cloned());
        Ok(found.await?.as_deref().cloned().unwrap_or_default())
    }

    /// What the law says about a call, without recording anything. During a pause it says nothing.
    pub(crate) async fn judge(&self, wanted: EventKind) -> Result<Outcome, Error> {
        let (reply, outcome) = oneshot::channel();
        let post = Mail::Judge(wanted, reply);
        self.population.0.send(&self.id, post).await?;
        outcome.await.map_err(|_| self.population.0.stopped())
    }

    /// Whether it thinks about messages. A plain agent of skills does not.
    pub fn thinks(&self) -> bool {
        self.population.0.thinks(&self.id)
    }

    /// Everything that it perceived so far is durable when this returns.
    pub(crate) async fn flush(&self) -> Result<(), Error> {
        if !self.population.0.is_awake(&self.id) {
            return Ok(());
        }
        let (reply, flushed) = oneshot::channel();
        self.population.0.send(&self.id, Mail::Flush(reply)).await?;
        flushed.await.map_err(|_| self.population.0.stopped())
    }

    /// A task has ended: completed, failed, rejected or cancelled.
    pub(crate) fn task_ended(&self, task: &str) {
        self.population.0.gone(&self.id, task);
    }
}
