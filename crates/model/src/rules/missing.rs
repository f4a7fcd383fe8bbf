//! Known requests that need a language model or a missing skill, and the answer to each.

use std::sync::LazyLock;

use super::pattern::Pattern;
use super::text::Words;

/// What a request needs that the rules do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// A language model; the action follows "I cannot".
    Model(&'static str),
    /// A skill that is not there.
    Skill(&'static str),
}

const KNOWN: &[(Missing, &[&str])] = &[
    (
        Missing::Model("tell jokes or stories"),
        &[
            "(tell|give) [me] [a|an|another|some] [funny|short|good] (joke|jokes|story|riddle|fact|tale|secret)",
            "(tell|give) [me] [a|an|another|some] [funny|short|good] (joke|jokes|story|riddle|fact|tale|secret) {rest}",
            "make me laugh",
            "entertain me",
            "(sing|dance) {rest}",
        ],
    ),
    (
        Missing::Model("write texts of my own"),
        &[
            "(write|compose|draft|generate|create|make) [me] (a|an|some|the) [short|long|nice|funny|simple|small|good|new] (poem|story|essay|song|haiku|letter|email|script|program|function|article|blog|post|report|summary|code|test|tests|website|app|game|speech|tweet|plan|list) {rest}",
            "(write|compose|draft|generate|create|make) [me] (a|an|some|the) [short|long|nice|funny|simple|small|good|new] [python|rust|javascript|bash|java|shell|sql|html] (poem|story|essay|song|haiku|letter|email|script|program|function|article|blog|post|report|summary|code|website|app|game|speech|tweet)",
            "(write|generate) [me] [some|a|an] (python|rust|javascript|bash|java|shell|sql|html|code) {rest}",
            "write [some] code",
            "(brainstorm|suggest|recommend) {rest}",
        ],
    ),
    (
        Missing::Model("translate"),
        &[
            "translate {rest}",
            "(what|how) (is|do|would) {rest} in (german|french|spanish|english|italian|chinese|japanese|russian|latin|dutch|polish|portuguese)",
        ],
    ),
    (
        Missing::Model("summarise texts, but I can read them to you"),
        &[
            "(summarise|summarize|sum|shorten|condense|paraphrase|rewrite|improve|proofread|correct) {rest}",
        ],
    ),
    (
        Missing::Model("explain things that I was not told"),
        &["(explain|define|describe|compare|discuss|analyse|analyze|teach) {rest}"],
    ),
    (
        Missing::Model("calculate"),
        &["(calculate|compute|solve|convert|add|multiply|subtract|divide) {rest}"],
    ),
    (
        Missing::Model("work on code"),
        &["(fix|debug|refactor|implement|optimise|optimize|review|build|develop|port|test) {rest}"],
    ),
    (
        Missing::Skill("look up the weather, news or prices"),
        &[
            "{rest} (weather|forecast|temperature|rain) {more}",
            "{rest} (weather|forecast|temperature|news|headlines)",
            "(weather|news|forecast) {rest}",
            "(weather|news|forecast)",
            "will it (rain|snow) {rest}",
            "{rest} (price|stock|exchange) {more}",
        ],
    ),
    (
        Missing::Skill("tell the time of other places"),
        &["what [is] [the] time [is] [it] in {rest}"],
    ),
    (
        Missing::Skill("search the web"),
        &[
            "(google|bing|lookup) {rest}",
            "search (the|on) (web|internet|google|online) {rest}",
        ],
    ),
    (
        Missing::Skill("send messages to other people"),
        &[
            "(send|write) [an|a|the|this] (email|mail|message|sms|text|tweet|letter) {rest}",
            "(email|mail|text|message|phone|tweet) {rest}",
        ],
    ),
    (
        Missing::Skill("play music or videos, or draw"),
        &["(play|draw|paint|sing) {rest}"],
    ),
    (
        Missing::Skill("order, book or pay anything"),
        &["(order|book|buy|pay|reserve) {rest}"],
    ),
];

static READ: LazyLock<Vec<(Missing, Vec<Pattern>)>> = LazyLock::new(|| {
    let known = KNOWN.iter().map(|(what, patterns)| {
        let patterns = patterns.iter().filter_map(|it| Pattern::phrase(it));
        (*what, patterns.collect())
    });
    known.collect()
});

/// The missing part of a request that no rule can do, if it is one of those that are known.
pub(super) fn find(words: &Words<'_>) -> Option<Missing> {
    if is_arithmetic(words) {
        return Some(Missing::Model("calculate"));
    }
    let mut known = READ.iter();
    let fits = |pattern: &Pattern| pattern.fill(words).is_some();
    known
        .find(|(_, patterns)| patterns.iter().any(fits))
        .map(|(what, _)| *what)
}

/// Whether there are numbers with a sign of calculation between them.
fn is_arithmetic(words: &Words<'_>) -> bool {
    let text: String = words
        .span(0..words.len())
        .chars()
        .filter(|it| !it.is_whitespace())
        .collect();
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let signs = |at: &usize| matches!(bytes[*at], b'+' | b'*' | b'/' | b'^' | b'-');
    let mut signs = (1..bytes.len()).filter(signs);
    // A date such as 2026-11-18 and a version are no sums.
    let dashes = bytes.iter().filter(|it| **it == b'-').count();
    signs.any(|at| digit(at - 1) && digit(at + 1)) && dashes < 2 && words.len() <= 8
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, Pattern};

    #[test]
    fn every_request_is_a_pattern() {
        for text in KNOWN.iter().flat_map(|(_, patterns)| *patterns) {
            assert!(Pattern::phrase(text).is_some(), "{text}");
        }
    }
}
