//! The evidence that is enough, and which is noise.

use proptest::prelude::*;

use super::*;

fn done() -> Objective {
    Objective {
        name: "done".to_owned(),
        better: Direction::Higher,
        tolerance: 0.0,
    }
}

fn cost() -> Objective {
    Objective {
        name: "cost".to_owned(),
        better: Direction::Lower,
        tolerance: 0.1,
    }
}

fn pairs(values: &[(f64, f64)]) -> Evidence {
    let pair = |(baseline, candidate): &(f64, f64)| Pair {
        baseline: vec![*baseline],
        candidate: vec![*candidate],
    };
    Evidence {
        pairs: values.iter().map(pair).collect(),
        ..Evidence::default()
    }
}

fn judged(evidence: &Evidence) -> Verdict {
    verdict(&Rule::default(), &[done()], evidence)
}

#[test]
fn five_gains_without_a_loss_are_enough_and_four_are_too_few() {
    assert!(matches!(
        judged(&pairs(&[(0.0, 1.0); 5])),
        Verdict::Better { by, .. } if (by - 1.0).abs() < 1e-9
    ));
    assert_eq!(
        judged(&pairs(&[(0.0, 1.0); 4])),
        Verdict::TooFew { have: 4, need: 5 }
    );
}

/// A rule about something rare was turned down as no better, because all other episodes were the same.
#[test]
fn where_the_known_episodes_are_all_the_same_the_unknown_ones_leave_it_to_a_person() {
    let mut evidence = pairs(&[(1.0, 1.0); 20]);
    evidence.diverged = 3;
    assert!(matches!(
        judged(&evidence),
        Verdict::Diverged { share } if share < 0.2
    ));
    let confirming = Rule {
        confirms: true,
        ..Rule::default()
    };
    assert_eq!(
        verdict(&confirming, &[done()], &evidence),
        Verdict::NotBetter { by: 0.0 }
    );
    evidence.pairs.push(Pair {
        baseline: vec![1.0],
        candidate: vec![0.0],
    });
    assert!(matches!(judged(&evidence), Verdict::Worse { .. }));
}

#[test]
fn four_episodes_that_are_the_same_are_too_few_to_say_so() {
    assert_eq!(
        judged(&pairs(&[(1.0, 1.0); 4])),
        Verdict::TooFew { have: 0, need: 5 }
    );
}

#[test]
fn episodes_that_are_the_same_count_neither_way() {
    let same = [(1.0, 1.0); 20];
    assert_eq!(judged(&pairs(&same)), Verdict::NotBetter { by: 0.0 });
    let with_gains = [&same[..], &[(0.0, 1.0); 3]].concat();
    assert_eq!(
        judged(&pairs(&with_gains)),
        Verdict::TooFew { have: 3, need: 5 }
    );
}

#[test]
fn a_mean_that_falls_is_worse_and_gains_beside_losses_are_noise() {
    let mixed = [(0.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)];
    assert!(matches!(judged(&pairs(&mixed)), Verdict::NotBetter { by } if by > 0.0));
    let losing = [(1.0, 0.0), (1.0, 0.0), (0.0, 1.0)];
    assert!(matches!(
        judged(&pairs(&losing)),
        Verdict::Worse { by, .. } if by < 0.0
    ));
}

#[test]
fn many_pairs_are_judged_by_the_interval_of_their_mean() {
    let small_but_steady: Vec<_> = (0..60)
        .map(|n| (1.0, 1.05 + 0.01 * f64::from(n % 5)))
        .collect();
    let Verdict::Better { interval, .. } = judged(&pairs(&small_but_steady)) else {
        panic!("a steady gain is a gain");
    };
    assert!(interval.0 > 0.0 && interval.1 < 0.1);
}

#[test]
fn an_objective_that_loses_beyond_its_tolerance_refuses_what_another_gains() {
    let pair = |cost: f64| Pair {
        baseline: vec![0.0, 1.0],
        candidate: vec![1.0, cost],
    };
    let evidence = |cost: f64| Evidence {
        pairs: vec![pair(cost); 8],
        ..Evidence::default()
    };
    let objectives = [done(), cost()];
    let judged = |cost: f64| verdict(&Rule::default(), &objectives, &evidence(cost));
    assert!(matches!(judged(1.05), Verdict::Better { objective, .. } if objective == "done"));
    assert!(matches!(judged(1.2), Verdict::Worse { objective, .. } if objective == "cost"));
}

#[test]
fn a_candidate_without_a_value_is_worse_than_one_with_a_bad_value() {
    let mut evidence = pairs(&[(0.0, 0.5); 8]);
    evidence.pairs[0].candidate = vec![f64::NAN];
    assert!(matches!(judged(&evidence), Verdict::Worse { .. }));
    evidence.pairs[0].candidate = Vec::new();
    assert!(matches!(judged(&evidence), Verdict::Worse { .. }));
}

#[test]
fn unknown_outcomes_and_a_set_that_was_asked_too_often_are_said() {
    let mut evidence = pairs(&[(0.0, 1.0); 8]);
    evidence.diverged = 9;
    assert!(matches!(judged(&evidence), Verdict::Diverged { share } if share > 0.5));
    evidence.diverged = 0;
    evidence.asked_before = 50;
    assert_eq!(judged(&evidence), Verdict::WornOut { questions: 50 });
    assert!(matches!(
        judged(&Evidence::default()),
        Verdict::TooFew { have: 0, .. }
    ));
}

/// Of equal versions, measured with noise, few may be called better.
#[test]
fn noise_is_called_better_about_as_often_as_the_level_says() {
    for count in [10, 20, 60] {
        let mut random = crate::statistics::Random::new(count as u64);
        let mut better = 0;
        for _ in 0..400 {
            let values: Vec<_> = (0..count)
                .map(|_| (real(random.below(1000)), real(random.below(1000))))
                .collect();
            let verdict = judged(&pairs(&values));
            better += usize::from(matches!(verdict, Verdict::Better { .. }));
        }
        assert!(better <= 32, "{better} of 400 with {count} pairs");
    }
}

proptest! {
    /// A verdict does not depend on the order of the episodes where signs decide, and never panics.
    #[test]
    fn verdicts_of_any_numbers_are_verdicts(
        values in prop::collection::vec((any::<f64>(), any::<f64>()), 0..40),
        diverged in 0_usize..50,
    ) {
        let mut evidence = pairs(&values);
        evidence.diverged = diverged;
        let first = judged(&evidence);
        if values.len() < 30 {
            evidence.pairs.reverse();
            let same = std::mem::discriminant(&first) == std::mem::discriminant(&judged(&evidence));
            // Sums of huge numbers depend on their order.
            let is_small = values.iter().all(|(a, b)| a.abs() < 1e6 && b.abs() < 1e6);
            prop_assert!(same || !is_small);
        }
    }

    /// What is better in one direction is worse in the other.
    #[test]
    fn swapping_the_versions_never_leaves_both_better(
        values in prop::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 1..60),
    ) {
        let swapped: Vec<_> = values.iter().map(|(a, b)| (*b, *a)).collect();
        let is_better = |it| matches!(judged(&pairs(it)), Verdict::Better { .. });
        prop_assert!(!(is_better(&values) && is_better(&swapped)));
    }
}
