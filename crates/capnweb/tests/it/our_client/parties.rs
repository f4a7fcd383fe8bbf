//! Three parties: capabilities that come from one session and go to another.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use capnweb::{Capability, Result, Stub, Value};

use super::with_peer;
use crate::interop_target::objects::Counter;
use crate::interop_target::samples::{self, is_same, is_same_error};
use crate::support::eventually::{eventually, soon};

/// The field `stub` of what `kept` gave.
fn stub_of(kept: &Value) -> Capability {
    match kept.field("stub") {
        Some(Value::Stub(stub)) => stub.clone(),
        other => panic!("expected a stub, got {other:?}"),
    }
}

#[tokio::test]
async fn a_kept_function_is_called_later_and_released_when_dropped() {
    with_peer(async |peer| {
        let lives = Arc::new(AtomicU32::new(1));
        let life = Life(lives.clone());
        let function = Capability::from_fn(move |mut arguments| {
            let _ = &life;
            std::future::ready(arguments.take::<f64>("n").map(|n| n + 1.0))
        });
        peer.api.keep("npm later", function).await.unwrap();
        let kept = peer.api.kept("npm later");
        assert_eq!(kept.call("stub", (4,)).cast::<f64>().await.unwrap(), 5.0);
        drop(kept);
        assert_eq!(lives.load(Ordering::SeqCst), 1);
        assert!(peer.api.drop_kept("npm later").await.unwrap());
        assert!(!peer.api.drop_kept("npm later").await.unwrap());
        eventually("the function", 0, async || lives.load(Ordering::SeqCst)).await;
    })
    .await;
}

struct Life(Arc<AtomicU32>);

impl Drop for Life {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_capability_of_ours_comes_home_at_the_root_and_nested() {
    with_peer(async |peer| {
        let counter = Arc::new(Counter::new(20.0));
        let ours = Capability::from_target(counter.clone());
        let back = peer.api.echo(Value::from(ours.clone())).await.unwrap();
        let Value::Stub(back) = back else {
            panic!("{back:?}")
        };
        assert_eq!(
            back.call("increment", ()).cast::<f64>().await.unwrap(),
            21.0
        );
        let nested = Value::object([("own", Value::Array(vec![ours.into()]))]);
        let back = peer.api.echo(nested).await.unwrap();
        let Value::Stub(back) = &back.field("own").unwrap().as_array().unwrap()[0] else {
            panic!("{back:?}")
        };
        assert_eq!(
            back.call("increment", ()).cast::<f64>().await.unwrap(),
            22.0
        );
        assert_eq!(counter.value(), 22.0);
    })
    .await;
}

#[tokio::test]
async fn two_sessions_meet_in_the_server() {
    with_peer(async |peer| {
        let other = peer.another().await;
        let counter = Arc::new(Counter::new(1.0));
        peer.api
            .keep("npm meeting", Capability::from_target(counter.clone()))
            .await
            .unwrap();
        let kept = stub_of(&other.api.kept("npm meeting").await.unwrap());
        assert_eq!(
            kept.call("increment", (5,)).cast::<f64>().await.unwrap(),
            6.0
        );
        assert_eq!(kept.property("value").cast::<f64>().await.unwrap(), 6.0);
        drop(kept);
        peer.api.drop_kept("npm meeting").await.unwrap();
        other.finish().await;
        assert_eq!(counter.value(), 6.0);
    })
    .await;
}

#[tokio::test]
async fn a_stub_of_one_session_is_passed_into_another() {
    with_peer(async |peer| {
        let other = peer.another().await;
        let counter = other.api.make_counter(5.0).await.unwrap();
        assert_eq!(
            peer.api.increment_counter(&counter, 2.0).await.unwrap(),
            7.0
        );
        assert_eq!(counter.value().await.unwrap(), 7.0);
        // A promise of one session as an argument in another, and one pipelined on.
        let promised = other.api.make_counter(1.0);
        assert_eq!(
            peer.api.increment_counter(&promised, 2.0).await.unwrap(),
            3.0
        );
        let square = peer.api.call("square", (other.api.square(Value::from(3)),));
        assert_eq!(square.cast::<f64>().await.unwrap(), 81.0);
        drop((counter, promised));
        other.finish().await;
    })
    .await;
}

#[tokio::test]
async fn a_stub_kept_here_outlives_the_call_it_came_in() {
    with_peer(async |peer| {
        let other = peer.another().await;
        // We keep what the server passes to our function, and hand it to the other session.
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let taking = Capability::from_fn(move |mut arguments| {
            let taken = arguments
                .take::<Value>("n")
                .map(|value| sender.send(value).unwrap());
            std::future::ready(taken)
        });
        let double = peer.api.info().property("double");
        let called = peer.api.call("callFunction", (taking, double));
        called.await.unwrap();
        let Some(Value::Stub(double)) = receiver.recv().await else {
            panic!("no function came")
        };
        let through = other
            .api
            .call("callFunction", (double.clone(), 21))
            .await
            .unwrap();
        assert_eq!(through.field("result").unwrap().as_f64(), Some(42.0));
        drop(double);
        other.finish().await;
    })
    .await;
}

#[tokio::test]
async fn data_errors_and_capabilities_pass_between_two_sessions() {
    with_peer(async |peer| {
        let other = peer.another().await;
        let passage = Capability::from_fn(|mut arguments| {
            let kind: Result<String> = arguments.take("kind");
            let value: Result<Value> = arguments.take("value");
            async move {
                match kind?.as_str() {
                    "throw" => match samples::make("errorProps")? {
                        Value::Error(error) => Err(error),
                        other => Ok(other),
                    },
                    "counter" => Ok(Value::object([("counter", Counter::new(40.0))])),
                    _ => value,
                }
            }
        });
        peer.api.keep("npm passage", passage).await.unwrap();
        let kept = stub_of(&other.api.kept("npm passage").await.unwrap());
        let sample = samples::make("object").unwrap();
        let back = kept.invoke(("echo", sample.clone())).await.unwrap();
        assert!(is_same(&back, &sample), "{back:?}");
        let error = kept.invoke(("throw",)).await.unwrap_err();
        let Value::Error(expected) = samples::make("errorProps").unwrap() else {
            panic!()
        };
        assert!(is_same_error(&error, &expected), "{error:?}");
        let made = kept.invoke(("counter",));
        assert_eq!(
            made.property("counter")
                .call("increment", (2,))
                .cast::<f64>()
                .await
                .unwrap(),
            42.0
        );
        drop((kept, made));
        peer.api.drop_kept("npm passage").await.unwrap();
        other.finish().await;
    })
    .await;
}

#[tokio::test]
async fn a_stub_of_a_session_that_has_ended_fails() {
    with_peer(async |peer| {
        let other = peer.another().await;
        other
            .api
            .keep("npm gone", Capability::new(Counter::new(1.0)))
            .await
            .unwrap();
        let theirs = other.api.make_counter(1.0).await.unwrap();
        other.connection.end(capnweb::Error::new("had enough"));
        assert_eq!(
            theirs.increment(None).await.unwrap_err().message(),
            "had enough"
        );
        assert_eq!(
            soon("the stub", theirs.capability().closed())
                .await
                .message(),
            "had enough"
        );
        let passed = peer.api.increment_counter(&theirs, None).await.unwrap_err();
        assert!(!passed.message().is_empty());
        let kept = peer.api.kept("npm gone").await.unwrap();
        let kept = Stub::<Counter>::from_capability(stub_of(&kept));
        assert!(kept.increment(None).await.is_err());
        assert!(peer.api.drop_kept("npm gone").await.unwrap());
    })
    .await;
}
