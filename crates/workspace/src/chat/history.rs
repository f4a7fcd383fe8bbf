//! The history of a session, read from the journal.

use std::sync::Arc;

use agent::{AgentHandle, Owner, State, Telling};

use super::Chat;
use super::envelope::{Cursor, Envelope};
use super::show::SessionAddress;

/// How many records are read at once.
const PAGE: usize = 512;

/// A session up to now.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) messages: Vec<Envelope>,
    pub(crate) state: State,
    /// The ids of what waits for a person.
    pub(crate) waiting: Vec<String>,
    /// Whether there are more messages after these.
    pub(crate) more: bool,
}

impl Chat {
    /// The messages of a session after a cursor, at most so many.
    pub(crate) async fn history(
        &self,
        agent: &AgentHandle,
        owner: &Owner,
        after: Cursor,
        limit: usize,
    ) -> Result<History, agent::Error> {
        let session = self.sessions().find(owner, agent.id()).await?;
        let mut last = session.map_or(0, |it| it.first);
        // What the agent perceived just now is to be in the journal.
        agent.settle().await?;
        let marked = (self.parts().about)(agent.id()).marked;
        let mut telling = Telling::new(owner.clone(), Arc::new(marked));
        let place = SessionAddress {
            agent: agent.id().to_owned(),
            session: owner.conversation.clone(),
        };
        let (mut messages, mut more) = (Vec::new(), false);
        loop {
            let page = agent.records(last, PAGE).await?;
            let Some((newest, _)) = page.last() else {
                break;
            };
            last = *newest;
            for (number, record) in &page {
                for message in place.messages(*number, &telling.take(record)) {
                    if message.metadata.cursor <= after {
                        continue;
                    }
                    match messages.len() < limit {
                        true => messages.push(message),
                        false => more = true,
                    }
                }
            }
        }
        Ok(History {
            messages,
            state: telling.state(),
            waiting: telling
                .waiting_ids()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            more,
        })
    }
}
