//! The format of Gemini.

use serde_json::{Value, json};

use super::super::script::{Step, Turn};
use super::{Dialect, event};
use crate::reply::{End, Usage};

pub(super) const DIALECT: Dialect = Dialect {
    content_type: "text/event-stream",
    frames,
    broken: || event(&json!({"error": {"code": 500, "message": "as the script says"}})),
    vectors: |vectors| {
        let vectors = vectors.into_iter().map(|vector| json!({"values": vector}));
        json!({"embeddings": vectors.collect::<Vec<_>>()})
    },
    garbage: "data: {\"candidates\": [\n\n",
};

fn frames(turn: &Turn) -> Vec<String> {
    let part = |step: &Step| match step {
        Step::Text(text) => Some(json!({"text": text})),
        Step::Reasoning(text) => Some(json!({"text": text, "thought": true})),
        Step::Call(call) => Some(json!({
            "functionCall": {"id": call.id, "name": call.name, "args": call.arguments},
            "thoughtSignature": "signed",
        })),
        Step::Usage(_) | Step::End(_) | Step::Fail(_) => None,
    };
    let parts = turn.steps.iter().filter_map(part);
    let mut frames: Vec<String> = parts.map(|part| frame(&[part], None, turn)).collect();
    if let Some(end) = turn.said_end() {
        let reason = match end {
            End::Said | End::Declined | End::Calls => "STOP",
            End::Length => "MAX_TOKENS",
            End::Withheld => "SAFETY",
        };
        frames.push(frame(&[json!({"text": ""})], Some(reason), turn));
    }
    frames
}

fn frame(parts: &[Value], reason: Option<&str>, turn: &Turn) -> String {
    let Usage { input, output } = turn.last_usage();
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(reason) = reason {
        candidate["finishReason"] = json!(reason);
    }
    event(&json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": input,
            "candidatesTokenCount": output,
            "totalTokenCount": input + output,
        },
    }))
}
