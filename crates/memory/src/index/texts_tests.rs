//! The terms of records stay theirs when others are removed.

use super::texts::Texts;

#[test]
fn the_terms_of_a_record_stay_when_most_others_are_removed() {
    let terms = |slot: u32| -> Vec<u32> { (0..slot % 7).map(|place| slot * 10 + place).collect() };
    let mut texts = Texts::default();
    for slot in 0..2000 {
        texts.insert(slot, &terms(slot));
    }
    let is_kept = |slot: u32| slot.is_multiple_of(5);
    for slot in (0..2000).filter(|slot| !is_kept(*slot)) {
        texts.remove(slot);
        texts.remove(slot);
    }
    texts.insert(2000, &[1, 2, 3]);
    for slot in 0..2000 {
        let expected = if is_kept(slot) {
            terms(slot)
        } else {
            Vec::new()
        };
        assert_eq!(texts.of(slot), expected, "{slot}");
    }
    assert_eq!(texts.of(2000), [1, 2, 3]);
    assert!(texts.of(2001).is_empty());
}
