//! Blobs, and the types of `fetch`.

use capnweb::{Blob, Body, ReadableStream, Request, Response, Value};

use super::with_peer;
use crate::interop_target::samples::{self, is_same, text_of};

fn blob(text: &str) -> Value {
    Blob {
        mime: String::new(),
        bytes: text.to_owned().into(),
    }
    .into()
}

fn request(method: &str, url: &str, body: Body) -> Request {
    Request {
        url: url.to_owned(),
        method: method.to_owned(),
        headers: Vec::new(),
        body,
        extra: Default::default(),
    }
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    let found = response.headers.iter().find(|(header, _)| header == name);
    found.map(|(_, value)| value.as_str())
}

#[tokio::test]
async fn blobs_of_all_sizes_go_there_and_back() {
    with_peer(async |peer| {
        for size in [0, 1, 10, 70_000, 1 << 20] {
            let blob = Blob {
                mime: "text/x-blob".to_owned(),
                bytes: samples::pattern(0, size),
            };
            let back = peer.api.echo_blob(blob.clone()).await.unwrap();
            assert!(
                back == blob,
                "{size} bytes came back as {} of type {}",
                back.bytes.len(),
                back.mime
            );
        }
    })
    .await;
}

#[tokio::test]
async fn several_blobs_in_one_message_keep_their_places() {
    with_peer(async |peer| {
        let value = Value::object([
            ("a", blob("one")),
            ("b", Value::Array(vec![blob("two"), "three".into()])),
        ]);
        let back = peer.api.echo(value.clone()).await.unwrap();
        assert!(is_same(&back, &value), "{back:?}");
    })
    .await;
}

#[tokio::test]
async fn a_request_is_served() {
    with_peer(async |peer| {
        let get = request("GET", "https://example.com/some/path?q=1", Body::Empty);
        let response = peer.api.serve(get).await.unwrap();
        assert_eq!(response.status, 200);
        assert_eq!(
            (header(&response, "x-method"), header(&response, "x-path")),
            (Some("GET"), Some("/some/path"))
        );
        assert!(text_of(response.body).await.unwrap().is_empty());
        for body in [
            Body::Text("some text".to_owned()),
            Body::Bytes("some text".into()),
        ] {
            let response = peer
                .api
                .serve(request("POST", "https://example.com/", body))
                .await
                .unwrap();
            assert_eq!(header(&response, "x-method"), Some("POST"));
            assert_eq!(text_of(response.body).await.unwrap(), "some text");
        }
    })
    .await;
}

#[tokio::test]
async fn a_megabyte_of_request_body_is_streamed_into_the_response() {
    with_peer(async |peer| {
        let bytes = samples::pattern(0, 1 << 20);
        let body = Body::Stream(ReadableStream::from_bytes(bytes.clone()));
        let response = peer
            .api
            .serve(request("PUT", "https://example.com/up", body))
            .await
            .unwrap();
        assert!(text_of(response.body).await.unwrap() == bytes);
    })
    .await;
}

#[tokio::test]
async fn a_response_with_an_unread_body_is_released() {
    with_peer(async |peer| {
        let body = Body::Stream(ReadableStream::from_bytes(samples::pattern(0, 4 << 20)));
        let response = peer
            .api
            .serve(request("PUT", "https://example.com/up", body))
            .await
            .unwrap();
        drop(response);
    })
    .await;
}

#[tokio::test]
async fn requests_and_responses_are_echoed() {
    with_peer(async |peer| {
        for kind in ["request", "requestPlain", "response", "responseEmpty"] {
            let back = peer.api.echo(samples::make(kind).unwrap()).await.unwrap();
            assert!(samples::check(kind, back).await.unwrap(), "{kind}");
        }
    })
    .await;
}
