//! A binding answers every malformed request in its own form.

use axum::Router;
use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use proptest::prelude::*;
use serde_json::Value;
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

use super::router;
use a2a::binding::BindingUses;

/// Requests that mean something, to be damaged.
const REQUESTS: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"echo:x"}]},"configuration":{"historyLength":2,"returnImmediately":true}}}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"ListTasks","params":{"pageSize":3,"status":"TASK_STATE_WORKING","statusTimestampAfter":"2026-01-02T03:04:05.678Z"}}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"GetTask","params":{"id":"x","historyLength":"1","currentGeneration":"7"}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"CreateTaskPushNotificationConfig","params":{"taskId":"x","url":"https://example.com/","authentication":{"scheme":"Bearer"}}}"#,
];

/// A few bytes changed, doubled or taken out.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<prop::sample::Index>(), any::<u8>(), 0..4u8);
    (0..REQUESTS.len(), prop::collection::vec(edit, 0..6)).prop_map(|(request, edits)| {
        let mut bytes = REQUESTS[request].as_bytes().to_vec();
        for (place, byte, how) in edits {
            let place = place.index(bytes.len().max(1));
            match how {
                0 if place < bytes.len() => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                2 => bytes.truncate(place),
                _ if place < bytes.len() => drop(bytes.remove(place)),
                _ => {}
            }
        }
        bytes
    })
}

struct World {
    runtime: Runtime,
    router: Router,
}

fn world() -> World {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let router = runtime.block_on(router(&BindingUses::default()));
    World { runtime, router }
}

impl World {
    fn ask(&self, request: Request<Body>) -> (http::response::Parts, Vec<u8>) {
        self.runtime.block_on(async {
            let (head, body) = self
                .router
                .clone()
                .oneshot(request)
                .await
                .unwrap()
                .into_parts();
            (head, body.collect().await.unwrap().to_bytes().to_vec())
        })
    }
}

#[test]
fn json_rpc_answers_with_a_response() {
    let world = world();
    proptest!(|(body in prop_oneof![damaged(), prop::collection::vec(any::<u8>(), 0..64)])| {
        let request = Request::post("/a2a/jsonrpc").header("content-type", "application/json").header("a2a-version", "1.0");
        let (head, body) = world.ask(request.body(Body::from(body)).unwrap());
        prop_assert_eq!(head.status.as_u16(), 200);
        let reply: Value = serde_json::from_slice(&body).unwrap();
        prop_assert_eq!(&reply["jsonrpc"], "2.0");
        prop_assert!(reply.get("id").is_some());
        prop_assert!(reply.get("result").is_some() != reply["error"]["code"].is_i64());
    });
}

#[test]
fn rest_answers_with_a_reply_or_an_error() {
    let world = world();
    let path = prop_oneof![
        "/(tasks|message:send|message:stream|x)(/[a-z%0-9:.]{0,6}){0,4}(\\?[a-zA-Z]{1,9}=[^ #]{0,6})?",
        Just("/tasks?pageSize=0&status=7".to_owned()),
    ];
    let verb = prop_oneof![Just("GET"), Just("POST"), Just("DELETE"), Just("PUT")];
    proptest!(|(verb in verb, path in path, body in damaged())| {
        let request = Request::builder().method(verb).uri(format!("/a2a/rest{path}"));
        let request = request.header("content-type", "application/a2a+json").header("a2a-version", "1.0");
        // What is not a URI never reaches a server.
        let Ok(request) = request.body(Body::from(body)) else { return Ok(()) };
        let (head, body) = world.ask(request);
        let status = head.status.as_u16();
        let reply: Value = serde_json::from_slice(&body).unwrap_or_default();
        let failed = reply["error"]["code"] == status && reply["error"]["status"].is_string() && reply["error"]["details"].is_array();
        prop_assert!(status == 200 || failed, "{status} {reply}");
        prop_assert!(status < 500, "{status} {reply}");
    });
}

#[test]
fn grpc_answers_with_a_status() {
    let world = world();
    let frame = prop::collection::vec(any::<u8>(), 0..48);
    proptest!(|(row in 0..a2a::operation::TABLE.len(), message in frame, framed in any::<bool>())| {
        let mut body = Vec::new();
        if framed {
            body.push(0);
            body.extend_from_slice(&(message.len() as u32).to_be_bytes());
        }
        body.extend_from_slice(&message);
        let name = a2a::operation::TABLE[row].name;
        let request = Request::post(format!("/lf.a2a.v1.A2AService/{name}")).header("content-type", "application/grpc");
        let response = world.runtime.block_on(async {
            let response = world.router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
            let (head, body) = response.into_parts();
            (head, body.collect().await.unwrap())
        });
        let (head, body) = response;
        prop_assert_eq!(head.status.as_u16(), 200);
        let trailers = body.trailers().cloned().unwrap_or_default();
        let status = head.headers.get("grpc-status").or_else(|| trailers.get("grpc-status"));
        let status: i32 = status.unwrap().to_str().unwrap().parse().unwrap();
        prop_assert!(![2, 12].contains(&status), "{status}");
    });
}
