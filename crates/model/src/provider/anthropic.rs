//! The Messages API of Anthropic.

use std::collections::BTreeMap;

use http::HeaderName;
use serde_json::{Value, json};

use super::dialect::{
    Dialect, ModelRef, ReadReply, arguments, description, ended, json as parse, put, text,
    with_results_together,
};
use super::fail;
use super::frames::Framing;
use crate::error::Error;
use crate::limits::{MAX_CALLS, MAX_REPLY};
use crate::reply::{Delta, End, Usage};
use crate::request::{AssistantMessage, Call, CallResult, Message, Request};

/// The default for `max_tokens`, which this API requires.
const MAX_TOKENS: u32 = 8192;

pub(super) static DIALECT: Dialect = Dialect {
    name: "anthropic",
    url: "https://api.anthropic.com/v1",
    key: (HeaderName::from_static("x-api-key"), str::to_owned),
    headers: &[("anthropic-version", "2023-06-01")],
    framing: Framing::Events,
    path: |_| "messages".to_owned(),
    body,
    reader: || Box::<ReplyReader>::default(),
    vectors: None,
};

fn body(place: &ModelRef, request: &Request) -> Value {
    let mut body = json!({
        "model": place.model,
        "messages": with_results_together(&request.messages, message, results),
        "max_tokens": request.max_tokens.unwrap_or(MAX_TOKENS),
        "stream": true,
    });
    put(&mut body, "system", request.system.clone());
    put(&mut body, "temperature", request.temperature);
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({
                "name": tool.name,
                "description": description(tool),
                "input_schema": *tool.input,
            })
        });
        body["tools"] = tools.collect();
    }
    if let Some(schema) = &request.output {
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    }
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Quoted(words) => json!({"role": "user", "content": words.shown()}),
        Message::Model(said) => json!({"role": "assistant", "content": blocks(said)}),
        Message::Result(result) => results(vec![result]),
    }
}

/// Results of calls travel in a message of the user.
fn results(results: Vec<&CallResult>) -> Value {
    let blocks = results.into_iter().map(|result| {
        json!({"type": "tool_result", "tool_use_id": result.id, "content": result.shown()})
    });
    json!({"role": "user", "content": blocks.collect::<Vec<_>>()})
}

/// A message of the model: its reasoning first, unchanged.
fn blocks(said: &AssistantMessage) -> Vec<Value> {
    let thoughts = said
        .thoughts
        .iter()
        .filter_map(|it| serde_json::from_str(it).ok());
    // Reasoning signed by another model would be refused.
    let ours = |block: &Value| {
        matches!(
            block["type"].as_str(),
            Some("thinking" | "redacted_thinking")
        )
    };
    let text = (!said.text.is_empty()).then(|| json!({"type": "text", "text": said.text}));
    let calls = said.calls.iter().map(|call| {
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
    });
    thoughts.filter(ours).chain(text).chain(calls).collect()
}

#[derive(Default)]
struct ReplyReader {
    /// Blocks that are not complete yet.
    open: BTreeMap<u64, Block>,
    calls: Vec<Call>,
    usage: Usage,
    end: Option<End>,
}

/// A block as far as it has arrived.
struct Block {
    kind: String,
    /// The content of its start event.
    start: Value,
    /// The text added since: arguments or reasoning.
    added: String,
    signature: String,
}

impl ReadReply for ReplyReader {
    fn frame(&mut self, frame: &str) -> Result<Vec<Delta>, Error> {
        let frame = parse(frame)?;
        let index = frame["index"].as_u64().unwrap_or_default();
        match frame["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.take_usage(&frame["message"]["usage"]);
                Ok(Vec::new())
            }
            "content_block_start" => self.begin(index, &frame["content_block"]),
            "content_block_delta" => self.add(index, &frame["delta"]),
            "content_block_stop" => Ok(self
                .open
                .remove(&index)
                .and_then(|it| self.close(it))
                .into_iter()
                .collect()),
            "message_delta" => {
                self.take_usage(&frame["usage"]);
                self.end = match frame["delta"]["stop_reason"].as_str() {
                    None => self.end,
                    Some("max_tokens" | "model_context_window_exceeded") => Some(End::Length),
                    Some("refusal") => Some(End::Withheld),
                    Some(_) => Some(End::Said),
                };
                Ok(Vec::new())
            }
            "message_stop" => Ok(self.last()),
            "error" => Err(fail::of_event(&frame)),
            // A ping, or an event newer than this code.
            _ => Ok(vec![Delta::Working]),
        }
    }
}

impl ReplyReader {
    fn begin(&mut self, index: u64, start: &Value) -> Result<Vec<Delta>, Error> {
        if self.open.len() + self.calls.len() >= MAX_CALLS {
            let why = format!("more than {MAX_CALLS} content blocks in one reply");
            return Err(Error::Malformed(why));
        }
        let block = Block {
            kind: start["type"].as_str().unwrap_or_default().to_owned(),
            start: start.clone(),
            added: text(&start["thinking"]).unwrap_or_default(),
            signature: text(&start["signature"]).unwrap_or_default(),
        };
        self.open.insert(index, block);
        let said = text(&start["text"]).map(Delta::Text);
        let thought = text(&start["thinking"]).map(Delta::Reasoning);
        Ok(said.or(thought).into_iter().collect())
    }

    fn add(&mut self, index: u64, delta: &Value) -> Result<Vec<Delta>, Error> {
        let Some(block) = self.open.get_mut(&index) else {
            let why = format!("a delta for content block {index}, which was not started");
            return Err(Error::Malformed(why));
        };
        let deltas = match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => text(&delta["text"]).map(Delta::Text),
            "thinking_delta" => {
                let more = text(&delta["thinking"]).unwrap_or_default();
                block.added.push_str(&more);
                Some(Delta::Reasoning(more))
            }
            "signature_delta" => {
                block.signature.extend(text(&delta["signature"]));
                Some(Delta::Working)
            }
            "input_json_delta" => {
                block.added.extend(text(&delta["partial_json"]));
                Some(Delta::Working)
            }
            _ => Some(Delta::Working),
        };
        match block.added.len() > MAX_REPLY {
            true => Err(Error::Malformed(format!(
                "a block is longer than {MAX_REPLY} bytes"
            ))),
            false => Ok(deltas.into_iter().collect()),
        }
    }

    /// A block is complete. Calls are passed on at the end, when the stop reason is known.
    fn close(&mut self, block: Block) -> Option<Delta> {
        match block.kind.as_str() {
            "tool_use" => {
                self.calls.push(Call {
                    id: text(&block.start["id"]).unwrap_or_default(),
                    name: text(&block.start["name"]).unwrap_or_default(),
                    arguments: arguments(block.added),
                });
                None
            }
            "thinking" => {
                let (thinking, signature) = (block.added, block.signature);
                let block =
                    json!({"type": "thinking", "thinking": thinking, "signature": signature});
                Some(Delta::Thought(block.to_string()))
            }
            "redacted_thinking" => Some(Delta::Thought(block.start.to_string())),
            _ => None,
        }
    }

    fn take_usage(&mut self, usage: &Value) {
        let count = |name: &str| usage[name].as_u64();
        let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
        if let Some(input) = count("input_tokens") {
            let cached: u64 = cached.into_iter().filter_map(count).sum();
            self.usage.input = input.saturating_add(cached);
        }
        if let Some(output) = count("output_tokens") {
            self.usage.output = output;
        }
    }

    fn last(&mut self) -> Vec<Delta> {
        // A call that the length limit cut off is incomplete.
        let open = std::mem::take(&mut self.open);
        let thoughts: Vec<Delta> = open.into_values().filter_map(|it| self.close(it)).collect();
        let end = match self.end.take() {
            None | Some(End::Said) => ended(&self.calls),
            Some(other) => other,
        };
        let calls = self.calls.drain(..).map(Delta::Call);
        let last = [Delta::Usage(self.usage), Delta::End(end)];
        thoughts.into_iter().chain(calls).chain(last).collect()
    }
}
