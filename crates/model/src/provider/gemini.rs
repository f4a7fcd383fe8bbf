//! The `generateContent` API of Gemini.

use http::HeaderName;
use serde_json::{Value, json};

use super::dialect::{
    Dialect, ModelRef, ReadReply, VectorDialect, description, ended, json as parse, put, text,
    vector, with_results_together,
};
use super::fail;
use super::frames::Framing;
use crate::error::Error;
use crate::limits::MAX_CALLS;
use crate::reply::{Delta, End, Usage};
use crate::request::{AssistantMessage, Call, CallResult, Message, Request};

pub(super) static DIALECT: Dialect = Dialect {
    name: "gemini",
    url: "https://generativelanguage.googleapis.com/v1beta",
    key: (HeaderName::from_static("x-goog-api-key"), str::to_owned),
    headers: &[],
    framing: Framing::Events,
    path: |model| format!("models/{model}:streamGenerateContent?alt=sse"),
    body,
    reader: || Box::<ReplyReader>::default(),
    vectors: Some(VectorDialect {
        path: |model| format!("models/{model}:batchEmbedContents"),
        body: |model, texts| {
            let requests = texts.iter().map(|text| {
                let content = json!({"parts": [{"text": text}]});
                json!({"model": format!("models/{model}"), "content": content})
            });
            json!({"requests": requests.collect::<Vec<_>>()})
        },
        read: |value| {
            let vectors = value["embeddings"].as_array()?.iter();
            vectors.map(|it| vector(&it["values"])).collect()
        },
    }),
};

fn body(_place: &ModelRef, request: &Request) -> Value {
    let mut body = json!({"contents": with_results_together(&request.messages, message, results)});
    if let Some(system) = &request.system {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({
                "name": tool.name,
                "description": description(tool),
                "parametersJsonSchema": *tool.input,
            })
        });
        body["tools"] = json!([{"functionDeclarations": tools.collect::<Vec<_>>()}]);
    }
    let mut settings = json!({});
    put(&mut settings, "maxOutputTokens", request.max_tokens);
    put(&mut settings, "temperature", request.temperature);
    if let Some(schema) = &request.output {
        settings["responseMimeType"] = json!("application/json");
        settings["responseJsonSchema"] = schema.clone();
    }
    body["generationConfig"] = settings;
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "parts": [{"text": text}]}),
        Message::Quoted(words) => json!({"role": "user", "parts": [{"text": words.shown()}]}),
        Message::Model(said) => json!({"role": "model", "parts": parts(said)}),
        Message::Result(result) => results(vec![result]),
    }
}

/// Results of calls travel in a turn of the user.
fn results(results: Vec<&CallResult>) -> Value {
    let parts = results.into_iter().map(|result| {
        let response = json!({"result": result.shown()});
        json!({"functionResponse": {"name": result.name, "response": response}})
    });
    json!({"role": "user", "parts": parts.collect::<Vec<_>>()})
}

/// A message of the model, each call with its signature.
fn parts(said: &AssistantMessage) -> Vec<Value> {
    let thoughts = said
        .thoughts
        .iter()
        .filter_map(|it| serde_json::from_str(it).ok());
    let thoughts: Vec<Value> = thoughts.collect();
    let text = (!said.text.is_empty()).then(|| json!({"text": said.text}));
    let calls = said.calls.iter().map(|call| {
        let mut part = json!({"functionCall": {"name": call.name, "args": call.arguments}});
        let signed = thoughts.iter().find(|it| it["call"] == call.id.as_str());
        put(
            &mut part,
            SIGNATURE,
            signed.and_then(|it| it.get(SIGNATURE).cloned()),
        );
        part
    });
    text.into_iter().chain(calls).collect()
}

/// The signature of a call, which the model wants to see again.
const SIGNATURE: &str = "thoughtSignature";

#[derive(Default)]
struct ReplyReader {
    calls: Vec<Call>,
    usage: Option<Usage>,
}

impl ReadReply for ReplyReader {
    fn frame(&mut self, frame: &str) -> Result<Vec<Delta>, Error> {
        let frame = parse(frame)?;
        if !frame["error"].is_null() {
            return Err(fail::of_event(&frame));
        }
        let counted = &frame["usageMetadata"];
        let count = |name: &str| counted[name].as_u64().unwrap_or_default();
        if counted.is_object() {
            let output = count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount"));
            self.usage = Some(Usage::new(count("promptTokenCount"), output));
        }
        let candidate = &frame["candidates"][0];
        let mut deltas = Vec::new();
        for part in candidate["content"]["parts"]
            .as_array()
            .into_iter()
            .flatten()
        {
            self.part(part, &mut deltas)?;
        }
        let blocked = frame["promptFeedback"]["blockReason"].is_string();
        let reason = candidate["finishReason"].as_str();
        let end = match reason {
            None if blocked => End::Withheld,
            None => return Ok(deltas),
            Some("STOP") => ended(&self.calls),
            Some("MAX_TOKENS") => End::Length,
            Some("MALFORMED_FUNCTION_CALL") => {
                let why = "the model made a malformed function call";
                return Err(Error::Malformed(why.to_owned()));
            }
            Some(_) => End::Withheld,
        };
        deltas.extend(self.calls.drain(..).map(Delta::Call));
        deltas.extend(self.usage.take().map(Delta::Usage));
        deltas.push(Delta::End(end));
        Ok(deltas)
    }
}

impl ReplyReader {
    fn part(&mut self, part: &Value, deltas: &mut Vec<Delta>) -> Result<(), Error> {
        if let Some(said) = text(&part["text"]) {
            deltas.push(match part["thought"] == true {
                true => Delta::Reasoning(said),
                false => Delta::Text(said),
            });
        }
        let call = &part["functionCall"];
        if call.is_object() {
            let place = self.calls.len();
            if place >= MAX_CALLS {
                let why = format!("more than {MAX_CALLS} tool calls in one reply");
                return Err(Error::Malformed(why));
            }
            let id = text(&call["id"]).unwrap_or_else(|| format!("call-{place}"));
            if let Some(signature) = text(&part[SIGNATURE]) {
                let thought = json!({"call": id, SIGNATURE: signature});
                deltas.push(Delta::Thought(thought.to_string()));
            }
            self.calls.push(Call {
                id,
                name: text(&call["name"]).unwrap_or_default(),
                arguments: match &call["args"] {
                    Value::Null => json!({}),
                    arguments => arguments.clone(),
                },
            });
            deltas.push(Delta::Working);
        }
        Ok(())
    }
}
