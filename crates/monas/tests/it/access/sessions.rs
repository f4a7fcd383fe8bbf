//! Cap'n Web, where credentials may also be handed over in a call.

use capnweb::transport::batch::BatchClient;
use capnweb::transport::websocket;
use capnweb::{Any, Capability, Connection, Options, Value};

use super::cases::{self, Case};
use crate::support::server::Running;

/// A session that shows nothing when it is opened, and its agent.
async fn open(server: &Running) -> (Connection, Capability) {
    let url = format!("ws://{}/a2a/capnweb", server.address);
    let opened = websocket::connect(&url, Capability::nothing(), &Options::default()).await;
    let session = opened.unwrap();
    let agent = session.remote::<Any>().into();
    (session, agent)
}

fn whoami() -> Value {
    Value::object([
        ("messageId", Value::from(uuid::Uuid::new_v4().to_string())),
        ("role", "ROLE_USER".into()),
        ("parts", Value::array([Value::object([("text", "whoami")])])),
    ])
}

/// What the agent said.
fn said(answer: &Value) -> &str {
    let parts = answer.field("message").and_then(|it| it.field("parts"));
    let first = parts.and_then(Value::as_array).and_then(|it| it.first());
    let text = first.and_then(|part| part.field("text"));
    text.and_then(Value::as_str).unwrap_or_default()
}

fn pairs(members: &[(&str, &str)]) -> Value {
    Value::object(members.iter().map(|(name, value)| (*name, *value)))
}

fn code(error: &capnweb::Error) -> Option<f64> {
    error.prop("code").and_then(Value::as_f64)
}

/// What each scheme is handed: right, then wrong.
fn handed() -> Vec<(Case, Value, Value)> {
    vec![
        (
            cases::bearer_tokens_are_known_over_every_binding(),
            pairs(&[("type", "bearer"), ("token", "token-of-ada")]),
            pairs(&[("type", "bearer"), ("token", "token-of-eve")]),
        ),
        (
            cases::bearer_tokens_are_known_over_every_binding(),
            "token-of-ada".into(),
            pairs(&[("type", "apiKey"), ("key", "token-of-ada")]),
        ),
        (
            cases::passwords_are_known_over_every_binding(),
            pairs(&[("username", "bob"), ("password", "pass: word")]),
            pairs(&[("username", "bob"), ("password", "other")]),
        ),
        (
            cases::keys_in_cookies_are_known_over_every_binding(),
            pairs(&[("key", "key 1/2&3")]),
            pairs(&[("token", "key 1/2&3")]),
        ),
    ]
}

#[tokio::test]
async fn to_authenticate_and_to_send_is_one_round_trip() {
    for (case, right, wrong) in handed() {
        let server = case.start().await;
        let (_session, agent) = open(&server).await;
        // Nothing is awaited in between.
        let known = agent.call("authenticate", (right,));
        let answer = known.call("sendMessage", (whoami(),)).await.unwrap();
        assert_eq!(said(&answer), case.caller);
        let stranger = agent.call("authenticate", (wrong,));
        let error = stranger.call("sendMessage", (whoami(),)).await.unwrap_err();
        assert_eq!(code(&error), Some(-31401.0), "{}: {error:?}", case.name);
        server.stop().await;
    }
}

#[tokio::test]
async fn a_batch_authenticates_and_sends_at_once() {
    let case = cases::bearer_tokens_are_known_over_every_binding();
    let server = case.start().await;
    let url = format!("http://{}/a2a/capnweb", server.address);
    let batch = BatchClient::new(&url, &Options::default()).unwrap().batch();
    let agent: Capability = batch.remote::<Any>().into();
    let known = agent.call("authenticate", ("token-of-ada",));
    let answer = known.call("sendMessage", (whoami(),));
    batch.send().await.unwrap();
    assert_eq!(said(&answer.await.unwrap()), case.caller);
    server.stop().await;
}

#[tokio::test]
async fn a_stranger_gets_the_card_and_is_told_what_is_missing() {
    let server = cases::bearer_tokens_are_known_over_every_binding()
        .start()
        .await;
    let (_session, agent) = open(&server).await;
    let card = agent.call("getAgentCard", ()).await.unwrap();
    let schemes = card.field("securitySchemes").unwrap();
    assert!(schemes.field("tokens").is_some());
    for method in [
        "sendMessage",
        "sendMessageStreaming",
        "sendStreamingMessage",
    ] {
        let error = agent.call(method, (whoami(),)).await.unwrap_err();
        assert_eq!(code(&error), Some(-31401.0), "{method}: {error:?}");
        let reason = error.prop("reason").and_then(Value::as_str);
        assert_eq!(reason, Some("UNAUTHENTICATED"), "{method}");
    }
    for method in ["getTask", "cancelTask", "subscribeToPushNotifications"] {
        let error = agent.call(method, ("1",)).await.unwrap_err();
        assert_eq!(code(&error), Some(-31401.0), "{method}: {error:?}");
    }
    for odd in [Value::Null, 1.0.into(), Value::array([1.0]), pairs(&[])] {
        let error = agent.call("authenticate", (odd,)).await.unwrap_err();
        assert_eq!(code(&error), Some(-32602.0), "{error:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn wrong_credentials_get_no_session() {
    let server = cases::bearer_tokens_are_known_over_every_binding()
        .start()
        .await;
    let mut client = server.client(crate::support::http::Version::One).await;
    let request = client
        .request("POST", "localhost", "/a2a/capnweb")
        .header("authorization", "Bearer wrong");
    let answer = client.send(request.body("".into()).unwrap()).await;
    assert_eq!(answer.status, 401);
    assert!(answer.headers.contains_key("www-authenticate"));
    server.stop().await;
}
