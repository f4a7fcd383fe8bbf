//! Invalid requests: every reply is an error in the form of ACP.

use axum::http::Method;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Bench, request, resume};

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test]
async fn what_is_at_no_address_is_not_found() {
    let bench = Bench::start().await;
    for path in [
        "/acp",
        "/acp/",
        "/acp/x",
        "/acp/runs/x/y",
        "/acp/agents/",
        "/acp//ping",
        "/acp/ping/",
    ] {
        let heard = bench.send(Method::GET, path, "").await;
        assert_eq!(heard.refused(), refused(404, "not_found"), "{path}");
    }
    let heard = bench.send(Method::GET, "/acp/agents/%FF", "").await;
    assert_eq!(heard.refused(), refused(400, "invalid_input"));
}

#[tokio::test]
async fn another_verb_is_told_which_would_do() {
    let bench = Bench::start().await;
    for (verb, path, allowed) in [
        (Method::GET, "/runs", "POST"),
        (Method::DELETE, "/runs/x", "GET, POST"),
        (Method::POST, "/ping", "GET"),
        (Method::GET, "/runs/x/cancel", "POST"),
        (Method::PUT, "/agents", "GET"),
    ] {
        let heard = bench.send(verb, &format!("/acp{path}"), "").await;
        assert_eq!(heard.refused(), refused(405, "invalid_input"), "{path}");
        assert_eq!(heard.headers["allow"], allowed);
    }
}

#[tokio::test]
async fn a_body_that_is_none_is_refused() {
    let bench = Bench::start().await;
    for (body, status) in [
        ("{", 400),
        ("\u{feff}{}", 400),
        ("nonsense", 400),
        ("[]", 422),
        ("7", 422),
        ("null", 422),
        ("", 422),
        ("{}", 422),
        (r#"{"agent_name":"echo"}"#, 422),
        (r#"{"agent_name":"echo","input":"hello"}"#, 422),
        (r#"{"agent_name":"echo","input":[]}"#, 422),
        (r#"{"agent_name":"echo","input":[{"parts":[]}]}"#, 422),
        (r#"{"agent_name":"echo","input":[{"role":"user"}]}"#, 422),
        (
            r#"{"agent_name":"echo","input":[{"role":"system","parts":[{"content":"x"}]}]}"#,
            422,
        ),
        (
            r#"{"agent_name":"echo","input":[{"role":"agent/","parts":[{"content":"x"}]}]}"#,
            422,
        ),
        (
            r#"{"agent_name":"echo","input":[{"parts":[{"content":"x","content_url":"http://x"}]}]}"#,
            422,
        ),
        (
            r#"{"agent_name":"echo","input":[{"parts":[{"content_url":"nowhere"}]}]}"#,
            422,
        ),
        (
            r#"{"agent_name":"echo","input":[{"parts":[{"content":"!","content_encoding":"base64"}]}]}"#,
            422,
        ),
        (
            r#"{"agent_name":"echo","input":[{"parts":[{"content":"x","content_encoding":"rot13"}]}]}"#,
            422,
        ),
        (
            r#"{"agent_name":"echo","input":[{"parts":[{"content":"{","content_type":"application/json"}]}]}"#,
            422,
        ),
        (
            r#"{"agent_name":"echo","input":[{"parts":[{"content":"x"}]}],"mode":"later"}"#,
            422,
        ),
        (
            r#"{"agent_name":"nobody","input":[{"parts":[{"content":"x"}]}]}"#,
            404,
        ),
    ] {
        let heard = bench.send(Method::POST, "/acp/runs", body).await;
        let code = if status == 404 {
            "not_found"
        } else {
            "invalid_input"
        };
        assert_eq!(heard.refused(), refused(status, code), "{body}");
    }
    let heard = bench
        .send(Method::POST, "/acp/runs", &b"\xff\xfe"[..])
        .await;
    assert_eq!(heard.refused(), refused(400, "invalid_input"));
}

#[tokio::test]
async fn a_fault_says_where_it_is() {
    let bench = Bench::start().await;
    let mut body = request("echo", "x", "sync");
    body["input"][0]["parts"][0]["content"] = json!(7);
    let heard = bench.post("/runs", &body).await;
    let fault = &heard.json()["data"]["faults"][0];
    assert_eq!(fault["field"], "input[0].parts[0].content", "{heard:?}");
    let mut body = request("echo", "x", "sync");
    body["input"][0]["parts"][0]["content_url"] = json!("http://x");
    let heard = bench.post("/runs", &body).await;
    assert_eq!(
        heard.json()["message"],
        "input[0].parts[0]: has both content and content_url: give one"
    );
}

/// Regression: errors named fields of the A2A message, which the caller did not send.
#[tokio::test]
async fn a_fault_of_the_input_is_told_in_words_of_acp() {
    let bench = Bench::start().await;
    let part = |kind: &str, content: &str| json!({ "content_type": kind, "content": content });
    let data = part("application/json", r#"{"text": 7, "more": 1}"#);
    let mut body = request("echo", "x", "sync");
    body["input"] = json!([
        { "role": "user", "parts": [part("text/plain", "look")] },
        { "role": "user", "parts": [part("text/plain", "here"), data] },
    ]);
    for mode in ["sync", "async", "stream"] {
        body["mode"] = json!(mode);
        let heard = bench.post("/runs", &body).await;
        assert_eq!(heard.refused(), refused(422, "invalid_input"), "{mode}");
        let faults = heard.json()["data"]["faults"].clone();
        let fields = faults.as_array().unwrap().iter().map(|it| &it["field"]);
        let fields: Vec<_> = fields.collect();
        assert!(
            fields.contains(&&json!("input[1].parts[1].content.text")),
            "{mode}: {heard:?}"
        );
        assert!(!heard.text.contains("message.parts"), "{heard:?}");
    }
}

#[tokio::test]
async fn what_the_agent_does_not_understand_is_refused() {
    let bench = Bench::start().await;
    let mut body = request("echo", "", "sync");
    let part = |kind: &str| json!([{ "content_type": kind, "content": "aGk=", "content_encoding": "base64" }]);
    body["input"][0]["parts"] = part("video/mp4");
    let heard = bench.post("/runs", &body).await;
    assert_eq!(heard.refused(), refused(422, "invalid_input"));
    // The agent accepts images; this skill does not.
    body["input"][0]["parts"] = part("image/png");
    let heard = bench.post("/runs", &body).await;
    assert_eq!(heard.refused(), refused(422, "invalid_input"));
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let bench = Bench::start().await;
    let body = request("echo", &"x".repeat(80 << 10), "sync");
    let heard = bench.post("/runs", &body).await;
    assert_eq!(heard.refused(), refused(413, "invalid_input"));
}

#[tokio::test]
async fn ids_that_are_none_are_not_found() {
    let bench = Bench::start().await;
    for id in ["x", "%00", "%F0%9F%90%9D", &"x".repeat(300)] {
        for path in ["", "/events"] {
            let heard = bench.get(&format!("/runs/{id}{path}")).await;
            assert_eq!(heard.refused(), refused(404, "not_found"), "{id}");
        }
    }
}

/// Bodies that are almost valid, and random bytes.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let good = prop_oneof![
        Just(request("echo", "hello", "sync")),
        Just(request("chat", "hello", "stream")),
        Just(resume("yes", "sync")),
        Just(
            json!({ "agent_name": "echo", "input": [{ "role": "agent/x", "parts": [
            { "name": "n", "content_type": "application/json", "content": "{\"text\":\"x\"}" },
            { "metadata": { "kind": "citation", "url": "x" } },
            { "content_url": "data:,x" },
            { "content": "eA==", "content_encoding": "base64", "content_type": "image/png" },
        ] }] })
        ),
    ];
    let good = good.prop_map(|good: Value| good.to_string().into_bytes());
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 0..4);
    let damaged = (good, damage).prop_map(|(mut bytes, damage)| {
        for (place, byte, how) in damage {
            let place = place.index(bytes.len() + 1);
            match (how, place < bytes.len()) {
                (0, true) => bytes[place] = byte,
                (1, true) => drop(bytes.remove(place)),
                (2, _) => bytes.truncate(place),
                _ => bytes.insert(place, byte),
            }
        }
        bytes
    });
    prop_oneof![8 => damaged, 1 => prop::collection::vec(any::<u8>(), 0..64)]
}

#[test]
fn whatever_is_sent_is_answered_in_words_of_acp() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let bench = runtime.block_on(Bench::start());
    let path = prop_oneof![
        4 => Just("/runs".to_owned()),
        1 => Just("/runs/x".to_owned()),
        1 => "/(runs|agents|sessions|resources)/[%a-f0-9./?&=-]{0,12}",
    ];
    let verb = prop_oneof![4 => Just(Method::POST), 1 => Just(Method::GET)];
    let config = ProptestConfig::with_cases(300);
    proptest!(config, |(verb in verb, path in path, body in body())| {
        let heard = runtime.block_on(bench.send(verb, &format!("/acp{path}"), body));
        if !heard.status.is_success() {
            let (status, _) = heard.refused();
            prop_assert!((400..500).contains(&status), "{heard:?}");
        } else if heard.headers["content-type"] == "text/event-stream" {
            heard.events();
        } else {
            heard.json();
        }
    });
}
