//! Which replies become JSON, and which stay a stream.

use std::time::Duration;

use ::http::header::{ACCEPT, CONTENT_TYPE};
use ::http::{HeaderMap, Response};
use axum::body::{Body, Bytes, to_bytes};
use futures_util::{StreamExt as _, stream};

use super::{prefers_streams, single_message_as_json};

const PRIMING: &str = "data: \nid: 0/1\nretry: 3000\n\n";
const ANSWER: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"method\":1}}\nid: 1/1\n\n";
const NOTE: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n";

/// The reply to a stream that sends these events and then stays open.
async fn after(events: &[&'static str]) -> (String, String) {
    let events: Vec<_> = events.iter().map(|it| Ok(Bytes::from(*it))).collect();
    let count = events.len();
    let events = stream::iter(events).chain(stream::pending::<Result<_, axum::Error>>());
    let response = Response::builder().header(CONTENT_TYPE, "text/event-stream");
    let response = response.body(Body::from_stream(events)).unwrap();
    let response = single_message_as_json(response, Duration::from_secs(60)).await;
    let kind = response.headers()[CONTENT_TYPE]
        .to_str()
        .unwrap()
        .to_owned();
    let body = match &*kind {
        "application/json" => to_bytes(response.into_body(), 1 << 10).await.unwrap(),
        _ => {
            let events = response.into_body().into_data_stream().take(count);
            let events: Vec<Bytes> = events.map(Result::unwrap).collect().await;
            events.concat().into()
        }
    };
    (kind, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_one_answer_is_that_answer() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"method":1}}"#;
    let json = ("application/json".to_owned(), answer.to_owned());
    assert_eq!(after(&[ANSWER]).await, json);
    assert_eq!(after(&[PRIMING, ":\n\n", ANSWER]).await, json);
}

#[tokio::test(start_paused = true)]
async fn what_streams_is_streamed_whole() {
    for events in [
        &[PRIMING, NOTE, ANSWER][..],
        &[NOTE, ANSWER],
        // No message within the time: the client gets the open stream.
        &[PRIMING, ":\n\n"],
    ] {
        let (kind, body) = after(events).await;
        assert_eq!((&*kind, body), ("text/event-stream", events.concat()));
    }
}

#[test]
fn a_client_can_say_that_it_would_rather_have_a_stream() {
    for (accept, prefers) in [
        ("application/json, text/event-stream", false),
        ("text/event-stream, application/json", false),
        ("text/event-stream, application/json;q=0.9", true),
        ("text/event-stream; q=0.5, application/json; q=0.4", true),
        ("text/event-stream;q=0.5, application/json", false),
        ("text/event-stream;q=x, application/json;q=7", false),
        ("*/*", false),
    ] {
        let headers = HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())]);
        assert_eq!(prefers_streams(&headers), prefers, "{accept}");
    }
}
