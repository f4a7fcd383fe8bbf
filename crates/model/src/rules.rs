//! Rules that understand direct requests without a language model, and say plainly when they do not.
//!
//! [`plan`] is a pure function of a text and the tools on offer. It returns calls, or an answer that names what was not
//! understood.
//!
//! A request is understood in the first of these ways that fits:
//! 1. `/help`;
//! 2. a tool by its name or title, with or without a slash before it: `/weather city=Riga`, `weather Riga`;
//! 3. an example of a tool that has slots in it: `read {path}`;
//! 4. a known request, for the tool that can do it: `read src/main.rs`, `remember that …`;
//! 5. an example of a tool, up to the words in which it differs: `What is the weather in Riga?`.
//!
//! Layout: `text` and `pattern` match words; `fields` fills the arguments of a tool; `known` is the list of known
//! requests; `example` matches examples of tools; `answer` writes the replies.

mod answer;
mod example;
mod fields;
mod known;
mod pattern;
mod text;

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;

use futures_util::stream;
use serde_json::Value;

use crate::error::Error;
use crate::model::Model;
use crate::reply::{Delta, Deltas, End};
use crate::request::{Call, Message, Request, Tool};
use fields::Unfilled;

/// The plan for a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    Calls(Vec<Call>),
    /// An answer in words.
    Answer(String),
}

/// Plans a request. The same request with the same tools always gives the same plan.
pub fn plan(request: &str, tools: &[Tool]) -> Plan {
    let said = text::polite(request.trim());
    if said.is_empty() || matches!(said.to_lowercase().as_str(), "help" | "/help" | "/?") {
        return Plan::Answer(answer::help(tools));
    }
    let direct = direct(said, tools);
    let unfilled = match direct {
        Some((tool, Ok(arguments))) => return calls(tool, [arguments]),
        // A slash names this tool and no other.
        Some((tool, Err(problem))) if said.starts_with('/') => {
            return Plan::Answer(answer::unfilled(tool, &problem));
        }
        Some((tool, Err(problem))) => Some((tool, problem)),
        None if said.starts_with('/') => return Plan::Answer(answer::no_such_tool(said, tools)),
        None => None,
    };
    let words = text::Words::of(said);
    if let Some((tool, arguments)) = example::by_slots(&words, tools) {
        return calls(tool, [arguments]);
    }
    let impossible = match known::find(&words, tools) {
        Some(known::Found::Possible(tool, arguments)) => return calls(tool, arguments),
        Some(known::Found::Impossible(what)) => Some(what),
        None => None,
    };
    if let Some((tool, arguments)) = example::by_likeness(&words, tools) {
        return calls(tool, [arguments]);
    }
    Plan::Answer(match (unfilled, impossible) {
        (Some((tool, problem)), _) => answer::unfilled(tool, &problem),
        (None, Some(what)) => answer::impossible(what, tools),
        (None, None) => answer::not_understood(said, tools),
    })
}

fn calls(tool: &Tool, arguments: impl IntoIterator<Item = Value>) -> Plan {
    let calls = arguments.into_iter().enumerate();
    Plan::Calls(
        calls
            .map(|(index, arguments)| Call {
                id: format!("call-{index}"),
                name: tool.name.clone(),
                arguments,
            })
            .collect(),
    )
}

/// The tool that a text names, with the rest of the text.
fn direct<'a>(said: &str, tools: &'a [Tool]) -> Option<(&'a Tool, Result<Value, Unfilled>)> {
    let said = said.strip_prefix('/').unwrap_or(said);
    let named = tools.iter().filter_map(|tool| {
        let names = [&tool.name, &tool.title];
        let rests = names.iter().filter_map(|name| text::after_name(said, name));
        // The longest name wins.
        let rest = rests.min_by_key(|rest| rest.len())?;
        Some((tool, rest))
    });
    let (tool, rest) = named.min_by_key(|(_, rest)| rest.len())?;
    Some((tool, fields::from_text(tool, rest)))
}

/// The rules as a model. It answers with the results of its calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules;

impl Model for Rules {
    fn name(&self) -> &str {
        "rules"
    }

    fn reply(&self, request: Request) -> Deltas {
        let deltas = match decide(&request) {
            Err(error) => vec![Err(error)],
            Ok(Plan::Answer(text)) => vec![Ok(Delta::Text(text)), Ok(Delta::End(End::Said))],
            Ok(Plan::Calls(calls)) => {
                let calls = calls.into_iter().map(|call| Ok(Delta::Call(call)));
                calls.chain([Ok(Delta::End(End::Calls))]).collect()
            }
        };
        Box::pin(stream::iter(deltas))
    }
}

fn decide(request: &Request) -> Result<Plan, Error> {
    if request.output.is_some() {
        let why = "structured output needs a language model: configure one";
        return Err(Error::Unsupported(why.to_owned()));
    }
    let results = request
        .messages
        .iter()
        .rev()
        .map_while(|message| match message {
            Message::Result(result) => Some(result),
            _ => None,
        });
    let mut results: Vec<_> = results.collect();
    results.reverse();
    if !results.is_empty() {
        return Ok(Plan::Answer(answer::results(&results)));
    }
    match request.messages.last() {
        Some(Message::User(said)) => Ok(plan(said, &request.tools)),
        Some(Message::Quoted(words)) => Ok(plan(&words.text, &request.tools)),
        _ => Ok(Plan::Answer(answer::help(&request.tools))),
    }
}
