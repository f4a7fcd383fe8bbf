//! Rules that understand direct requests without a language model, and say plainly when they do not.
//!
//! [`plan`] is a pure function of a text and the tools on offer. It returns calls, or an answer that names what was not
//! understood.
//!
//! A request is understood in the first of these ways that fits:
//! 1. `/help`;
//! 2. a tool by its name or title, with or without a slash before it: `/weather city=Riga`, `weather Riga`;
//! 3. an example of a tool, word for word or with slots in it: `read {path}`;
//! 4. what people say besides requests: `hello`, `who are you?`, `why did you do that?`;
//! 5. a known request, for the tool that can do it: `read src/main.rs`, `remember that …`;
//! 6. an example of a tool, up to the words in which it differs: `What is the weather in Riga?`;
//! 7. a question, which memory may answer, and a statement, which it may keep: `where does Ada live?`, `my name is Ada`.
//!
//! Layout: `text` and `pattern` match words; `fields` fills the arguments of a tool; `talk` is what people say besides
//! requests; `known` is the list of known requests; `example` matches examples of tools; `sentence` tells questions and
//! statements; `missing` has the requests that need a language model or a skill; `answer` writes the replies.

mod answer;
mod example;
mod fields;
mod known;
mod missing;
mod pattern;
mod sentence;
mod talk;
mod text;

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;

use futures_util::stream;
use serde_json::Value;

use crate::error::Error;
use crate::model::Model;
use crate::reply::{Delta, Deltas, End};
use crate::request::{Call, CallResult, Message, Request, Tool};
use fields::Unfilled;
use missing::Missing;
use text::Forms;

/// The name of the rules as a model.
pub const NAME: &str = "rules";

/// The plan for a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    Calls(Vec<Call>),
    /// An answer in words.
    Answer(String),
    /// It is understood, and cannot be done as it is said: a part is missing, or no tool can do it. The words say which.
    Decline(String),
    /// It is not understood, or takes a language model; the words say so.
    Unknown(String),
}

/// Why the rules answer instead of a language model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoModel {
    #[default]
    NotConfigured,
    /// A language model is configured, and its request failed.
    Failed,
    /// A language model is configured and answers other requests; this one needs none.
    NotNeeded,
}

/// Plans a request where no language model is configured. The same request with the same tools always gives the same plan.
pub fn plan(request: &str, tools: &[Tool]) -> Plan {
    plan_with(request, tools, NoModel::NotConfigured)
}

/// Plans a request; answers say what keeps a language model from answering.
pub fn plan_with(request: &str, tools: &[Tool], cause: NoModel) -> Plan {
    let said = text::polite(request.trim());
    let signs = |text: &str| !text.is_empty() && text.chars().all(|it| "?!. ".contains(it));
    if said.is_empty() || signs(said) || matches!(said, "/help" | "/?") {
        return Plan::Answer(answer::help(tools, cause));
    }
    let unfilled = match direct(said, tools) {
        Some((tool, Ok(arguments))) => return calls(tool, [arguments]),
        // A slash names this tool and no other.
        Some((tool, Err(problem))) if said.starts_with('/') => {
            return Plan::Decline(answer::unfilled(tool, &problem));
        }
        Some((tool, Err(problem))) => Some((tool, problem)),
        None if said.starts_with('/') => return Plan::Decline(answer::no_such_tool(said, tools)),
        None => None,
    };
    // What is kept is kept in the person's own words.
    let own_words = text::Words::of(said);
    let said = text::written_out(said, Forms::First);
    let words = text::Words::of(&said);
    let exact = || example::word_for_word(&words, tools);
    if let Some((tool, arguments)) = example::by_slots(&words, tools).or_else(exact) {
        return calls(tool, [arguments]);
    }
    if let Some(plan) = spoken(request.trim(), &said, tools, cause) {
        return plan;
    }
    let impossible = match known::find(&words, tools) {
        Some(known::KnownRequest::Possible(tool, arguments)) => return calls(tool, arguments),
        Some(known::KnownRequest::Impossible(what)) => Some(what),
        None => None,
    };
    if let Some((tool, arguments)) = example::by_likeness(&words, tools) {
        return calls(tool, [arguments]);
    }
    if let Some((tool, problem)) = unfilled {
        return Plan::Decline(answer::unfilled(tool, &problem));
    }
    if let Some(what) = impossible {
        return Plan::Decline(answer::impossible(what, tools));
    }
    let lacks = |what: &Missing| match what {
        Missing::Model(_) => true,
        Missing::Skill(_) => !answer::has_namesake(&words, tools),
    };
    if let Some(what) = missing::find(&words).filter(lacks) {
        return Plan::Unknown(answer::missing(what, tools, cause));
    }
    let sentence = match () {
        () if sentence::is_question(&words) => sentence::recall(&words, tools),
        () if sentence::is_statement(&words) => sentence::remember(&own_words, tools),
        () => None,
    };
    match sentence {
        Some((tool, arguments)) => calls(tool, [arguments]),
        None => Plan::Unknown(answer::not_understood(&said, tools, cause)),
    }
}

/// The plan for what people say besides requests: the whole of it, or what is left without polite words.
fn spoken(whole: &str, said: &str, tools: &[Tool], cause: NoModel) -> Option<Plan> {
    let phrase = |text: &str| {
        let text = text::written_out(text, Forms::All);
        talk::plan(&text::Words::of(&text), tools, cause)
    };
    phrase(whole).or_else(|| phrase(said))
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
    let slash = said.starts_with('/');
    let said = said.strip_prefix('/').unwrap_or(said);
    let named = tools.iter().filter_map(|tool| {
        let names = [&tool.name, &tool.title];
        let rests = names.iter().filter_map(|name| text::after_name(said, name));
        // The longest name wins.
        let rest = rests.min_by_key(|rest| rest.len())?;
        Some((tool, rest))
    });
    let (tool, rest) = named.min_by_key(|(_, rest)| rest.len())?;
    // `remember that` says nothing yet.
    if text::is_pointing(rest) && !slash {
        return None;
    }
    Some((tool, fields::from_text(tool, rest)))
}

/// The rules as a model. It answers with the results of its calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// Why they answer and not a language model.
    pub cause: NoModel,
}

impl Rules {
    /// The results at the end of a request, as an answer.
    pub fn results(self, request: &Request) -> String {
        answer::results(&last_results(request))
    }
}

impl Model for Rules {
    fn name(&self) -> &str {
        NAME
    }

    fn reply(&self, request: Request) -> Deltas {
        let deltas = match decide(&request, self.cause) {
            Err(error) => vec![Err(error)],
            Ok(Plan::Answer(text)) => vec![Ok(Delta::Text(text)), Ok(Delta::End(End::Said))],
            Ok(Plan::Decline(why) | Plan::Unknown(why)) => {
                vec![Ok(Delta::Text(why)), Ok(Delta::End(End::Declined))]
            }
            Ok(Plan::Calls(calls)) => {
                let calls = calls.into_iter().map(|call| Ok(Delta::Call(call)));
                calls.chain([Ok(Delta::End(End::Calls))]).collect()
            }
        };
        Box::pin(stream::iter(deltas))
    }
}

fn decide(request: &Request, cause: NoModel) -> Result<Plan, Error> {
    if request.output.is_some() {
        let why = "structured output needs a language model: configure one";
        return Err(Error::Unsupported(why.to_owned()));
    }
    let results = last_results(request);
    if !results.is_empty() {
        return Ok(Plan::Answer(answer::results(&results)));
    }
    match request.messages.last() {
        Some(Message::User(said)) => Ok(plan_with(said, &request.tools, cause)),
        Some(Message::Quoted(words)) => Ok(plan_with(&words.text, &request.tools, cause)),
        _ => Ok(Plan::Answer(answer::help(&request.tools, cause))),
    }
}

/// The results of the last calls, in their order.
fn last_results(request: &Request) -> Vec<&CallResult> {
    let results = request.messages.iter().rev();
    let results = results.map_while(|message| match message {
        Message::Result(result) => Some(result),
        _ => None,
    });
    let mut results: Vec<_> = results.collect();
    results.reverse();
    results
}
