//! What is deltas of what a provider says, and of what it should not say.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Kind;
use super::dialect::ModelRef;
use crate::{AssistantMessage, Call, CallResult, Delta, End, Message, Quotation, Request};

/// What is deltas of these frames, and at the end of the connection.
fn read(kind: Kind, frames: &[Value]) -> (Vec<Delta>, Option<Vec<Delta>>) {
    let mut reader = (kind.dialect().reader)();
    let deltas = frames
        .iter()
        .flat_map(|frame| reader.frame(&frame.to_string()).unwrap());
    (deltas.collect(), reader.over())
}

#[test]
fn a_compatible_server_may_end_without_the_end_marker() {
    let said = json!({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]});
    let (told, last) = read(Kind::OpenAi, &[said]);
    assert_eq!(told, [Delta::Text("hi".to_owned())]);
    assert_eq!(last, Some(vec![Delta::End(End::Said)]));
    let (_, last) = read(
        Kind::OpenAi,
        &[json!({"choices": [{"delta": {"content": "hi"}}]})],
    );
    assert_eq!(last, None);
}

#[test]
fn a_call_with_arguments_that_are_no_json_is_passed_on_unchanged() {
    let function = json!({"name": "f", "arguments": "{\"a\": "});
    let call = json!({"choices": [{
        "delta": {"tool_calls": [{"index": 9, "function": function}]},
        "finish_reason": "length",
    }]});
    let (_, last) = read(Kind::OpenAi, &[call]);
    let last = last.unwrap();
    let Delta::Call(call) = &last[0] else {
        panic!("{last:?}");
    };
    assert_eq!(
        (call.id.as_str(), &call.arguments),
        ("call-9", &json!("{\"a\": "))
    );
    assert_eq!(last[1], Delta::End(End::Length));
}

#[test]
fn a_question_that_is_blocked_is_withheld() {
    let (told, _) = read(
        Kind::Gemini,
        &[json!({"promptFeedback": {"blockReason": "SAFETY"}})],
    );
    assert_eq!(told, [Delta::End(End::Withheld)]);
}

#[test]
fn what_is_cached_was_read_too() {
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 40, "output_tokens": 1});
    let frames = [
        json!({"type": "message_start", "message": {"usage": usage}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    let (told, _) = read(Kind::Anthropic, &frames);
    assert_eq!(
        told,
        [
            Delta::Usage(crate::Usage::new(43, 5)),
            Delta::End(End::Said)
        ]
    );
}

#[test]
fn how_long_an_answer_may_be_has_another_name_where_it_is_new() {
    let body = |is_own| {
        let place = ModelRef {
            model: "m".to_owned(),
            is_own,
        };
        (Kind::OpenAi.dialect().body)(&place, &Request::new("?").max_tokens(7))
    };
    assert_eq!(
        (
            &body(true)["max_completion_tokens"],
            &body(true)["max_tokens"]
        ),
        (&json!(7), &json!(null))
    );
    assert_eq!(body(false)["max_tokens"], 7);
}

#[test]
fn a_provider_is_found_by_its_name() {
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert!(kind.url().starts_with("http"));
    }
    assert!("openia".parse::<Kind>().is_err());
}

/// Any JSON, and often what a provider says.
fn frames() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("type"),
        Just("index"),
        Just("delta"),
        Just("choices"),
        Just("message"),
        Just("candidates"),
        Just("content"),
        Just("parts"),
        Just("text"),
        Just("tool_calls"),
        Just("function"),
        Just("functionCall"),
        Just("content_block"),
        Just("finish_reason"),
        Just("finishReason"),
        Just("usage"),
        Just("usageMetadata"),
        Just("done"),
        Just("thinking"),
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        Just(json!("content_block_start")),
        Just(json!("content_block_delta")),
        Just(json!("content_block_stop")),
        Just(json!("message_stop")),
        Just(json!("tool_use")),
        Just(json!("STOP")),
        ".{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..4).prop_map(|members| members
                .into_iter()
                .map(|(name, it)| (name.to_owned(), it))
                .collect::<Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn every_reply_is_read_or_refused(said in prop::collection::vec(frames(), 0..6)) {
        for kind in Kind::ALL {
            let mut reader = (kind.dialect().reader)();
            for frame in &said {
                let _ = reader.frame(&frame.to_string());
            }
            let _ = reader.over();
            if let Some(vectors) = &kind.dialect().vectors {
                let _ = said.iter().map(vectors.read).count();
            }
        }
    }
}

/// The roles of the messages that a provider is sent, without the system text.
fn roles(kind: Kind, messages: Vec<Message>) -> Vec<String> {
    let place = ModelRef {
        model: "m".to_owned(),
        is_own: true,
    };
    let body = (kind.dialect().body)(&place, &Request::of(messages).system("You are Ada."));
    let list = body.get("messages").or_else(|| body.get("contents"));
    let list = list.and_then(Value::as_array).unwrap();
    let roles = list
        .iter()
        .map(|it| it["role"].as_str().unwrap().to_owned());
    roles.filter(|it| it != "system").collect()
}

#[test]
fn user_and_model_take_turns_and_the_user_begins() {
    let user = |text: &str| Message::User(text.to_owned());
    let model = |text: &str| {
        Message::Model(AssistantMessage {
            text: text.to_owned(),
            ..AssistantMessage::default()
        })
    };
    let quoted = Message::Quoted(Quotation {
        title: "Memory:".to_owned(),
        text: "Ada likes tea".to_owned(),
    });
    let call = Call {
        id: "call-0".to_owned(),
        name: "look".to_owned(),
        arguments: json!({}),
    };
    let calling = Message::Model(AssistantMessage {
        calls: vec![call.clone()],
        ..AssistantMessage::default()
    });
    let result = Message::Result(CallResult::of(&call, "a boat"));
    for kind in Kind::ALL {
        let (assistant, tool) = match kind {
            Kind::Gemini => ("model", "user"),
            Kind::Anthropic => ("assistant", "user"),
            _ => ("assistant", "tool"),
        };
        let messages = vec![
            model("Anything else?"),
            user("hello"),
            user("are you there?"),
            model("Yes."),
            model("What is it?"),
            quoted.clone(),
            user("look"),
            calling.clone(),
            result.clone(),
            model("A boat."),
            user("thanks"),
        ];
        let expected = [
            "user", assistant, "user", assistant, tool, assistant, "user",
        ];
        assert_eq!(roles(kind, messages), expected, "{kind:?}");
    }
}
