//! Replies: what was not understood, and what can be asked.

use std::fmt::Write as _;

use serde_json::Value;

use super::NoModel;
use super::fields::{self, Unfilled};
use super::missing::Missing;
use super::text::Words;
use crate::limits::quote;
use crate::request::{CallResult, Tool};

/// How many tools a reply suggests when a request was not understood.
const SUGGESTED: usize = 3;
/// How many tools `/help` lists.
const LISTED: usize = 100;
/// The longest quotation of a result, in bytes.
const RESULT: usize = 32 << 10;

/// The requests that a greeting suggests, each with a word of the tool that it takes.
const FIRST: &[(&str, &str)] = &[
    ("list", "list my files"),
    ("read", "read WELCOME.md"),
    ("search", "search for TODO"),
    ("remember", "remember that Ada likes coffee"),
    ("recall", "what do you know about Ada?"),
    ("remind", "remind me in 10 minutes to drink water"),
];

impl NoModel {
    /// Why only direct requests are followed.
    fn why(self) -> &'static str {
        match self {
            Self::NotConfigured => {
                "No language model is configured, so I only follow direct requests."
            }
            Self::Failed => "My language model does not answer, so I only follow direct requests.",
            Self::NotNeeded => {
                "You can say anything: my language model reads it. What begins with a slash names a skill and needs no model."
            }
        }
    }

    /// The same as the end of a sentence.
    fn because(self) -> &'static str {
        match self {
            Self::NotConfigured => "without a language model, and none is configured",
            Self::Failed => "without my language model, which does not answer",
            Self::NotNeeded => "by a rule, and leave it to my language model",
        }
    }
}

/// The reply to a greeting: what to try first, as far as there are tools for it.
pub(super) fn hello(tools: &[Tool], cause: NoModel) -> String {
    let has = |word: &str| {
        let mut names = tools.iter().map(|tool| &tool.name);
        names.any(|name| name.split(['-', '_']).any(|it| it == word))
    };
    let mut hello = format!("Hello! {}", cause.why());
    let first = FIRST.iter().filter(|(word, _)| has(word));
    let first: Vec<&str> = first.map(|(_, request)| *request).collect();
    if !first.is_empty() {
        hello.push_str(" You can try:");
        for request in first {
            let _ = write!(hello, "\n- {request}");
        }
        hello.push('\n');
    }
    hello.push_str(" Say help for all that I can do.");
    hello.replace("\n Say", "\nSay")
}

/// The reply to `/help`.
pub(super) fn help(tools: &[Tool], cause: NoModel) -> String {
    let mut help = String::from(cause.why());
    if tools.is_empty() {
        help.push_str(" I have no tools, either.");
        return help;
    }
    help.push_str(" I can:");
    for tool in tools.iter().take(LISTED) {
        let _ = write!(help, "\n- {}: {}", tool.name, quote(&tool.description));
        if let Some(example) = tool.examples.first() {
            let _ = write!(help, " For example: {}", quote(example));
        }
    }
    if tools.len() > LISTED {
        let _ = write!(help, "\nand {} more.", tools.len() - LISTED);
    }
    help.push_str("\nName one and say what it needs, as in ");
    help.push_str(&usage(&tools[0]));
    help
}

/// The request was not understood.
pub(super) fn not_understood(said: &str, tools: &[Tool], cause: NoModel) -> String {
    let why = cause.why();
    let mut answer = format!("I did not understand “{}”. {why}", quote(said));
    match &*nearest(said, tools) {
        [] => {}
        near => {
            answer.push_str(" Perhaps you mean one of these:");
            for tool in near {
                let _ = write!(answer, "\n- {}", usage(tool));
            }
            answer.push('\n');
        }
    }
    answer.push_str(" Say /help for what I can do.");
    answer.replace("\n Say", "\nSay")
}

/// The request was understood, and no tool can do it.
pub(super) fn impossible(what: &str, tools: &[Tool]) -> String {
    let mut answer = format!("I cannot {what}: none of my skills does that.");
    if !tools.is_empty() {
        answer.push_str(" Say /help for what I can do.");
    }
    answer
}

/// Whether a word of a request is in the name of a tool, which may be meant.
pub(super) fn has_namesake(words: &Words<'_>, tools: &[Tool]) -> bool {
    let said = words.plains();
    let mut names = tools.iter().flat_map(|tool| [&tool.name, &tool.title]);
    names.any(|name| split(name).any(|word| said.contains(&word)))
}

/// The request takes something that rules do not have.
pub(super) fn missing(what: Missing, tools: &[Tool], cause: NoModel) -> String {
    match what {
        Missing::Skill(what) => impossible(what, tools),
        Missing::Model(what) => format!(
            "I cannot {what} {}. Say /help for what I can do without.",
            cause.because()
        ),
    }
}

/// The request names a tool that does not exist.
pub(super) fn no_such_tool(said: &str, tools: &[Tool]) -> String {
    let name = said.split_whitespace().next().unwrap_or_default();
    let mut answer = format!("There is no tool {}.", quote(name));
    let near = nearest(name, tools);
    if let Some(tool) = near.first() {
        let _ = write!(answer, " Did you mean /{}?", tool.name);
    }
    answer.push_str(" Say /help for what I can do.");
    answer
}

/// The request names a tool, and arguments are missing or wrong.
pub(super) fn unfilled(tool: &Tool, problem: &Unfilled) -> String {
    let name = &tool.name;
    let problem = match problem {
        Unfilled::Missing(fields) => format!("{name} needs {}", fields.join(" and ")),
        Unfilled::Wrong { field, expected } => format!("{field} of {name} must be {expected}"),
        Unfilled::Unknown(field) => {
            let known = fields::all(tool).join(", ");
            format!("{name} has no field {field}; it has {known}")
        }
        Unfilled::Unclear(text) => {
            format!(
                "it is not clear which field of {name} “{}” belongs to",
                quote(text)
            )
        }
    };
    format!("{problem}. Say it as in {}", usage(tool))
}

/// The results of calls, as people are told them.
pub(super) fn results(results: &[&CallResult]) -> String {
    match results {
        [one] => told(one),
        many => {
            let each = many.iter().map(|it| format!("{}:\n{}", it.name, told(it)));
            each.collect::<Vec<_>>().join("\n\n")
        }
    }
}

/// A result in words. JSON that the skill has no words for is written as lines of names and values.
fn told(result: &CallResult) -> String {
    if let Some(told) = &result.told {
        return bounded(told);
    }
    match serde_json::from_str(&result.content) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            let mut lines = Vec::new();
            list(&value, 0, &mut lines);
            bounded(&lines.join("\n"))
        }
        _ => bounded(&result.content),
    }
}

/// How deep values are listed; deeper ones are written as they are.
const DEPTH: usize = 6;

/// The members of a value, a line for each.
fn list(value: &Value, depth: usize, lines: &mut Vec<String>) {
    let margin = "  ".repeat(depth);
    let line = |name: &str, value: &Value, lines: &mut Vec<String>| match value {
        Value::Object(_) | Value::Array(_) if depth < DEPTH => {
            lines.push(format!("{margin}{name}"));
            list(value, depth + 1, lines);
        }
        Value::String(text) => lines.push(format!("{margin}{name} {text}")),
        Value::Null => lines.push(format!("{margin}{name} nothing")),
        Value::Bool(true) => lines.push(format!("{margin}{name} yes")),
        Value::Bool(false) => lines.push(format!("{margin}{name} no")),
        other => lines.push(format!("{margin}{name} {other}")),
    };
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                line(&format!("{}:", name.replace('_', " ")), value, lines);
            }
        }
        Value::Array(items) => {
            for item in items {
                line("-", item, lines);
            }
        }
        other => lines.push(format!("{margin}{other}")),
    }
}

fn bounded(text: &str) -> String {
    let end = text.floor_char_boundary(RESULT);
    match end < text.len() {
        true => format!("{}\n… and {} bytes more.", &text[..end], text.len() - end),
        false => text.to_owned(),
    }
}

/// The usage line of a tool.
fn usage(tool: &Tool) -> String {
    let mut usage = format!("/{}", tool.name);
    for field in fields::required(tool) {
        let _ = write!(usage, " {field}=…");
    }
    usage
}

/// The tools with the most words in common with a text, or the most similar spelling.
fn nearest<'a>(said: &str, tools: &'a [Tool]) -> Vec<&'a Tool> {
    let said: Vec<String> = split(said).collect();
    let mut near: Vec<(usize, &Tool)> = tools
        .iter()
        .map(|tool| {
            let texts = [&tool.name, &tool.title].into_iter().chain(&tool.examples);
            let words: Vec<String> = texts.flat_map(|text| split(text)).collect();
            let in_common = |word: &&String| words.iter().any(|it| is_like(it, word));
            (said.iter().filter(in_common).count(), tool)
        })
        .filter(|(count, _)| *count > 0)
        .collect();
    near.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    near.into_iter()
        .take(SUGGESTED)
        .map(|(_, tool)| tool)
        .collect()
}

/// The words of a text without stop words.
fn split(text: &str) -> impl Iterator<Item = String> {
    let words = Words::of(text).plains();
    let words = words.into_iter().take(64).flat_map(|word| {
        let parts = word.split(['-', '_', '/', '.']).map(str::to_owned);
        parts.collect::<Vec<_>>()
    });
    words.filter(|word| word.chars().count() > 3)
}

/// Whether two words differ in one letter, or one begins with the other.
fn is_like(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (short, long) = match one.len() <= other.len() {
        true => (one, other),
        false => (other, one),
    };
    // Many short words differ in one letter only.
    long.starts_with(short) || short.chars().count() > 4 && differs_by_one(short, long)
}

/// Whether one letter was changed, added or left out.
fn differs_by_one(short: &str, long: &str) -> bool {
    let (short, long): (Vec<char>, Vec<char>) = (short.chars().collect(), long.chars().collect());
    let (short, long) = match short.len() <= long.len() {
        true => (short, long),
        false => (long, short),
    };
    if long.len() - short.len() > 1 {
        return false;
    }
    let before = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    let rest = match short.len() == long.len() {
        true => short.get(before + 1..).unwrap_or_default(),
        false => &short[before..],
    };
    rest == long.get(before + 1..).unwrap_or_default()
}
