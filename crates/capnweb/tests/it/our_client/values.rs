//! Every form a value can take, in both directions.

use bytes::Bytes;
use capnweb::{ErrorKind, Value};
use num_bigint::BigInt;

use super::with_peer;
use crate::interop_target::samples::{self, is_same};

#[track_caller]
fn assert_same(kind: &str, received: &Value, expected: &Value) {
    assert!(
        is_same(received, expected),
        "{kind}: received {received:?}, expected {expected:?}"
    );
}

#[tokio::test]
async fn plain_values_go_both_ways() {
    with_peer(async |peer| {
        for &kind in samples::PLAIN {
            let sample = samples::make(kind).unwrap();
            let made = peer.api.make(kind).await.unwrap();
            assert_same(kind, &made, &sample);
            assert!(
                peer.api.check(kind, sample.clone()).await.unwrap(),
                "{kind} was not recognised"
            );
            let back = peer.api.echo(sample.clone()).await.unwrap();
            assert_same(kind, &back, &sample);
            let nested = || Value::object([("in", Value::Array(vec![sample.clone()]))]);
            let back = peer.api.echo(nested()).await.unwrap();
            assert_same(kind, &back, &nested());
        }
    })
    .await;
}

#[tokio::test]
async fn values_with_something_live_in_them_go_both_ways() {
    with_peer(async |peer| {
        for &kind in samples::LIVE {
            let made = peer.api.make(kind).await.unwrap();
            assert!(
                samples::check(kind, made).await.unwrap(),
                "{kind} was not recognised here"
            );
            let sample = samples::make(kind).unwrap();
            assert!(
                peer.api.check(kind, sample).await.unwrap(),
                "{kind} was not recognised there"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_wrong_value_is_not_taken_for_the_sample() {
    with_peer(async |peer| {
        assert!(!peer.api.check("integer", Value::from(43)).await.unwrap());
        assert!(!peer.api.check("undefined", Value::Null).await.unwrap());
        assert!(
            !peer
                .api
                .check("object", Value::object([("a", 1)]))
                .await
                .unwrap()
        );
        let error = peer.api.make("nonsense").await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::RangeError, "unknown kind: nonsense")
        );
    })
    .await;
}

#[tokio::test]
async fn integers_beyond_doubles_arrive_as_bigints() {
    with_peer(async |peer| {
        let back = peer.api.echo(Value::from(u64::MAX)).await.unwrap();
        assert_same("u64", &back, &BigInt::from(u64::MAX).into());
        let back = peer
            .api
            .call("echo", (u64::MAX,))
            .cast::<u64>()
            .await
            .unwrap();
        assert_eq!(back, u64::MAX);
    })
    .await;
}

/// Regression: the longest of all was taken for one too long, by counting its bits.
#[tokio::test]
async fn the_longest_bigint_arrives_and_a_longer_one_is_not_sent() {
    with_peer(async |peer| {
        let digits = |count: u32| BigInt::from(10).pow(count) - BigInt::from(1);
        for fits in [digits(16_384), -digits(16_383)] {
            let back = peer.api.echo(Value::from(fits.clone())).await.unwrap();
            assert_same("a long bigint", &back, &fits.into());
        }
        for too_long in [
            BigInt::from(10).pow(16_384),
            digits(16_385),
            -digits(16_384),
        ] {
            let error = peer.api.echo(Value::from(too_long)).await.unwrap_err();
            assert_eq!(error.message(), "the bigint is too long to be sent");
        }
    })
    .await;
}

#[tokio::test]
async fn large_values_arrive_whole() {
    with_peer(async |peer| {
        let text = "0123456789abcdef".repeat(1 << 16);
        let back = peer.api.echo(Value::from(text.as_str())).await.unwrap();
        assert!(back.as_str() == Some(&text));
        let bytes = samples::pattern(0, 2 << 20);
        let back: Bytes = peer.api.bytes(bytes.clone()).await.unwrap();
        assert!(back == bytes);
    })
    .await;
}

#[tokio::test]
async fn what_was_printed_before_arrives_as_what_it_was() {
    with_peer(async |peer| {
        let event = samples::make("object").unwrap();
        let raw = event.to_raw().unwrap();
        let both = Value::Array(vec![raw.clone().into(), raw.into()]);
        let back = peer.api.echo(both).await.unwrap();
        assert_same("raw", &back, &Value::Array(vec![event.clone(), event]));
    })
    .await;
}
