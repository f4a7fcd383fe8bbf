//! Texts that are no source: no panic, no hang, and bounds that hold.

use std::time::{Duration, Instant};

use code::{Language, Limits, Outline, outline};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Parts that languages give a meaning to, so that random texts get further than the first character.
const PARTS: &[&str] = &[
    "fn ",
    "def ",
    "class ",
    "func ",
    "function ",
    "import ",
    "use ",
    "impl ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "\"",
    "'",
    "`",
    "```\n",
    "# ",
    "==\n",
    "--\n",
    "\n",
    "\n    ",
    "\t",
    ";",
    ":",
    "::",
    ".",
    ",",
    "=>",
    "->",
    "=",
    "name",
    "r#\"",
    "/*",
    "*/",
    "//",
    "\\",
    "\0",
    "ä",
    "\u{1F600}",
    "${",
    "<a>",
    "</a>",
    "async ",
    "f\"{",
    "lambda ",
];

/// Longer than the time of both passes, on a machine with much else to do.
const LONG: Duration = Duration::from_secs(20);

fn check(text: &str) -> Result<(), TestCaseError> {
    let limits = Limits::default();
    for language in Language::ALL {
        let began = Instant::now();
        let found: Outline = outline(language, text, &limits);
        prop_assert!(
            began.elapsed() < LONG,
            "{language:?} took {:?}",
            began.elapsed()
        );
        prop_assert!(found.symbols.len() <= limits.symbols && found.calls.len() <= limits.calls);
        let lines = u32::try_from(text.lines().count() + 1).unwrap_or(u32::MAX);
        for symbol in &found.symbols {
            prop_assert!(symbol.name.len() <= limits.name_bytes && !symbol.name.is_empty());
            prop_assert!(
                symbol.line >= 1 && symbol.line <= symbol.end_line,
                "{symbol:?}"
            );
            prop_assert!(symbol.end_line <= lines, "{symbol:?} of {lines} lines");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes_give_an_outline(bytes in vec(any::<u8>(), 0..2_000)) {
        check(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn random_parts_of_languages_give_an_outline(parts in vec(select(PARTS), 0..400)) {
        check(&parts.concat())?;
    }
}
