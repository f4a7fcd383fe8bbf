//! The stages of a proposal, one by one, and the fold of any sequence of events.

use proptest::prelude::*;

use super::*;

/// A gate with short limits that records what happens to it.
struct Harness {
    gate: Gate,
    limits: Limits,
    recorded: Vec<Change>,
    effects: Vec<Effect>,
}

impl Harness {
    fn new() -> Self {
        Self {
            gate: Gate::new("v0"),
            limits: Limits {
                every: 4,
                canary: 3,
                tolerance: 0.1,
            },
            recorded: Vec::new(),
            effects: Vec::new(),
        }
    }

    fn tell(&mut self, event: &Event) -> Result<(), Refused> {
        let step = self.gate.next(&self.limits, event)?;
        for change in &step.changes {
            self.gate.apply(change);
        }
        self.recorded.extend(step.changes);
        self.effects = step.effects;
        Ok(())
    }

    fn propose(&mut self, candidate: &str, major: bool) -> ProposalId {
        let proposed = Event::Proposed {
            by: "reflector".to_owned(),
            candidate: candidate.to_owned(),
            major,
            undoes: None,
            ordered_by: None,
        };
        self.tell(&proposed).unwrap();
        self.effects[0].proposal().unwrap()
    }

    fn trial(&mut self, proposal: ProposalId, verdict: Verdict) {
        self.tell(&Event::Trialled { proposal, verdict }).unwrap();
    }

    fn hold_out(&mut self, proposal: ProposalId, verdict: Verdict) {
        self.tell(&Event::HeldOut { proposal, verdict }).unwrap();
    }

    fn score(&mut self, scores: &[f64]) {
        for score in scores {
            self.tell(&Event::Scored { score: *score }).unwrap();
        }
    }

    fn adopt(&mut self, candidate: &str) {
        let proposal = self.propose(candidate, false);
        self.trial(proposal, better());
        self.hold_out(proposal, better());
        assert_eq!(self.gate.version().hash, candidate);
    }

    fn last(&self) -> &Outcome {
        &self.gate.closed().last().unwrap().outcome
    }
}

fn better() -> Verdict {
    Verdict::Better {
        objective: "done".to_owned(),
        by: 0.5,
        interval: (0.1, 0.9),
    }
}

fn too_few() -> Verdict {
    Verdict::TooFew { have: 2, need: 5 }
}

fn approve(proposal: ProposalId) -> Event {
    Event::Decided {
        proposal,
        by: "ada".to_owned(),
        decision: Decision::Approve,
    }
}

#[test]
fn a_candidate_that_is_better_twice_is_adopted_and_settles() {
    let mut it = Harness::new();
    it.score(&[0.5, 0.5, 0.5]);
    it.adopt("v1");
    assert!(matches!(it.effects[..], [Effect::Use { version }] if version.0 == 2));
    it.score(&[0.9, 0.9]);
    assert!(it.gate.canary().is_some());
    it.score(&[0.9]);
    assert!(it.gate.canary().is_none());
    assert_eq!(it.gate.version().hash, "v1");
}

#[test]
fn a_candidate_that_the_held_out_episodes_do_not_confirm_is_refused() {
    let mut it = Harness::new();
    let proposal = it.propose("v1", false);
    it.trial(proposal, better());
    it.hold_out(proposal, Verdict::NotBetter { by: -0.01 });
    assert!(matches!(
        it.last(),
        Outcome::Failed {
            stage: Stage::HeldOut,
            ..
        }
    ));
    assert_eq!(it.gate.version().hash, "v0");
    let kept = it.gate.closed().last().unwrap();
    assert_eq!(kept.proposal.trial, Some(better()), "its figures are kept");
}

#[test]
fn a_major_change_and_too_little_evidence_wait_for_a_person() {
    let mut it = Harness::new();
    let proposal = it.propose("v1", true);
    it.trial(proposal, better());
    it.hold_out(proposal, better());
    assert!(matches!(
        it.effects[..],
        [Effect::AskPerson {
            why: Ask::Major,
            ..
        }]
    ));
    assert_eq!(it.gate.version().hash, "v0", "nothing before the answer");
    it.tell(&approve(proposal)).unwrap();
    assert_eq!(it.gate.version().approved_by.as_deref(), Some("ada"));

    let mut it = Harness::new();
    let proposal = it.propose("v1", false);
    it.trial(proposal, too_few());
    assert!(matches!(
        &it.effects[..],
        [Effect::AskPerson {
            why: Ask::Undecided(Verdict::TooFew { have: 2, .. }),
            ..
        }]
    ));
    it.tell(&approve(proposal)).unwrap();
    assert_eq!(it.gate.version().hash, "v1");
}

#[test]
fn a_rejected_or_expired_proposal_changes_nothing() {
    let mut it = Harness::new();
    let proposal = it.propose("v1", true);
    it.trial(proposal, too_few());
    let decision = Decision::Reject {
        reason: "too risky".to_owned(),
    };
    let by = "ada".to_owned();
    it.tell(&Event::Decided {
        proposal,
        by,
        decision,
    })
    .unwrap();
    assert!(matches!(it.last(), Outcome::Rejected { reason, .. } if reason == "too risky"));
    let proposal = it.propose("v1", true);
    it.trial(proposal, too_few());
    it.tell(&Event::Expired { proposal }).unwrap();
    assert_eq!(it.last(), &Outcome::Expired);
    assert_eq!(it.tell(&approve(proposal)), Err(Refused::NotOpen(proposal)));
    assert_eq!(it.gate.versions().len(), 1);
}

#[test]
fn a_fall_during_the_canary_restores_the_version_before() {
    let mut it = Harness::new();
    it.score(&[1.0, 1.0, 1.0]);
    it.adopt("v1");
    it.score(&[0.2, 0.2, 0.2]);
    assert_eq!(it.gate.version().hash, "v0");
    assert_eq!(it.gate.versions().len(), 3, "the history only grows");
    assert!(matches!(it.effects[..], [Effect::Use { version }] if version.0 == 3));
    assert!(
        it.recorded
            .iter()
            .any(|it| matches!(it, Change::RolledBack { fall, .. } if fall.before > fall.since))
    );
}

#[test]
fn the_second_adoption_waits_for_the_rate_limit_and_the_first_and_an_undo_do_not() {
    let mut it = Harness::new();
    it.adopt("v1");
    let proposal = it.propose("v2", false);
    it.trial(proposal, better());
    it.hold_out(proposal, better());
    assert_eq!(it.gate.open().unwrap().stage, Stage::RateLimit);
    it.score(&[0.5, 0.5, 0.5]);
    assert_eq!(it.gate.version().hash, "v1");
    it.score(&[0.5]);
    assert_eq!(
        it.gate.version().hash,
        "v2",
        "the fourth episode ends the wait"
    );

    let undo = Event::Proposed {
        by: "reflector".to_owned(),
        candidate: "v1".to_owned(),
        major: false,
        undoes: Some(VersionNumber(2)),
        ordered_by: None,
    };
    it.tell(&undo).unwrap();
    let proposal = it.effects[0].proposal().unwrap();
    it.trial(proposal, better());
    it.hold_out(proposal, better());
    assert_eq!(it.gate.version().hash, "v1");
}

#[test]
fn a_person_restores_any_older_version_at_once_and_ends_what_is_under_way() {
    let mut it = Harness::new();
    it.adopt("v1");
    it.propose("v2", false);
    let restore = |to: u64| Event::Restored {
        to: VersionNumber(to),
        by: "ada".to_owned(),
    };
    assert_eq!(
        it.tell(&restore(9)),
        Err(Refused::NoVersion(VersionNumber(9)))
    );
    assert_eq!(it.tell(&restore(2)), Err(Refused::Same(VersionNumber(2))));
    it.tell(&restore(1)).unwrap();
    assert_eq!(it.gate.version().hash, "v0");
    assert_eq!(it.last(), &Outcome::Stale);
    assert!(it.gate.open().is_none() && it.gate.canary().is_none());
}

#[test]
fn what_is_out_of_order_is_refused_with_the_reason() {
    let mut it = Harness::new();
    let proposal = it.propose("v1", false);
    let proposed = Event::Proposed {
        by: "other".to_owned(),
        candidate: "v2".to_owned(),
        major: false,
        undoes: None,
        ordered_by: None,
    };
    assert_eq!(it.tell(&proposed), Err(Refused::Busy(proposal)));
    assert_eq!(it.tell(&approve(proposal)), Err(Refused::Stage(proposal)));
    assert_eq!(
        it.tell(&Event::Scored { score: f64::NAN }),
        Err(Refused::Score)
    );
    let by = "reflector".to_owned();
    it.tell(&Event::Withdrawn { proposal, by }).unwrap();
    let same = Event::Proposed {
        by: "other".to_owned(),
        candidate: "v0".to_owned(),
        major: false,
        undoes: None,
        ordered_by: None,
    };
    assert_eq!(it.tell(&same), Err(Refused::Same(VersionNumber(1))));
}

/// Any event, also ones that do not fit the stage.
fn event() -> impl Strategy<Value = Event> {
    let proposal = (1_u64..12).prop_map(ProposalId);
    let verdict = prop_oneof![
        3 => Just(better()),
        1 => Just(too_few()),
        1 => Just(Verdict::NotBetter { by: 0.1 }),
        1 => Just(Verdict::Worse { objective: "done".to_owned(), by: -1.0 }),
    ];
    let named = || "someone".to_owned();
    prop_oneof![
        (0_u8..6, any::<bool>()).prop_map(move |(n, major)| Event::Proposed {
            by: named(),
            candidate: format!("v{n}"),
            major,
            undoes: None,
            ordered_by: None,
        }),
        (proposal.clone(), verdict.clone())
            .prop_map(|(proposal, verdict)| Event::Trialled { proposal, verdict }),
        (proposal.clone(), verdict)
            .prop_map(|(proposal, verdict)| Event::HeldOut { proposal, verdict }),
        proposal.clone().prop_map(approve),
        proposal.prop_map(|proposal| Event::Expired { proposal }),
        (0_u64..8).prop_map(|to| Event::Restored {
            to: VersionNumber(to),
            by: "ada".to_owned(),
        }),
        (0.0..1.0_f64).prop_map(|score| Event::Scored { score }),
    ]
}

proptest! {
    /// The fold of what was recorded is the gate, a crash after any change leaves a version in force, and the history
    /// only grows.
    #[test]
    fn the_fold_of_the_recorded_changes_is_the_gate(events in prop::collection::vec(event(), 0..80)) {
        let mut it = Harness::new();
        let mut versions = 1;
        for event in events {
            drop(it.tell(&event));
            prop_assert!(it.gate.versions().len() >= versions);
            versions = it.gate.versions().len();
        }
        let mut restored = Gate::new("v0");
        for change in &it.recorded {
            restored.apply(change);
            let _in_force = restored.version();
        }
        prop_assert_eq!(restored, it.gate);
    }
}

#[test]
fn the_order_of_a_person_is_measured_and_carried_out_and_is_not_rolled_back() {
    let mut it = Harness::new();
    it.adopt("v1");
    let waiting = it.propose("v2", true);
    let order = Event::Proposed {
        by: "ada".to_owned(),
        candidate: "v3".to_owned(),
        major: true,
        undoes: None,
        ordered_by: Some("ada".to_owned()),
    };
    it.tell(&order).unwrap();
    assert_eq!(it.last(), &Outcome::Stale, "{waiting} ends");
    let proposal = it.effects[0].proposal().unwrap();
    let worse = Verdict::Worse {
        objective: "score".to_owned(),
        by: -0.5,
    };
    it.trial(proposal, worse.clone());
    assert_eq!(it.gate.version().hash, "v3");
    assert_eq!(it.gate.version().approved_by.as_deref(), Some("ada"));
    let closed = it.gate.closed().last().unwrap();
    assert_eq!(closed.proposal.trial, Some(worse), "the trial is recorded");
    it.score(&[0.0; 20]);
    assert_eq!(
        it.gate.version().hash,
        "v3",
        "the scores fall, and it stays"
    );
}

#[test]
fn what_waits_for_a_person_can_be_measured_once_more() {
    let mut it = Harness::new();
    let proposal = it.propose("v1", false);
    it.trial(proposal, Verdict::TooFew { have: 1, need: 5 });
    assert_eq!(it.gate.open().unwrap().stage, Stage::Approval);
    it.tell(&Event::Retested { proposal }).unwrap();
    it.trial(proposal, better());
    it.hold_out(proposal, better());
    assert_eq!(it.gate.version().hash, "v1");
}
