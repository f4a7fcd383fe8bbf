//! What a provider wants to be told, and what it says: plain functions.

use http::HeaderName;
use serde_json::{Value, json};

use super::frames::Framing;
use crate::error::Error;
use crate::reply::{Delta, End};
use crate::request::{Call, CallResult, Message, Request, Tool};

/// How one speaks with a provider.
pub(super) struct Dialect {
    /// What it is called in configuration.
    pub(super) name: &'static str,
    /// Where it is, if nothing else is said.
    pub(super) url: &'static str,
    /// The header that bears a key, and how.
    pub(super) key: (HeaderName, fn(&str) -> String),
    /// What else is said in every head.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// What stands between two pieces of an answer.
    pub(super) framing: Framing,
    /// Where a model is asked.
    pub(super) path: fn(model: &str) -> String,
    /// A request.
    pub(super) body: fn(&Place, &Request) -> Value,
    /// What understands an answer.
    pub(super) hear: fn() -> Box<dyn Hear>,
    /// How vectors are asked for, if there are any.
    pub(super) vectors: Option<VectorDialect>,
}

/// How vectors are asked for.
pub(super) struct VectorDialect {
    pub(super) path: fn(model: &str) -> String,
    pub(super) body: fn(model: &str, texts: &[String]) -> Value,
    /// The vectors in the order of the texts, if there are any.
    pub(super) hear: fn(&Value) -> Option<Vec<Vec<f32>>>,
}

/// Who is asked.
pub(super) struct Place {
    pub(super) model: String,
    /// Whether it is the provider itself, and not somebody who speaks like it.
    pub(super) is_own: bool,
}

/// What understands one answer, frame by frame.
pub(super) trait Hear: Send {
    /// What a frame says. An end is the last that is heard.
    fn frame(&mut self, frame: &str) -> Result<Vec<Delta>, Error>;

    /// What is left to say when the connection ends, if all was said by then.
    fn over(&mut self) -> Option<Vec<Delta>> {
        None
    }
}

/// A frame that is JSON.
pub(super) fn json(frame: &str) -> Result<Value, Error> {
    serde_json::from_str(frame).map_err(|error| Error::Malformed(error.to_string()))
}

/// A text that says something.
pub(super) fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// The arguments of a call, which come as a text. What takes nothing is sometimes given nothing; what is no JSON is
/// left as it came, for whoever checks it.
pub(super) fn arguments(text: String) -> Value {
    match text.trim().is_empty() {
        true => Value::Object(serde_json::Map::new()),
        false => serde_json::from_str(&text).unwrap_or(Value::String(text)),
    }
}

/// How an answer ended that nothing kept from being said.
pub(super) fn ended(calls: &[Call]) -> End {
    match calls.is_empty() {
        true => End::Said,
        false => End::Calls,
    }
}

/// What a tool does, with its examples, which no provider has a place for.
pub(super) fn description(tool: &Tool) -> String {
    match tool.examples.is_empty() {
        true => tool.description.clone(),
        false => format!(
            "{}\nFor example: {}",
            tool.description,
            tool.examples.join("; ")
        ),
    }
}

/// Tools as functions, as OpenAI has them and others after it.
pub(super) fn functions(tools: &[Tool]) -> Option<Value> {
    let functions = tools.iter().map(|tool| {
        let function = json!({
            "name": tool.name,
            "description": description(tool),
            "parameters": tool.input,
        });
        json!({"type": "function", "function": function})
    });
    (!tools.is_empty()).then(|| functions.collect())
}

/// All messages, and before them what the model is told first.
pub(super) fn with_system(request: &Request, message: fn(&Message) -> Value) -> Vec<Value> {
    let system = request.system.iter();
    let system = system.map(|text| json!({"role": "system", "content": text}));
    system.chain(request.messages.iter().map(message)).collect()
}

/// All messages; results that follow each other are one.
pub(super) fn with_results_together(
    messages: &[Message],
    message: fn(&Message) -> Value,
    results: fn(Vec<&CallResult>) -> Value,
) -> Vec<Value> {
    let together = messages
        .chunk_by(|one, next| matches!((one, next), (Message::Result(_), Message::Result(_))));
    let written = together.map(|some| {
        let came = some.iter().filter_map(|it| match it {
            Message::Result(result) => Some(result),
            _ => None,
        });
        let came: Vec<_> = came.collect();
        match came.is_empty() {
            true => message(&some[0]),
            false => results(came),
        }
    });
    written.collect()
}

/// Puts a value into an object, if there is one.
pub(super) fn put(object: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[name] = value.into();
    }
}

/// A list of numbers.
pub(super) fn vector(value: &Value) -> Option<Vec<f32>> {
    let numbers = value.as_array()?.iter();
    numbers
        .map(|number| number.as_f64().map(|it| it as f32))
        .collect()
}
