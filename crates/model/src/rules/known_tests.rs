//! The list of requests that are known holds together.

use std::collections::BTreeSet;

use super::{KNOWN, Pattern};

#[test]
fn every_pattern_is_one_and_every_slot_has_a_field() {
    for known in KNOWN {
        for text in known.patterns {
            let pattern = Pattern::phrase(text).unwrap_or_else(|| panic!("{text}"));
            let slots: BTreeSet<&str> = pattern.slots().collect();
            let fields = known.fields.iter().map(|(slot, _)| *slot).collect();
            assert!(slots.is_subset(&fields), "{text}: {slots:?}");
        }
    }
}
