//! `.map()` recorded here and run by the npm server.

use std::sync::{Arc, Mutex};

use capnweb::{Callback, Capability, Date, ErrorKind, Promise, Result, Stub, Value};

use super::with_peer;
use crate::interop_target::InteropTarget;
use crate::interop_target::objects::Counter;
use crate::interop_target::samples::is_same;

#[tokio::test]
async fn an_array_is_mapped_element_by_element() {
    with_peer(async |peer| {
        let squares = peer
            .api
            .call("list", (6,))
            .map(|mapper, x| mapper.capture(&peer.api).call("square", (x,)));
        assert_eq!(
            squares.cast::<Vec<f64>>().await.unwrap(),
            [0.0, 1.0, 4.0, 9.0, 16.0, 25.0]
        );
        let typed: Promise<Vec<f64>> = peer.api.list(3_u32).map(|mapper, x: Promise<u32>| {
            let api: Stub<InteropTarget> = mapper.capture(&peer.api);
            api.call("square", (x,)).cast()
        });
        assert_eq!(typed.await.unwrap(), [0.0, 1.0, 4.0]);
    })
    .await;
}

#[tokio::test]
async fn nothing_passes_through_and_a_single_value_is_mapped_once() {
    with_peer(async |peer| {
        let square = |promise: Promise| {
            promise.map(|mapper, x| mapper.capture(&peer.api).call("square", (x,)))
        };
        assert!(matches!(
            square(peer.api.call("returnNull", ())).await.unwrap(),
            Value::Null
        ));
        assert!(matches!(
            square(peer.api.call("returnUndefined", ())).await.unwrap(),
            Value::Undefined
        ));
        assert_eq!(
            square(peer.api.call("returnNumber", (6,)))
                .await
                .unwrap()
                .as_f64(),
            Some(36.0)
        );
        assert!(
            square(peer.api.call("list", (0,)))
                .await
                .unwrap()
                .as_array()
                .unwrap()
                .is_empty()
        );
    })
    .await;
}

#[tokio::test]
async fn a_map_may_hold_a_map_that_uses_what_the_outer_one_has() {
    with_peer(async |peer| {
        let rows = peer.api.call("list", (3,)).map(|mapper, i| {
            let api = mapper.capture(&peer.api);
            api.call("list", (&i,)).map(|mapper, j| {
                let square = mapper.capture(&api).call("square", (j,));
                Value::object([("i", Value::from(&i)), ("square", square.into())])
            })
        });
        let cell = |i: u32, square: u32| Value::object([("i", i), ("square", square)]);
        let expected = Value::array([
            Value::Array(vec![]),
            Value::Array(vec![cell(1, 0)]),
            Value::Array(vec![cell(2, 0), cell(2, 1)]),
        ]);
        let rows = rows.await.unwrap();
        assert!(is_same(&rows, &expected), "{rows:?}");
    })
    .await;
}

#[tokio::test]
async fn an_object_of_the_server_is_captured() {
    with_peer(async |peer| {
        let list = peer.api.call("list", (4,));
        let counter = peer.api.make_counter(10.0).await.unwrap();
        let counts = list.map(|mapper, i| mapper.capture(&counter).call("increment", (i,)));
        assert_eq!(
            counts.cast::<Vec<f64>>().await.unwrap(),
            [10.0, 11.0, 13.0, 16.0]
        );
        assert_eq!(counter.value().await.unwrap(), 16.0);
        let promised = peer.api.make_counter(0.0).pipeline();
        let counts = list.map(|mapper, i| mapper.capture(&promised).call("increment", (i,)));
        assert_eq!(
            counts.cast::<Vec<f64>>().await.unwrap(),
            [0.0, 1.0, 3.0, 6.0]
        );
    })
    .await;
}

#[tokio::test]
async fn a_function_of_ours_is_captured() {
    with_peer(async |peer| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        let function = Callback::new(move |(n,): (f64,)| {
            log.lock().unwrap().push(n);
            async move { Result::<f64>::Ok(10.0 * n) }
        });
        let function: Stub = Stub::from_capability(function.capability().clone());
        let mapped = peer
            .api
            .call("list", (3,))
            .map(|mapper, i| mapper.capture(&function).invoke((i,)));
        assert_eq!(mapped.cast::<Vec<f64>>().await.unwrap(), [0.0, 10.0, 20.0]);
        assert_eq!(*seen.lock().unwrap(), [0.0, 1.0, 2.0]);
    })
    .await;
}

#[tokio::test]
async fn an_object_of_another_session_is_captured() {
    with_peer(async |peer| {
        let other = peer.another().await;
        let counter = other.api.make_counter(0.0).await.unwrap();
        let mapped = peer
            .api
            .call("list", (3,))
            .map(|mapper, i| mapper.capture(&counter).call("increment", (i,)));
        assert_eq!(mapped.cast::<Vec<f64>>().await.unwrap(), [0.0, 1.0, 3.0]);
        drop(counter);
        other.finish().await;
    })
    .await;
}

#[tokio::test]
async fn elements_become_objects_with_literals_in_them() {
    with_peer(async |peer| {
        let fixed = || Value::Array(vec![1.into(), "x".into(), Value::Null]);
        let when = || Value::from(Date::from_milliseconds(5.0));
        let mapped = peer.api.call("list", (2,)).map(|mapper, i| {
            let square = mapper.capture(&peer.api).call("square", (&i,));
            Value::object([
                ("i", i.into()),
                ("square", square.into()),
                ("fixed", fixed()),
                ("when", when()),
            ])
        });
        let row = |i: u32| {
            Value::object([
                ("i", i.into()),
                ("square", i.into()),
                ("fixed", fixed()),
                ("when", when()),
            ])
        };
        let mapped = mapped.await.unwrap();
        assert!(
            is_same(&mapped, &Value::array([row(0), row(1)])),
            "{mapped:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn elements_become_capabilities() {
    with_peer(async |peer| {
        let mapped = peer
            .api
            .call("list", (3,))
            .map(|mapper, i| mapper.capture(&peer.api).call("makeCounter", (i,)));
        let counters = mapped.cast::<Vec<Capability>>().await.unwrap();
        for (i, counter) in counters.iter().enumerate() {
            let counter = Stub::<Counter>::from_capability(counter.clone());
            assert_eq!(counter.increment(10.0).await.unwrap(), 10.0 + i as f64);
        }
    })
    .await;
}

#[tokio::test]
async fn a_property_is_mapped_by_members_of_its_elements() {
    with_peer(async |peer| {
        let counters = peer.api.info().property("nested").property("counters");
        let values = counters.map(|_, counter| counter.call("increment", (5,)));
        assert_eq!(values.cast::<Vec<f64>>().await.unwrap(), [6.0, 7.0]);
        let read = counters.map(|_, counter| counter.property("value"));
        assert_eq!(read.cast::<Vec<f64>>().await.unwrap(), [1.0, 2.0]);
    })
    .await;
}

#[tokio::test]
async fn one_bad_element_fails_the_map() {
    with_peer(async |peer| {
        let mapped = peer
            .api
            .call("list", (3,))
            .map(|mapper, _| mapper.capture(&peer.api).call("fail", ("bad",)));
        let error = mapped.await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::RangeError, "bad")
        );
    })
    .await;
}

#[tokio::test]
async fn a_thousand_elements_are_mapped() {
    with_peer(async |peer| {
        let squares = peer
            .api
            .call("list", (1000,))
            .map(|mapper, x| mapper.capture(&peer.api).call("square", (x,)));
        let squares = squares.cast::<Vec<f64>>().await.unwrap();
        assert_eq!(squares.len(), 1000);
        assert!(
            squares
                .iter()
                .enumerate()
                .all(|(i, square)| *square == (i * i) as f64)
        );
    })
    .await;
}
