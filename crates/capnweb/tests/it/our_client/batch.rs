//! HTTP batches.

use bytes::Bytes;
use capnweb::transport::batch::{Batch, BatchClient};
use capnweb::{Date, ErrorKind, Options, Stub, Value};

use super::{Host, Peer, with_peer};
use crate::interop_target::InteropTarget;
use crate::interop_target::samples;
use crate::support::eventually::eventually;

impl Peer<'_> {
    /// A batch for the host of this session.
    fn batch(&self) -> (Batch, Stub<InteropTarget>) {
        let client = BatchClient::new(&self.host.http_url(), &Options::default()).unwrap();
        let batch = client.batch();
        let api = batch.remote();
        (batch, api)
    }
}

#[tokio::test]
async fn calls_chains_promise_arguments_and_maps_share_one_request() {
    with_peer(async |peer| {
        let (batch, api) = peer.batch();
        let square = api.square(Value::from(3));
        let incremented = api.make_counter(1.0).pipeline().increment(4.0);
        let fourth = api.call("square", (api.square(Value::from(2)),));
        let mapped = api
            .call("list", (4,))
            .map(|mapper, x| mapper.capture(&api).call("square", (x,)));
        // A property is asked for when it is awaited, which must be before the sending.
        let name = api.info().property("name").into_future();
        batch.send().await.unwrap();
        assert_eq!(square.await.unwrap(), 9.0);
        assert_eq!(incremented.await.unwrap(), 5.0);
        assert_eq!(fourth.await.unwrap().as_f64(), Some(16.0));
        assert_eq!(name.await.unwrap().as_str(), Some("interop"));
        assert_eq!(
            mapped.cast::<Vec<f64>>().await.unwrap(),
            [0.0, 1.0, 4.0, 9.0]
        );
    })
    .await;
}

#[tokio::test]
async fn an_error_fails_its_own_call_only() {
    with_peer(async |peer| {
        let (batch, api) = peer.batch();
        let (failed, fine) = (api.fail("alone"), api.square(Value::from(2)));
        batch.send().await.unwrap();
        let error = failed.await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::RangeError, "alone")
        );
        assert_eq!(fine.await.unwrap(), 4.0);
    })
    .await;
}

#[tokio::test]
async fn calls_start_in_order_and_each_batch_has_a_fresh_target() {
    with_peer(async |peer| {
        let client = BatchClient::new(&peer.host.http_url(), &Options::default()).unwrap();
        for _ in 0..2 {
            let batch = client.batch();
            let api: Stub<InteropTarget> = batch.remote();
            let lengths = [api.append(Value::from("a")), api.append(Value::from("b"))];
            let log = api.call("log", ()).cast::<Vec<String>>();
            batch.send().await.unwrap();
            assert_eq!(log.await.unwrap(), ["a", "b"]);
            for (i, length) in lengths.into_iter().enumerate() {
                assert_eq!(length.await.unwrap(), i + 1);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn slow_calls_are_waited_for_and_a_thousand_fit() {
    with_peer(async |peer| {
        let (batch, api) = peer.batch();
        let slow = api.delay(100.0, Value::from("slow"));
        let squares: Vec<_> = (0..1000).map(|i| api.square(Value::from(i))).collect();
        batch.send().await.unwrap();
        assert_eq!(slow.await.unwrap().as_str(), Some("slow"));
        for (i, square) in squares.into_iter().enumerate() {
            assert_eq!(square.await.unwrap(), (i * i) as f64);
        }
    })
    .await;
}

#[tokio::test]
async fn typed_values_go_both_ways() {
    with_peer(async |peer| {
        let (batch, api) = peer.batch();
        let date = api.call("make", ("date",)).cast::<Date>();
        let bytes = api.call("make", ("bytes",)).cast::<Bytes>();
        let checked = api.check("bigint", samples::make("bigint").unwrap());
        batch.send().await.unwrap();
        assert_eq!(
            date.await.unwrap(),
            Date::from_milliseconds(1_700_000_000_123.0)
        );
        assert_eq!(
            bytes.await.unwrap(),
            [0, 1, 2, 253, 254, 255, 62].as_slice()
        );
        assert!(checked.await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn what_was_not_in_the_batch_fails() {
    with_peer(async |peer| {
        let (batch, api) = peer.batch();
        let counter = api.make_counter(1.0);
        let asked = api.square(Value::from(2));
        batch.send().await.unwrap();
        assert_eq!(asked.await.unwrap(), 4.0);
        let reason = api.capability().closed().await;
        assert!(reason.message().contains("batch is over"), "{reason}");
        // The object came with the answer, and went with the session.
        assert_eq!(counter.await.unwrap_err().message(), reason.message());
        assert_eq!(
            api.square(Value::from(3)).await.unwrap_err().message(),
            reason.message()
        );
    })
    .await;
}

#[tokio::test]
async fn a_call_back_fails_at_once_and_nothing_is_left_of_a_batch() {
    with_peer(async |peer| {
        // npm hangs over the first, and never lets go of the second.
        let Host::Ours(_) = peer.host else { return };
        let (batch, api) = peer.batch();
        let called_back = api.call("callFunction", (samples::make("function").unwrap(), 1));
        let tracked = api.make_tracked().pipeline().ping();
        batch.send().await.unwrap();
        let error = called_back.await.unwrap_err();
        assert!(error.message().contains("cannot be called back"), "{error}");
        assert_eq!(tracked.await.unwrap(), "pong");
        eventually("live objects", 0, async || {
            peer.api.live_tracked().await.unwrap()
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_batch_that_is_refused_fails_all_its_calls() {
    with_peer(async |peer| {
        let url = peer.host.http_url().replace("/rpc", "/nowhere");
        let batch = BatchClient::new(&url, &Options::default()).unwrap().batch();
        let call = batch.remote::<InteropTarget>().square(Value::from(2));
        let error = batch.send().await.unwrap_err();
        assert!(error.message().contains("404"), "{error}");
        assert_eq!(call.await.unwrap_err().message(), error.message());
    })
    .await;
}

#[tokio::test]
async fn an_address_that_does_not_answer_is_named() {
    let batch = BatchClient::new("http://127.0.0.1:1/rpc", &Options::default())
        .unwrap()
        .batch();
    let call = batch.remote::<InteropTarget>().square(Value::from(2));
    let error = batch.send().await.unwrap_err();
    assert!(
        error.message().contains("http://127.0.0.1:1/rpc"),
        "{error}"
    );
    assert!(call.await.is_err());
    assert!(BatchClient::new("https://example.com/", &Options::default()).is_ok());
    assert!(BatchClient::new("ftp://example.com/", &Options::default()).is_err());
    assert!(BatchClient::new("not an address", &Options::default()).is_err());
}
