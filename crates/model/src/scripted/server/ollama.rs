//! The format of Ollama.

use serde_json::{Value, json};

use super::super::script::{Step, Turn};
use super::Dialect;
use crate::reply::{End, Usage};

pub(super) const DIALECT: Dialect = Dialect {
    content_type: "application/x-ndjson",
    frames,
    broken: || line(&json!({"error": "as the script says"})),
    vectors: |vectors| json!({"model": "words", "embeddings": vectors, "prompt_eval_count": 1}),
    garbage: "{\"message\": {\n",
};

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn frames(turn: &Turn) -> Vec<String> {
    let message = |step: &Step| match step {
        Step::Text(text) => Some(json!({"content": text})),
        Step::Reasoning(text) => Some(json!({"content": "", "thinking": text})),
        Step::Call(call) => {
            let function = json!({"name": call.name, "arguments": call.arguments});
            Some(json!({"content": "", "tool_calls": [{"id": call.id, "function": function}]}))
        }
        Step::Usage(_) | Step::End(_) | Step::Fail(_) => None,
    };
    let messages = turn.steps.iter().filter_map(message);
    let mut frames: Vec<String> = messages
        .map(|mut message| {
            message["role"] = json!("assistant");
            line(&json!({"model": "scripted", "message": message, "done": false}))
        })
        .collect();
    if let Some(end) = turn.said_end() {
        let Usage { input, output } = turn.last_usage();
        let reason = match end {
            End::Length => "length",
            End::Said | End::Declined | End::Calls | End::Withheld => "stop",
        };
        frames.push(line(&json!({
            "model": "scripted",
            "message": {"role": "assistant", "content": ""},
            "done": true,
            "done_reason": reason,
            "prompt_eval_count": input,
            "eval_count": output,
        })));
    }
    frames
}
