//! Following the journal of an agent for all conversations at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use store::Follow;

use super::Owner;
use crate::context::Change;
use crate::error::Error;
use crate::event::{EffectId, EventKind, Request, TurnId};
use crate::handle::AgentHandle;
use crate::journal::{self, Record};

/// A follower of an agent's journal that knows to which conversations each record belongs.
///
/// One follower serves all windows of an agent: to decode each record for every window would cost as often as there
/// are windows. It owns a position in the journal and, for requests, approvals and intents that are open, the
/// conversation of each, since most changes name only a number. These maps begin with the state of the agent at the
/// position, and each record updates them before its conversations are looked up.
///
/// The order of [`AgentHandle::watch`] matters: the state is read first, then the journal is flushed, and the watch
/// begins after the event of that state. Whatever follows is delivered; whatever was before is in the store when the
/// watch is returned.
///
/// A record may belong to no conversation, and is left out; to some; or to all, as a pause does, for which the set is
/// empty. It ends when the store is closed. An error ends it for its owner, which begins another.
#[derive(Debug)]
pub struct Watch {
    follow: Follow,
    turns: BTreeMap<TurnId, Owner>,
    approvals: BTreeMap<EffectId, Owner>,
    intents: BTreeMap<EffectId, Owner>,
}

/// The records that a [`Watch`] read at once, each with its number and the conversations it belongs to. No conversation at
/// all stands for all of them.
pub type Watched = Vec<(u64, Arc<Record>, BTreeSet<Owner>)>;

impl Watch {
    /// Waits for the next records. None when the store is closed.
    pub async fn next(&mut self) -> Option<Result<Watched, Error>> {
        let entries = match self.follow.next_many(PAGE).await? {
            Ok(entries) => entries,
            Err(error) => return Some(Err(error.into())),
        };
        let mut watched = Vec::with_capacity(entries.len());
        for entry in entries {
            let record: Record = match journal::read(entry.payload()) {
                Ok(record) => record,
                Err(error) => return Some(Err(error)),
            };
            let owners = self.owners(&record);
            if let Some(owners) = owners {
                watched.push((entry.sequence(), Arc::new(record), owners));
            }
        }
        Some(Ok(watched))
    }

    /// The conversations that a record belongs to: none of them, or an empty set for all of them.
    fn owners(&mut self, record: &Record) -> Option<BTreeSet<Owner>> {
        let mut owners = BTreeSet::new();
        let mut all = false;
        for change in &record.changes {
            match change {
                Change::Opened { turn } => {
                    let owner = owner(&turn.heard);
                    self.turns.insert(turn.heard.turn.clone(), owner.clone());
                    owners.insert(owner);
                }
                Change::Asked { approval } => {
                    let owner = Owner {
                        caller: approval.by.clone(),
                        conversation: approval.conversation.clone(),
                    };
                    self.approvals.insert(approval.id, owner.clone());
                    owners.insert(owner);
                }
                Change::Shown { approval, .. } => {
                    owners.extend(self.approvals.get(approval).cloned());
                }
                Change::Decided { approval, .. } => {
                    owners.extend(self.approvals.remove(approval));
                }
                Change::Intended { pending } => {
                    let turn = pending.intent.turn.as_ref();
                    if let Some(owner) = turn.and_then(|it| self.turns.get(it)) {
                        self.intents.insert(pending.intent.id, owner.clone());
                        owners.insert(owner.clone());
                    }
                }
                Change::Settled { effect } => owners.extend(self.intents.remove(effect)),
                Change::Questioned { turn, question } => {
                    let owner = self.turns.get(turn).cloned().unwrap_or_else(|| Owner {
                        caller: question.caller.clone(),
                        conversation: question.conversation.clone(),
                    });
                    self.turns.insert(turn.clone(), owner.clone());
                    owners.insert(owner);
                }
                Change::Ended { turn, .. } | Change::Closed { turn } => {
                    owners.extend(self.turns.remove(turn));
                }
                Change::Round { turn, .. }
                | Change::Outcome { turn, .. }
                | Change::Replied { turn, .. } => owners.extend(self.turns.get(turn).cloned()),
                Change::Paused { .. } | Change::Fault { .. } => all = true,
                _ => {}
            }
        }
        if let EventKind::Called {
            by, conversation, ..
        } = &record.event.what
            && !conversation.is_empty()
        {
            owners.insert(Owner {
                caller: by.clone(),
                conversation: conversation.clone(),
            });
        }
        match (all, owners.is_empty()) {
            (true, _) => Some(BTreeSet::new()),
            (false, true) => None,
            (false, false) => Some(owners),
        }
    }
}

fn owner(heard: &Request) -> Owner {
    Owner {
        caller: heard.caller().to_owned(),
        conversation: heard.conversation.clone(),
    }
}

/// How many records are read at once.
const PAGE: usize = 256;

impl AgentHandle {
    /// Follows the journal from now on. Everything up to the given event is in the store.
    pub async fn watch(&self) -> Result<(Watch, u64), Error> {
        let (state, at) = self.state().await?;
        self.flush().await?;
        let context = state.context();
        let turns = context.turns.iter();
        let turns: BTreeMap<_, _> = turns
            .map(|(turn, it)| (turn.clone(), owner(&it.heard)))
            .collect();
        let approvals = context.pending().into_iter().map(|it| {
            let owner = Owner {
                caller: it.by.clone(),
                conversation: it.conversation.clone(),
            };
            (it.id, owner)
        });
        let intents = context.intents.iter().filter_map(|(id, it)| {
            let owner = turns.get(it.intent.turn.as_ref()?)?;
            Some((*id, owner.clone()))
        });
        let store = &self.population.0.parts.store;
        let watch = Watch {
            follow: store.follow(&journal::stream(&self.id), at),
            approvals: approvals.collect(),
            intents: intents.collect(),
            turns,
        };
        Ok((watch, at))
    }

    /// The records of its journal after an event, at most so many, each with its number. What it perceived just now may
    /// be missing.
    pub async fn records(&self, after: u64, limit: usize) -> Result<Vec<(u64, Record)>, Error> {
        journal::records(&self.population.0.parts.store, &self.id, after, limit).await
    }

    /// Everything that it perceived so far is in its journal when this returns.
    pub async fn settle(&self) -> Result<(), Error> {
        self.flush().await
    }

    /// The number of the last event of its journal.
    pub async fn last_event(&self) -> Result<u64, Error> {
        self.look(|_, event| event).await
    }
}
