//! Answers of people in their own words: yes, no and why, for the whole conversation, or with another input.

use a2a::types::{Content, Message, Part};
use serde_json::{Value, json};
use skill::extension::{Question, QuestionKind};
use skill::{Fault, QuestionAnswer};

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;

/// What a text says to a question that takes a yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Yes,
    /// Yes, also for the rest of the conversation.
    Session,
    /// No, with the reason if one is given.
    No(String),
    /// With this instead.
    Modify(String),
}

/// Words that agree.
const YES: &[&str] = &[
    "yes",
    "y",
    "yep",
    "yeah",
    "yup",
    "ok",
    "okay",
    "sure",
    "approve",
    "approved",
    "agree",
    "agreed",
    "accept",
    "accepted",
    "confirm",
    "confirmed",
    "proceed",
    "true",
    "fine",
    "alright",
    "absolutely",
    "certainly",
    "definitely",
    "correct",
    "go ahead",
    "go on",
    "do it",
    "do that",
    "do so",
    "please do",
    "of course",
    "all right",
    "go for it",
    "sounds good",
    "looks good",
    "you may",
];

/// Words that may stand beside those, and change nothing.
const BESIDE: &[&str] = &[
    "please", "thanks", "thank", "you", "i", "me", "it", "that", "this", "is", "s", "do", "go",
    "ahead", "on", "then", "now", "just", "with", "by", "all", "means", "good", "great", "very",
    "for", "once", "can", "may", "so", "right", "of", "course", "sounds", "looks", "and", "well",
    "ok", "cool", "perfect", "nice",
];

/// Signs that agree, and signs that refuse.
const SIGNS: (&[char], &[char]) = (&['👍', '✅', '👌'], &['👎', '❌', '🚫']);

/// How a refusal begins.
const NO: &[&str] = &[
    "no",
    "n",
    "nope",
    "nah",
    "never",
    "reject",
    "rejected",
    "deny",
    "denied",
    "refuse",
    "refused",
    "decline",
    "declined",
    "stop",
    "cancel",
    "false",
    "don't",
    "dont",
    "do not",
    "please don't",
    "please do not",
    "not now",
    "not that",
    "rather not",
    "better not",
];

/// Words that may follow a refusal without a comma: `no because ...`, `stop it`. Any other word makes it another sentence, such as
/// `no files were found`.
const AFTER_NO: &[&str] = &[
    "because", "since", "as", "thanks", "thank", "please", "sorry", "i", "it", "that", "this",
    "you", "we", "but", "no", "not", "never", "way", "leave", "keep",
];

/// Refusals that no other sentence begins with.
const CLEAR_NO: &[&str] = &[
    "nope", "nah", "don't", "dont", "do not", "please", "not now", "rather", "better",
];

/// Verbs after `don't` with which a sentence is no refusal: `don't forget to call Bob` asks for something else.
const NO_REFUSAL: &[&str] = &[
    "forget",
    "remember",
    "remind",
    "worry",
    "mind",
    "know",
    "understand",
    "you",
    "we",
];

/// Whether what follows the words of a refusal is a reason, or nothing.
fn is_refusal(lower: &str, rest: &str) -> bool {
    let clear = CLEAR_NO.iter().any(|it| lower.starts_with(it));
    let asks_else = words(rest)
        .next()
        .is_some_and(|it| NO_REFUSAL.contains(&it));
    if asks_else && lower.starts_with("do") && rest.starts_with(' ') {
        return false;
    }
    let ends = !rest
        .trim_start_matches(' ')
        .starts_with(char::is_alphanumeric);
    let follows = words(rest).next().is_some_and(|it| AFTER_NO.contains(&it));
    clear || ends || follows
}

/// The reading of a text as an answer to a question that takes a yes, if it says that. Only a text that agrees and says nothing else is a
/// yes; a refusal may have a reason.
pub(crate) fn reading(text: &str) -> Option<Reading> {
    let text = text.trim().replace('\u{2019}', "'");
    let lower = text.to_lowercase();
    // `edit notes.md` is a request of its own, so `edit` begins no answer.
    for begin in ["modify", "change it to"] {
        if let Some(rest) = after(&lower, begin) {
            let rest = text.get(text.len() - rest.len()..).unwrap_or_default();
            return Some(Reading::Modify(
                rest.trim_start_matches([':', ' ', '\n']).to_owned(),
            ));
        }
    }
    let words: Vec<&str> = words(&lower).collect();
    if words.is_empty() {
        return sign(&text);
    }
    let asks = lower.contains('?');
    if words.first() == Some(&"session") && words.len() <= 4 && !asks {
        return Some(Reading::Session);
    }
    if let Some(rest) = NO.iter().find_map(|no| after(&lower, no)) {
        if !is_refusal(&lower, rest) {
            return None;
        }
        let rest = text.get(text.len() - rest.len()..).unwrap_or_default();
        let reason = rest.trim_start_matches([',', '.', ':', ';', '!', '-', ' ', '\n', '—']);
        let second = words.get(1).copied().unwrap_or_default();
        // `no problem` and the like is not a refusal, and not clear enough to agree to something.
        return (!matches!(second, "problem" | "objection" | "objections" | "worries"))
            .then(|| Reading::No(reason.trim().to_owned()));
    }
    let whole = format!(" {} ", words.join(" "));
    let agrees = YES.iter().any(|it| whole.contains(&format!(" {it} ")));
    let single = |word: &&str| YES.contains(word) || BESIDE.contains(word);
    // `approve all` is about more than the call that is asked about.
    let all = whole.contains(" all ")
        && !whole.contains(" all right ")
        && !whole.contains(" by all means ");
    let plain = words.len() <= 12 && words.iter().all(single);
    (agrees && plain && !all && !asks).then_some(Reading::Yes)
}

/// The reading of a sign without words, such as a thumb.
fn sign(text: &str) -> Option<Reading> {
    let first = text.chars().next()?;
    let (agrees, refuses) = (SIGNS.0.contains(&first), SIGNS.1.contains(&first));
    match () {
        () if agrees && !text.contains('?') => Some(Reading::Yes),
        () if refuses => Some(Reading::No(String::new())),
        () => None,
    }
}

/// Whether a text agrees to what was asked.
pub(crate) fn agrees(text: &str) -> bool {
    matches!(reading(text), Some(Reading::Yes | Reading::Session))
}

/// Whether a message reads as an answer to a question that waits: about a call, or about the moment of a reminder.
pub(crate) fn is_answer(text: &str) -> bool {
    reading(text).is_some() || is_decision(text) || crate::skills::is_moment(text)
}

fn is_decision(text: &str) -> bool {
    let object = serde_json::from_str::<Value>(text);
    object.is_ok_and(|it| it.get("decision").is_some())
}

/// The answer that a message gives to a question. To a question about a call it may be in plain words.
pub(crate) fn read(question: &Question, message: &Message) -> Result<QuestionAnswer, Vec<Fault>> {
    let has_data = message
        .parts
        .iter()
        .any(|part| matches!(part.content, Content::Data(_)));
    let text = message.text();
    if question.kind != QuestionKind::Approval {
        return question.read(message);
    }
    if has_data || is_decision(&text) {
        return question.read(message).map_err(|_| vec![unclear()]);
    }
    let decision = match reading(&text) {
        Some(Reading::Yes) => json!({ "decision": "approve" }),
        Some(Reading::Session) => json!({ "decision": "session" }),
        Some(Reading::No(why)) => json!({ "decision": "reject", "why": why }),
        Some(Reading::Modify(input)) => json!({ "decision": "modify", "input": input }),
        None if text.trim().is_empty() => return question.read(message),
        None => return Err(vec![unclear()]),
    };
    let mut said = message.clone();
    said.parts = vec![Part::data(decision)];
    question.read(&said)
}

/// The reply to words that decide nothing about a call.
fn unclear() -> Fault {
    let problem = "answer yes or no, or modify and the input to use instead; for example: yes, or \"no, because it is \
                   late\", or {\"decision\": \"approve\"}";
    Fault::new("", problem)
}

/// The text after a word or some words at the beginning of a text.
fn after<'a>(text: &'a str, begin: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(begin)?;
    let ends = !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '\'');
    ends.then_some(rest)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}
