//! Our session in the place of the client: it makes the calls that `record.mjs` made, and gets the
//! server's frames.

use capnweb::{
    Blob, Body, Callback, Capability, Connection, Error, Options, ReadableStream, Request, Result,
    Stub, Value, WritableStream,
};
use futures_util::StreamExt;
use futures_util::future::{join, join3};

use super::{Differs, Side, assert_complete, compare, fall_silent, transcript};
use crate::interop_target::objects::Counter;
use crate::interop_target::samples::{self, text_of};
use crate::interop_target::streams::Sink;
use crate::support::eventually::AT_REST;

const RECORDINGS: &[(&str, Differs)] = &[
    // A call is pulled at once, before the first chunk; and as at the server, the end of a stream is
    // acknowledged on arrival.
    ("blob", Differs::Order),
    ("call", Differs::No),
    ("callback", Differs::No),
    ("error", Differs::No),
    ("error-props", Differs::No),
    ("fetch-types", Differs::Order),
    ("kept", Differs::No),
    ("map-array", Differs::No),
    // What is captured twice is sent once.
    (
        "map-nested",
        Differs::Frame {
            npm: r#"["push",["remap",1,[],[["import",0],["import",0]],[["pipeline",-1,["list"],[["pipeline",0]]],["remap",1,[],[["import",-2],["import",0]],[["pipeline",-1,["square"],[["pipeline",0]]],{"i":["pipeline",-2],"square":["pipeline",1]}]],["pipeline",2]]]]"#,
            ours: r#"["push",["remap",1,[],[["import",0]],[["pipeline",-1,["list"],[["pipeline",0]]],["remap",1,[],[["import",-1],["import",0]],[["pipeline",-1,["square"],[["pipeline",0]]],{"i":["pipeline",-2],"square":["pipeline",1]}]],["pipeline",2]]]]"#,
        },
    ),
    ("method-as-value", Differs::No),
    ("object-result", Differs::No),
    ("pipelined-chain", Differs::No),
    ("promise-argument", Differs::No),
    ("property-get", Differs::No),
    ("readable-argument", Differs::Order),
    ("readable-result", Differs::Order),
    ("release", Differs::No),
    ("typed-values", Differs::No),
    ("writable", Differs::No),
];

#[tokio::test]
async fn our_client_says_what_npm_said() {
    assert_complete(RECORDINGS.iter().map(|(name, _)| *name));
    let mut problems = String::new();
    for (name, differs) in RECORDINGS {
        if let Err(problem) = replay(name, *differs).await {
            problems.push_str(&problem);
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

async fn replay(name: &'static str, differs: Differs) -> Result<(), String> {
    let session = Connection::new(Capability::nothing(), &Options::default());
    let calls = tokio::spawn(make_calls(name, session.remote()));
    let (mut ours, mut npm) = (vec![fall_silent(&session).await], Vec::new());
    for turn in transcript(name) {
        match turn.side {
            Side::Client => npm.push(turn.frames),
            Side::Server => {
                turn.frames.iter().for_each(|frame| session.receive(frame));
                ours.push(fall_silent(&session).await);
            }
        }
    }
    // The last word may be the server's.
    npm.resize(ours.len(), Vec::new());
    compare(name, &ours, &npm, differs)?;
    assert!(calls.is_finished(), "{name} waits for something");
    calls
        .await
        .unwrap()
        .map_err(|error| format!("{name}: {error}\n"))?;
    assert_eq!(session.stats(), AT_REST, "{name}");
    Ok(())
}

/// The calls of `record.mjs`, by the name of the recording.
async fn make_calls(name: &str, api: Stub) -> Result<()> {
    match name {
        "blob" => {
            let blob = Blob {
                mime: "text/plain".to_owned(),
                bytes: "0123456789".into(),
            };
            api.call("echoBlob", (blob,)).await?;
        }
        "call" => {
            api.call("square", (7,)).await?;
            api.call("greet", ("Ada",)).await?;
            api.call("returnNull", ()).await?;
            api.call("returnUndefined", ()).await?;
            api.call("list", (3,)).await?;
        }
        "callback" => callback(&api).await?,
        "error" => {
            api.call("fail", ("out of range",)).await.unwrap_err();
            api.call("nosuch", ()).await.unwrap_err();
            api.call("throwSample", ("integer",)).await.unwrap_err();
        }
        "error-props" => {
            for kind in ["errorProps", "errorCause", "errorAggregate"] {
                api.call("throwSample", (kind,)).await.unwrap_err();
                api.call("check", (kind, samples::make(kind)?)).await?;
            }
        }
        "fetch-types" => fetch_types(&api).await?,
        "kept" => kept(&api).await?,
        "map-array" | "map-nested" => map(name, &api).await?,
        "method-as-value" => {
            let square = api.property("square").cast::<Capability>().await?;
            square.invoke((5,)).await?;
            api.call("callMe", (square.clone(), 2)).await?;
            drop(square);
            api.call("callFunction", (api.property("square"), 3))
                .await?;
        }
        "object-result" => {
            let info = api.property("info").await?;
            stub(&info, "counter").call("increment", ()).await?;
            stub(&info, "double").invoke((4,)).await?;
            drop(info);
            let list = Value::Array(vec![successor().into()]);
            api.call(
                "echo",
                (Value::object([
                    ("mine", Counter::new(1.0).into()),
                    ("list", list),
                ]),),
            )
            .await?;
        }
        "pipelined-chain" => {
            let counter = api.call("makeCounter", (3,));
            let calls = [
                counter.call("increment", (4,)),
                counter.call("increment", ()),
            ];
            let [first, second] = calls.map(|call| call.into_future());
            let _results = join(first, second).await;
        }
        "promise-argument" => {
            let (inner, counter) = (api.call("square", (3,)), api.call("makeCounter", (1,)));
            let square = api.call("square", (&inner,));
            let echo = api.call("echo", (Value::object([("a", Value::array([&inner]))]),));
            let increment = api.call("incrementCounter", (&counter, 5));
            let _results = join3(
                square.into_future(),
                echo.into_future(),
                increment.into_future(),
            )
            .await;
            drop(inner);
            drop(counter);
        }
        "property-get" => {
            let info = api.property("info");
            info.property("name").await?;
            info.property("nested").property("list").await?;
            info.property("counter").call("increment", (2,)).await?;
            api.property("nosuch").await?;
        }
        "readable-argument" => {
            api.call("sum", (ReadableStream::from_items([1, 2, 3]),))
                .await?;
        }
        "readable-result" => readable_result(&api).await?,
        "release" => {
            let tracked = api.call("makeTracked", ()).cast::<Capability>().await?;
            let again = tracked.call("self", ()).cast::<Capability>().await?;
            drop(tracked);
            again.call("ping", ()).await?;
            drop(again);
            drop(api.call("makeTracked", ()));
            api.call("liveTracked", ()).await?;
        }
        "typed-values" => {
            for kind in [
                "undefined",
                "inf",
                "-inf",
                "nan",
                "bigint",
                "date",
                "dateInvalid",
                "bytes",
                "arrayBuffer",
                "dataView",
                "int16Array",
                "bigUint64Array",
                "float64Array",
                "array",
                "object",
                "sparse",
                "string",
                "url",
                "headers",
            ] {
                api.call("echo", (samples::make(kind)?,)).await?;
            }
        }
        "writable" => writable(&api).await?,
        _ => panic!("no calls for {name}"),
    }
    Ok(())
}

async fn callback(api: &Stub) -> Result<()> {
    let tenfold = Callback::new(|(i,): (f64,)| async move { Result::<f64>::Ok(10.0 * i) });
    api.call("callMe", (tenfold, 3)).await?;
    api.call("incrementCounter", (Counter::new(5.0), 2)).await?;
    let failing =
        Capability::from_fn(|_| async { Result::<()>::Err(Error::type_error("not today")) });
    api.call("callMe", (failing, 1)).await.unwrap_err();
    Ok(())
}

async fn fetch_types(api: &Stub) -> Result<()> {
    let request = api.call("make", ("requestPlain",)).await?;
    api.call("check", ("requestPlain", request)).await?;
    let request = Request {
        url: "https://example.com/up?q=1".to_owned(),
        method: "POST".to_owned(),
        headers: vec![(
            "content-type".to_owned(),
            "text/plain;charset=UTF-8".to_owned(),
        )],
        body: Body::Stream(ReadableStream::from_bytes("hello".into())),
        extra: Default::default(),
    };
    let Value::Response(response) = api.call("serve", (request,)).await? else {
        panic!("no response")
    };
    assert_eq!(text_of(response.body).await?, "hello");
    Ok(())
}

async fn kept(api: &Stub) -> Result<()> {
    api.call("keep", ("k", successor())).await?;
    let kept = api.call("kept", ("k",));
    kept.call("stub", (1,)).await?;
    drop(kept);
    api.call("kept", ("k",)).await?;
    api.call("dropKept", ("k",)).await?;
    Ok(())
}

async fn map(name: &str, api: &Stub) -> Result<()> {
    let list = api.call("list", (3,));
    if name == "map-nested" {
        let rows = list.map(|mapper, i| {
            let outer = mapper.capture(api);
            outer.call("list", (&i,)).map(|mapper, j| {
                let square = mapper.capture(&outer).call("square", (j,));
                Value::object([("i", Value::from(&i)), ("square", square.into())])
            })
        });
        rows.await?;
        return Ok(());
    }
    list.map(|mapper, x| mapper.capture(api).call("square", (x,)))
        .await?;
    drop(list);
    let nothing = api.call("returnNull", ());
    nothing
        .map(|mapper, x| mapper.capture(api).call("square", (x,)))
        .await?;
    Ok(())
}

async fn readable_result(api: &Stub) -> Result<()> {
    let mut numbers = api.call("countTo", (3,)).cast::<ReadableStream>().await?;
    while numbers.next().await.transpose()?.is_some() {}
    drop(numbers);
    let mut chunks = api
        .call("countTo", (1, true))
        .cast::<ReadableStream>()
        .await?;
    while let Some(chunk) = chunks.next().await.transpose()? {
        stub(&chunk, "counter").call("increment", ()).await?;
    }
    Ok(())
}

async fn writable(api: &Stub) -> Result<()> {
    let sink = api.call("openSink", ()).cast::<WritableStream>().await?;
    sink.write("one").await?;
    sink.write(Value::object([("two", 2)])).await?;
    sink.close().await?;
    api.call("sinkContents", ()).await?;
    api.call(
        "writeTo",
        (WritableStream::new(Sink::new(f64::INFINITY)), 2),
    )
    .await?;
    Ok(())
}

/// The function n -> n + 1.
fn successor() -> Capability {
    Capability::from_fn(|mut arguments| {
        std::future::ready(arguments.take::<f64>("n").map(|n| n + 1.0))
    })
}

/// A capability in a result.
fn stub(value: &Value, field: &str) -> Capability {
    match value.field(field) {
        Some(Value::Stub(stub)) => stub.clone(),
        other => panic!("{field} is {other:?}"),
    }
}
