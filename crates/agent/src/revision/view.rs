//! Proposals as people and programs are shown them, from the journal.

use std::collections::BTreeMap;

use revise::{Ask, Open, Outcome, Stage, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LawGate, Test};
use crate::context::Change;
use crate::event::{End, EventKind};
use crate::journal::Record;
use crate::law::Edit;
use crate::step::AgentState;

/// A proposal to change the law, with what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposalView {
    /// Its number; one that the checks refused has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<u64>,
    pub standing: ProposalState,
    /// What came of it, in words.
    pub says: String,
    pub by: String,
    pub target: String,
    pub change: Value,
    pub justification: String,
    /// Events of the journal that speak for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<u64>,
    /// Whether a person has to agree in any case.
    pub major: bool,
    /// What it changes: a line for each value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// The test on episodes that its author may have seen, and the one on others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Test>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<Test>,
    /// The version of the law that it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The events of the journal that tell of it, in order.
    pub events: Vec<u64>,
}

/// Where a proposal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProposalState {
    /// It is being tested.
    Testing,
    /// It is good, and waits until enough episodes have passed since the last change.
    RateLimited,
    /// A person has to decide.
    AwaitingApproval,
    /// It is in force or was; its canary is not over.
    Adopted,
    /// The checks refused it: path, type, bounds, frozen parts, authority, a twin.
    Refused,
    /// The test speaks against it.
    Failed,
    /// A person rejected it.
    Rejected,
    Withdrawn,
    Expired,
    /// Another law came into force before it was decided.
    Stale,
    /// It was adopted, the score fell, and the law before is in force again.
    RolledBack,
}

impl ProposalState {
    /// Its name on every wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Testing => "testing",
            Self::RateLimited => "rate-limited",
            Self::AwaitingApproval => "awaiting-approval",
            Self::Adopted => "adopted",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Withdrawn => "withdrawn",
            Self::Expired => "expired",
            Self::Stale => "stale",
            Self::RolledBack => "rolled-back",
        }
    }

    /// Whether it ended without a change of the law.
    pub fn is_refused(self) -> bool {
        !matches!(
            self,
            Self::Testing | Self::RateLimited | Self::AwaitingApproval | Self::Adopted
        )
    }
}

/// All proposals of a journal, the oldest first.
pub(super) fn proposals(history: &[(u64, Record)]) -> Vec<ProposalView> {
    let mut found = ProposalTests::default();
    for (event, record) in history {
        found.take(*event, record);
    }
    found.all
}

#[derive(Default)]
struct ProposalTests {
    all: Vec<ProposalView>,
    /// The place of a proposal in the list, and of the one of the last version.
    places: BTreeMap<u64, usize>,
    last: Option<usize>,
    state: AgentState,
}

impl ProposalTests {
    fn take(&mut self, event: u64, record: &Record) {
        for change in &record.changes {
            match change {
                Change::LawKept {
                    why,
                    by,
                    edit: Some(edit),
                } => {
                    let says = format!("refused: {why}");
                    let view = view(None, ProposalState::Refused, says, by, edit);
                    self.all.push(ProposalView {
                        events: vec![event],
                        ..view
                    });
                }
                Change::LawProposed { proposed } => {
                    let open = self.state.context.revision.gate.open();
                    let view = view(
                        Some(proposed.proposal),
                        ProposalState::Testing,
                        "it is being tested".to_owned(),
                        &proposed.by,
                        &proposed.edit,
                    );
                    self.places.insert(proposed.proposal, self.all.len());
                    self.all.push(ProposalView {
                        evidence: proposed.evidence.clone(),
                        major: open.is_some_and(|it| it.major),
                        lines: self.state.law().diff(&proposed.law),
                        ..view
                    });
                }
                _ => {}
            }
            let open = self.state.context.revision.gate.open().map(|it| it.id.0);
            self.state.apply(change);
            if let Change::Gate { step } = change {
                self.gate(open, step);
            }
        }
        let mut about: Vec<u64> = Vec::new();
        if let EventKind::Tested {
            proposal,
            held_out,
            test,
        } = &record.event.what
        {
            about.push(*proposal);
            if let Some(view) = self.view(*proposal) {
                let test = Some(Test::clone(test));
                match held_out {
                    true => view.held_out = test,
                    false => view.trial = test,
                }
            }
        }
        about.extend(record.changes.iter().filter_map(|it| match it {
            Change::LawProposed { proposed } => Some(proposed.proposal),
            _ => None,
        }));
        if let EventKind::Ruled { proposal, .. } = &record.event.what {
            about.push(*proposal);
        }
        for proposal in about {
            if let Some(view) = self.view(proposal) {
                view.events.push(event);
            }
        }
    }

    fn view(&mut self, proposal: u64) -> Option<&mut ProposalView> {
        let place = *self.places.get(&proposal)?;
        self.all.get_mut(place)
    }

    fn gate(&mut self, open: Option<u64>, step: &revise::Change) {
        if let revise::Change::RolledBack { fall, version } = step
            && let Some(view) = self.last.and_then(|it| self.all.get_mut(it))
        {
            view.standing = ProposalState::RolledBack;
            view.says = format!(
                "rolled back to what is now version {}: the mean score fell from {:.2} to {:.2}",
                version.number.0, fall.before, fall.since
            );
        }
        let Some(proposal) = open.or_else(|| self.open()) else {
            return;
        };
        let place = self.places.get(&proposal).copied();
        let gate = self.state.context.revision.gate.clone();
        let Some(view) = self.view(proposal) else {
            return;
        };
        match gate.open().filter(|it| it.id.0 == proposal) {
            Some(open) => (view.standing, view.says) = standing(open),
            None => {
                let mut closed = gate.closed();
                let closed = closed.find(|it| it.proposal.id.0 == proposal);
                if let Some(closed) = closed {
                    (view.standing, view.says) = ended(&closed.outcome);
                    if let Outcome::Adopted(version) = &closed.outcome {
                        view.version = Some(version.0);
                        self.last = place;
                    }
                }
            }
        }
    }

    fn open(&self) -> Option<u64> {
        self.state.context.revision.gate.open().map(|it| it.id.0)
    }
}

fn view(
    proposal: Option<u64>,
    standing: ProposalState,
    says: String,
    by: &str,
    edit: &Edit,
) -> ProposalView {
    ProposalView {
        proposal,
        standing,
        says,
        by: by.to_owned(),
        target: edit.target.clone(),
        change: edit.change.clone(),
        justification: edit.justification.clone(),
        evidence: Vec::new(),
        major: false,
        lines: Vec::new(),
        trial: None,
        held_out: None,
        version: None,
        events: Vec::new(),
    }
}

/// Where an open proposal stands, in words.
fn standing(open: &Open) -> (ProposalState, String) {
    match open.stage {
        Stage::Trial | Stage::HeldOut => (ProposalState::Testing, "it is being tested".to_owned()),
        Stage::RateLimit => (
            ProposalState::RateLimited,
            "its test is good; it waits until enough episodes have passed since the last change"
                .to_owned(),
        ),
        Stage::Approval => {
            let why = match open.ask() {
                Some(Ask::Undecided(verdict)) => words(&verdict),
                _ => "it adds or removes rules, or is about approvals, skills, trust or budgets"
                    .to_owned(),
            };
            (
                ProposalState::AwaitingApproval,
                format!("it waits for a person: {why}"),
            )
        }
    }
}

fn ended(outcome: &Outcome) -> (ProposalState, String) {
    match outcome {
        Outcome::Adopted(version) => (ProposalState::Adopted, format!("adopted as {version}")),
        Outcome::Failed { stage, verdict } => {
            let on = match stage {
                Stage::HeldOut => " on episodes that were held out",
                _ => "",
            };
            (
                ProposalState::Failed,
                format!("the test{on} speaks against it: {}", words(verdict)),
            )
        }
        Outcome::Rejected { by, reason } => (
            ProposalState::Rejected,
            format!("rejected by {by}: {reason}"),
        ),
        Outcome::Withdrawn { by } => (ProposalState::Withdrawn, format!("withdrawn by {by}")),
        Outcome::Expired => (
            ProposalState::Expired,
            "no person decided about it in time".to_owned(),
        ),
        Outcome::Stale => (
            ProposalState::Stale,
            "another law came into force before it was decided".to_owned(),
        ),
    }
}

/// A verdict in words.
fn words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Better { by, objective, .. } if objective == super::trial::UNUSED => {
            format!(
                "the score is the same, with {by:.2} fewer beliefs for each episode that are never used"
            )
        }
        Verdict::Better { by, .. } => format!("the mean score is higher by {by:.3}"),
        Verdict::NotBetter { by } => {
            format!("no difference beyond noise (mean {by:+.3})")
        }
        Verdict::Worse { by, .. } => format!("the mean score is lower by {:.3}", by.abs()),
        Verdict::TooFew { have: 0, .. } => "no recorded episode says anything about it".to_owned(),
        Verdict::TooFew { have, need } => {
            format!("only {have} episodes would have been better, and {need} are needed")
        }
        Verdict::Diverged { share } => format!(
            "in {:.0}% of the episodes it would have acted otherwise, so that the outcome is not known",
            share * 100.0
        ),
        Verdict::WornOut { questions } => {
            format!("the held-out episodes have answered {questions} proposals already")
        }
    }
}

/// The answer to a letter that proposed a change.
pub(crate) fn says(revision: &LawGate, proposal: u64, version: u64, lines: &str) -> (String, End) {
    let gate = &revision.gate;
    if let Some(open) = gate.open().filter(|it| it.id.0 == proposal) {
        let (_, says) = standing(open);
        return (format!("Proposal {proposal}: {says}."), End::Answered);
    }
    let mut closed = gate.closed();
    let closed = closed.find(|it| it.proposal.id.0 == proposal);
    match closed.map(|it| &it.outcome) {
        Some(Outcome::Adopted(_)) => (
            format!("My law is version {version} now: {lines}."),
            End::Answered,
        ),
        Some(outcome) => (
            format!("I keep my law: proposal {proposal}: {}.", ended(outcome).1),
            End::Refused,
        ),
        None => (
            format!("Proposal {proposal} has ended long ago."),
            End::Refused,
        ),
    }
}
