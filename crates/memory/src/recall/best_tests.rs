//! The best of many are those that sorting puts first.

use proptest::prelude::*;

use super::best::{best, key, ordered, score, slot, unordered};

proptest! {
    #[test]
    fn the_best_are_those_that_sorting_puts_first(
        scores in prop::collection::vec(-30..30_i8, 0..400),
        count in 0..40_usize,
        above in -40..30_i8,
    ) {
        let scores: Vec<f32> = scores.into_iter().map(|it| f32::from(it) / 4.0).collect();
        let above = f32::from(above) / 4.0;
        let mut sorted: Vec<(u32, f32)> = (0..).zip(scores.iter().copied()).collect();
        sorted.retain(|(_, score)| *score > above);
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let expected: Vec<u32> = sorted.iter().take(count).map(|it| it.0).collect();
        let mut keys = vec![7];
        let found = best(&scores, count, above, &mut keys);
        found.sort_unstable_by(|a, b| b.cmp(a));
        let found: Vec<u32> = found.iter().map(|it| slot(*it)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_key_is_ordered_as_its_score_and_gives_both_back(a in any::<f32>(), b in any::<f32>(), place in any::<u32>()) {
        prop_assert_eq!(ordered(a).cmp(&ordered(b)), a.total_cmp(&b));
        prop_assert_eq!(unordered(ordered(a)).to_bits(), a.to_bits());
        prop_assert_eq!(score(key(place, a)).to_bits(), a.to_bits());
        prop_assert_eq!(slot(key(place, a)), place);
    }
}
