//! The native API of Ollama.

use http::header::AUTHORIZATION;
use serde_json::{Value, json};

use super::dialect::{
    Dialect, ModelRef, ReadReply, VectorDialect, ended, functions, json as parse, put, text,
    vector, with_system,
};
use super::fail;
use super::frames::Framing;
use crate::error::Error;
use crate::limits::MAX_CALLS;
use crate::reply::{Delta, End, Usage};
use crate::request::{Call, Message, Request};

pub(super) static DIALECT: Dialect = Dialect {
    name: "ollama",
    url: "http://localhost:11434",
    key: (AUTHORIZATION, |key| format!("Bearer {key}")),
    headers: &[],
    framing: Framing::Lines,
    path: |_| "api/chat".to_owned(),
    body,
    reader: || Box::<ReplyReader>::default(),
    vectors: Some(VectorDialect {
        path: |_| "api/embed".to_owned(),
        body: |model, texts| json!({"model": model, "input": texts}),
        read: |value| value["embeddings"].as_array()?.iter().map(vector).collect(),
    }),
};

fn body(place: &ModelRef, request: &Request) -> Value {
    let messages = with_system(request, message);
    let mut body = json!({"model": place.model, "messages": messages, "stream": true});
    put(&mut body, "tools", functions(&request.tools));
    put(&mut body, "format", request.output.clone());
    let mut options = json!({});
    put(&mut options, "num_predict", request.max_tokens);
    put(&mut options, "temperature", request.temperature);
    body["options"] = options;
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Quoted(words) => json!({"role": "user", "content": words.shown()}),
        Message::Result(result) => {
            json!({"role": "tool", "tool_name": result.name, "content": result.shown()})
        }
        Message::Model(said) => {
            let calls = said
                .calls
                .iter()
                .map(|call| json!({"function": {"name": call.name, "arguments": call.arguments}}));
            let calls: Vec<Value> = calls.collect();
            json!({"role": "assistant", "content": said.text, "tool_calls": calls})
        }
    }
}

#[derive(Default)]
struct ReplyReader {
    calls: Vec<Call>,
}

impl ReadReply for ReplyReader {
    fn frame(&mut self, frame: &str) -> Result<Vec<Delta>, Error> {
        let frame = parse(frame)?;
        if !frame["error"].is_null() {
            return Err(fail::of_event(&frame));
        }
        let message = &frame["message"];
        let mut deltas = Vec::new();
        deltas.extend(text(&message["thinking"]).map(Delta::Reasoning));
        deltas.extend(text(&message["content"]).map(Delta::Text));
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let place = self.calls.len();
            if place >= MAX_CALLS {
                let why = format!("more than {MAX_CALLS} tool calls in one reply");
                return Err(Error::Malformed(why));
            }
            let function = &call["function"];
            self.calls.push(Call {
                id: text(&call["id"]).unwrap_or_else(|| format!("call-{place}")),
                name: text(&function["name"]).unwrap_or_default(),
                arguments: match &function["arguments"] {
                    Value::Null => json!({}),
                    arguments => arguments.clone(),
                },
            });
            deltas.push(Delta::Working);
        }
        if frame["done"] == true {
            let end = match frame["done_reason"].as_str() {
                Some("length") => End::Length,
                _ => ended(&self.calls),
            };
            deltas.extend(self.calls.drain(..).map(Delta::Call));
            let count = |name: &str| frame[name].as_u64().unwrap_or_default();
            let usage = Usage::new(count("prompt_eval_count"), count("eval_count"));
            deltas.extend([Delta::Usage(usage), Delta::End(end)]);
        }
        Ok(deltas)
    }
}
