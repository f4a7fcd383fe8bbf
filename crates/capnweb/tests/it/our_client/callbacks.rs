//! Functions and objects of ours that the npm server calls.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use capnweb::{Callback, Capability, Error, ErrorKind, Result, Stub, Value, target};

use super::with_peer;
use crate::interop_target::objects::Counter;
use crate::support::eventually::eventually;

#[tokio::test]
async fn callbacks_are_called_in_order_and_their_results_used() {
    with_peer(async |peer| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        let callback = Callback::new(move |(i,): (u32,)| {
            log.lock().unwrap().push(i);
            async move { Result::<f64>::Ok(f64::from(2 * i)) }
        });
        assert_eq!(peer.api.call_me(callback, 10_u32).await.unwrap(), 90.0);
        assert_eq!(*seen.lock().unwrap(), (0..10).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn an_error_of_a_callback_reaches_the_caller() {
    with_peer(async |peer| {
        let callback = Callback::new(|(_i,): (u32,)| async {
            Result::<f64>::Err(Error::of(ErrorKind::UriError, "from below").with_code("E_BELOW"))
        });
        let error = peer.api.call_me(callback, 2_u32).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::UriError, "from below")
        );
        assert_eq!(error.code(), Some("E_BELOW"));
    })
    .await;
}

#[tokio::test]
async fn a_callback_may_call_back() {
    with_peer(async |peer| {
        let api = peer.api.clone();
        let function = Capability::from_fn(move |mut arguments| {
            let api = api.clone();
            async move { Result::<f64>::Ok(api.square(arguments.take::<Value>("n")?).await? + 1.0) }
        });
        let result = peer.api.call("callFunction", (function, 6)).await.unwrap();
        assert_eq!(result.field("result").unwrap().as_f64(), Some(37.0));
    })
    .await;
}

#[tokio::test]
async fn a_callback_may_answer_with_a_promise_of_the_other_side() {
    with_peer(async |peer| {
        let api = peer.api.clone();
        let function = Capability::from_fn(move |mut arguments| {
            let promise = arguments.take::<Value>("n").map(|n| api.square(n));
            async move { promise }
        });
        let result = peer.api.call("callFunction", (function, 7)).await.unwrap();
        assert_eq!(result.field("result").unwrap().as_f64(), Some(49.0));
    })
    .await;
}

#[tokio::test]
async fn a_capability_that_a_callback_gives_comes_home() {
    with_peer(async |peer| {
        let counter = Arc::new(Counter::new(3.0));
        let given = Capability::from_target(counter.clone());
        let function = Capability::from_fn(move |_arguments| std::future::ready(given.clone()));
        let result = peer.api.call("callFunction", (function, 0)).await.unwrap();
        let Some(Value::Stub(stub)) = result.field("result") else {
            panic!("{result:?}")
        };
        assert_eq!(
            stub.call("increment", (2,)).cast::<f64>().await.unwrap(),
            5.0
        );
        assert_eq!(counter.value(), 5.0);
    })
    .await;
}

#[tokio::test]
async fn objects_of_ours_are_called() {
    with_peer(async |peer| {
        let counter = Arc::new(Counter::new(1.0));
        let stub = Stub::<Counter>::from_capability(Capability::from_target(counter.clone()));
        assert_eq!(peer.api.increment_counter(&stub, 4.0).await.unwrap(), 5.0);
        assert_eq!(peer.api.increment_counter(&stub, None).await.unwrap(), 6.0);
        assert_eq!(counter.value(), 6.0);
    })
    .await;
}

/// Counts how many of it were dropped.
struct Watched(Arc<AtomicU32>);

#[target(pub(crate))]
impl Watched {
    pub fn increment(&self, by: f64) -> f64 {
        by
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn an_object_passed_in_an_argument_is_released_after_the_call() {
    with_peer(async |peer| {
        let dropped = Arc::new(AtomicU32::new(0));
        let result = peer
            .api
            .call("incrementCounter", (Watched(dropped.clone()), 3));
        assert_eq!(result.cast::<f64>().await.unwrap(), 3.0);
        eventually("objects dropped", 1, async || {
            dropped.load(Ordering::SeqCst)
        })
        .await;
    })
    .await;
}
