//! Calls, members and pipelining.

use std::time::Duration;

use capnweb::{Capability, Error, ErrorKind, Promise, Result, Stub, Value, target};
use futures_util::future::{join, join_all};
use tokio::sync::oneshot;

use super::with_peer;
use crate::interop_target::objects::Counter;
use crate::interop_target::samples::is_same;

#[tokio::test]
async fn plain_members_answer() {
    with_peer(async |peer| {
        let api = &peer.api;
        assert_eq!(api.square(Value::from(7)).await.unwrap(), 49.0);
        assert_eq!(api.greet("Ada").await.unwrap(), "Hello, Ada!");
        assert_eq!(api.list(4_u32).await.unwrap(), [0, 1, 2, 3]);
        assert_eq!(api.generate_fibonacci(10_usize).await.unwrap()[9], 34.0);
        assert!(matches!(api.return_null().await.unwrap(), Value::Null));
        assert!(matches!(
            api.call("returnUndefined", ()).await.unwrap(),
            Value::Undefined
        ));
        assert_eq!(api.return_number(-1.5).await.unwrap(), -1.5);
    })
    .await;
}

#[tokio::test]
async fn a_missing_argument_and_an_undefined_one_are_the_same() {
    with_peer(async |peer| {
        let counter = peer
            .api
            .call("makeCounter", ())
            .cast::<Stub<Counter>>()
            .await
            .unwrap();
        assert_eq!(
            counter.call("increment", ()).cast::<f64>().await.unwrap(),
            1.0
        );
        assert_eq!(counter.increment(None).await.unwrap(), 2.0);
    })
    .await;
}

#[tokio::test]
async fn calls_start_in_the_order_they_were_made() {
    with_peer(async |peer| {
        let calls: Vec<_> = (0..60)
            .map(|i| peer.api.append(Value::from(i)).into_future())
            .collect();
        let lengths: Vec<_> = join_all(calls)
            .await
            .into_iter()
            .map(Result::unwrap)
            .collect();
        assert_eq!(lengths, (1..=60).collect::<Vec<usize>>());
        let log: Vec<u32> = peer.api.call("log", ()).cast().await.unwrap();
        assert_eq!(log, (0..60).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn a_slow_call_holds_nothing_up() {
    with_peer(async |peer| {
        let slow = peer.api.delay(1000.0, Value::from("slow")).into_future();
        assert_eq!(peer.api.square(Value::from(2)).await.unwrap(), 4.0);
        let mut slow = std::pin::pin!(slow);
        assert!(
            futures_util::poll!(&mut slow).is_pending(),
            "the slow call was answered first"
        );
        assert_eq!(slow.await.unwrap().as_str(), Some("slow"));
    })
    .await;
}

#[tokio::test]
async fn a_call_that_never_settles_can_be_given_up() {
    with_peer(async |peer| {
        let hanging = peer.api.hang().into_future();
        assert!(
            tokio::time::timeout(Duration::from_millis(20), hanging)
                .await
                .is_err()
        );
        drop(peer.api.hang());
        assert_eq!(peer.api.square(Value::from(1)).await.unwrap(), 1.0);
    })
    .await;
}

#[tokio::test]
async fn a_thousand_calls_in_flight_are_all_answered() {
    with_peer(async |peer| {
        let calls: Vec<_> = (0..1000)
            .map(|i| peer.api.square(Value::from(i)).into_future())
            .collect();
        for (i, result) in join_all(calls).await.into_iter().enumerate() {
            assert_eq!(result.unwrap(), (i * i) as f64);
        }
    })
    .await;
}

// Pipelining.

#[tokio::test]
async fn calls_are_made_on_what_is_still_to_come() {
    with_peer(async |peer| {
        let counter = peer.api.make_counter(3.0).pipeline();
        let (first, second) = join(
            counter.increment(4.0).into_future(),
            counter.increment(None).into_future(),
        )
        .await;
        assert_eq!((first.unwrap(), second.unwrap()), (7.0, 8.0));
        assert_eq!(counter.value().await.unwrap(), 8.0);
    })
    .await;
}

#[tokio::test]
async fn promises_in_arguments_are_resolved_before_delivery() {
    with_peer(async |peer| {
        let three = peer.api.square(Value::from(3));
        assert_eq!(
            peer.api
                .call("square", (&three,))
                .cast::<f64>()
                .await
                .unwrap(),
            81.0
        );
        let nested = Value::object([("c", Value::from(&three))]);
        let argument = Value::object([
            ("a", Value::from(&three)),
            ("b", Value::Array(vec![three.into(), nested])),
        ]);
        let back = peer.api.echo(argument).await.unwrap();
        let nested = Value::object([("c", 9)]);
        let expected = Value::object([
            ("a", Value::from(9)),
            ("b", Value::Array(vec![9.into(), nested])),
        ]);
        assert!(is_same(&back, &expected), "{back:?}");
    })
    .await;
}

#[tokio::test]
async fn a_promise_of_a_capability_is_delivered_as_the_capability() {
    with_peer(async |peer| {
        let counter = peer.api.make_counter(10.0);
        assert_eq!(
            peer.api.increment_counter(&counter, 5.0).await.unwrap(),
            15.0
        );
        assert_eq!(counter.pipeline().value().await.unwrap(), 15.0);
    })
    .await;
}

#[tokio::test]
async fn a_failed_call_fails_everything_pipelined_on_it() {
    with_peer(async |peer| {
        let failed: Promise = peer.api.call("fail", ("broken",));
        let deeper = failed.property("a").property("b").call("c", ());
        let argument = peer.api.call("square", (&failed,));
        for promise in [deeper, failed.property("x"), argument, failed] {
            let error = promise.await.unwrap_err();
            assert_eq!(
                (error.kind(), error.message()),
                (ErrorKind::RangeError, "broken")
            );
        }
    })
    .await;
}

/// A function of this process that gives what comes out of the channel.
fn later() -> (oneshot::Sender<Result<Value>>, Promise) {
    let (sender, receiver) = oneshot::channel();
    let receiver = std::sync::Mutex::new(Some(receiver));
    let function = Capability::from_fn(move |_arguments| {
        let receiver = receiver.lock().unwrap().take();
        async move { receiver.unwrap().await.unwrap() }
    });
    let promise = function.invoke(());
    (sender, promise)
}

#[tokio::test]
async fn a_promise_of_ours_delays_only_the_call_it_is_an_argument_of() {
    with_peer(async |peer| {
        let (resolve, promise) = later();
        let result = peer.api.call("square", (promise,)).into_future();
        assert_eq!(peer.api.square(Value::from(2)).await.unwrap(), 4.0);
        resolve.send(Ok(6.into())).unwrap();
        assert_eq!(result.await.unwrap().as_f64(), Some(36.0));
    })
    .await;
}

#[tokio::test]
async fn a_promise_of_ours_that_fails_fails_the_call() {
    with_peer(async |peer| {
        let (resolve, promise) = later();
        let result = peer.api.call("square", (promise,)).into_future();
        resolve
            .send(Err(Error::type_error("local trouble")))
            .unwrap();
        let error = result.await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::TypeError, "local trouble")
        );
    })
    .await;
}

struct Squarer;

#[target(pub(crate))]
impl Squarer {
    pub fn square(&self, n: f64) -> Result<f64> {
        if n < 0.0 {
            Err(Error::range_error("no square"))
        } else {
            Ok(n * n)
        }
    }
}

#[tokio::test]
async fn a_promise_in_a_result_arrives_resolved() {
    with_peer(async |peer| {
        let result = peer.api.call("callSquare", (Squarer, 9)).await.unwrap();
        assert_eq!(result.field("result").unwrap().as_f64(), Some(81.0));
        let error = peer
            .api
            .call("callSquare", (Squarer, -9))
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::RangeError, "no square")
        );
        let own = peer
            .api
            .call_square(peer.api.cast(), Value::from(5))
            .await
            .unwrap();
        assert_eq!(own.field("result").unwrap().as_f64(), Some(25.0));
    })
    .await;
}

// Members.

#[tokio::test]
async fn a_method_read_as_a_value_is_a_function() {
    with_peer(async |peer| {
        let square = peer
            .api
            .property("square")
            .cast::<Capability>()
            .await
            .unwrap();
        assert_eq!(square.invoke((5,)).cast::<f64>().await.unwrap(), 25.0);
        assert_eq!(
            peer.api
                .call("callMe", (square, 4))
                .cast::<f64>()
                .await
                .unwrap(),
            14.0
        );
        let result = peer
            .api
            .call("callFunction", (peer.api.property("square"), 9))
            .await
            .unwrap();
        assert_eq!(result.field("result").unwrap().as_f64(), Some(81.0));
    })
    .await;
}

#[tokio::test]
async fn properties_are_reached_at_any_depth() {
    with_peer(async |peer| {
        let info = peer.api.info();
        assert_eq!(
            info.property("name").cast::<String>().await.unwrap(),
            "interop"
        );
        let incremented = info.property("counter").call("increment", (5,));
        assert_eq!(incremented.cast::<f64>().await.unwrap(), 105.0);
        assert_eq!(info.call("double", (4,)).cast::<f64>().await.unwrap(), 8.0);
        let list = info.property("nested").property("list");
        assert_eq!(list.index(1).cast::<f64>().await.unwrap(), 2.0);
        assert_eq!(list.cast::<Vec<u32>>().await.unwrap(), [1, 2, 3]);
        let second = info.property("nested").property("counters").index(1);
        assert_eq!(
            second.call("increment", ()).cast::<f64>().await.unwrap(),
            3.0
        );
    })
    .await;
}

#[tokio::test]
async fn a_result_holds_objects_and_functions_at_any_depth() {
    with_peer(async |peer| {
        let info = peer.api.info().await.unwrap();
        let names: Vec<_> = match &info {
            Value::Object(fields) => fields.iter().map(|(name, _)| name.to_owned()).collect(),
            other => panic!("{other:?}"),
        };
        assert_eq!(names, ["name", "version", "counter", "double", "nested"]);
        let Some(Value::Stub(double)) = info.field("double") else {
            panic!("{info:?}")
        };
        assert_eq!(double.invoke((8,)).cast::<f64>().await.unwrap(), 16.0);
        let counters = info
            .field("nested")
            .unwrap()
            .field("counters")
            .unwrap()
            .as_array()
            .unwrap();
        let Value::Stub(second) = &counters[1] else {
            panic!("{counters:?}")
        };
        assert_eq!(
            second.call("increment", ()).cast::<f64>().await.unwrap(),
            3.0
        );
        assert_eq!(second.property("value").cast::<f64>().await.unwrap(), 3.0);
    })
    .await;
}

#[tokio::test]
async fn absent_members_read_as_undefined_and_cannot_be_called() {
    with_peer(async |peer| {
        let absent = peer.api.property("nosuch");
        assert!(matches!(absent.clone().await.unwrap(), Value::Undefined));
        let error = peer.api.call("nosuch", ()).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::TypeError, "'nosuch' is not a function.")
        );
        assert_eq!(
            absent.property("deeper").await.unwrap_err().kind(),
            ErrorKind::TypeError
        );
    })
    .await;
}
