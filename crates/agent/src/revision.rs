//! How a law changes: proposals, their tests on recorded episodes, people's decisions, and the way back.
//!
//! The gate itself is [`revise::Gate`], a pure state machine that is part of the agent's state. Everything that happens to
//! it is an event of the agent, so that a restart finds a proposal where it was, with the old law in force or the new one.
//! The test of a proposal takes long, and is done outside of the steps: [`AgentHandle::measure`] reads the journal,
//! replays the episodes, and tells the agent what came of it. A result that comes twice counts once.
//!
//! Layout: `check` is what a law may become by a proposal; `episode` is what an episode is worth; `replay` does an episode
//! again under another law; `trial` compares two laws; `reflect` finds proposals in the journal; `view` shows proposals. `step/amend.rs` has the steps.

use std::sync::Arc;

use memory::Millis;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::event::EventKind;
use crate::handle::AgentHandle;
use crate::law::{Edit, Law, Refused};

pub(crate) mod check;
pub(crate) mod episode;
mod reflect;
mod replay;
mod trial;
mod view;

#[cfg(test)]
#[path = "revision_tests.rs"]
pub(crate) mod tests;

pub use trial::{Figures, Test};
pub(crate) use view::says;
pub use view::{ProposalState, ProposalView};

/// The gate of a law, with the laws that it may put in force.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LawGate {
    pub(crate) gate: revise::Gate,
    /// The proposal under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proposed: Option<Arc<ProposedLaw>>,
    /// The law that is restored if the canary sees a fall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) previous: Option<Arc<Law>>,
    /// The episodes since it looked through its journal last.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) unreflected: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl LawGate {
    /// Takes a recorded change in.
    pub(crate) fn apply(&mut self, change: &revise::Change) {
        self.gate.apply(change);
        if matches!(change, revise::Change::Scored(_)) {
            self.unreflected = self.unreflected.saturating_add(1);
        }
        if self.gate.open().is_none() {
            self.proposed = None;
        }
        if self.gate.canary().is_none() {
            self.previous = None;
        }
    }

    /// Counts a law that came into force without a change of the gate: at birth, and in journals from before there was one.
    pub(crate) fn follow(&mut self, version: u64, hash: &str) {
        if version == 1 {
            self.gate = revise::Gate::new(hash);
        }
        while self.gate.version().number.0 < version {
            let number = revise::VersionNumber(self.gate.version().number.0 + 1);
            self.gate.apply(&revise::Change::Replaced(revise::Version {
                number,
                hash: hash.to_owned(),
                proposal: None,
                approved_by: None,
            }));
        }
    }
}

/// A proposed change of a law, and the law that it would make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedLaw {
    pub(crate) proposal: u64,
    pub(crate) by: String,
    pub(crate) edit: Edit,
    /// Numbers of events of the agent's journal that support the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) evidence: Vec<u64>,
    pub(crate) law: Arc<Law>,
    pub(crate) at: Millis,
}

/// The author of proposals that the agent makes by itself.
const REFLECTION: &str = "reflection";

/// How many of the last events it looks through when it reflects.
const REFLECTED: u64 = 5_000;

/// The most events that a proposal cites.
const EVIDENCE: usize = 64;

impl AgentHandle {
    /// Changes its law by the order of an operator. It passes the same gate as a proposal: the checks hold, and it is tested;
    /// the word of the operator is the approval. Either way it is recorded.
    pub async fn amend(&self, edit: Edit, by: &str) -> Result<Arc<Law>, Error> {
        self.enter(edit, by, Some(by), &[]).await?;
        self.measure().await?;
        self.settle_print().await
    }

    /// Proposes a change of its law. It is checked and tested when this returns; `evidence` are events of its journal.
    pub async fn propose(
        &self,
        edit: Edit,
        by: &str,
        evidence: &[u64],
    ) -> Result<ProposalView, Error> {
        let entered = self.enter(edit, by, None, evidence).await?;
        self.measure().await?;
        self.settle_print().await?;
        self.proposal(entered).await
    }

    /// Has the gate open a proposal, and says its number.
    async fn enter(
        &self,
        edit: Edit,
        by: &str,
        ordered_by: Option<&str>,
        evidence: &[u64],
    ) -> Result<u64, Error> {
        let refused = self
            .objection(&edit, evidence, ordered_by.is_none())
            .await?;
        let before = self.look(|state, _| state.context.revision.gate.proposals());
        let before = before.await?;
        self.perceive(EventKind::Proposed {
            edit,
            by: by.to_owned(),
            effect: None,
            refused: refused.as_ref().map(ToString::to_string),
            ordered_by: ordered_by.map(str::to_owned),
            evidence: evidence.to_vec(),
        })
        .await?;
        if let Some(refused) = refused {
            self.settle_print().await?;
            return Err(refused.into());
        }
        let (after, open) = self
            .look(|state, _| {
                let gate = &state.context.revision.gate;
                (gate.proposals(), gate.open().map(|it| it.id.to_string()))
            })
            .await?;
        match after > before {
            true => Ok(after),
            false => {
                self.settle_print().await?;
                Err(Error::Proposal(match open {
                    Some(open) => format!("{open} is under way: decide about it first"),
                    None => "the law is the same already".to_owned(),
                }))
            }
        }
    }

    /// Why a change of its law is refused, if it is: by the fixed rules, or because another agent would be the same.
    pub(crate) async fn objection(
        &self,
        edit: &Edit,
        evidence: &[u64],
        is_proposal: bool,
    ) -> Result<Option<Refused>, Error> {
        if let Some(refused) = self.unknown(evidence).await? {
            return Ok(Some(refused));
        }
        let law = self.law().await?;
        let changed = edit.apply(&law).and_then(|changed| {
            if is_proposal {
                check::no_new_authority(&law, &changed)?;
            }
            Ok(changed)
        });
        let changed = match changed {
            Ok(changed) => changed,
            Err(refused) => return Ok(Some(refused)),
        };
        match self.population.reserve(&self.id, &changed, None) {
            Ok(()) => Ok(None),
            Err(Error::Law(refused)) => Ok(Some(refused)),
            Err(error) => Err(error),
        }
    }

    /// Why the evidence of a proposal is none.
    async fn unknown(&self, evidence: &[u64]) -> Result<Option<Refused>, Error> {
        let last = self.look(|_, event| event).await?;
        if evidence.len() > EVIDENCE {
            return Ok(Some(Refused::Evidence(format!(
                "{} events are too many: a proposal cites at most {EVIDENCE}",
                evidence.len()
            ))));
        }
        let unknown = evidence.iter().find(|it| **it == 0 || **it > last);
        Ok(unknown.map(|it| {
            Refused::Evidence(format!(
                "the journal has no event {it}: its last one is {last}"
            ))
        }))
    }

    /// Tests the proposal under way, as far as it waits for that, and says the results to the agent.
    pub(crate) async fn measure(&self) -> Result<(), Error> {
        loop {
            let subject = self.look(|state, _| trial::Subject::of(state)).await?;
            let Some(subject) = subject else {
                return Ok(());
            };
            let (proposal, held_out) = (subject.proposal, subject.held_out);
            self.flush().await?;
            let store = &self.population.0.parts.store;
            let test = trial::run(store, &self.id, subject).await?;
            let told = self.perceive(EventKind::Tested {
                proposal,
                held_out,
                test: Box::new(test),
            });
            // Another caller may have told the same meanwhile; the stage has changed in any case.
            told.await?;
            self.settle_print().await?;
        }
    }

    /// Looks at the newest part of its journal, and proposes the first change that it speaks for and that it does not have as a
    /// proposal already. None: there is no such change. The gate judges it like any other proposal.
    pub async fn reflect(&self) -> Result<Option<ProposalView>, Error> {
        self.perceive(EventKind::Reflected).await?;
        let history = self.recent(REFLECTED).await?;
        let law = self.law().await?;
        let earlier = reflect::proposed(&history);
        let mut suggestions = reflect::suggestions(&history, &law).into_iter();
        match suggestions.find(|it| !it.is_among(&earlier)) {
            Some(it) => self
                .propose(it.edit, REFLECTION, &it.evidence)
                .await
                .map(Some),
            None => Ok(None),
        }
    }

    /// Reflects if that is due: the law says after how many episodes.
    pub(crate) async fn reflect_if_due(&self) -> Result<(), Error> {
        if self.look(|state, _| state.reflects()).await? {
            self.reflect().await?;
        }
        Ok(())
    }

    /// Tests the proposal that waits for a person once more, on the episodes that there are by now.
    pub async fn retest(&self, proposal: Option<u64>) -> Result<ProposalView, Error> {
        self.measure().await?;
        let proposal = self.waiting(proposal).await?;
        self.perceive(EventKind::Retested { proposal }).await?;
        self.measure().await?;
        self.proposal(proposal).await
    }

    /// Approves or rejects the proposal that waits for a person; `reason` is why it is rejected.
    pub async fn decide(
        &self,
        proposal: Option<u64>,
        by: &str,
        approve: bool,
        reason: &str,
    ) -> Result<ProposalView, Error> {
        self.measure().await?;
        let proposal = match approve {
            true => self.waiting(proposal).await?,
            // No is an answer at every stage.
            false => self.under_way(proposal).await?,
        };
        if !approve && reason.trim().is_empty() {
            return Err(Refused::Unjustified.into());
        }
        if approve {
            let law = self.look(|state, _| state.context.revision.proposed.clone());
            if let Some(proposed) = law.await? {
                // Another agent may have become the same since it was proposed.
                self.population.reserve(&self.id, &proposed.law, None)?;
            }
        }
        self.perceive(EventKind::Ruled {
            proposal,
            by: by.to_owned(),
            approve,
            reason: reason.to_owned(),
        })
        .await?;
        self.settle_print().await?;
        self.proposal(proposal).await
    }

    /// Puts an older version of its law in force again; without a number, the one before.
    pub async fn roll_back(
        &self,
        version: Option<u64>,
        by: &str,
        why: &str,
    ) -> Result<Arc<Law>, Error> {
        if why.trim().is_empty() {
            return Err(Refused::Unjustified.into());
        }
        let laws = self.laws().await?;
        let current = laws.last().map(|it| it.law.clone());
        let current = current.ok_or_else(|| Error::Proposal("there is no law".to_owned()))?;
        let place = match version {
            Some(version) => usize::try_from(version)
                .ok()
                .and_then(|it| it.checked_sub(1))
                .filter(|it| *it < laws.len()),
            None => laws.iter().rposition(|it| it.law != current),
        };
        let place = place.ok_or_else(|| {
            Error::Proposal(match version {
                Some(version) => {
                    format!(
                        "the law has no version {version}: it has {} of them",
                        laws.len()
                    )
                }
                None => "there is no version before this one".to_owned(),
            })
        })?;
        let law = laws[place].law.clone();
        if law == current {
            return Err(Error::Proposal(format!(
                "version {} is what is in force",
                place + 1
            )));
        }
        if law.frozen != current.frozen {
            return Err(Refused::Frozen(format!("a part of version {}", place + 1)).into());
        }
        self.population.reserve(&self.id, &law, None)?;
        self.perceive(EventKind::RolledBack {
            to: place as u64 + 1,
            law: Box::new(Law::clone(&law)),
            by: by.to_owned(),
            why: why.to_owned(),
        })
        .await?;
        self.settle_print().await
    }

    /// All proposals that its journal has, the oldest first. Tests that a restart interrupted are finished first.
    pub async fn proposals(&self) -> Result<Vec<ProposalView>, Error> {
        self.measure().await?;
        Ok(view::proposals(&self.history().await?))
    }

    async fn proposal(&self, number: u64) -> Result<ProposalView, Error> {
        let mut proposals = self.proposals().await?.into_iter();
        let found = proposals.find(|it| it.proposal == Some(number));
        found.ok_or_else(|| Error::Proposal(format!("there is no proposal {number}")))
    }

    /// The proposal that has not ended: the one that is named, or the one that there is.
    async fn under_way(&self, proposal: Option<u64>) -> Result<u64, Error> {
        let open = self.look(|state, _| state.context.revision.gate.open().map(|it| it.id.0));
        match open.await? {
            Some(open) if proposal.is_none_or(|it| it == open) => Ok(open),
            _ => self.waiting(proposal).await,
        }
    }

    /// The proposal that waits for a person: the one that is named, or the one that there is.
    async fn waiting(&self, proposal: Option<u64>) -> Result<u64, Error> {
        let open = self
            .look(|state, _| state.context.revision.gate.open().cloned())
            .await?;
        let named = |id: u64| proposal.is_none_or(|it| it == id);
        match (open, proposal) {
            (Some(open), _) if named(open.id.0) && open.stage == revise::Stage::Approval => {
                Ok(open.id.0)
            }
            (Some(open), _) if named(open.id.0) => Err(Error::Proposal(format!(
                "{} waits for further episodes, not for a person",
                open.id
            ))),
            (_, Some(proposal)) => Err(Error::Proposal(format!(
                "proposal {proposal} does not wait for a person"
            ))),
            (_, None) => Err(Error::Proposal("no proposal waits for a person".to_owned())),
        }
    }
}
