//! Writes to the memory of an agent that come from callers: the skill `remember`, the API and imports. The law judges
//! each, and the journal has each by the id of its record and the hash of its text. It has no text, so that a forgotten
//! record is gone as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use access::Principal;
use memory::{
    Certainty, Content, Handle, Keep, Lasting, Outcome, Reason, Record, RecordId, Standing,
    Utterance, Viewer,
};
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::actor::Mail;
use crate::error::{Error, KeepError};
use crate::event::{EventKind, MemoryOutcome, StoredItem};
use crate::forgetting::Redaction;
use crate::handle::AgentHandle;
use crate::journal;
use crate::law::Origin;
use crate::step::{Judgement, judge};

/// Something that a caller wants an agent to remember.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryInput {
    pub content: Content,
    /// The layer and the reason of a lasting record; None is an observation.
    pub lasting: Option<(Lasting, Reason)>,
    /// The records it was concluded from.
    pub from: Vec<RecordId>,
}

/// What became of a [`MemoryInput`].
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    pub record: RecordId,
    pub outcome: MemoryOutcome,
    /// The texts that it contradicts, with their records.
    pub contradicts: Vec<(RecordId, String)>,
}

/// How many records of an import are new, and how many the law discarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub new: usize,
    pub discarded: usize,
}

impl AgentHandle {
    /// The memory of the agent as a caller sees it. An agent that acts for a person sees what that person does.
    pub fn memory(&self, caller: &Principal) -> Result<Handle, KeepError> {
        let memory = self.population.0.parts.memory.as_ref();
        let space = memory.ok_or(KeepError::NoMemory)?.space(&self.id)?;
        Ok(space.seen_by(self.viewer(caller)))
    }

    /// What a caller sees of the agent's memory.
    pub fn viewer(&self, caller: &Principal) -> Viewer {
        self.population.0.viewer(&self.id, &self.id, caller)
    }

    /// The source of what a caller says.
    pub fn source_of(caller: &Principal) -> String {
        match crate::turn::is_principal(caller.name()) {
            true => caller.name().to_owned(),
            false => format!("user:{caller}"),
        }
    }

    /// Whether a caller said a record. What an agent said for a person is said by that person alone.
    pub(crate) fn is_said_by(caller: &Principal, record: &Record) -> bool {
        let person = caller.person();
        let said = |by: &Principal| record.source() == Some(Self::source_of(by).as_str());
        match caller.acts_for() {
            None => said(caller),
            Some(_) => record.owner() == Some(person.name()) && (said(caller) || said(&person)),
        }
    }

    /// Has the agent remember something, if its law allows that. A lasting record that the law does not promote is
    /// logged as an observation.
    pub async fn store(&self, caller: &Principal, offer: MemoryInput) -> Result<Stored, KeepError> {
        let space = self.memory(caller)?;
        let mut content = offer.content;
        let source = match &offer.lasting {
            Some((_, reason)) => reason.source().to_owned(),
            None => content.source.clone().unwrap_or_default(),
        };
        // What is said in the name of another belongs to that one, and what an agent says for a person to the person.
        let named = memory::caller_of(&source).filter(|it| *it != caller.name());
        let owner = || named.map_or_else(|| caller.person().name().to_owned(), str::to_owned);
        content.owner.get_or_insert_with(owner);
        // What a person wants to be remembered in the form of a command is the person's to decide; of others it is none.
        let asks = match Utterance::of(&content.text) {
            Utterance::Question | Utterance::Greeting => true,
            Utterance::Command => !source.starts_with("user:"),
            _ => false,
        };
        if offer.lasting.is_some() && asks {
            return Err(KeepError::NotKnowledge);
        }
        let confidence = offer.lasting.as_ref().map(|(_, it)| it.confidence());
        let judged = self.judged(&[(&content.text, &source, confidence)]).await?;
        let hash = hash_of(&content.text);
        let lasting = offer.lasting.filter(|_| judged[0] == Judgement::Believe);
        let by = caller.to_string();
        let item = |record: &str, outcome| StoredItem {
            record: record.to_owned(),
            hash: hash.clone(),
            source: source.clone(),
            outcome,
        };
        if judged[0] == Judgement::Discard {
            let refused = vec![item("", MemoryOutcome::Refused)];
            self.recorded(by, refused).await?;
            return Err(KeepError::Discarded);
        }
        self.perceive(EventKind::Storing {
            by: by.clone(),
            hash: hash.clone(),
            source: source.clone(),
        })
        .await?;
        let stored = match lasting {
            None => Stored {
                record: space.observe(content).await?,
                outcome: MemoryOutcome::Observed,
                contradicts: Vec::new(),
            },
            Some((layer, reason)) => {
                let outcome = space
                    .keep(Keep {
                        content,
                        layer,
                        reason,
                        from: offer.from,
                    })
                    .await?;
                Stored {
                    record: outcome.id().clone(),
                    contradicts: contradicted(&space, &outcome).await,
                    outcome: MemoryOutcome::from(&outcome),
                }
            }
        };
        let item = item(stored.record.as_str(), stored.outcome);
        self.recorded(by, vec![item]).await?;
        Ok(stored)
    }

    /// Takes in the records of an export, for operators. Records that the law discards are left out, and those that it
    /// does not promote become observations. The journal gets one event for all of them.
    pub async fn import(
        &self,
        caller: &Principal,
        records: Vec<Record>,
    ) -> Result<Imported, KeepError> {
        let space = self.memory(caller)?;
        let judged = {
            let offered = records.iter().map(|record| {
                let confidence = record.kept().map(|kept| kept.reason.confidence());
                (
                    &*record.content.text,
                    record.source().unwrap_or_default(),
                    confidence,
                )
            });
            self.judged(&offered.collect::<Vec<_>>()).await?
        };
        let given = records.len();
        let mut items = Vec::with_capacity(given);
        let mut taken = Vec::with_capacity(given);
        for (mut record, judgement) in records.into_iter().zip(judged) {
            if judgement == Judgement::Discard {
                continue;
            }
            if judgement == Judgement::Log
                && let Standing::Kept(kept) = &record.standing
                && kept.layer != Lasting::Axiom
            {
                record.content.source = Some(kept.reason.source().to_owned());
                record.standing = Standing::Observed;
            }
            items.push(StoredItem {
                record: record.id.to_string(),
                hash: hash_of(&record.content.text),
                source: record.source().unwrap_or_default().to_owned(),
                outcome: match record.kept() {
                    Some(_) => MemoryOutcome::Kept,
                    None => MemoryOutcome::Observed,
                },
            });
            taken.push(record);
        }
        let discarded = given - taken.len();
        // Their ids are known, so that the journal has them before memory does.
        self.recorded(caller.to_string(), items).await?;
        self.flush().await?;
        let new = space.import(taken).await?;
        Ok(Imported { new, discarded })
    }

    /// Forgets a record of the caller's; operators forget those of others, too. Its words go from the journal as well.
    /// Returns how many records are gone.
    pub async fn forget(
        &self,
        caller: &Principal,
        id: &RecordId,
        why: &str,
    ) -> Result<usize, KeepError> {
        let record = self.memory(caller)?.get(id).await?;
        let count = self.forget_record(caller, id, why).await?;
        if let Some(record) = record {
            self.redact(&[record], "").await?;
        }
        Ok(count)
    }

    /// Forgets a record in memory alone. [`redact`](Self::redact) takes its words out of the journal.
    pub(crate) async fn forget_record(
        &self,
        caller: &Principal,
        id: &RecordId,
        why: &str,
    ) -> Result<usize, KeepError> {
        let count = self.memory(caller)?.forget(id, why).await?;
        let forgotten = EventKind::Forgot {
            by: caller.to_string(),
            record: id.to_string(),
            why: crate::text::bounded(why, crate::limits::LINE),
        };
        self.perceive(forgotten).await?;
        Ok(count)
    }

    /// Takes the words of forgotten records out of the requests of the people to whom they belonged, in the journal and in
    /// the state. `turn` is the request in which they are forgotten: its answer may repeat them.
    pub(crate) async fn redact(&self, records: &[Arc<Record>], turn: &str) -> Result<(), Error> {
        let mut texts: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
        for record in records {
            let owner = record
                .owner()
                .map(|name| Principal::named(name).to_string());
            let texts = texts.entry(owner).or_default();
            texts.push(record.content.text.clone());
        }
        for (owner, texts) in texts {
            let mut redaction = Redaction::new(&texts, owner.as_deref());
            self.flush().await?;
            let store = &self.population.0.parts.store;
            let records = journal::records_with(store, &self.id, &mut redaction).await?;
            let (reply, done) = oneshot::channel();
            let post = Mail::Redact {
                redaction: Box::new(redaction),
                records,
                turn: turn.into(),
                reply,
            };
            self.population.0.send(&self.id, post).await?;
            done.await.map_err(|_| self.population.0.stopped())?;
        }
        Ok(())
    }

    /// What the law says to texts, each with its source and, for a lasting record, its confidence.
    async fn judged(&self, offered: &[(&str, &str, Option<f64>)]) -> Result<Vec<Judgement>, Error> {
        if !self.thinks() {
            // A plain agent of skills has no rules.
            return Ok(vec![Judgement::Believe; offered.len()]);
        }
        let offered: Vec<(String, Origin, String, Option<f64>)> = offered
            .iter()
            .map(|(text, source, confidence)| {
                let (origin, from) = origin_of(source);
                ((*text).to_owned(), origin, from.to_owned(), *confidence)
            })
            .collect();
        self.look(move |state, _| {
            let judged = offered
                .iter()
                .map(|(text, origin, from, sure)| judge(state, *origin, from, text, *sure));
            judged.collect()
        })
        .await
    }

    async fn recorded(&self, by: String, items: Vec<StoredItem>) -> Result<(), Error> {
        if items.is_empty() {
            return Ok(());
        }
        self.perceive(EventKind::Stored { by, items })
            .await
            .map(drop)
    }
}

/// The kind of a source, and its name.
fn origin_of(source: &str) -> (Origin, &str) {
    match source.split_once(':') {
        Some(("user", name)) => (Origin::User, name),
        Some(("agent", name)) => (Origin::Agent, name),
        Some((_, name)) => (Origin::Tool, name),
        None if matches!(source, "own" | "agent") => (Origin::Own, ""),
        // The name of a speaker.
        None => (Origin::User, source),
    }
}

/// The SHA-256 of a text, in hexadecimal.
pub(crate) fn hash_of(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a kept record contradicts: the surer record that puts it in doubt, or those that it puts in doubt.
pub(crate) async fn contradicted(space: &Handle, outcome: &Outcome) -> Vec<(RecordId, String)> {
    let ids = match outcome {
        Outcome::Prevailed(_, others) => others.clone(),
        Outcome::Doubted(id) => {
            let record = space.get(id).await.ok().flatten();
            let certainty = record.and_then(|it| Some(it.kept()?.certainty.clone()));
            match certainty {
                Some(Certainty::Uncertain { against, .. }) => vec![against],
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    };
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        if let Ok(Some(record)) = space.get(&id).await {
            found.push((id, record.content.text.clone()));
        }
    }
    found
}
