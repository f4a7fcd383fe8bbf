//! Errors in both directions.

use capnweb::{Capability, Error, ErrorKind, Options, ReadableStream, Result, Value};

use super::{Host, Peer, with_peer};
use crate::interop_target::samples::{self, is_same, is_same_error};
use crate::support::node::NpmServer;
use crate::support::serving::InteropServer;

const KINDS: [&str; 10] = [
    "Error",
    "EvalError",
    "RangeError",
    "ReferenceError",
    "SyntaxError",
    "TypeError",
    "URIError",
    "errorProps",
    "errorCause",
    "errorAggregate",
];

fn error(kind: &str) -> Error {
    match samples::make(kind).unwrap() {
        Value::Error(error) => error,
        other => panic!("{other:?} is no error"),
    }
}

/// A function that fails.
fn failing(error: Error) -> Capability {
    Capability::from_fn(move |_arguments| std::future::ready(Result::<()>::Err(error.clone())))
}

#[tokio::test]
async fn errors_have_their_type_and_message() {
    with_peer(async |peer| {
        let error = peer.api.throw_error().await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::RangeError, "test error")
        );
        let error = peer.api.fail("").await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message(), error.stack()),
            (ErrorKind::RangeError, "", None)
        );
    })
    .await;
}

#[tokio::test]
async fn errors_keep_their_properties_their_cause_and_their_errors() {
    with_peer(async |peer| {
        for kind in KINDS {
            let thrown = peer.api.throw_sample(kind).await.unwrap_err();
            assert!(is_same_error(&thrown, &error(kind)), "{kind}: {thrown:?}");
            let ours = peer
                .api
                .call("callFunction", (failing(error(kind)), 0))
                .await
                .unwrap_err();
            assert!(
                is_same_error(&ours, &error(kind)),
                "{kind} of ours: {ours:?}"
            );
        }
        let cause = peer.api.throw_sample("errorCause").await.unwrap_err();
        let Some(Value::Error(inner)) = cause.prop("cause") else {
            panic!("{cause:?}")
        };
        assert_eq!(
            (inner.kind(), inner.message()),
            (ErrorKind::TypeError, "inner")
        );
    })
    .await;
}

#[tokio::test]
async fn values_that_are_no_errors_may_be_thrown() {
    with_peer(async |peer| {
        for kind in ["integer", "string", "object", "undefined", "null", "date"] {
            let sample = samples::make(kind).unwrap();
            let thrown = peer.api.throw_sample(kind).await.unwrap_err();
            assert!(
                is_same(thrown.thrown_value().unwrap(), &sample),
                "{kind}: {thrown:?}"
            );
            let ours = failing(Error::thrown(sample.clone()));
            let back = peer.api.call("callFunction", (ours, 0)).await.unwrap_err();
            assert!(
                is_same(back.thrown_value().unwrap(), &sample),
                "{kind} of ours: {back:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_fault_of_ours_tells_the_peer_nothing() {
    with_peer(async |peer| {
        let secret = failing(Error::internal("password: hunter2"));
        let error = peer
            .api
            .call("callFunction", (secret, 0))
            .await
            .unwrap_err();
        assert_eq!(error.message(), "internal error");
        let panicking =
            Capability::from_fn(|_arguments| -> std::future::Ready<()> { panic!("hunter2") });
        let error = peer
            .api
            .call("callFunction", (panicking, 0))
            .await
            .unwrap_err();
        assert_eq!(error.message(), "internal error");
        assert!(error.stack().is_none() && error.props().is_empty());
    })
    .await;
}

#[tokio::test]
async fn errors_are_redacted_before_they_leave() {
    let options = Options::default().redact(|error| {
        let secret = error.message().contains("secret");
        secret.then(|| Error::new("not for you").with_code("E_REDACTED"))
    });
    let server = InteropServer::start().await;
    for host in [Host::Npm(NpmServer::shared()), Host::Ours(&server)] {
        let peer = Peer::open_with(host, &options).await;
        let thrown = failing(Error::new("a secret").with_prop("key", "value"));
        let error = peer
            .api
            .call("callFunction", (thrown, 0))
            .await
            .unwrap_err();
        assert_eq!(
            (error.message(), error.code(), error.prop("key").is_none()),
            ("not for you", Some("E_REDACTED"), true)
        );
        let as_data = peer
            .api
            .echo(Value::Error(Error::new("another secret")))
            .await
            .unwrap();
        let Value::Error(as_data) = as_data else {
            panic!("{as_data:?}")
        };
        assert_eq!(as_data.message(), "not for you");
        peer.finish().await;
    }
}

#[tokio::test]
async fn what_cannot_be_sent_fails_its_call_only() {
    with_peer(async |peer| {
        let stream = ReadableStream::from_items([1, 2]);
        assert_eq!(peer.api.sum(stream.clone()).await.unwrap(), 3.0);
        let error = peer.api.sum(stream).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TypeError);
        let deep = (0..300).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert_eq!(
            peer.api.echo(deep).await.unwrap_err().kind(),
            ErrorKind::TypeError
        );
        assert_eq!(peer.api.square(Value::from(2)).await.unwrap(), 4.0);
    })
    .await;
}

#[tokio::test]
async fn a_result_of_another_type_than_expected_is_a_type_error() {
    with_peer(async |peer| {
        let error = peer
            .api
            .call("greet", ("Ada",))
            .cast::<f64>()
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::TypeError, "expected a number, got a string")
        );
    })
    .await;
}
