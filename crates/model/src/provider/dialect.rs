//! A provider's protocol as plain functions.

use http::HeaderName;
use serde_json::{Value, json};

use super::frames::Framing;
use crate::error::Error;
use crate::reply::{Delta, End};
use crate::request::{Call, CallResult, Message, Request, Tool};

/// The protocol of a provider.
pub(super) struct Dialect {
    /// The name in the configuration.
    pub(super) name: &'static str,
    pub(super) url: &'static str,
    /// The header of the API key, and how the key is written there.
    pub(super) key: (HeaderName, fn(&str) -> String),
    /// Further headers of every request.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// How a streamed reply is cut into frames.
    pub(super) framing: Framing,
    /// The path of a model, below the base address.
    pub(super) path: fn(model: &str) -> String,
    /// The body of a request.
    pub(super) body: fn(&ModelRef, &Request) -> Value,
    /// Makes the reader of one reply.
    pub(super) reader: fn() -> Box<dyn ReadReply>,
    /// The protocol for vectors, if the provider has embedders.
    pub(super) vectors: Option<VectorDialect>,
}

/// The protocol of requests for vectors.
pub(super) struct VectorDialect {
    pub(super) path: fn(model: &str) -> String,
    pub(super) body: fn(model: &str, texts: &[String]) -> Value,
    /// Reads the vectors from a response, in the order of the texts.
    pub(super) read: fn(&Value) -> Option<Vec<Vec<f32>>>,
}

/// The model of a request, and where it is.
pub(super) struct ModelRef {
    pub(super) model: String,
    /// Whether it is the provider itself rather than a compatible server.
    pub(super) is_own: bool,
}

/// Reads one reply, frame by frame.
pub(super) trait ReadReply: Send {
    /// The deltas of a frame. Nothing is read after an end.
    fn frame(&mut self, frame: &str) -> Result<Vec<Delta>, Error>;

    /// The last deltas when the body has ended; `None` if the reply was not complete by then.
    fn over(&mut self) -> Option<Vec<Delta>> {
        None
    }
}

/// Parses a frame as JSON.
pub(super) fn json(frame: &str) -> Result<Value, Error> {
    serde_json::from_str(frame).map_err(|error| Error::Malformed(error.to_string()))
}

/// A text that is not empty.
pub(super) fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// The arguments of a call, which arrive as text. Empty text stands for no arguments; text that is not JSON is kept as a
/// string, for the check of the arguments to refuse.
pub(super) fn arguments(text: String) -> Value {
    match text.trim().is_empty() {
        true => Value::Object(serde_json::Map::new()),
        false => serde_json::from_str(&text).unwrap_or(Value::String(text)),
    }
}

/// The end of a complete reply: with calls, or with text.
pub(super) fn ended(calls: &[Call]) -> End {
    match calls.is_empty() {
        true => End::Said,
        false => End::Calls,
    }
}

/// The description of a tool with its examples, which have no field of their own in any protocol.
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

/// Tools as functions, in the format of OpenAI that others took over.
pub(super) fn functions(tools: &[Tool]) -> Option<Value> {
    let functions = tools.iter().map(|tool| {
        let function = json!({
            "name": tool.name,
            "description": description(tool),
            "parameters": *tool.input,
        });
        json!({"type": "function", "function": function})
    });
    (!tools.is_empty()).then(|| functions.collect())
}

/// The system prompt as the first message, then all messages, in turns.
pub(super) fn with_system(request: &Request, message: fn(&Message) -> Value) -> Vec<Value> {
    let system = request.system.iter();
    let system = system.map(|text| json!({"role": "system", "content": text}));
    let messages = in_turns(&request.messages);
    system.chain(messages.iter().map(message)).collect()
}

/// Messages in which user and model take turns, and the user begins: the chat templates of many models refuse any other
/// order. Neighbours of one speaker are merged, and what the model said before any user did is left out.
pub(super) fn in_turns(messages: &[Message]) -> Vec<Message> {
    let speaks =
        |message: &Message| matches!(message, Message::Model(said) if said.calls.is_empty());
    let mut turns: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages.iter().skip_while(|it| speaks(it)) {
        match (turns.last_mut(), message) {
            (Some(Message::Model(before)), Message::Model(said)) if before.calls.is_empty() => {
                before.text = joined(&before.text, &said.text);
                before.calls.clone_from(&said.calls);
                before.thoughts.extend(said.thoughts.iter().cloned());
            }
            (Some(last), Message::User(_) | Message::Quoted(_)) if is_user(last) => {
                *last = Message::User(joined(&words(last), &words(message)));
            }
            (_, message) => turns.push(message.clone()),
        }
    }
    turns
}

fn is_user(message: &Message) -> bool {
    matches!(message, Message::User(_) | Message::Quoted(_))
}

/// The words of a message of the user, as the model is shown them.
fn words(message: &Message) -> String {
    match message {
        Message::User(text) => text.clone(),
        Message::Quoted(words) => words.shown(),
        _ => String::new(),
    }
}

fn joined(one: &str, other: &str) -> String {
    match (one.is_empty(), other.is_empty()) {
        (false, false) => format!("{one}\n\n{other}"),
        _ => format!("{one}{other}"),
    }
}

/// All messages; results in a row are merged into one.
pub(super) fn with_results_together(
    messages: &[Message],
    message: fn(&Message) -> Value,
    results: fn(Vec<&CallResult>) -> Value,
) -> Vec<Value> {
    let messages = in_turns(messages);
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

/// Sets a field of an object if there is a value.
pub(super) fn put(object: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[name] = value.into();
    }
}

/// Reads a list of numbers.
pub(super) fn vector(value: &Value) -> Option<Vec<f32>> {
    let numbers = value.as_array()?.iter();
    numbers
        .map(|number| number.as_f64().map(|it| it as f32))
        .collect()
}
