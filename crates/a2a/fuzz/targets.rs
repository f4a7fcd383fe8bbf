//! What is fuzzed. The corpus runs through the same functions as an ordinary test.
//!
//! The first byte of an input picks the kind of message: `a` for the first.

use a2a::types::rpc_error::Status;
use a2a::types::{
    AgentCard, ListTasksRequest, ListTasksResponse, SendMessageRequest, SendMessageResponse,
    StreamResponse, TaskPushNotificationConfig, WireMessage,
};
use bytes::Bytes;

/// What is done with the rest of an input for one kind of message.
struct Kind {
    json: fn(&[u8]),
    protobuf: fn(&[u8]),
    text: fn(&str, &str),
}

static KINDS: [Kind; 8] = [
    kind::<SendMessageRequest>(),
    kind::<StreamResponse>(),
    kind::<SendMessageResponse>(),
    kind::<ListTasksRequest>(),
    kind::<ListTasksResponse>(),
    kind::<TaskPushNotificationConfig>(),
    kind::<AgentCard>(),
    // Its details can hold anything, which JSON shows only where it can be read.
    Kind {
        json: json_of::<Status>,
        protobuf: |input| {
            if let Ok(status) = Status::from_protobuf(Bytes::copy_from_slice(input)) {
                again_in_protobuf(&status);
                Status::from_json(&status.to_json()).expect("what was written can be read");
            }
        },
        text: text_of::<Status>,
    },
];

const fn kind<M: WireMessage>() -> Kind {
    Kind {
        json: json_of::<M>,
        protobuf: protobuf_of::<M>,
        text: text_of::<M>,
    }
}

/// JSON that is read is written as JSON that reads the same, and as protobuf that can be read.
pub(crate) fn json(input: &[u8]) {
    if let Some((kind, rest)) = pick(input) {
        (kind.json)(rest);
    }
}

/// Protobuf that is read is written, on either wire, as something that reads the same.
pub(crate) fn protobuf(input: &[u8]) {
    if let Some((kind, rest)) = pick(input) {
        (kind.protobuf)(rest);
    }
}

/// A field that takes what stands behind `name=` is written as something that reads the same.
pub(crate) fn text(input: &[u8]) {
    if let Some((kind, rest)) = pick(input)
        && let Ok(rest) = std::str::from_utf8(rest)
        && let Some((name, text)) = rest.split_once('=')
    {
        (kind.text)(name, text);
    }
}

fn pick(input: &[u8]) -> Option<(&'static Kind, &[u8])> {
    let (first, rest) = input.split_first()?;
    let index = usize::from(first.wrapping_sub(b'a')) % KINDS.len();
    Some((&KINDS[index], rest))
}

fn json_of<M: WireMessage>(input: &[u8]) {
    if let Ok(message) = M::from_json(input) {
        again_in_json(&message);
        // Numbers become doubles on the way, so only what comes out must stay as it is.
        let message = M::from_protobuf(message.to_protobuf());
        again_in_protobuf(&message.expect("what was written can be read"));
    }
}

fn protobuf_of<M: WireMessage>(input: &[u8]) {
    if let Ok(message) = M::from_protobuf(Bytes::copy_from_slice(input)) {
        again_in_protobuf(&message);
        again_in_json(&message);
    }
}

fn text_of<M: WireMessage>(name: &str, text: &str) {
    let mut message = M::default();
    match message.set_text(name, text) {
        Ok(true) => {
            again_in_json(&message);
            again_in_protobuf(&message);
        }
        Ok(false) => assert_eq!(message, M::default(), "nothing was set"),
        Err(error) => assert_eq!(error.path, name),
    }
}

fn again_in_json<M: WireMessage>(message: &M) {
    // Also what is wrong with it can be told.
    message.violations();
    let again = M::from_json(&message.to_json());
    assert_eq!(again.as_ref(), Ok(message), "through JSON");
}

fn again_in_protobuf<M: WireMessage>(message: &M) {
    let again = M::from_protobuf(message.to_protobuf());
    assert_eq!(again.as_ref(), Ok(message), "through protobuf");
}
