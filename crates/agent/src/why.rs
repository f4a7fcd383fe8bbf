//! Why an agent did something: answered from its journal and its law, never made up. Every sentence cites events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use access::Permission;
use serde::Serialize;
use serde_json::Value;
use skill::QuestionAnswer;

use crate::approval::ApprovalState;
use crate::context::{Change, Outcome};
use crate::event::{Effect, EffectId, End, EventKind, MemoryOutcome, TurnId};
use crate::handle::Version;
use crate::journal::Record;
use crate::text;

/// An answer to why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Whether anything is known about it.
    pub known: bool,
    /// What is known, in the order in which it happened.
    pub because: Vec<Because>,
}

/// A sentence, and the event that it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Because {
    pub says: String,
    /// The number of the event in the journal.
    pub event: u64,
}

impl Explanation {
    /// Adds what else is known.
    pub(crate) fn add(&mut self, because: Vec<Because>) {
        self.because.extend(because);
        self.known = !self.because.is_empty();
    }

    /// In words, with the numbers of events in brackets.
    pub fn text(&self) -> String {
        if !self.known {
            return "I do not know: nothing in my journal is about that.".to_owned();
        }
        let lines = self
            .because
            .iter()
            .map(|it| format!("{} [{}]", it.says, it.event));
        lines.collect::<Vec<_>>().join("\n")
    }
}

type History<'a> = &'a [(u64, Record)];

/// Every law that a history knows.
pub(crate) fn laws(history: History<'_>) -> Vec<Version> {
    let mut laws = Vec::new();
    for (event, record) in history {
        for change in &record.changes {
            if let Change::Law {
                law, hash, why, by, ..
            } = change
            {
                laws.push(Version {
                    event: *event,
                    hash: hash.clone(),
                    why: why.clone(),
                    by: by.clone(),
                    law: Arc::clone(law),
                });
            }
        }
    }
    laws
}

/// What a history has to say to a question: about a request, a skill, a belief, or the law.
pub(crate) fn explain(history: History<'_>, question: &str) -> Explanation {
    let lower = question.to_lowercase();
    let of_law = mentions(&lower, &LAW);
    // What is asked may have the word in it by chance.
    let least = if of_law { 0.6 } else { 0.3 };
    let names_law_alone = of_law
        && words_of(&lower)
            .all(|it| EMPTY.contains(&it) || COMMON.contains(&it) || LAW.contains(&it));
    let turn = match refers_back(&lower) {
        true => last_act(history, |_, _| true),
        false if names_law_alone => None,
        false => request_of(history, question, least),
    };
    let because = match turn {
        Some(turn) => about_request(history, &turn, None),
        None if of_law => about_law(history),
        None => Vec::new(),
    };
    Explanation {
        known: !because.is_empty(),
        because,
    }
}

/// What a history has to say about the last act in a conversation of a caller, in words for that caller.
pub(crate) fn explain_last(history: History<'_>, caller: &str, conversation: &str) -> Explanation {
    let turn = last_act(history, |by, of| by == caller && of == conversation);
    let because = turn.map(|turn| about_request(history, &turn, Some(caller)));
    let because = because.unwrap_or_default();
    Explanation {
        known: !because.is_empty(),
        because,
    }
}

/// What a history has to say about an event: all of the request that it is about, or of the law.
pub(crate) fn explain_event(history: History<'_>, event: u64) -> Vec<Because> {
    let Some((_, record)) = history.iter().find(|(number, _)| *number == event) else {
        return Vec::new();
    };
    if let Some(turn) = record.turn() {
        return about_request(history, turn, None);
    }
    let of_law = |it: &Change| matches!(it, Change::Law { .. } | Change::LawKept { .. });
    match record.changes.iter().any(of_law) {
        true => about_law(history),
        false => vec![Because {
            says: record.sentence(),
            event,
        }],
    }
}

/// Whether a question names nothing: "why did you do that?" is about what was done last.
fn refers_back(lower: &str) -> bool {
    let mut words = words_of(lower);
    words.all(|word| EMPTY.contains(&word))
}

/// Words for the law.
const LAW: [&str; 4] = ["law", "rule", "rules", "policy"];

/// Words that name nothing that was done.
const EMPTY: [&str; 30] = [
    "why", "did", "do", "done", "does", "doing", "have", "has", "had", "been", "was", "were", "is",
    "you", "this", "that", "it", "so", "just", "the", "last", "thing", "what", "happen",
    "happened", "today", "now", "lately", "recently", "all",
];

/// Further words that most questions have, so that two which share them need not be about the same.
const COMMON: [&str; 24] = [
    "a", "an", "and", "or", "of", "to", "in", "on", "for", "with", "about", "how", "when", "where",
    "which", "who", "can", "could", "will", "would", "me", "my", "your", "please",
];

fn words_of(lower: &str) -> impl Iterator<Item = &str> {
    let words = lower.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

/// The words of a question that can tell what it is about.
fn telling(lower: &str) -> String {
    let words = words_of(lower);
    let words = words.filter(|word| !EMPTY.contains(word) && !COMMON.contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// The last request that has ended and led to a call, or else the last that has ended; or the last call by name. `of` says
/// which callers and conversations count.
fn last_act(history: History<'_>, of: impl Fn(&str, &str) -> bool) -> Option<TurnId> {
    let mut turns: BTreeMap<&str, bool> = BTreeMap::new();
    let (mut act, mut talk) = (None, None);
    for (_, record) in history {
        match &record.event.what {
            EventKind::Heard(heard) if of(heard.caller(), &heard.conversation) => {
                turns.insert(&heard.turn, false);
            }
            EventKind::Called {
                turn,
                by,
                conversation,
                ..
            } if of(by, conversation) => act = Some(turn.as_str()),
            _ => {}
        }
        for change in &record.changes {
            match change {
                Change::Intended { pending } => {
                    if let Some(turn) = pending.intent.turn.as_deref()
                        && let Some(acts) = turns.get_mut(turn)
                    {
                        *acts |= matches!(pending.intent.effect, Effect::Call { .. });
                    }
                }
                Change::Ended { turn, .. } => match turns.get(turn.as_str()) {
                    Some(true) => act = Some(turn.as_str()),
                    Some(false) => talk = Some(turn.as_str()),
                    None => {}
                },
                _ => {}
            }
        }
    }
    act.or(talk).map(TurnId::from)
}

fn mentions(text: &str, words: &[&str]) -> bool {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    text::has_any(text, &words)
}

/// The request that a question is about: named by its task, by a skill it led to, or by words of the request, of what was
/// done for it and of the answer. Of several the last counts.
fn request_of(history: History<'_>, question: &str, least: f64) -> Option<TurnId> {
    let lower = question.to_lowercase();
    let telling = telling(&lower);
    let relevance = |other: &str| text::relevance(&telling, [other]);
    let of_call = |skill: &str, input: &Value| match lower.contains(skill) {
        true => 0.9,
        false => relevance(&input.to_string()),
    };
    let mut best: Option<(f64, TurnId)> = None;
    let mut consider = |score: f64, turn: &str| {
        // A word in common by chance is no reason.
        if score >= least && best.as_ref().is_none_or(|(before, _)| score >= *before) {
            best = Some((score, turn.into()));
        }
    };
    for (_, record) in history {
        match &record.event.what {
            EventKind::Heard(heard) if question.contains(heard.turn.as_str()) => {
                return Some(heard.turn.clone());
            }
            EventKind::Heard(heard) => {
                consider(relevance(&heard.text), &heard.turn);
            }
            EventKind::Wanted { turn, .. } | EventKind::Called { turn, .. }
                if question.contains(turn.as_str()) =>
            {
                return Some(turn.clone());
            }
            EventKind::Wanted {
                turn, skill, input, ..
            }
            | EventKind::Called {
                turn, skill, input, ..
            } => consider(of_call(skill, input), turn),
            _ => {}
        }
        for change in &record.changes {
            match change {
                Change::Intended { pending } => {
                    if let (Some(turn), Effect::Call { skill, input }) =
                        (&pending.intent.turn, &pending.intent.effect)
                    {
                        consider(of_call(skill, input), turn);
                    }
                }
                Change::Ended { turn, answer } => {
                    consider(relevance(&answer.text), turn);
                }
                _ => {}
            }
        }
    }
    best.map(|(_, turn)| turn)
}

fn about_law(history: History<'_>) -> Vec<Because> {
    let mut because = Vec::new();
    for (event, record) in history {
        for change in &record.changes {
            let says = match change {
                Change::Law { hash, why, by, .. } => {
                    format!(
                        "My law became {} because {why} (proposed by {by}).",
                        &hash[..12.min(hash.len())]
                    )
                }
                Change::LawKept { why, by, .. } => {
                    format!("I kept my law against a proposal of {by}: {why}.")
                }
                _ => continue,
            };
            because.push(Because {
                says,
                event: *event,
            });
        }
    }
    because
}

/// Which callers had the agent remember and forget records, of those that a question is about: `records` (ids and
/// texts), those that it names by id, and texts that were refused. The journal has no texts; they are found by hash.
pub(crate) fn about_memory(
    history: History<'_>,
    question: &str,
    records: &[(String, String)],
) -> Vec<Because> {
    let hash = crate::keeping::hash_of(question.trim());
    let text_of = |id: &str| {
        let known = records.iter().find(|(it, _)| it == id);
        known.map(|(_, text)| format!(" \u{201c}{text}\u{201d}"))
    };
    let named = |id: &str| !id.is_empty() && question.contains(id);
    let hashes: BTreeSet<String> = records
        .iter()
        .map(|(_, text)| crate::keeping::hash_of(text))
        .collect();
    let known = |hash: &str| hashes.contains(hash);
    let mut because = Vec::new();
    for (event, record) in history {
        let mut say = |says: String| {
            because.push(Because {
                says,
                event: *event,
            })
        };
        match &record.event.what {
            EventKind::Storing {
                by,
                hash: of,
                source,
            } if (*of == hash || known(of)) && !is_stored(history, of) => say(format!(
                "{by} wanted me to remember that as the word of {source}; I did not note what became of it."
            )),
            EventKind::Stored { by, items } => {
                for item in items {
                    let (id, source) = (&item.record, &item.source);
                    let text = text_of(id);
                    match (&text, item.outcome) {
                        (_, MemoryOutcome::Refused) if item.hash == hash => {
                            say(format!(
                                "{by} wanted me to remember that; my law discards it."
                            ));
                        }
                        (None, _) if !named(id) && item.hash != hash => {}
                        (_, outcome) => say(format!(
                            "{by} had me remember{} as the word of {source}: {} (record {id}).",
                            text.unwrap_or_default(),
                            outcome.name()
                        )),
                    }
                }
            }
            EventKind::Forgot { by, record, why } if named(record) || text_of(record).is_some() => {
                say(format!("{by} had me forget record {record}: {why}"));
            }
            _ => {}
        }
    }
    because
}

/// Whether a text of this hash was stored, or refused.
fn is_stored(history: History<'_>, hash: &str) -> bool {
    history.iter().any(|(_, record)| match &record.event.what {
        EventKind::Stored { items, .. } => items.iter().any(|it| it.hash == hash),
        _ => false,
    })
}

/// What happened with a request, in order. `you` is the caller who is told, if it is told to one.
fn about_request(history: History<'_>, turn: &str, you: Option<&str>) -> Vec<Because> {
    let mut because = Vec::new();
    let name = |by: &str| match you {
        Some(you) if you == by => "You".to_owned(),
        _ => by.to_owned(),
    };
    let mut places = BTreeSet::new();
    // A skill that is called by its name is no request that the agent thinks about.
    let heard = history
        .iter()
        .any(|(_, it)| matches!(&it.event.what, EventKind::Heard(it) if it.turn == turn));
    for (event, record) in history {
        let mut say = |says: String| {
            because.push(Because {
                says,
                event: *event,
            })
        };
        match &record.event.what {
            EventKind::Heard(heard) if heard.turn == turn => {
                // The caller: `from` is the bare name of an agent, which a person could have, too.
                let caller = match heard.caller.as_str() {
                    "" => &heard.from,
                    _ => &heard.caller,
                };
                let words = text::bounded(&heard.text, 300);
                say(format!("{} asked: {words}", name(caller)));
            }
            EventKind::Asked {
                turn: it, question, ..
            } if it == turn => {
                let asked = question.message.lines().next().unwrap_or_default();
                say(format!("I asked: {}", text::bounded(asked, 300)));
            }
            EventKind::Answered {
                turn: it,
                answer,
                by,
                ..
            } if it == turn => say(match answer {
                QuestionAnswer::Given(answer) => {
                    let words = answer.get("answer").unwrap_or(answer);
                    let words = text::bounded(&text::told(words), 200);
                    format!("{} answered: {words}", name(by))
                }
                QuestionAnswer::Declined => format!("{} declined to answer.", name(by)),
            }),
            EventKind::Wanted {
                turn: it,
                place,
                skill,
                input,
                by,
                ..
            } if it == turn => {
                // One that waited is wanted again when it goes on.
                if !heard && places.insert(place) {
                    say(format!("{} called {}.", name(by), with(skill, input)));
                }
                let asked = record
                    .changes
                    .iter()
                    .any(|it| matches!(it, Change::Asked { .. }));
                if asked {
                    say(format!("A person had to agree to {skill}, so I asked."));
                }
            }
            EventKind::Called {
                turn: it,
                skill,
                input,
                by,
                outcome,
                ..
            } if it == turn => {
                if places.is_empty() {
                    say(format!("{} called {}.", name(by), with(skill, input)));
                }
                say(came(outcome));
            }
            _ => {}
        }
        for change in &record.changes {
            match change {
                Change::Found { turn: it, found } if it == turn && !found.is_empty() => {
                    let best = &found[0];
                    let records = match found.len() {
                        1 => "1 record".to_owned(),
                        many => format!("{many} records, most relevant"),
                    };
                    say(format!(
                        "I recalled {records}: \u{201c}{}\u{201d} from {} (record {}).",
                        text::bounded(&text::told(&Value::String(best.text.clone())), 200),
                        best.source,
                        best.record,
                    ));
                }
                Change::Procedure { turn: it, name, .. } if it == turn => {
                    say(format!("My law has the procedure {name} for that."));
                }
                Change::Intended { pending } if pending.intent.turn.as_deref() == Some(turn) => {
                    if let Effect::Call { skill, input } = &pending.intent.effect {
                        say(format!("I decided to call {}.", with(skill, input)));
                    }
                }
                Change::Decided {
                    approval,
                    standing,
                    by,
                } if belongs(history, *approval, turn) => {
                    say(match standing {
                        ApprovalState::Approved(with) if modified(history, *approval, with) => {
                            let with = text::bounded(&text::told(with), 200);
                            let by = decider(name(by), record);
                            format!("{by} approved it with another input: {with}.")
                        }
                        ApprovalState::Approved(_) => {
                            format!("{} approved it.", decider(name(by), record))
                        }
                        ApprovalState::Rejected(why) => {
                            format!("{} rejected it: {why}.", decider(name(by), record))
                        }
                        ApprovalState::Expired => {
                            "The approval expired without a decision.".to_owned()
                        }
                        ApprovalState::Pending => continue,
                    });
                }
                Change::Passed {
                    turn: it,
                    skill,
                    grant,
                    agreed,
                } if it == turn => say(format!(
                    "{skill} needed no new question: the grant {grant} covers it, to which {} agreed.",
                    name(agreed)
                )),
                Change::Aside { turn: it, line } if it == turn => {
                    let words = text::bounded(&line.text, 300);
                    say(match &line.by {
                        Some(by) => format!("{} answered: {words}", name(by)),
                        None => format!("I asked: {words}"),
                    });
                }
                Change::Outcome {
                    turn: it, outcome, ..
                } if it == turn => say(came(outcome)),
                Change::Ended { turn: it, answer } if it == turn => say(match answer.end {
                    End::Answered => format!("So I said: {}", text::bounded(&answer.text, 300)),
                    End::Refused => format!("So I refused: {}", text::bounded(&answer.text, 300)),
                    End::Failed => format!("So I gave up: {}", text::bounded(&answer.text, 300)),
                    End::NotApproved => {
                        format!("So I left it: {}", text::bounded(&answer.text, 300))
                    }
                    End::Cancelled => "It was cancelled.".to_owned(),
                }),
                _ => {}
            }
        }
    }
    because
}

/// A skill with its input, as the end of a sentence.
fn with(skill: &str, input: &Value) -> String {
    match &*text::bounded(&text::told(input), 200) {
        "" => skill.to_owned(),
        input => format!("{skill} with {input}"),
    }
}

/// The person who decided, with the permission to decide about calls of others where it was used.
fn decider(name: String, record: &Record) -> String {
    match &record.event.what {
        EventKind::Decided { permission, .. } if permission == Permission::Operate.name() => {
            format!("{name} (permission {permission})")
        }
        _ => name,
    }
}

/// The outcome of a call, in words.
fn came(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Gave(output) => {
            format!("It gave: {}", text::bounded(&text::told(output), 200))
        }
        Outcome::Failed(_, why) => format!("Nothing came of it: {why}."),
    }
}

/// Whether a call was approved with another input than it was wanted with.
fn modified(history: History<'_>, approval: EffectId, with: &Value) -> bool {
    let mut changes = history.iter().flat_map(|(_, record)| &record.changes);
    changes.any(|change| {
        matches!(change, Change::Asked { approval: it } if it.id == approval
            && it.input != *with && it.bound.as_ref() != Some(with))
    })
}

/// Whether an approval was asked for a request.
fn belongs(history: History<'_>, approval: EffectId, turn: &str) -> bool {
    let mut changes = history.iter().flat_map(|(_, record)| &record.changes);
    changes.any(|change| {
        matches!(change, Change::Asked { approval: it } if it.id == approval && it.turn == turn)
    })
}
