//! What is fuzzed. The corpus runs through the same functions as an ordinary test.

use std::cell::Cell;
use std::sync::{Arc, Mutex, Once};

use capnweb::expression::{Capture, Expression};
use capnweb::limits::Limits;
use capnweb::message::Message;
use capnweb::{
    Arguments, Capability, Connection, Error, Member, Options, ReadableStream, Reply, Stats,
    Target, Tasks, Value, WritableStream,
};

/// What is read and printed reads back the same, and nothing makes the parser panic, nor the count before it.
pub(crate) fn expression(input: &[u8]) {
    let census = capnweb::weight::census(input);
    assert!(census.values <= input.len() && census.filled <= census.containers);
    let text = String::from_utf8_lossy(input);
    let limits = Limits::default();
    if let Ok(expression) = Expression::parse(&text, &limits) {
        let printed = expression.print();
        let again = Expression::parse(&printed, &limits).expect("what was printed can be read");
        assert_eq!(printed, again.print(), "printing is a fixpoint");
    }
    if let Ok(message) = Message::parse(&text, &limits) {
        let printed = message.print();
        let again = Message::parse(&printed, &limits).expect("what was printed can be read");
        assert_eq!(printed, again.print(), "printing is a fixpoint");
    }
}

thread_local! {
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

/// Nothing a peer sends, one frame on each line, makes a session panic, hang or keep anything for ever.
/// Behind a line `relay` the frames go to the two sessions of a relay.
pub(crate) fn session(input: &[u8]) {
    static COUNT_PANICS: Once = Once::new();
    // A session survives panics of handlers, so ours would go unnoticed inside one.
    COUNT_PANICS.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.set(PANICS.get() + 1);
            report(panic);
        }));
    });
    let panics = PANICS.get();
    let text = String::from_utf8_lossy(input);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let tasks = Tasks::new();
        let options = Options::default().limits(limits()).tasks(tasks.clone());
        match text.strip_prefix("relay\n") {
            Some(frames) => {
                let (one, other) = capnweb::relay(&options);
                converse(&[one, other], frames).await;
            }
            None => {
                converse(
                    &[Connection::new(
                        Capability::new(Sample::default()),
                        &options,
                    )],
                    &text,
                )
                .await
            }
        }
        tasks.stop().await;
    });
    assert_eq!(PANICS.get(), panics, "something panicked");
}

/// Takes the frames and looks at what is sent. Those that begin with `>` are for the second session.
async fn converse(connections: &[Connection], frames: &str) {
    let mut ids = vec![0; connections.len()];
    for frame in frames.lines() {
        match (frame.strip_prefix('>'), connections) {
            (Some(frame), [_, second]) => second.receive(frame),
            _ => connections[0].receive(frame),
        }
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
        for (connection, last) in connections.iter().zip(&mut ids) {
            connection
                .take_outgoing()
                .iter()
                .for_each(|frame| check_sent(frame, last));
        }
    }
    for connection in connections {
        connection.end(Error::new("the input is over"));
    }
    for (connection, last) in connections.iter().zip(&mut ids) {
        assert_eq!(connection.stats(), Stats::default());
        connection
            .take_outgoing()
            .iter()
            .for_each(|frame| check_sent(frame, last));
    }
}

/// A peer with the same limits can read it, and no id is introduced twice.
fn check_sent(frame: &str, last: &mut i64) {
    let message = match Message::parse(frame, &limits()) {
        Ok(message) => message,
        Err(error) => panic!("we sent an unreadable frame, {error}: {frame}"),
    };
    let mut ids = Vec::new();
    match &message {
        Message::Push(expression) | Message::Stream(expression) => introduced(expression, &mut ids),
        Message::Resolve(_, expression) | Message::Reject(_, expression) => {
            introduced(expression, &mut ids)
        }
        Message::Abort(expression) => introduced(expression, &mut ids),
        Message::Pull(_) | Message::Release(..) | Message::Pipe => {}
    }
    for id in ids {
        assert_eq!(id, *last - 1, "ids are given out one by one: {frame}");
        *last = id;
    }
}

/// The ids that an expression introduces, in order.
fn introduced(expression: &Expression, ids: &mut Vec<i64>) {
    let mut all = |expressions: &[Expression]| {
        expressions
            .iter()
            .for_each(|expression| introduced(expression, ids))
    };
    match expression {
        Expression::Export(id) | Expression::Promise(id) | Expression::Writable(id) => {
            ids.push(*id)
        }
        Expression::Array(items) => all(items),
        Expression::Object(fields) => fields.values().for_each(|field| introduced(field, ids)),
        Expression::Error(error) => error
            .props
            .iter()
            .flatten()
            .for_each(|(_, prop)| introduced(prop, ids)),
        Expression::Import(reference) | Expression::Pipeline(reference) => {
            reference.args.iter().for_each(|args| all(args));
        }
        Expression::Remap(remap) => {
            ids.extend(remap.captures.iter().filter_map(|capture| match capture {
                Capture::Export(id) => Some(*id),
                Capture::Import(_) => None,
            }))
        }
        _ => {}
    }
}

/// Small enough for an input to exceed each.
fn limits() -> Limits {
    Limits {
        max_message_bytes: 64 << 10,
        max_depth: 32,
        max_exports: 200,
        max_imports: 200,
        max_calls_in_flight: 50,
        max_awaited_promises: 2000,
        max_queued_bytes: 256 << 10,
        max_map_elements: 500,
        max_map_depth: 3,
        max_blob_bytes: 4096,
        ..Limits::default()
    }
}

/// A target with a bit of everything.
#[derive(Default)]
struct Sample {
    kept: Mutex<Vec<Value>>,
}

impl Target for Sample {
    fn member(&self, name: &str) -> Member {
        match name {
            "settings" | "itself" => Member::Getter,
            "absent" => Member::Absent,
            _ => Member::Method,
        }
    }

    fn get(self: Arc<Self>, property: &str) -> Reply {
        match property {
            "settings" => Reply::ready(Value::object([
                ("list", Value::array([1, 2, 3])),
                ("name", "sample".into()),
            ])),
            _ => Reply::ready(Capability::from_target(self)),
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Reply {
        let mut arguments = arguments.rest().into_iter();
        let mut next = || arguments.next().unwrap_or_default();
        match method {
            "echo" => Reply::ready(next()),
            "list" => {
                let length = next().as_f64().unwrap_or(3.0).clamp(0.0, 20.0) as u32;
                Reply::ready((0..length).collect::<Vec<_>>())
            }
            "raw" => Reply::ready(next().to_raw().map_or(Value::Null, Value::from)),
            "throw" => Reply::error(match next() {
                Value::Error(error) => error,
                value => Error::thrown(value),
            }),
            "later" => {
                let value = next();
                Reply::future(async move {
                    tokio::task::yield_now().await;
                    value
                })
            }
            "never" => Reply::future(std::future::pending::<()>()),
            "call" => match next() {
                Value::Stub(function) => {
                    Reply::ready(function.invoke(arguments.collect::<Vec<_>>()))
                }
                _ => Reply::error(Error::type_error("not a function")),
            },
            "call2" => match next() {
                Value::Stub(function) => {
                    let result = function.call("f", arguments.collect::<Vec<_>>());
                    Reply::ready(Value::object([
                        ("a", Value::from(&result)),
                        ("b", result.property("c").into()),
                    ]))
                }
                _ => Reply::error(Error::type_error("not a function")),
            },
            "map" => match next() {
                Value::Stub(function) => Reply::ready(
                    function
                        .call("f", ())
                        .map(|_, element| element.call("g", (element.property("p"),))),
                ),
                _ => Reply::error(Error::type_error("not a function")),
            },
            "keep" => {
                self.kept.lock().expect("nothing panics here").push(next());
                Reply::ready(())
            }
            "kept" => Reply::ready(
                self.kept
                    .lock()
                    .expect("nothing panics here")
                    .last()
                    .cloned()
                    .unwrap_or_default(),
            ),
            "forget" => {
                let kept = std::mem::take(&mut *self.kept.lock().expect("nothing panics here"));
                drop(kept);
                Reply::ready(())
            }
            "readable" => {
                Reply::ready(ReadableStream::from_items(vec![next(), 2.into(), 3.into()]))
            }
            "collect" => match next() {
                Value::Readable(stream) => Reply::future(stream.collect_bytes(4096)),
                _ => Reply::error(Error::type_error("not a stream")),
            },
            "writable" => {
                let (writable, readable) = WritableStream::pipe();
                self.kept
                    .lock()
                    .expect("nothing panics here")
                    .push(Value::Readable(readable));
                Reply::ready(writable)
            }
            "write" => match next() {
                Value::Writable(stream) => {
                    let chunk = next();
                    Reply::future(async move {
                        stream.write(chunk).await?;
                        stream.close().await
                    })
                }
                _ => Reply::error(Error::type_error("not a stream")),
            },
            _ => Reply::no_such_method(method),
        }
    }

    fn invoke(self: Arc<Self>, arguments: Arguments) -> Reply {
        Reply::ready(arguments.rest())
    }
}
