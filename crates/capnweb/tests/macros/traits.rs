//! `#[target]` on a trait.

use std::sync::Mutex;

use capnweb::{
    Callback, Error, ErrorKind, ReadableStream, Result, Stub, Value, WritableStream, target,
};
use expect_test::expect;
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::joined::Joined;

/// A number that many can change.
#[target]
pub(crate) trait Counter {
    /// Adds `by`, or one.
    async fn increment(&self, by: Option<f64>) -> Result<f64>;

    /// The value so far.
    fn peek(&self) -> f64;

    /// The value so far, as a property.
    #[getter]
    fn value(&self) -> f64;

    /// As [`value`](Self::value), slowly.
    #[getter(name = "slow")]
    async fn value_later(&self) -> Result<f64>;

    /// What others are derived from, unless an implementation knows better.
    async fn twice(&self) -> Result<f64> {
        let once = self.increment(None).await?;
        Ok(once * 2.0)
    }

    fn set_to(&self, new_value: f64, label_text: String);

    #[method(name = "self")]
    fn this(&self) -> Stub<dyn Counter>;

    fn name(&self) -> &str;

    async fn name_later(&self) -> &str;

    fn or_fail(&self, code: String) -> Result<(), Refusal>;
}

pub(crate) struct Refusal(String);

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::range_error("refused").with_code(refusal.0)
    }
}

#[derive(Default)]
struct Memory(Mutex<f64>);

impl Counter for Memory {
    async fn increment(&self, by: Option<f64>) -> Result<f64> {
        tokio::task::yield_now().await;
        let mut value = self.0.lock().expect("no test panics while it holds it");
        *value += by.unwrap_or(1.0);
        Ok(*value)
    }

    fn peek(&self) -> f64 {
        *self.0.lock().expect("no test panics while it holds it")
    }

    fn value(&self) -> f64 {
        self.peek()
    }

    async fn value_later(&self) -> Result<f64> {
        Ok(self.peek())
    }

    fn set_to(&self, new_value: f64, label_text: String) {
        assert_eq!(label_text, "label");
        *self.0.lock().expect("no test panics while it holds it") = new_value;
    }

    fn this(&self) -> Stub<dyn Counter> {
        Self(Mutex::new(self.peek())).into_stub()
    }

    fn name(&self) -> &str {
        "memory"
    }

    async fn name_later(&self) -> &str {
        self.name()
    }

    fn or_fail(&self, code: String) -> Result<(), Refusal> {
        Err(Refusal(code))
    }
}

/// An object that is given others.
#[target]
trait Lab {
    async fn increment(&self, counter: Stub<dyn Counter>, by: f64) -> Result<f64>;
    async fn maybe_increment(&self, counter: Option<Stub<dyn Counter>>) -> Result<Option<f64>>;
    async fn call_back(&self, function: Callback<(f64, String), f64>) -> Result<f64>;
    fn doubler(&self) -> Callback<(f64,), f64>;
    async fn sum(&self, numbers: ReadableStream<f64>) -> Result<f64>;
    fn count_to(&self, last: u32) -> ReadableStream<u32>;
    async fn write_to(&self, out: WritableStream) -> Result<()>;
    fn counters(&self, count: usize) -> Vec<Stub<dyn Counter>>;
    fn add(&self, one: f64, other: f64) -> f64;
}

struct Bench;

impl Lab for Bench {
    async fn increment(&self, counter: Stub<dyn Counter>, by: f64) -> Result<f64> {
        counter.increment(by).await
    }

    async fn maybe_increment(&self, counter: Option<Stub<dyn Counter>>) -> Result<Option<f64>> {
        match counter {
            Some(counter) => counter.increment(None).await.map(Some),
            None => Ok(None),
        }
    }

    async fn call_back(&self, function: Callback<(f64, String), f64>) -> Result<f64> {
        function.call((2.0, "two".to_owned())).await
    }

    fn doubler(&self) -> Callback<(f64,), f64> {
        Callback::new(|(number,): (f64,)| async move { number * 2.0 })
    }

    async fn sum(&self, numbers: ReadableStream<f64>) -> Result<f64> {
        numbers
            .try_fold(0.0, |sum, number| async move { Ok(sum + number) })
            .await
    }

    fn count_to(&self, last: u32) -> ReadableStream<u32> {
        ReadableStream::from_items(1..=last).cast()
    }

    async fn write_to(&self, out: WritableStream) -> Result<()> {
        out.write("hello").await?;
        out.close().await
    }

    fn counters(&self, count: usize) -> Vec<Stub<dyn Counter>> {
        (0..count)
            .map(|start| Memory(Mutex::new(start as f64)).into_stub())
            .collect()
    }

    fn add(&self, one: f64, other: f64) -> f64 {
        one + other
    }
}

#[tokio::test]
async fn calls_an_object_of_this_process() {
    let counter = Memory::default().into_stub();
    assert_eq!(counter.increment(2.0).await.unwrap(), 2.0);
    assert_eq!(counter.increment(None).await.unwrap(), 3.0);
    assert_eq!(counter.increment(Some(1.0)).await.unwrap(), 4.0);
    assert_eq!(counter.peek().await.unwrap(), 4.0);
    assert_eq!(counter.value().await.unwrap(), 4.0);
    assert_eq!(counter.value_later().await.unwrap(), 4.0);
    assert_eq!(counter.twice().await.unwrap(), 10.0);
    assert_eq!(counter.name().await.unwrap(), "memory");
    assert_eq!(counter.name_later().await.unwrap(), "memory");
    assert_eq!(counter.this().pipeline().peek().await.unwrap(), 5.0);
}

#[tokio::test]
async fn calls_an_object_of_a_peer() {
    let joined = Joined::new(Memory::default().into_stub());
    let counter = joined.stub::<dyn Counter>();
    assert_eq!(joined.wait(counter.increment(2.0)).await.unwrap(), 2.0);
    assert_eq!(joined.wait(counter.value()).await.unwrap(), 2.0);
    assert_eq!(joined.wait(counter.value_later()).await.unwrap(), 2.0);
    joined.wait(counter.set_to(7.0, "label")).await.unwrap();
    assert_eq!(joined.wait(counter.peek()).await.unwrap(), 7.0);
    drop(counter);
    joined.end().await;
}

#[tokio::test]
async fn writes_camel_case_and_given_names() {
    let joined = Joined::new(Memory::default().into_stub());
    let counter = joined.stub::<dyn Counter>();
    let _calls = (
        counter.set_to(7.0, "label"),
        counter.this(),
        counter.value_later().into_future(),
    );
    expect![[r#"
        ["push",["pipeline",0,["setTo"],[7,"label"]]]
        ["push",["pipeline",0,["self"],[]]]
        ["push",["pipeline",0,["slow"]]]
        ["pull",3]
    "#]]
    .assert_eq(&joined.sent());
}

#[tokio::test]
async fn pipelines_a_result_into_calls_and_arguments() {
    let joined = Joined::new(Memory::default().into_stub());
    let counter = joined.stub::<dyn Counter>();
    let first = counter.increment(5.0);
    let copy = counter.this().pipeline();
    let second = copy.increment(&first);
    let third = copy.increment(first);
    let third = third.into_future();
    expect![[r#"
        ["push",["pipeline",0,["increment"],[5]]]
        ["push",["pipeline",0,["self"],[]]]
        ["push",["pipeline",2,["increment"],[["pipeline",1]]]]
        ["push",["pipeline",2,["increment"],[["pipeline",1]]]]
        ["release",1,1]
        ["pull",4]
    "#]]
    .assert_eq(&joined.sent());
    assert_eq!(joined.wait(third).await.unwrap(), 10.0);
    drop((counter, copy, second));
    joined.end().await;
}

#[tokio::test]
async fn maps_over_typed_elements() {
    let joined = Joined::new(Bench.into_stub());
    let lab = joined.stub::<dyn Lab>();
    let values = lab
        .counters(3_usize)
        .map(|_mapper, counter| counter.pipeline().peek());
    assert_eq!(joined.wait(values).await.unwrap(), [0.0, 1.0, 2.0]);
    drop(lab);
    joined.end().await;
}

#[tokio::test]
async fn passes_stubs_callbacks_and_streams_both_ways() {
    let joined = Joined::new(Bench.into_stub());
    let lab = joined.stub::<dyn Lab>();
    let counter = Memory::default().into_stub();

    assert_eq!(
        joined.wait(lab.increment(&counter, 4.0)).await.unwrap(),
        4.0
    );
    assert_eq!(
        joined
            .wait(lab.increment(counter.clone(), lab.add(1.0, 1.0)))
            .await
            .unwrap(),
        6.0
    );
    assert_eq!(joined.wait(lab.maybe_increment(None)).await.unwrap(), None);
    assert_eq!(
        joined.wait(lab.maybe_increment(&counter)).await.unwrap(),
        Some(7.0)
    );

    let function =
        Callback::new(|(number, text): (f64, String)| async move { number + text.len() as f64 });
    assert_eq!(joined.wait(lab.call_back(function)).await.unwrap(), 5.0);
    let doubler = joined.wait(lab.doubler()).await.unwrap();
    assert_eq!(joined.wait(doubler.call((21.0,))).await.unwrap(), 42.0);

    let numbers = ReadableStream::from_items([1.0, 2.0, 3.0]).cast();
    assert_eq!(joined.wait(lab.sum(numbers)).await.unwrap(), 6.0);
    let count = joined.wait(lab.count_to(3_u32)).await.unwrap();
    let count: Vec<_> = joined
        .wait(count.map(Result::unwrap).collect::<Vec<_>>())
        .await;
    assert_eq!(count, [1, 2, 3]);

    let (out, written) = WritableStream::pipe();
    let write = lab.write_to(out).into_future();
    let written = joined
        .wait(written.map(Result::unwrap).collect::<Vec<_>>())
        .await;
    assert_eq!(written[0].as_str(), Some("hello"));
    joined.wait(write).await.unwrap();

    drop((lab, counter, doubler));
    joined.end().await;
}

#[tokio::test]
async fn reads_missing_undefined_and_null_as_none() {
    let counter = Memory::default().into_stub();
    assert_eq!(
        counter.call("increment", ()).await.unwrap().as_f64(),
        Some(1.0)
    );
    assert_eq!(
        counter
            .call("increment", (Value::Undefined,))
            .await
            .unwrap()
            .as_f64(),
        Some(2.0)
    );
    assert_eq!(
        counter
            .call("increment", (Value::Null,))
            .await
            .unwrap()
            .as_f64(),
        Some(3.0)
    );
    assert_eq!(
        counter
            .call("increment", (1.0, "too", "many"))
            .await
            .unwrap()
            .as_f64(),
        Some(4.0)
    );
}

#[tokio::test]
async fn names_the_argument_that_is_wrong() {
    let counter = Memory::default().into_stub();
    let lab = Bench.into_stub();
    let mut errors = Vec::new();
    for promise in [
        counter.call("increment", ("two",)),
        counter.call("setTo", ()),
        counter.call("setTo", (1.0, 2.0)),
        counter.call("setTo", (Value::Null, "label")),
        lab.call("increment", (1.0, 2.0)),
        lab.call("callBack", ("f",)),
        lab.call("sum", (vec![1.0],)),
        lab.call("writeTo", (true,)),
    ] {
        let error = promise.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TypeError);
        errors.push(error.message().to_owned());
    }
    expect![[r#"
        argument 'by': expected a number, got a string
        argument 'newValue': expected a number, got undefined
        argument 'labelText': expected a string, got a number
        argument 'newValue': expected a number, got null
        argument 'counter': expected a stub, got a number
        argument 'function': expected a function, got a string
        argument 'numbers': expected a ReadableStream, got an array
        argument 'out': expected a WritableStream, got a boolean"#]]
    .assert_eq(&errors.join("\n"));
    assert_eq!(counter.peek().await.unwrap(), 0.0);
}

#[tokio::test]
async fn turns_errors_of_its_own_into_javascripts() {
    let counter = Memory::default().into_stub();
    let error = counter.or_fail("E42").await.unwrap_err();
    assert_eq!(
        (error.kind(), error.code()),
        (ErrorKind::RangeError, Some("E42"))
    );
}

#[tokio::test]
async fn has_no_other_members() {
    let counter = Memory::default().into_stub();
    for name in [
        "set_to",
        "twoTimes",
        "into_stub",
        "intoStub",
        "toString",
        "constructor",
        "value_later",
        "this",
    ] {
        let value = counter.property(name).await.unwrap();
        assert!(matches!(value, Value::Undefined), "{name}");
        assert_eq!(
            counter.call(name, ()).await.unwrap_err().kind(),
            ErrorKind::TypeError,
            "{name}"
        );
    }
}
