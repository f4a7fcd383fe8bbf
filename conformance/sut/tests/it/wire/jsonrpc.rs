//! JSON-RPC requests of every wrong kind: the right code in the right form, and the connection lives on.

use axum::body::Body;
use serde_json::{Value, json};

use super::caller::{Binding, Caller, Failure, json_rpc, json_rpc_failure, post_too_much};
use crate::support::sut::Sut;

const PATH: &str = "/a2a/jsonrpc";

/// Posts a body as it is, and gives the status, the id and the error of the response. The next call on the same
/// connection must work.
async fn refused(caller: &mut Caller, body: impl Into<Body>) -> (u16, Value, Failure) {
    let request = caller
        .builder("POST", PATH)
        .header("content-type", "application/json");
    let answer = caller.raw(request.body(body.into()).unwrap()).await;
    assert_eq!(answer.headers["content-type"], "application/json");
    let json: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(json["jsonrpc"], "2.0", "{json}");
    let keys: Vec<_> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["error", "id", "jsonrpc"], "{json}");
    assert!(
        json["error"]["data"].is_array(),
        "the data of an error is an array: {json}"
    );
    answers(caller).await;
    (
        answer.status.as_u16(),
        json["id"].clone(),
        json_rpc_failure(&json["error"]),
    )
}

/// The connection is alive and the server in its right mind.
async fn answers(caller: &mut Caller) {
    let echoed = caller.call("SendMessage", echo()).await.unwrap();
    assert_eq!(echoed["message"]["parts"][0]["text"], "echo");
}

fn echo() -> Value {
    let id = uuid::Uuid::new_v4().to_string();
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": "echo"}]}})
}

#[tokio::test]
async fn what_is_not_json_is_a_parse_error() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    for body in [
        &b""[..],
        b"   ",
        b"{",
        b"}",
        b"nonsense",
        b"{'jsonrpc': '2.0'}",
        br#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}} trailing"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x",}}"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetTask\",\"params\":{\"id\":\"\xc3\x28\"}}",
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ListTasks\"}",
        b"\x00\x01\x02",
    ] {
        let shown = String::from_utf8_lossy(body);
        let (status, id, failure) = refused(&mut caller, body.to_vec()).await;
        assert_eq!((status, failure.code), (200, -32700), "{shown}");
        assert_eq!(id, Value::Null, "{shown}");
    }
}

#[tokio::test]
async fn json_that_is_no_request_is_an_invalid_request() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    let call = json_rpc("SendMessage", echo());
    for (body, id) in [
        // Batches are not used, not even empty ones.
        (json!([]), Value::Null),
        (json!([call]), Value::Null),
        (json!([call, call]), Value::Null),
        (json!("text"), Value::Null),
        (json!(7), Value::Null),
        (Value::Null, Value::Null),
        (json!({}), Value::Null),
        (
            json!({"jsonrpc": "1.0", "id": 5, "method": "ListTasks"}),
            json!(5),
        ),
        (
            json!({"jsonrpc": 2.0, "id": 5, "method": "ListTasks"}),
            json!(5),
        ),
        (json!({"id": "x", "method": "ListTasks"}), json!("x")),
        (json!({"jsonrpc": "2.0", "id": "x"}), json!("x")),
        (
            json!({"jsonrpc": "2.0", "id": "x", "method": 7}),
            json!("x"),
        ),
        (
            json!({"jsonrpc": "2.0", "id": "x", "method": null}),
            json!("x"),
        ),
        (
            json!({"jsonrpc": "2.0", "id": {}, "method": "ListTasks"}),
            Value::Null,
        ),
        (
            json!({"jsonrpc": "2.0", "id": [1], "method": "ListTasks"}),
            Value::Null,
        ),
        (
            json!({"jsonrpc": "2.0", "id": true, "method": "ListTasks"}),
            Value::Null,
        ),
    ] {
        let (status, answered, failure) = refused(&mut caller, body.to_string()).await;
        assert_eq!((status, failure.code), (200, -32600), "{body}");
        assert_eq!(answered, id, "{body}");
    }
}

/// Without an id every request was refused with -32600, whatever was wrong with it.
#[tokio::test]
async fn without_an_id_the_answer_bears_null_and_the_right_code() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    for (body, code) in [
        (json!({"jsonrpc": "2.0", "method": "NoSuchMethod"}), -32601),
        (
            json!({"jsonrpc": "2.0", "method": "GetTask", "params": {}}),
            -32602,
        ),
        (
            json!({"jsonrpc": "2.0", "method": "GetTask", "params": [1]}),
            -32602,
        ),
        (
            json!({"jsonrpc": "2.0", "method": "GetTask", "params": {"id": "x"}}),
            -32001,
        ),
        (json!({"jsonrpc": "1.0", "method": "GetTask"}), -32600),
    ] {
        let (status, id, failure) = refused(&mut caller, body.to_string()).await;
        assert_eq!((status, failure.code), (200, code), "{body}");
        assert_eq!(id, Value::Null, "{body}");
    }
    let request = caller
        .builder("POST", PATH)
        .header("content-type", "application/json");
    let body = json!({"jsonrpc": "2.0", "method": "ListTasks"}).to_string();
    let answer = caller.raw(request.body(body.into()).unwrap()).await;
    let answer: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(answer["id"], Value::Null, "{answer}");
    assert!(answer["result"]["tasks"].is_array(), "{answer}");
}

#[tokio::test]
async fn unknown_methods_are_named() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    for method in [
        "",
        "sendMessage",
        "SendMessage ",
        "message/sent",
        "tasks/get/",
        "rpc.discover",
    ] {
        let body = json_rpc(method, echo()).to_string();
        let (status, id, failure) = refused(&mut caller, body).await;
        assert_eq!((status, failure.code), (200, -32601), "{method}");
        assert_eq!(id, "a-1");
    }
}

#[tokio::test]
async fn wrong_params_are_told_field_by_field() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    let message =
        |parts: Value| json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": parts}});
    for (method, params, fields) in [
        ("SendMessage", json!([]), vec![]),
        ("SendMessage", json!("text"), vec![]),
        ("SendMessage", Value::Null, vec!["message"]),
        ("SendMessage", json!({}), vec!["message"]),
        ("SendMessage", json!({"message": 7}), vec!["message"]),
        (
            "SendMessage",
            json!({"message": {}}),
            vec!["message.messageId", "message.role", "message.parts"],
        ),
        ("SendMessage", message(json!([])), vec!["message.parts"]),
        (
            "SendMessage",
            message(json!({"text": "x"})),
            vec!["message.parts"],
        ),
        (
            "SendMessage",
            message(json!([{"text": 7}])),
            vec!["message.parts[0].text"],
        ),
        (
            "SendMessage",
            message(json!([{"text": "x"}, {"raw": "?"}])),
            vec!["message.parts[1].raw"],
        ),
        (
            "SendMessage",
            message(json!([{"text": "x", "url": "y"}])),
            vec!["message.parts[0]"],
        ),
        ("GetTask", json!({}), vec!["id"]),
        ("GetTask", json!({"id": ""}), vec!["id"]),
        (
            "GetTask",
            json!({"id": "x", "historyLength": "many"}),
            vec!["historyLength"],
        ),
        (
            "GetTask",
            json!({"id": "x", "historyLength": -1}),
            vec!["historyLength"],
        ),
        ("CancelTask", json!({}), vec!["id"]),
        ("SubscribeToTask", json!({}), vec!["id"]),
        ("ListTasks", json!({"status": "DONE"}), vec!["status"]),
        (
            "ListTasks",
            json!({"statusTimestampAfter": "yesterday"}),
            vec!["statusTimestampAfter"],
        ),
        ("ListTasks", json!({"pageSize": 0}), vec!["pageSize"]),
        (
            "ListTasks",
            json!({"pageToken": "no such page"}),
            vec!["pageToken"],
        ),
        (
            "CreateTaskPushNotificationConfig",
            json!({"taskId": "x"}),
            vec!["url"],
        ),
    ] {
        let body = json_rpc(method, params.clone()).to_string();
        let (status, id, failure) = refused(&mut caller, body).await;
        assert_eq!(
            (status, failure.code),
            (200, -32602),
            "{method} {params}: {failure:?}"
        );
        assert_eq!(id, "a-1");
        // The place of a fault may be named more closely than here.
        let named = failure.fields();
        for field in &fields {
            assert!(
                named.iter().any(|named| named.starts_with(field)),
                "{method} {params}: {named:?}"
            );
        }
    }
}

#[tokio::test]
async fn params_may_be_left_out_where_nothing_is_required() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    for params in [
        None,
        Some(Value::Null),
        Some(json!({})),
        Some(json!({"unknown": [1], "pageSize": null})),
    ] {
        let mut body = json!({"jsonrpc": "2.0", "id": "a-1", "method": "ListTasks"});
        if let Some(params) = &params {
            body["params"] = params.clone();
        }
        let request = caller
            .builder("POST", PATH)
            .header("content-type", "application/json");
        let answer = caller
            .raw(request.body(body.to_string().into()).unwrap())
            .await;
        let answer: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(answer["result"]["totalSize"], 0, "{params:?}: {answer}");
    }
}

#[tokio::test]
async fn ids_come_back_to_the_letter() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    for id in [
        r#""text""#,
        r#""""#,
        r#""\u00e9\n\"""#,
        "7",
        "-7",
        "7.50",
        "1e3",
        "12345678901234567890123",
        "null",
    ] {
        for method in ["ListTasks", "Nothing"] {
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{}}}}"#);
            let request = caller
                .builder("POST", PATH)
                .header("content-type", "application/json");
            let answer = caller.raw(request.body(body.into()).unwrap()).await;
            assert!(
                answer.text.contains(&format!(r#""id":{id},"#)),
                "{id}: {}",
                answer.text
            );
        }
    }
}

#[tokio::test]
async fn other_media_types_are_refused_before_the_body_is_read() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    for media_type in [
        None,
        Some("text/plain"),
        Some("application/jsonp"),
        Some("application/xml"),
    ] {
        for body in ["{", &json_rpc("ListTasks", json!({})).to_string()] {
            let mut request = caller.builder("POST", PATH);
            if let Some(media_type) = media_type {
                request = request.header("content-type", media_type);
            }
            let answer = caller
                .raw(request.body(body.to_owned().into()).unwrap())
                .await;
            assert_eq!(answer.status, 415, "{media_type:?}");
            let json: Value = serde_json::from_str(&answer.text).unwrap();
            assert_eq!(json["error"]["code"], -32005, "{json}");
            answers(&mut caller).await;
        }
    }
    let request = caller
        .builder("POST", PATH)
        .header("content-type", "Application/JSON; charset=utf-8");
    let body = json_rpc("ListTasks", json!({})).to_string();
    let answer = caller.raw(request.body(body.into()).unwrap()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn other_verbs_are_not_allowed() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    for method in ["GET", "PUT", "DELETE"] {
        let request = caller.builder(method, PATH).body(Body::empty()).unwrap();
        let answer = caller.raw(request).await;
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.headers["allow"], "POST", "{method}");
        let error: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(error["error"]["code"], -32601, "{method}");
        answers(&mut caller).await;
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_and_the_server_lives_on() {
    let sut = Sut::in_memory().await;
    let mut request = echo();
    request["message"]["parts"][0]["text"] = "x".repeat((16 << 20) + 1).into();
    let body = json_rpc("SendMessage", request).to_string();
    let (status, answer) = post_too_much(sut.address, PATH, &body).await;
    assert_eq!(status, 413, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("16777216"), "{answer}");
    answers(&mut sut.caller(Binding::JsonRpc).await).await;
}

#[tokio::test]
async fn what_is_nested_too_deeply_is_refused() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    let nested = |depth: usize, open: &str, close: &str| {
        let data = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let part = format!(r#"{{"data":{data}}}"#);
        let message = format!(r#"{{"messageId":"deep","role":"ROLE_USER","parts":[{part}]}}"#);
        format!(
            r#"{{"jsonrpc":"2.0","id":"a-1","method":"SendMessage","params":{{"message":{message}}}}}"#
        )
    };
    // What fits into JSON but not into protobuf is refused as well, or one binding could not read
    // what another has taken.
    for (depth, open, close) in [
        (60, "[", "]"),
        (60, r#"{"a":"#, "}"),
        (200, "[", "]"),
        (100_000, "[", "]"),
        (30_000, r#"{"a":"#, "}"),
    ] {
        let (status, _, failure) = refused(&mut caller, nested(depth, open, close)).await;
        assert_eq!(
            (status, failure.code),
            (200, -32602),
            "{depth}: {failure:?}"
        );
    }
    // The envelope itself, without an end.
    let (_, _, failure) = refused(&mut caller, "[".repeat(100_000)).await;
    assert!([-32700, -32600].contains(&failure.code), "{failure:?}");
}
