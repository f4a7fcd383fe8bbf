//! The format of OpenAI and compatible servers.

use serde_json::{Value, json};

use super::super::script::{Step, Turn};
use super::{Dialect, event};
use crate::reply::{End, Usage};

pub(super) const DIALECT: Dialect = Dialect {
    content_type: "text/event-stream",
    frames,
    broken: || event(&json!({"error": {"message": "as the script says", "type": "server_error"}})),
    vectors,
    garbage: "data: {\"choices\": [\n\n",
};

fn frames(turn: &Turn) -> Vec<String> {
    let mut frames = Vec::new();
    let mut calls = 0;
    let mut usage = None;
    let mut delta = |delta: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
        frames.push(event(
            &json!({"object": "chat.completion.chunk", "choices": [choice]}),
        ));
    };
    delta(json!({"role": "assistant", "content": ""}));
    for step in &turn.steps {
        match step {
            Step::Text(text) => delta(json!({"content": text})),
            Step::Reasoning(text) => delta(json!({"reasoning_content": text})),
            Step::Call(call) => {
                // Arguments are sent as text, in pieces.
                let arguments = call.arguments.to_string();
                let half = arguments.floor_char_boundary(arguments.len() / 2);
                let (first, second) = arguments.split_at(half);
                let named = json!({"name": call.name, "arguments": ""});
                delta(json!({"tool_calls": [
                    {"index": calls, "id": call.id, "type": "function", "function": named}
                ]}));
                for piece in [first, second] {
                    let function = json!({"arguments": piece});
                    delta(json!({"tool_calls": [{"index": calls, "function": function}]}));
                }
                calls += 1;
            }
            Step::Usage(used) => usage = Some(*used),
            Step::End(_) | Step::Fail(_) => {}
        }
    }
    if let Some(end) = turn.said_end() {
        let reason = match end {
            End::Said | End::Declined => "stop",
            End::Calls => "tool_calls",
            End::Length => "length",
            End::Withheld => "content_filter",
        };
        let choice = json!({"index": 0, "delta": {}, "finish_reason": reason});
        frames.push(event(&json!({"choices": [choice]})));
        if let Some(Usage { input, output }) = usage {
            let usage = json!({
                "prompt_tokens": input,
                "completion_tokens": output,
                "total_tokens": input + output,
            });
            frames.push(event(&json!({"choices": [], "usage": usage})));
        }
        frames.push("data: [DONE]\n\n".to_owned());
    }
    frames
}

fn vectors(vectors: Vec<Vec<f32>>) -> Value {
    let data = vectors.into_iter().enumerate();
    let data: Vec<_> = data
        .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}))
        .collect();
    json!({
        "object": "list",
        "data": data,
        "model": "words",
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    })
}
