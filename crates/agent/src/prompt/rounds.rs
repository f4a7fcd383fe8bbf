//! The part of a request under way that goes back to the model: its own words, its calls and their results, all bounded.

use std::sync::Arc;

use model::{AssistantMessage, Call, CallResult, Message};
use serde_json::Value;
use skill::Registry;

use crate::context::{Called, Outcome, Round};
use crate::text::{bounded, in_words, json_length};

/// The longest that each fragment of a round may be, in bytes.
struct Most {
    text: usize,
    arguments: usize,
    result: usize,
}

/// For the last rounds, which the next thought depends on.
const RECENT: Most = Most {
    text: 8_000,
    arguments: 8_000,
    result: 8_000,
};

/// For the rounds before them.
const OLDER: Most = Most {
    text: 400,
    arguments: 400,
    result: 400,
};

/// Rounds are recent until they have so many bytes together, from the last one back.
const RECENT_TOGETHER: usize = 128 * 1024;

/// The most bytes of what only the model understands. It cannot be cut, so longer ones are left out.
const THOUGHTS: usize = 64 * 1024;

/// The longest id and name of a call.
const NAME: usize = 256;

/// The rounds of a request as messages, in their order.
pub(super) fn messages(rounds: &[Arc<Round>], skills: &Registry) -> Vec<Message> {
    let mut size = 0;
    let mut shown: Vec<Vec<Message>> = Vec::new();
    for round in rounds.iter().rev() {
        let most = if size < RECENT_TOGETHER {
            &RECENT
        } else {
            &OLDER
        };
        let messages = of(round, most, skills);
        size += messages.iter().map(length).sum::<usize>();
        shown.push(messages);
    }
    shown.into_iter().rev().flatten().collect()
}

/// What the model said in a round, and the results of its calls.
fn of(round: &Round, most: &Most, skills: &Registry) -> Vec<Message> {
    let thoughts: usize = round.thoughts.iter().map(String::len).sum();
    let calls: Vec<Call> = round.calls.iter().map(|it| call(it, most)).collect();
    let results = calls.iter().zip(&round.calls).map(|(call, called)| {
        let content = match &called.outcome {
            Some(Outcome::Gave(output)) => bounded(&in_words(output), most.result),
            Some(Outcome::Failed(_, why)) => format!("error: {}", bounded(why, most.result)),
            None => "error: nothing came of it".to_owned(),
        };
        let told = match &called.outcome {
            Some(Outcome::Gave(output)) => {
                let entry = skills.entry(&called.skill);
                entry.and_then(|it| it.tell(output))
            }
            _ => None,
        };
        Message::Result(CallResult::of(call, content).told(told))
    });
    let results: Vec<Message> = results.collect();
    let said = Message::Model(AssistantMessage {
        text: bounded(&round.text, most.text),
        thoughts: match thoughts <= THOUGHTS {
            true => round.thoughts.clone(),
            false => Vec::new(),
        },
        calls,
    });
    std::iter::once(said).chain(results).collect()
}

fn call(called: &Called, most: &Most) -> Call {
    Call {
        id: bounded(&called.id, NAME),
        name: bounded(&called.skill, NAME),
        arguments: arguments(&called.input, most.arguments),
    }
}

/// Arguments with at most so many bytes as JSON. Long texts in them are cut; what is still too long is named by its size.
fn arguments(input: &Value, most: usize) -> Value {
    if json_length(input) <= most {
        return input.clone();
    }
    let cut = cut(input, most / 8);
    let size = json_length(&cut);
    match size <= most {
        true => cut,
        false => serde_json::json!({ "omitted": format!("{size} bytes of arguments") }),
    }
}

fn cut(value: &Value, most: usize) -> Value {
    match value {
        Value::String(text) => Value::String(bounded(text, most)),
        Value::Array(items) => items.iter().map(|it| cut(it, most)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, it)| (name.clone(), cut(it, most)))
            .collect(),
        other => other.clone(),
    }
}

fn length(message: &Message) -> usize {
    match message {
        Message::Model(said) => {
            let thoughts: usize = said.thoughts.iter().map(String::len).sum();
            let calls = said.calls.iter();
            let calls: usize = calls.map(|it| json_length(&it.arguments)).sum();
            said.text.len() + thoughts + calls
        }
        Message::Result(result) => result.content.len(),
        _ => 0,
    }
}
