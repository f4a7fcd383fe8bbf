//! Names of agents are DNS labels.

use proptest::prelude::*;
use skill::is_label;

use crate::agents::label;

#[test]
fn a_name_becomes_a_label() {
    for (name, expected) in [
        ("Monas", "monas"),
        ("Monas under test", "monas-under-test"),
        ("  A -- B!  ", "a-b"),
        ("Grüße", "gr-e"),
        ("日本", "agent"),
        ("", "agent"),
    ] {
        assert_eq!(label(name), expected);
    }
}

proptest! {
    #[test]
    fn every_name_becomes_one(name in any::<String>(), long in "[a-zA-Z -]{0,200}") {
        for name in [&name, &long] {
            prop_assert!(is_label(&label(name)), "{name:?}");
        }
    }
}
