//! How much a text reads as orders to an assistant. It is a figure, not a verdict: words alone raise no alert above `low`, and
//! texts that speak about such orders (documents, tests, quotations) are told from those that give them.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

/// How a phrase counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// It speaks to a program that reads the text.
    Addressed,
    /// It takes back what the program was told.
    Override,
    /// It demands an action.
    Demand,
    /// It asks for silence, or claims an authority.
    Cover,
    /// It pretends to be a part of the conversation.
    Frame,
    /// The text is about such orders.
    About,
}

use Sign::{About, Addressed, Cover, Demand, Frame, Override};

const SIGNS: &[(&str, Sign)] = &[
    ("ai assistant", Addressed),
    ("ai agent", Addressed),
    ("language model", Addressed),
    ("automated assistant", Addressed),
    ("dear ai", Addressed),
    ("as the assistant", Addressed),
    ("assistant,", Addressed),
    ("assistant:", Addressed),
    ("for the agent", Addressed),
    ("to the agent", Addressed),
    ("llm reading", Addressed),
    ("chatbot", Addressed),
    ("for the assistant", Addressed),
    ("to the assistant", Addressed),
    ("note to ai", Addressed),
    ("attention ai", Addressed),
    ("ignore your previous", Override),
    ("ignore all previous", Override),
    ("ignore previous instructions", Override),
    ("ignore the above", Override),
    ("disregard the user", Override),
    ("disregard your", Override),
    ("disregard all", Override),
    ("disregard previous", Override),
    ("forget what you were told", Override),
    ("forget your instructions", Override),
    ("forget all", Override),
    ("override your", Override),
    ("your task has changed", Override),
    ("new task:", Override),
    ("new instructions", Override),
    ("stop your work", Override),
    ("instead of the user's", Override),
    ("previous instructions", Override),
    ("you must now", Demand),
    ("you must immediately", Demand),
    ("you are now required", Demand),
    ("you have to", Demand),
    ("you should now", Demand),
    ("before you answer,", Demand),
    ("before answering", Demand),
    ("immediately", Demand),
    ("run `", Demand),
    ("execute the following", Demand),
    ("then forward", Demand),
    ("send the file", Demand),
    ("without telling the user", Cover),
    ("do not mention this", Cover),
    ("do not tell", Cover),
    ("keep it secret", Cover),
    ("never reveal", Cover),
    ("do not ask for permission", Cover),
    ("the user has approved", Cover),
    ("urgent order", Cover),
    ("order of the administrator", Cover),
    ("secret from the user", Cover),
    ("already approved", Cover),
    ("do not inform", Cover),
    ("system:", Frame),
    ("[system", Frame),
    ("### instruction", Frame),
    ("<|im_start|>", Frame),
    ("<system>", Frame),
    ("important instructions", Frame),
    ("[inst]", Frame),
    ("display:none", Frame),
    ("begin instructions", Frame),
    ("end of user data", Frame),
    ("prompt injection", About),
    ("jailbreak", About),
    ("owasp", About),
    ("attacker", About),
    ("attack", About),
    ("payload", About),
    ("red team", About),
    ("for example", About),
    ("such as \"", About),
    ("such as `", About),
    ("e.g.", About),
    ("mitigation", About),
    ("we study", About),
    ("paper", About),
    ("assert", About),
    ("training:", About),
    ("glossary", About),
    ("refusal", About),
    ("defence", About),
    ("defense", About),
    ("sample:", About),
    ("expect", About),
];

/// Finds signs of injection.
#[derive(Clone, Debug)]
pub(crate) struct Signs {
    finder: AhoCorasick,
}

impl Signs {
    pub(crate) fn new() -> Result<Self, crate::Error> {
        let words = SIGNS.iter().map(|it| it.0);
        let finder = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .build(words);
        let finder = finder.map_err(|error| crate::Error::form("signs of injection", &error))?;
        Ok(Self { finder })
    }

    /// From 0 to 1.
    pub(crate) fn score(&self, text: &str) -> f64 {
        let mut seen = [0u32; 6];
        let mut last = [usize::MAX; 6];
        for hit in self.finder.find_iter(text) {
            let Some((_, sign)) = SIGNS.get(hit.pattern().as_usize()) else {
                continue;
            };
            // Part of an address or of another word: `attacker.example`.
            if *sign == About && is_within(text, hit.range()) {
                continue;
            }
            let kind = *sign as usize;
            // The same phrase twice says no more than once.
            if last[kind] != hit.pattern().as_usize() {
                seen[kind] += 1;
                last[kind] = hit.pattern().as_usize();
            }
        }
        let mut score = hidden(text);
        for (sign, weight, most) in [
            (Addressed, 0.3, 1),
            (Override, 0.4, 1),
            (Demand, 0.25, 2),
            (Cover, 0.3, 2),
            (Frame, 0.25, 1),
        ] {
            score += weight * f64::from(seen[sign as usize].min(most));
        }
        // What speaks about orders needs a stronger reason to count as one.
        score -= 0.35 * f64::from(seen[About as usize].min(3));
        score.clamp(0.0, 1.0)
    }
}

/// Whether a phrase goes on as a word, an address or the name of a host.
fn is_within(text: &str, range: std::ops::Range<usize>) -> bool {
    let rest = text[range.end..].trim_start_matches(char::is_alphanumeric);
    let mut after = rest.chars();
    let joined = matches!(after.next(), Some('.' | '@' | '/'))
        && after.next().is_some_and(char::is_alphanumeric);
    let before = text[..range.start].chars().next_back();
    joined || before.is_some_and(|it| it.is_alphanumeric() || "@./".contains(it))
}

/// Characters that people do not see and models read: tags, directions, joiners in a row.
fn hidden(text: &str) -> f64 {
    if text.is_ascii() {
        return 0.0;
    }
    let hidden = |it: &char| matches!(*it, '\u{e0020}'..='\u{e007f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match text.chars().filter(hidden).take(16).count() {
        0 => 0.0,
        1..=3 => 0.3,
        _ => 0.6,
    }
}
