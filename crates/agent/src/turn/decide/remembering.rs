//! Messages in which a person tells the agent to remember something, and nothing else: they are understood without a model,
//! which could answer in words and keep nothing.

use memory::Utterance;

#[cfg(test)]
#[path = "remembering_tests.rs"]
mod tests;

/// Words of politeness before a request; those that ask are answered by doing it, so that a question mark changes nothing.
const POLITE: [&str; 12] = [
    "please ",
    "pls ",
    "hey ",
    "hi ",
    "ok ",
    "okay ",
    "could you ",
    "can you ",
    "would you ",
    "will you ",
    "i want you to ",
    "i would like you to ",
];

/// How a person tells an agent to remember what follows.
const TELLS: [&str; 18] = [
    "remember that ",
    "remember: ",
    "remember, ",
    "remember this: ",
    "memorize that ",
    "memorise that ",
    "note that ",
    "note: ",
    "note down that ",
    "make a note that ",
    "take note that ",
    "keep in mind that ",
    "keep in mind: ",
    "bear in mind that ",
    "don't forget that ",
    "do not forget that ",
    "don't forget: ",
    "never forget that ",
];

/// The same without a word that says that a statement follows: it counts if one does.
const BARE: [&str; 3] = ["remember ", "keep in mind ", "don't forget "];

/// Verbs of statements.
const VERBS: [&str; 58] = [
    "is", "are", "was", "were", "am", "isn't", "aren't", "wasn't", "has", "have", "had", "likes",
    "like", "loves", "love", "hates", "hate", "lives", "live", "works", "work", "wants", "want",
    "needs", "need", "prefers", "prefer", "speaks", "speak", "drinks", "drink", "eats", "eat",
    "owns", "own", "plays", "play", "studies", "moved", "got", "comes", "goes", "arrives",
    "starts", "begins", "ends", "costs", "can", "cannot", "can't", "will", "won't", "must",
    "should", "doesn't", "don't", "uses", "knows",
];

/// Words with which what follows a bare "remember" is no statement: "remember to buy milk", "remember when we met".
const NO_STATEMENT: [&str; 14] = [
    "to", "when", "how", "what", "who", "why", "where", "which", "me", "this", "it", "us", "if",
    "whether",
];

/// Words of politeness that a text begins with, and the text after them: "hey, ..." and "hey ...".
fn politely<'a>(text: &'a str, polite: &'static str) -> Option<(&'static str, &'a str)> {
    let word = polite.trim_end();
    let after = begins(text, word).then(|| &text[word.len()..])?;
    after.starts_with([' ', ',']).then_some((word, after))
}

/// What a message tells the agent to remember, if it tells that and asks for nothing else.
pub(super) fn told(said: &str) -> Option<String> {
    let plain = said.replace('\u{2019}', "'");
    let mut rest = plain.trim();
    let mut asks = false;
    while let Some((polite, after)) = POLITE.iter().find_map(|it| politely(rest, it)) {
        asks |= polite.ends_with("you");
        rest = after.trim_start_matches([',', ' ']);
    }
    let text = match TELLS.iter().find(|it| begins(rest, it)) {
        Some(tells) => &rest[tells.len()..],
        None => {
            let bare = BARE.iter().find(|it| begins(rest, it))?;
            Some(&rest[bare.len()..]).filter(|it| is_statement(it))?
        }
    };
    let mut text = text.trim();
    text = strip_end(text, "please").trim_end_matches([',', ' ']);
    if asks {
        text = text.trim_end_matches(['?', ' ']);
    }
    let tells_only = !text.is_empty() && !text.contains('?') && sentences(text).all(is_told);
    tells_only.then(|| text.to_owned())
}

/// The text without a word at its end, in any case.
fn strip_end<'a>(text: &'a str, word: &str) -> &'a str {
    let end = text.len().checked_sub(word.len());
    match end.and_then(|at| text.get(at..)) {
        Some(end) if end.eq_ignore_ascii_case(word) => text[..text.len() - word.len()].trim_end(),
        _ => text,
    }
}

fn begins(text: &str, with: &str) -> bool {
    text.get(..with.len())
        .is_some_and(|it| it.eq_ignore_ascii_case(with))
}

/// Whether a text has the form of a statement: a subject, and a verb after it.
fn is_statement(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|it: char| !it.is_alphanumeric() && it != '\'')
        .filter(|it| !it.is_empty())
        .map(str::to_lowercase)
        .collect();
    let first = words.first().map(String::as_str).unwrap_or_default();
    let verb = words.iter().skip(1).any(|it| VERBS.contains(&it.as_str()));
    !NO_STATEMENT.contains(&first) && verb
}

/// The sentences and lines after the first: what else a message says.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split_inclusive(['\n', '.', '!', ';']);
    let mut whole = Vec::new();
    let mut from = 0;
    let mut at = 0;
    for part in parts {
        at += part.len();
        // A point inside a word, as in a file name or a number, ends no sentence.
        let ends = part.ends_with('\n') || text[at..].starts_with(char::is_whitespace);
        if ends || at == text.len() {
            whole.push(text[from..at].trim());
            from = at;
        }
    }
    whole.into_iter().skip(1).filter(|it| !it.is_empty())
}

/// Whether a further sentence belongs to what is to be remembered: it neither asks nor commands.
fn is_told(sentence: &str) -> bool {
    let sentence = sentence.trim_start_matches(['-', '*', ' ']);
    !matches!(
        Utterance::of(sentence),
        Utterance::Question | Utterance::Command
    )
}
