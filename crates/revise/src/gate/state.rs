//! The state of a gate: the versions of its subject, the proposal under way, and the canary.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Change;
use crate::verdict::Verdict;

/// A proposal, numbered from 1 in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProposalId(pub u64);

/// A version of the subject, numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VersionNumber(pub u64);

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "proposal {}", self.0)
    }
}

impl fmt::Display for VersionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version {}", self.0)
    }
}

/// A version of the subject. Its content is kept by the owner of the subject, under the hash.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Version {
    pub number: VersionNumber,
    pub hash: String,
    /// The proposal that it came from; the first version has none, nor has one that a person or a canary restored.
    pub proposal: Option<ProposalId>,
    /// The person who approved it, where one was asked.
    pub approved_by: Option<String>,
}

/// Where a proposal is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Episodes are replayed under the candidate.
    Trial,
    /// The same with episodes that its author has not seen.
    HeldOut,
    /// It waits until enough episodes have passed since the last adoption.
    RateLimit,
    /// It waits for a person.
    Approval,
}

/// Why a person is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// The change is of a kind that only a person decides about.
    Major,
    /// The evidence does not decide: it is too little, not known, or the held-out set is worn out.
    Undecided(Verdict),
}

/// The proposal under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    pub id: ProposalId,
    pub by: String,
    /// The hash of the candidate.
    pub candidate: String,
    /// The version that it was proposed against.
    pub base: VersionNumber,
    pub major: bool,
    /// The older version that it would restore.
    pub undoes: Option<VersionNumber>,
    /// The person who ordered it. The word of that person is the approval: the trial is measured and recorded, and neither
    /// it nor the rate limit holds the change back.
    pub ordered_by: Option<String>,
    pub stage: Stage,
    pub trial: Option<Verdict>,
    pub held_out: Option<Verdict>,
}

impl Open {
    /// Why a person has to agree, if one has to.
    pub fn ask(&self) -> Option<Ask> {
        if self.ordered_by.is_some() {
            return None;
        }
        if self.major {
            return Some(Ask::Major);
        }
        let is_undecided = |verdict: &&Verdict| {
            matches!(
                verdict,
                Verdict::TooFew { .. } | Verdict::Diverged { .. } | Verdict::WornOut { .. }
            )
        };
        // The held-out part has to confirm the trial, not to repeat it: few gains without a loss are enough.
        let is_confirmed =
            |verdict: &&Verdict| matches!(verdict, Verdict::TooFew { have, .. } if *have > 0);
        let held_out = self.held_out.as_ref().filter(is_undecided);
        let held_out = held_out.filter(|it| !is_confirmed(it));
        let trial = self.trial.as_ref().filter(is_undecided);
        held_out.or(trial).cloned().map(Ask::Undecided)
    }
}

/// How a proposal ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Adopted(VersionNumber),
    /// The evidence speaks against it.
    Failed {
        stage: Stage,
        verdict: Verdict,
    },
    Rejected {
        by: String,
        reason: String,
    },
    Withdrawn {
        by: String,
    },
    /// No person answered in time.
    Expired,
    /// Another version came into force meanwhile.
    Stale,
}

/// A proposal that has ended, with what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    pub proposal: Open,
    pub outcome: Outcome,
}

/// The episodes after an adoption, watched for a fall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Canary {
    /// The version that is restored after a fall.
    pub previous: VersionNumber,
    /// Scores before the adoption.
    pub before: Vec<f64>,
    pub since: Vec<f64>,
}

/// How many ended proposals a gate knows; the journal of its owner has all of them.
const CLOSED: usize = 64;

/// How many scores a gate knows: the longest canary that is possible.
pub(super) const SCORES: usize = 100;

/// The gate of one subject.
///
/// It owns the numbering of versions and proposals, at most one proposal under way, and the canary of the last adoption. It
/// is changed by [`Gate::apply`] alone, with changes that [`Gate::next`] has decided on; the fold of all recorded changes is
/// the gate, so after a crash there is the old version or the new one and nothing between. Versions are never removed:
/// there is always one to return to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Shared between copies: the owner of a gate copies it for each step.
    pub(super) versions: Arc<Vec<Version>>,
    pub(super) current: VersionNumber,
    pub(super) open: Option<Open>,
    pub(super) canary: Option<Canary>,
    pub(super) closed: VecDeque<Arc<Closed>>,
    pub(super) proposals: u64,
    pub(super) episodes: u64,
    /// When a proposal was last adopted, in episodes.
    pub(super) adopted_at: Option<u64>,
    /// The scores of the last episodes.
    pub(super) scores: VecDeque<f64>,
}

/// The gate of a subject without a content: its owner replaces it.
impl Default for Gate {
    fn default() -> Self {
        Self::new("")
    }
}

impl Gate {
    /// The gate of a subject whose first version has this hash.
    pub fn new(hash: &str) -> Self {
        let first = Version {
            number: VersionNumber(1),
            hash: hash.to_owned(),
            proposal: None,
            approved_by: None,
        };
        Self {
            versions: Arc::new(vec![first]),
            current: VersionNumber(1),
            open: None,
            canary: None,
            closed: VecDeque::new(),
            proposals: 0,
            episodes: 0,
            adopted_at: None,
            scores: VecDeque::new(),
        }
    }

    /// The version in force.
    pub fn version(&self) -> &Version {
        self.find(self.current)
            .expect("the version in force is one of the versions")
    }

    /// All versions, oldest first.
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    pub fn find(&self, number: VersionNumber) -> Option<&Version> {
        self.versions.iter().find(|it| it.number == number)
    }

    /// The proposal under way.
    pub fn open(&self) -> Option<&Open> {
        self.open.as_ref()
    }

    pub fn canary(&self) -> Option<&Canary> {
        self.canary.as_ref()
    }

    /// Proposals that have ended, oldest first.
    pub fn closed(&self) -> impl Iterator<Item = &Closed> {
        self.closed.iter().map(|it| &**it)
    }

    /// How many proposals there have been; the last one has this number.
    pub fn proposals(&self) -> u64 {
        self.proposals
    }

    /// How many episodes have been scored.
    pub fn episodes(&self) -> u64 {
        self.episodes
    }

    /// Folds a recorded change.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Opened(open) => {
                self.proposals = open.id.0;
                self.open = Some(open.clone());
            }
            Change::Trialled(verdict) => self.update(|open| open.trial = Some(verdict.clone())),
            Change::HeldOut(verdict) => self.update(|open| open.held_out = Some(verdict.clone())),
            Change::Moved(stage) => self.update(|open| open.stage = *stage),
            Change::Closed(outcome) => {
                if let Some(proposal) = self.open.take() {
                    let outcome = outcome.clone();
                    self.closed
                        .push_back(Arc::new(Closed { proposal, outcome }));
                }
                while self.closed.len() > CLOSED {
                    self.closed.pop_front();
                }
            }
            Change::Adopted(version) => {
                self.adopted_at = Some(self.episodes);
                self.canary = Some(Canary {
                    previous: self.current,
                    before: self.scores.iter().copied().collect(),
                    since: Vec::new(),
                });
                self.put_in_force(version);
            }
            Change::Ordered(version)
            | Change::Replaced(version)
            | Change::Restored(version)
            | Change::RolledBack { version, .. } => {
                self.canary = None;
                self.put_in_force(version);
            }
            Change::Scored(score) => {
                self.episodes += 1;
                if let Some(canary) = &mut self.canary {
                    canary.since.push(*score);
                }
                self.scores.push_back(*score);
                while self.scores.len() > SCORES {
                    self.scores.pop_front();
                }
            }
            Change::Settled => self.canary = None,
        }
    }

    fn update(&mut self, change: impl FnOnce(&mut Open)) {
        if let Some(open) = &mut self.open {
            change(open);
        }
    }

    fn put_in_force(&mut self, version: &Version) {
        self.current = version.number;
        Arc::make_mut(&mut self.versions).push(version.clone());
    }
}
