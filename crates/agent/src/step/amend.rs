//! How the law changes: what follows from proposals, their tests, decisions of people, and episodes that end.

use std::sync::Arc;

use revise::{Decision, ProposalId, Stage, VersionNumber};

use super::Work;
use crate::approval::ApprovalState;
use crate::context::{Change, Turn};
use crate::event::{Effect, EffectId, End, MemoryResult, TurnId};
use crate::law::{Edit, Law, Refused};
use crate::message::Body;
use crate::revision::check::{is_major, no_new_authority};
use crate::revision::episode::Facts;
use crate::revision::{self, ProposedLaw, Test};
use crate::text;

/// The author of a law that the canary restored.
const CANARY: &str = "canary";

/// A proposal as its event has it.
pub(super) struct Entry<'a> {
    pub(super) edit: &'a Edit,
    pub(super) by: &'a str,
    /// The letter that proposes it, as the effect that waits for the outcome.
    pub(super) effect: Option<EffectId>,
    pub(super) refused: Option<&'a str>,
    pub(super) ordered_by: Option<&'a str>,
    pub(super) evidence: &'a [u64],
}

impl Work<'_> {
    /// A change of the law is proposed. What the fixed rules refuse is recorded as refused; the gate takes the rest.
    pub(super) fn proposed(&mut self, entry: &Entry<'_>) {
        let letter: Option<TurnId> = match entry.effect {
            Some(effect) => match self.settle_for(effect) {
                Some((turn, _)) => Some(turn.heard.turn.clone()),
                // The letter was cancelled.
                None => return,
            },
            None => None,
        };
        let opened = match entry.refused {
            Some(why) => Err(why.to_owned()),
            None => self.open(entry),
        };
        match opened {
            Ok((proposal, lines)) => {
                if let Some(letter) = letter {
                    self.intent(Some(&letter), Effect::Test { proposal, lines });
                }
            }
            Err(why) => {
                self.change(Change::LawKept {
                    why: why.clone(),
                    by: entry.by.to_owned(),
                    edit: Some(entry.edit.clone()),
                });
                if let Some(letter) = letter {
                    self.outcome(&letter, format!("I keep my law: {why}."), End::Refused);
                }
            }
        }
    }

    fn open(&mut self, entry: &Entry<'_>) -> Result<(u64, String), String> {
        let words = |refused: Refused| refused.to_string();
        let law = entry.edit.apply(self.law).map_err(words)?;
        if entry.ordered_by.is_none() {
            no_new_authority(self.law, &law).map_err(words)?;
        }
        let proposed = revise::Event::Proposed {
            by: entry.by.to_owned(),
            candidate: law.hash(),
            major: is_major(self.law, &law),
            undoes: None,
            ordered_by: entry.ordered_by.map(str::to_owned),
        };
        self.revise(&proposed, None)
            .map_err(|refused| refused.to_string())?;
        let proposal = self.now.revision.gate.proposals();
        let lines = text::bounded(&self.law.diff(&law).join("; "), crate::limits::LINE);
        self.change(Change::LawProposed {
            proposed: Arc::new(ProposedLaw {
                proposal,
                by: entry.by.to_owned(),
                edit: entry.edit.clone(),
                evidence: entry.evidence.to_vec(),
                law: Arc::new(law),
                at: self.at,
            }),
        });
        Ok((proposal, lines))
    }

    /// The proposal under way was tested.
    pub(super) fn tested(&mut self, proposal: u64, held_out: bool, test: &Test) {
        let (proposal, verdict) = (ProposalId(proposal), test.verdict.clone());
        let tested = match held_out {
            true => revise::Event::HeldOut { proposal, verdict },
            false => revise::Event::Trialled { proposal, verdict },
        };
        // It was told before, or the proposal has ended.
        drop(self.revise(&tested, None));
    }

    /// A letter that proposed something waits for what came of the test.
    pub(super) fn answer_proposal(&mut self, effect: EffectId) {
        let Some((turn, intent)) = self.settle_for(effect) else {
            return;
        };
        let Effect::Test { proposal, lines } = intent.effect else {
            return;
        };
        let version = self.now.law_version;
        let (text, end) = revision::says(&self.now.revision, proposal, version, &lines);
        self.outcome(&turn.heard.turn, text, end);
    }

    pub(super) fn retested(&mut self, proposal: u64) {
        let proposal = ProposalId(proposal);
        drop(self.revise(&revise::Event::Retested { proposal }, None));
    }

    /// A person decided about a proposal.
    pub(super) fn ruled(&mut self, proposal: u64, by: &str, approve: bool, reason: &str) {
        let decision = match approve {
            true => Decision::Approve,
            false => Decision::Reject {
                reason: reason.to_owned(),
            },
        };
        let decided = revise::Event::Decided {
            proposal: ProposalId(proposal),
            by: by.to_owned(),
            decision,
        };
        drop(self.revise(&decided, None));
    }

    /// A person puts an older law in force again.
    pub(super) fn rolled_back(&mut self, to: u64, law: &Law, by: &str, why: &str) {
        if law.frozen != self.law.frozen {
            return;
        }
        let restored = revise::Event::Restored {
            to: VersionNumber(to),
            by: by.to_owned(),
        };
        let law = Arc::new(law.clone());
        let why = format!("back to version {to}: {why}");
        drop(self.revise(&restored, Some((law, by.to_owned(), why))));
    }

    /// No person answered a proposal in time.
    pub(super) fn expire_proposal(&mut self, patience: i64) {
        let gate = &self.now.revision;
        let late = gate
            .proposed
            .as_ref()
            .is_some_and(|it| self.at.saturating_sub(it.at) > patience);
        let waits = gate.gate.open();
        let waits = waits.filter(|it| late && it.stage == Stage::Approval);
        if let Some(proposal) = waits.map(|it| it.id) {
            drop(self.revise(&revise::Event::Expired { proposal }, None));
        }
    }

    /// A request has ended: what it is worth counts for the rate limit and for the canary.
    pub(super) fn score(&mut self, turn: &Turn, end: End, outcomes: &[MemoryResult]) {
        let letter = turn.heard.letter.as_ref().map(|it| &it.body);
        if matches!(letter, Some(Body::Proposal { .. })) {
            return;
        }
        let score = self.facts(turn, end, outcomes).score(self.law);
        drop(self.revise(&revise::Event::Scored { score }, None));
    }

    fn facts(&self, turn: &Turn, end: End, outcomes: &[MemoryResult]) -> Facts {
        let approvals = self.now.approvals.values();
        let approvals: Vec<_> = approvals.filter(|it| it.turn == turn.heard.turn).collect();
        let count = |is: &dyn Fn(&ApprovalState, &crate::Approval) -> bool| {
            let found = approvals.iter().filter(|it| is(&it.standing, it)).count();
            u32::try_from(found).unwrap_or(u32::MAX)
        };
        let against = outcomes.iter().filter(|it| it.against.is_some()).count();
        let waited = !approvals.is_empty() || !turn.asides.is_empty();
        Facts {
            end,
            rejected: count(&|standing, _| matches!(standing, ApprovalState::Rejected(_))),
            corrected: count(&|standing, it| {
                let shown = it.bound.as_ref().unwrap_or(&it.input);
                matches!(standing, ApprovalState::Approved(with) if with != shown)
            }),
            contradictions: u32::try_from(against).unwrap_or(u32::MAX),
            tokens: turn.tokens,
            millis: match waited || turn.began == 0 {
                true => 0,
                false => self.at.saturating_sub(turn.began),
            },
        }
    }

    /// Has the gate decide, and records what follows: changes of the gate, and of the law where another version comes into
    /// force. `given` is the law that the event brings along, with its author and reason.
    pub(super) fn revise(
        &mut self,
        event: &revise::Event,
        given: Option<(Arc<Law>, String, String)>,
    ) -> Result<(), revise::Refused> {
        let before = self.now.revision.clone();
        let step = before.gate.next(&self.law.frozen.limits(), event)?;
        for change in step.changes {
            let law = match &change {
                revise::Change::Adopted(_) | revise::Change::Ordered(_) => {
                    let proposed = self.now.revision.proposed.clone();
                    let proposed = proposed.or_else(|| before.proposed.clone());
                    proposed.map(|it| {
                        let why = it.edit.justification.clone();
                        (it.law.clone(), it.by.clone(), why)
                    })
                }
                revise::Change::RolledBack { fall, .. } => before.previous.clone().map(|law| {
                    let why = format!(
                        "the score fell from {:.2} to {:.2} after the change",
                        fall.before, fall.since
                    );
                    (law, CANARY.to_owned(), why)
                }),
                revise::Change::Restored(_) | revise::Change::Replaced(_) => given.clone(),
                _ => None,
            };
            self.change(Change::Gate { step: change });
            if let Some((law, by, why)) = law {
                self.change(Change::Law {
                    hash: law.hash(),
                    law,
                    why,
                    by,
                    manifest: false,
                });
            }
        }
        Ok(())
    }
}
