//! r12: what goes wrong has a standard code and a reason, the same over every binding.

use a2a::client::Error;
use a2a::types::{
    CancelTaskRequest, GetTaskRequest, Message, Part, SendMessageRequest, SubscribeToTaskRequest,
};
use proof::{Wire, World};

use crate::support::{script, task};

on_every_binding!(errors_have_their_codes);

async fn errors_have_their_codes(wire: Wire) {
    let world = World::start().await;
    let client = world.client(wire);
    let done = task(&client, script("done")).await;
    let get = GetTaskRequest {
        id: "unknown".to_owned(),
        ..GetTaskRequest::default()
    };
    let subscribe = SubscribeToTaskRequest {
        id: "unknown".to_owned(),
        ..SubscribeToTaskRequest::default()
    };
    let cancel = CancelTaskRequest {
        id: done.id.clone(),
        ..CancelTaskRequest::default()
    };
    let to_the_finished = Message {
        task_id: done.id,
        ..script("done").message.unwrap()
    };
    let without_parts = Message {
        parts: Vec::new(),
        ..script("done").message.unwrap()
    };
    let in_a_strange_form = Message {
        parts: vec![Part {
            media_type: "video/quaint".to_owned(),
            ..Part::raw("moving")
        }],
        ..script("done").message.unwrap()
    };
    let send = |message: Message| client.send_message(SendMessageRequest::from(message));
    let check = |error: Error, code: i32, reason: &str| {
        let refusal = error
            .refusal()
            .unwrap_or_else(|| panic!("{wire}: {error:?}"));
        assert_eq!((refusal.code, &*refusal.reason), (code, reason), "{wire}");
        assert!(!refusal.message.is_empty(), "{wire} {reason}");
    };
    check(
        client.get_task(get).await.unwrap_err(),
        -32001,
        "TASK_NOT_FOUND",
    );
    check(
        no_stream(&client, subscribe).await,
        -32001,
        "TASK_NOT_FOUND",
    );
    check(
        client.cancel_task(cancel).await.unwrap_err(),
        -32002,
        "TASK_NOT_CANCELABLE",
    );
    check(
        send(to_the_finished).await.unwrap_err(),
        -32004,
        "UNSUPPORTED_OPERATION",
    );
    check(
        send(in_a_strange_form).await.unwrap_err(),
        -32005,
        "CONTENT_TYPE_NOT_SUPPORTED",
    );
    let nothing = client.send_message(script("nothing")).await;
    check(nothing.unwrap_err(), -32006, "INVALID_AGENT_RESPONSE");
    check(
        send(without_parts).await.unwrap_err(),
        -32602,
        "INVALID_PARAMS",
    );
}

/// Why there is no stream: told at once, or in version 0.3 by the stream itself.
async fn no_stream(client: &a2a::Client, request: SubscribeToTaskRequest) -> Error {
    use futures_util::StreamExt as _;
    match client.subscribe_to_task(request).await {
        Ok(mut events) => events.next().await.unwrap().unwrap_err(),
        Err(error) => error,
    }
}
