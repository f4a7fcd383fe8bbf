//! gRPC below the level of its clients: broken frames, unknown names, compression, and its own services.

use axum::body::Body;
use axum::http::HeaderMap;
use serde_json::json;

use super::caller::{Binding, Caller, Failure, grpc_frame, grpc_status};
use crate::support::sut::Sut;

const UNIMPLEMENTED: i64 = 12;
const INVALID_ARGUMENT: i64 = 3;
const RESOURCE_EXHAUSTED: i64 = 8;

/// Sends this body to this path and gives the status of the call. The next call on the same connection must work.
async fn status(
    caller: &mut Caller,
    path: &str,
    headers: &[(&str, &str)],
    body: Vec<u8>,
) -> Result<(), Failure> {
    let mut request = caller
        .builder("POST", path)
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (head, trailers, _) = caller
        .raw_with_trailers(request.body(body.into()).unwrap())
        .await;
    assert_eq!(head.status, 200);
    assert!(caller.call("ListTasks", json!({})).await.is_ok());
    grpc_status(&head.headers, &trailers)
}

#[tokio::test]
async fn bytes_that_are_no_message_are_an_invalid_argument() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Grpc).await;
    for rpc in [
        "SendMessage",
        "SendStreamingMessage",
        "GetTask",
        "ListTasks",
        "SubscribeToTask",
    ] {
        for bytes in [
            &[0xff, 0xff, 0xff][..],
            // A field that is longer than the message.
            &[0x12, 0x7f, 0x01],
            // A string that is not UTF-8.
            &[0x12, 0x02, 0xc3, 0x28],
            // A wire type that does not exist.
            &[0x0f],
            // A varint without an end.
            &[
                0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01,
            ],
        ] {
            let path = format!("/lf.a2a.v1.A2AService/{rpc}");
            let failure = status(&mut caller, &path, &[], grpc_frame(bytes))
                .await
                .unwrap_err();
            assert_eq!(
                failure.code, INVALID_ARGUMENT,
                "{rpc} {bytes:?}: {failure:?}"
            );
            assert!(!failure.message.is_empty(), "{rpc} {bytes:?}");
        }
    }
}

#[tokio::test]
async fn unknown_names_are_unimplemented() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Grpc).await;
    for path in [
        "/lf.a2a.v1.A2AService/Nothing",
        "/lf.a2a.v1.A2AService/sendMessage",
        "/a2a/grpc/lf.a2a.v1.A2AService/Nothing",
    ] {
        let failure = status(&mut caller, path, &[], grpc_frame(&[]))
            .await
            .unwrap_err();
        assert_eq!(failure.code, UNIMPLEMENTED, "{path}: {failure:?}");
        assert_eq!(failure.reason(), Some("METHOD_NOT_FOUND"), "{path}");
    }
}

#[tokio::test]
async fn compression_that_is_not_offered_is_refused() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Grpc).await;
    let mut frame = grpc_frame(&[0x1f, 0x8b, 0x08, 0x00]);
    frame[0] = 1;
    for encoding in ["gzip", "snappy"] {
        let headers = [("grpc-encoding", encoding)];
        let failure = status(
            &mut caller,
            "/lf.a2a.v1.A2AService/ListTasks",
            &headers,
            frame.clone(),
        )
        .await;
        assert_eq!(failure.unwrap_err().code, UNIMPLEMENTED, "{encoding}");
    }
    // A frame that claims to be compressed, in a call that names no compression.
    let failure = status(&mut caller, "/lf.a2a.v1.A2AService/ListTasks", &[], frame).await;
    assert_ne!(failure.unwrap_err().code, 0);
}

#[tokio::test]
async fn half_a_frame_fails_its_call_only() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Grpc).await;
    for body in [
        vec![],
        vec![0, 0],
        vec![0, 0, 0, 0, 9, 1, 2],
        vec![0, 0xff, 0xff, 0xff, 0xff],
    ] {
        let failure = status(
            &mut caller,
            "/lf.a2a.v1.A2AService/ListTasks",
            &[],
            body.clone(),
        )
        .await;
        assert!(failure.is_err(), "{body:?}");
    }
}

#[tokio::test]
async fn a_message_beyond_the_limit_fails_its_call_only() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Grpc).await;
    let text = "x".repeat(17 << 20);
    let request =
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}});
    let failure = caller.call("SendMessage", request).await.unwrap_err();
    assert_eq!(failure.code, RESOURCE_EXHAUSTED, "{failure:?}");
    assert_eq!(failure.reason(), Some("INVALID_REQUEST"));
    assert!(
        sut.caller(Binding::Grpc)
            .await
            .call("ListTasks", json!({}))
            .await
            .is_ok()
    );
}

/// Two bytes each, these parts took a hundred times as much memory.
#[tokio::test]
async fn a_message_of_too_many_values_fails_its_call_only() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Grpc).await;
    // Field 2 of the request is the message, field 5 of that a part, which is empty.
    let parts = [0x2a, 0].repeat(2_000_000);
    let mut request = vec![0x12];
    request.extend(
        [
            0x80 | (parts.len() & 0x7f),
            0x80 | (parts.len() >> 7 & 0x7f),
        ]
        .map(|it| it as u8),
    );
    request.extend([0x80 | (parts.len() >> 14 & 0x7f), parts.len() >> 21].map(|it| it as u8));
    request.extend(parts);
    for service in ["lf.a2a.v1", "a2a.v1"] {
        let path = format!("/{service}.A2AService/SendMessage");
        let mut request = request.clone();
        if service == "a2a.v1" {
            // There the message is field 1, and its parts are its content.
            request[0] = 0x0a;
        }
        let failure = status(&mut caller, &path, &[], grpc_frame(&request)).await;
        let failure = failure.unwrap_err();
        assert_eq!(failure.code, RESOURCE_EXHAUSTED, "{failure:?}");
        assert!(failure.message.contains("send%20fewer"), "{failure:?}");
    }
}

#[tokio::test]
async fn what_is_not_grpc_is_told_so_by_http() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    let request = caller
        .builder("POST", "/lf.a2a.v1.A2AService/ListTasks")
        .header("content-type", "application/json");
    let answer = caller.raw(request.body(Body::from("{}")).unwrap()).await;
    assert_eq!(answer.status, 415);
}

#[tokio::test]
async fn health_and_reflection_are_served() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Grpc).await;
    for (name, words) in [
        (
            "lf.a2a.v1.A2AService",
            [
                "SendStreamingMessage",
                "TaskPushNotificationConfig",
                "lf.a2a.v1",
            ],
        ),
        (
            "a2a.v1.A2AService",
            ["TaskSubscription", "TaskPushNotificationConfig", "a2a.v1"],
        ),
    ] {
        let length = u8::try_from(name.len()).unwrap();
        let named = |tag: u8| [&[tag, length], name.as_bytes()].concat();
        for prefix in ["", "/a2a/grpc"] {
            let path = format!("{prefix}/grpc.health.v1.Health/Check");
            let body = call(&mut caller, &path, &named(0x0a)).await;
            // Field 1, the status: 1 is SERVING.
            assert_eq!(body[5..], [0x08, 0x01], "{prefix} {name}");
        }
        // file_containing_symbol: the service.
        let path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
        let body = call(&mut caller, path, &named(0x22)).await;
        for word in words {
            let found = body
                .windows(word.len())
                .any(|window| window == word.as_bytes());
            assert!(found, "{word} of {name} is not described");
        }
    }
}

async fn call(caller: &mut Caller, path: &str, message: &[u8]) -> Vec<u8> {
    let request = caller
        .builder("POST", path)
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(grpc_frame(message).into());
    let (head, trailers, body) = caller.raw_with_trailers(request.unwrap()).await;
    let empty = HeaderMap::new();
    grpc_status(
        &head.headers,
        if trailers.is_empty() {
            &empty
        } else {
            &trailers
        },
    )
    .unwrap();
    body.to_vec()
}
