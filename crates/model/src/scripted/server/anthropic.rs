//! The format of Anthropic.

use serde_json::{Value, json};

use super::super::script::{Step, Turn};
use super::Dialect;
use crate::reply::{End, Usage};

pub(super) const DIALECT: Dialect = Dialect {
    content_type: "text/event-stream",
    frames,
    broken: || {
        let error = json!({"type": "api_error", "message": "as the script says"});
        event("error", json!({"error": error}))
    },
    vectors: |_| json!(null),
    garbage: "event: content_block_delta\ndata: {\"delta\": \n\n",
};

/// An event with its name, which its data repeats.
fn event(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    format!("event: {name}\ndata: {data}\n\n")
}

fn frames(turn: &Turn) -> Vec<String> {
    let Usage { input, output } = turn.last_usage();
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "scripted",
        "usage": {"input_tokens": input, "output_tokens": 1},
    });
    let mut frames = vec![event("message_start", json!({"message": message}))];
    let mut index = 0;
    // Each step becomes a block.
    let mut block = |block: Value, deltas: Vec<Value>| {
        let start = json!({"index": index, "content_block": block});
        frames.push(event("content_block_start", start));
        for delta in deltas {
            frames.push(event(
                "content_block_delta",
                json!({"index": index, "delta": delta}),
            ));
        }
        frames.push(event("content_block_stop", json!({"index": index})));
        index += 1;
    };
    for step in &turn.steps {
        match step {
            Step::Text(text) => block(
                json!({"type": "text", "text": ""}),
                vec![json!({"type": "text_delta", "text": text})],
            ),
            Step::Reasoning(text) => block(
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": text}),
                    json!({"type": "signature_delta", "signature": "signed"}),
                ],
            ),
            Step::Call(call) => {
                let arguments = call.arguments.to_string();
                let half = arguments.floor_char_boundary(arguments.len() / 2);
                let (first, second) = arguments.split_at(half);
                let piece = |text| json!({"type": "input_json_delta", "partial_json": text});
                block(
                    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}),
                    vec![piece(first), piece(second)],
                );
            }
            Step::Usage(_) | Step::End(_) | Step::Fail(_) => {}
        }
    }
    if let Some(end) = turn.said_end() {
        let reason = match end {
            End::Said | End::Declined => "end_turn",
            End::Calls => "tool_use",
            End::Length => "max_tokens",
            End::Withheld => "refusal",
        };
        let delta = json!({"stop_reason": reason, "stop_sequence": null});
        let usage = json!({"output_tokens": output});
        frames.push(event(
            "message_delta",
            json!({"delta": delta, "usage": usage}),
        ));
        frames.push(event("message_stop", json!({})));
    }
    frames
}
