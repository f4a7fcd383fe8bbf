//! The chat completions API of OpenAI, which many servers speak.

use std::collections::BTreeMap;

use http::header::AUTHORIZATION;
use serde_json::{Value, json};

use super::dialect::{
    Dialect, ModelRef, ReadReply, VectorDialect, arguments, ended, functions, json as parse, put,
    text, with_system,
};
use super::fail;
use super::frames::Framing;
use crate::error::Error;
use crate::limits::{MAX_CALLS, MAX_REPLY};
use crate::reply::{Delta, End, Usage};
use crate::request::{Call, Message, Request};

pub(super) static DIALECT: Dialect = Dialect {
    name: "openai",
    url: "https://api.openai.com/v1",
    key: (AUTHORIZATION, |key| format!("Bearer {key}")),
    headers: &[],
    framing: Framing::Events,
    path: |_| "chat/completions".to_owned(),
    body,
    reader: || Box::<ReplyReader>::default(),
    vectors: Some(VectorDialect {
        path: |_| "embeddings".to_owned(),
        body: |model, texts| json!({"model": model, "input": texts}),
        read: vectors,
    }),
};

fn body(place: &ModelRef, request: &Request) -> Value {
    let messages = with_system(request, message);
    let mut body = json!({
        "model": place.model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    put(&mut body, "tools", functions(&request.tools));
    if let Some(schema) = &request.output {
        let spec = json!({"name": "answer", "schema": schema});
        body["response_format"] = json!({"type": "json_schema", "json_schema": spec});
    }
    // OpenAI itself refuses the old field; compatible servers often know only that one.
    let most = match place.is_own {
        true => "max_completion_tokens",
        false => "max_tokens",
    };
    put(&mut body, most, request.max_tokens);
    put(&mut body, "temperature", request.temperature);
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Quoted(words) => json!({"role": "user", "content": words.shown()}),
        Message::Result(result) => {
            json!({"role": "tool", "tool_call_id": result.id, "content": result.shown()})
        }
        Message::Model(said) => {
            let mut message = json!({"role": "assistant", "content": said.text});
            if !said.calls.is_empty() {
                let calls = said.calls.iter().map(|call| {
                    let arguments = call.arguments.to_string();
                    let function = json!({"name": call.name, "arguments": arguments});
                    json!({"id": call.id, "type": "function", "function": function})
                });
                message["tool_calls"] = calls.collect();
            }
            message
        }
    }
}

/// The reply as far as it has arrived.
#[derive(Default)]
struct ReplyReader {
    /// Calls by index, each with the text of its arguments so far.
    calls: BTreeMap<u64, Partial>,
    usage: Option<Usage>,
    end: Option<End>,
}

#[derive(Default)]
struct Partial {
    id: String,
    name: String,
    arguments: String,
}

impl ReadReply for ReplyReader {
    fn frame(&mut self, frame: &str) -> Result<Vec<Delta>, Error> {
        if frame.trim() == "[DONE]" {
            let end = self.end.take().unwrap_or(End::Said);
            return Ok(self.last(end));
        }
        let frame = parse(frame)?;
        if !frame["error"].is_null() {
            return Err(fail::of_event(&frame));
        }
        if let Some(usage) = usage(&frame["usage"]) {
            self.usage = Some(usage);
        }
        let choice = &frame["choices"][0];
        let mut deltas = Vec::new();
        let delta = &choice["delta"];
        let reasoning = text(&delta["reasoning_content"]).or_else(|| text(&delta["reasoning"]));
        deltas.extend(reasoning.map(Delta::Reasoning));
        deltas.extend(text(&delta["content"]).map(Delta::Text));
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(piece)?;
            deltas.push(Delta::Working);
        }
        self.end = match choice["finish_reason"].as_str() {
            None => self.end,
            Some("length") => Some(End::Length),
            Some("content_filter") => Some(End::Withheld),
            Some(_) => Some(End::Said),
        };
        Ok(deltas)
    }

    fn over(&mut self) -> Option<Vec<Delta>> {
        // Some servers leave out `[DONE]`; the finish reason ends the reply, too.
        let end = self.end.take()?;
        Some(self.last(end))
    }
}

impl ReplyReader {
    /// Adds a piece of a call.
    fn call(&mut self, piece: &Value) -> Result<(), Error> {
        let place = piece["index"].as_u64().unwrap_or(self.calls.len() as u64);
        let call = self.calls.entry(place).or_default();
        if let Some(id) = text(&piece["id"]) {
            call.id = id;
        }
        let function = &piece["function"];
        if let Some(name) = text(&function["name"]) {
            call.name = name;
        }
        call.arguments.extend(text(&function["arguments"]));
        let length: usize = self.calls.values().map(|call| call.arguments.len()).sum();
        match self.calls.len() > MAX_CALLS || length > MAX_REPLY {
            true => Err(Error::Malformed(format!(
                "more than {MAX_CALLS} tool calls or {MAX_REPLY} bytes of arguments in one reply"
            ))),
            false => Ok(()),
        }
    }

    /// The last deltas: the calls and the end.
    fn last(&mut self, end: End) -> Vec<Delta> {
        let calls = std::mem::take(&mut self.calls).into_iter();
        let calls: Vec<Call> = calls
            .map(|(place, call)| Call {
                id: match call.id.is_empty() {
                    true => format!("call-{place}"),
                    false => call.id,
                },
                name: call.name,
                arguments: arguments(call.arguments),
            })
            .collect();
        let end = match end {
            End::Said => ended(&calls),
            other => other,
        };
        let calls = calls.into_iter().map(Delta::Call);
        let usage = self.usage.take().map(Delta::Usage);
        calls.chain(usage).chain([Delta::End(end)]).collect()
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |name: &str| value[name].as_u64();
    let (input, output) = (count("prompt_tokens"), count("completion_tokens"));
    let said = input.is_some() || output.is_some();
    said.then(|| Usage::new(input.unwrap_or_default(), output.unwrap_or_default()))
}

fn vectors(value: &Value) -> Option<Vec<Vec<f32>>> {
    let mut data: Vec<(u64, Vec<f32>)> = Vec::new();
    for (place, item) in value["data"].as_array()?.iter().enumerate() {
        let place = item["index"].as_u64().unwrap_or(place as u64);
        data.push((place, super::dialect::vector(&item["embedding"])?));
    }
    data.sort_by_key(|(place, _)| *place);
    Some(data.into_iter().map(|(_, vector)| vector).collect())
}
