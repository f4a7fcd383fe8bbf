//! The stages of a proposal, as a pure state machine.

pub(crate) mod state;

use serde::{Deserialize, Serialize};

use crate::canary::{self, Fall};
use crate::verdict::Verdict;
use state::{Ask, Gate, Open, Outcome, ProposalId, Stage, Version, VersionNumber};

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;

/// How fast a subject may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// At most one proposal is adopted in this many episodes. The first one, and an undo, do not wait.
    pub every: u64,
    /// How many episodes the canary of an adoption lasts, and how many before it are compared with.
    pub canary: usize,
    /// How much the mean score may fall during a canary.
    pub tolerance: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            every: 20,
            canary: 10,
            tolerance: 0.05,
        }
    }
}

/// What happens to a gate. Each is recorded before its effects are carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A candidate that has passed the checks of its subject.
    Proposed {
        by: String,
        /// The hash of the candidate.
        candidate: String,
        /// Whether a person has to agree in any case.
        major: bool,
        /// The older version that the candidate is.
        undoes: Option<VersionNumber>,
        /// The person who orders it, if it is the order of a person.
        ordered_by: Option<String>,
    },
    Trialled {
        proposal: ProposalId,
        verdict: Verdict,
    },
    HeldOut {
        proposal: ProposalId,
        verdict: Verdict,
    },
    /// A person has answered. Whether they may is decided before.
    Decided {
        proposal: ProposalId,
        by: String,
        decision: Decision,
    },
    /// A proposal that waits for a person is to be measured once more, on the episodes that there are by now.
    Retested {
        proposal: ProposalId,
    },
    /// The owner of the subject has put another content in force, outside of the gate.
    Replaced {
        hash: String,
        by: String,
    },
    Withdrawn {
        proposal: ProposalId,
        by: String,
    },
    /// No person has answered in time.
    Expired {
        proposal: ProposalId,
    },
    /// A person puts an older version in force again, at once.
    Restored {
        to: VersionNumber,
        by: String,
    },
    /// An episode has ended, with its score: higher is better.
    Scored {
        score: f64,
    },
}

/// The answer of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    Approve,
    Reject { reason: String },
}

/// A change of a gate, as it is recorded and folded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    Opened(Open),
    Trialled(Verdict),
    HeldOut(Verdict),
    Moved(Stage),
    Closed(Outcome),
    /// A proposal is in force; its canary begins.
    Adopted(Version),
    /// What a person ordered is in force. It has no canary: what a person forbids must not come back by itself.
    Ordered(Version),
    /// The owner of the subject has put another content in force.
    Replaced(Version),
    /// A person has put an older version in force again.
    Restored(Version),
    /// The canary saw a fall, and the version before is in force again.
    RolledBack {
        version: Version,
        fall: Fall,
    },
    Scored(f64),
    /// The canary ended without a fall.
    Settled,
}

/// What the owner of the gate does after the changes are recorded.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Measure the candidate on episodes that its author may have seen.
    RunTrial { proposal: ProposalId },
    /// Measure it on episodes that its author has not seen.
    RunHeldOut { proposal: ProposalId },
    /// Ask a person, with the reason.
    AskPerson { proposal: ProposalId, why: Ask },
    /// Put this version in force.
    Use { version: VersionNumber },
}

impl Effect {
    pub fn proposal(&self) -> Option<ProposalId> {
        match self {
            Self::RunTrial { proposal }
            | Self::RunHeldOut { proposal }
            | Self::AskPerson { proposal, .. } => Some(*proposal),
            Self::Use { .. } => None,
        }
    }
}

/// What follows from an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    pub changes: Vec<Change>,
    pub effects: Vec<Effect>,
}

/// Why an event changes nothing, in words for its author.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("{0} is under way: decide about it, or wait for its end")]
    Busy(ProposalId),
    #[error("{0}: the candidate equals the version in force")]
    Same(VersionNumber),
    #[error("{0} is not under way")]
    NotOpen(ProposalId),
    #[error("{0} is at another stage, where this event is not expected")]
    Stage(ProposalId),
    #[error("there is no {0}")]
    NoVersion(VersionNumber),
    #[error("a score is a finite number")]
    Score,
}

impl Gate {
    /// Decides what follows from an event; changes nothing. The caller records the changes, applies them, and then carries
    /// the effects out.
    pub fn next(&self, limits: &Limits, event: &Event) -> Result<Step, Refused> {
        match event {
            Event::Proposed {
                by,
                candidate,
                major,
                undoes,
                ordered_by,
            } => self.propose(Open {
                id: ProposalId(self.proposals + 1),
                by: by.clone(),
                candidate: candidate.clone(),
                base: self.current,
                major: *major,
                undoes: *undoes,
                ordered_by: ordered_by.clone(),
                stage: Stage::Trial,
                trial: None,
                held_out: None,
            }),
            Event::Trialled { proposal, verdict } => {
                let open = self.at(*proposal, Stage::Trial)?;
                Ok(self.trialled(limits, open, verdict))
            }
            Event::HeldOut { proposal, verdict } => {
                let open = self.at(*proposal, Stage::HeldOut)?;
                Ok(self.held_out(limits, open, verdict))
            }
            Event::Decided {
                proposal,
                by,
                decision,
            } => {
                Ok(match decision {
                    Decision::Approve => self.adopt(self.at(*proposal, Stage::Approval)?, Some(by)),
                    // No is an answer at every stage: a proposal that waits for the rate limit may be rejected, too.
                    Decision::Reject { reason } => {
                        self.under_way(*proposal)?;
                        close(Outcome::Rejected {
                            by: by.clone(),
                            reason: reason.clone(),
                        })
                    }
                })
            }
            Event::Retested { proposal } => {
                self.at(*proposal, Stage::Approval)?;
                let mut step = moved(Stage::Trial);
                step.effects.push(Effect::RunTrial {
                    proposal: *proposal,
                });
                Ok(step)
            }
            Event::Replaced { hash, by } => Ok(self.replace(hash, by)),
            Event::Withdrawn { proposal, by } => {
                self.under_way(*proposal)?;
                Ok(close(Outcome::Withdrawn { by: by.clone() }))
            }
            Event::Expired { proposal } => {
                self.at(*proposal, Stage::Approval)?;
                Ok(close(Outcome::Expired))
            }
            Event::Restored { to, by } => self.restore(*to, by),
            Event::Scored { score } if score.is_finite() => Ok(self.scored(limits, *score)),
            Event::Scored { .. } => Err(Refused::Score),
        }
    }

    fn propose(&self, open: Open) -> Result<Step, Refused> {
        if let Some(other) = &self.open
            && open.ordered_by.is_none()
        {
            return Err(Refused::Busy(other.id));
        }
        if self.version().hash == open.candidate {
            return Err(Refused::Same(self.current));
        }
        if let Some(version) = open.undoes
            && self
                .find(version)
                .is_none_or(|it| it.hash != open.candidate)
        {
            return Err(Refused::NoVersion(version));
        }
        let proposal = open.id;
        Ok(Step {
            // The order of a person comes before a proposal that is under way.
            changes: self.with_stale(Change::Opened(open)),
            effects: vec![Effect::RunTrial { proposal }],
        })
    }

    fn trialled(&self, limits: &Limits, open: &Open, verdict: &Verdict) -> Step {
        let mut open = open.clone();
        open.trial = Some(verdict.clone());
        let recorded = Change::Trialled(verdict.clone());
        if open.ordered_by.is_some() {
            return after(recorded, self.pass(limits, &open));
        }
        let rest = match verdict {
            Verdict::Better { .. } => Step {
                changes: vec![Change::Moved(Stage::HeldOut)],
                effects: vec![Effect::RunHeldOut { proposal: open.id }],
            },
            Verdict::NotBetter { .. } | Verdict::Worse { .. } => failed(Stage::Trial, verdict),
            // The held-out part has fewer episodes than the trial, so it cannot decide either: a person does.
            Verdict::TooFew { .. } | Verdict::Diverged { .. } | Verdict::WornOut { .. } => {
                self.pass(limits, &open)
            }
        };
        after(recorded, rest)
    }

    fn held_out(&self, limits: &Limits, open: &Open, verdict: &Verdict) -> Step {
        let mut open = open.clone();
        open.held_out = Some(verdict.clone());
        let recorded = Change::HeldOut(verdict.clone());
        let confirms = match verdict {
            // The held-out part is smaller: what does not fall there confirms the trial.
            Verdict::NotBetter { by } => *by >= 0.0,
            Verdict::Worse { .. } => false,
            _ => true,
        };
        let rest = match confirms {
            true => self.pass(limits, &open),
            false => failed(Stage::HeldOut, verdict),
        };
        after(recorded, rest)
    }

    /// The next stage after the tests: rate limit, approval, or adoption.
    fn pass(&self, limits: &Limits, open: &Open) -> Step {
        if self.is_too_soon(limits, open, self.episodes) {
            return moved(Stage::RateLimit);
        }
        match open.ask() {
            Some(why) => Step {
                changes: vec![Change::Moved(Stage::Approval)],
                effects: vec![Effect::AskPerson {
                    proposal: open.id,
                    why,
                }],
            },
            None => self.adopt(open, None),
        }
    }

    fn is_too_soon(&self, limits: &Limits, open: &Open, episodes: u64) -> bool {
        let recent = |at: u64| episodes.saturating_sub(at) < limits.every;
        let is_free = open.undoes.is_some() || open.ordered_by.is_some();
        !is_free && (self.canary.is_some() || self.adopted_at.is_some_and(recent))
    }

    /// The candidate becomes the version in force, unless another version came into force since it was proposed.
    fn adopt(&self, open: &Open, approved_by: Option<&String>) -> Step {
        if open.base != self.current {
            return close(Outcome::Stale);
        }
        let version = Version {
            number: self.next_version(),
            hash: open.candidate.clone(),
            proposal: Some(open.id),
            approved_by: open.ordered_by.as_ref().or(approved_by).cloned(),
        };
        let number = version.number;
        let in_force = match open.ordered_by {
            Some(_) => Change::Ordered(version),
            None => Change::Adopted(version),
        };
        Step {
            changes: vec![Change::Closed(Outcome::Adopted(number)), in_force],
            effects: vec![Effect::Use { version: number }],
        }
    }

    fn replace(&self, hash: &str, by: &str) -> Step {
        let version = Version {
            number: self.next_version(),
            hash: hash.to_owned(),
            proposal: None,
            approved_by: Some(by.to_owned()),
        };
        Step {
            effects: vec![Effect::Use {
                version: version.number,
            }],
            changes: self.with_stale(Change::Replaced(version)),
        }
    }

    fn restore(&self, to: VersionNumber, by: &str) -> Result<Step, Refused> {
        let older = self.find(to).ok_or(Refused::NoVersion(to))?;
        if older.hash == self.version().hash {
            return Err(Refused::Same(to));
        }
        let version = self.again(older, Some(by.to_owned()));
        Ok(Step {
            effects: vec![Effect::Use {
                version: version.number,
            }],
            changes: self.with_stale(Change::Restored(version)),
        })
    }

    fn scored(&self, limits: &Limits, score: f64) -> Step {
        let mut step = Step {
            changes: vec![Change::Scored(score)],
            effects: Vec::new(),
        };
        if let Some(canary) = &self.canary {
            let mut since = canary.since.clone();
            since.push(score);
            let is_over = since.len() >= limits.canary;
            let compared = canary.before.len().saturating_sub(limits.canary);
            let fall = canary::fall(
                &canary.before[compared..],
                &since,
                is_over,
                limits.tolerance,
            );
            if let Some(fall) = fall
                && let Some(previous) = self.find(canary.previous)
            {
                let version = self.again(previous, None);
                step.effects.push(Effect::Use {
                    version: version.number,
                });
                let rolled_back = Change::RolledBack { version, fall };
                step.changes.extend(self.with_stale(rolled_back));
                return step;
            }
            if !is_over {
                return step;
            }
            step.changes.push(Change::Settled);
        }
        self.end_wait(limits, step)
    }

    /// Lets the proposal go on that waits for the rate limit, if its time has come with this episode.
    fn end_wait(&self, limits: &Limits, mut step: Step) -> Step {
        let mut later = self.clone();
        step.changes.iter().for_each(|it| later.apply(it));
        let waiting = later
            .open
            .as_ref()
            .filter(|it| it.stage == Stage::RateLimit);
        if let Some(open) = waiting
            && !later.is_too_soon(limits, open, later.episodes)
        {
            let rest = later.pass(limits, open);
            step.changes.extend(rest.changes);
            step.effects.extend(rest.effects);
        }
        step
    }

    /// The content of an older version, as a new one: the history only grows.
    fn again(&self, older: &Version, approved_by: Option<String>) -> Version {
        Version {
            number: self.next_version(),
            hash: older.hash.clone(),
            proposal: None,
            approved_by,
        }
    }

    fn next_version(&self) -> VersionNumber {
        VersionNumber(self.versions.len() as u64 + 1)
    }

    /// A proposal against a version that ends is judged by evidence about that version, so it ends, too.
    fn with_stale(&self, change: Change) -> Vec<Change> {
        let stale = self
            .open
            .is_some()
            .then_some(Change::Closed(Outcome::Stale));
        stale.into_iter().chain([change]).collect()
    }

    fn under_way(&self, proposal: ProposalId) -> Result<&Open, Refused> {
        let open = self.open.as_ref().filter(|it| it.id == proposal);
        open.ok_or(Refused::NotOpen(proposal))
    }

    fn at(&self, proposal: ProposalId, stage: Stage) -> Result<&Open, Refused> {
        let open = self.under_way(proposal)?;
        match open.stage == stage {
            true => Ok(open),
            false => Err(Refused::Stage(proposal)),
        }
    }
}

fn close(outcome: Outcome) -> Step {
    Step {
        changes: vec![Change::Closed(outcome)],
        effects: Vec::new(),
    }
}

fn failed(stage: Stage, verdict: &Verdict) -> Step {
    close(Outcome::Failed {
        stage,
        verdict: verdict.clone(),
    })
}

fn moved(stage: Stage) -> Step {
    Step {
        changes: vec![Change::Moved(stage)],
        effects: Vec::new(),
    }
}

fn after(first: Change, mut rest: Step) -> Step {
    rest.changes.insert(0, first);
    rest
}
