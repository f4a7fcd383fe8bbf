//! The language, there and back.

use proptest::prelude::*;

use super::Scenario;
use crate::random;

proptest! {
    #[test]
    fn what_is_printed_can_be_read_again(scenario in random::scenario()) {
        let text = scenario.to_string();
        prop_assert_eq!(text.parse::<Scenario>().expect(&text), scenario);
    }
}

#[test]
fn a_mistake_is_named_with_its_line() {
    for (text, expected) in [
        ("alice get t1", "line 1: there is no `who:`"),
        (
            "\n# fine\nalice: dance",
            "line 3: unknown operation \"dance\"",
        ),
        ("alice: get", "line 1: it does not say which one"),
        ("alice: get T1", "line 1: T1 is no name"),
        ("alice: get t1 t2", "line 1: t2 is too much"),
        (
            "alice: send work",
            "line 1: work is no text: write it in quotes",
        ),
        ("alice: send \"work", "line 1: a text does not end"),
        ("alice: bad luck", "line 1: nothing bad is called \"luck\""),
        ("alice: read s1 many", "line 1: many is no number"),
        ("alice: list in heaven", "line 1: \"heaven\" is no state"),
    ] {
        let error = text.parse::<Scenario>().expect_err(text);
        assert_eq!(error.to_string(), expected);
    }
}
