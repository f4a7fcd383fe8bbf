//! For all writes and all times of reading, a stream gives a prefix of what was written, in order, and keeps
//! nothing.

use std::sync::{Arc, Mutex};

use capnweb::{
    Any, Arguments, Capability, Connection, Error, Member, Options, ReadableStream, Reply, Stats,
    Target, Value,
};
use futures_util::{FutureExt, StreamExt};
use proptest::prelude::*;

use crate::sequences::config;

/// How a reader reads.
#[derive(Clone, Copy, Debug)]
enum Step {
    Read,
    Deliver,
    Rest,
}

/// Takes a stream and keeps it.
#[derive(Default)]
struct Taker(Mutex<Option<ReadableStream>>);

impl Target for Taker {
    fn member(&self, _name: &str) -> Member {
        Member::Method
    }

    fn call(self: Arc<Self>, _method: &str, mut arguments: Arguments) -> Reply {
        Reply::ready(arguments.take("stream").map(|stream| {
            *self.0.lock().expect("nothing panics here") = Some(stream);
        }))
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![3 => Just(Step::Read), 3 => Just(Step::Deliver), 1 => Just(Step::Rest)]
}

fn deliver(client: &Connection, server: &Connection) -> bool {
    let (to_server, to_client) = (client.take_outgoing(), server.take_outgoing());
    let any = !to_server.is_empty() || !to_client.is_empty();
    to_server.iter().for_each(|frame| server.receive(frame));
    to_client.iter().for_each(|frame| client.receive(frame));
    any
}

async fn settle(client: &Connection, server: &Connection) {
    let mut idle = 0;
    while idle < 3 {
        for _ in 0..16 {
            tokio::task::yield_now().await;
        }
        idle = if deliver(client, server) { 0 } else { idle + 1 };
    }
}

/// Reads a chunk that is there; false when none is.
fn take(stream: &mut ReadableStream, read: &mut Vec<usize>) -> bool {
    match stream.next().now_or_never() {
        Some(Some(Ok(chunk))) => read.push(chunk.as_str().expect("a text").len()),
        Some(Some(Err(_)) | None) | None => return false,
    }
    true
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn a_stream_gives_a_beginning_of_what_was_written(
        sizes in prop::collection::vec(prop_oneof![0..100_usize, 50_000..200_000_usize], 0..12),
        fails in any::<bool>(),
        steps in prop::collection::vec(step(), 0..60),
        drops_early in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made");
        runtime.block_on(async {
            let options = Options::default();
            let taker = Arc::new(Taker::default());
            let server = Connection::new(Capability::from_target(taker.clone()), &options);
            let client = Connection::new(Capability::nothing(), &options);
            let chunks = sizes.iter().enumerate().map(|(index, size)| Ok(Value::from(format!("{index} {}", "x".repeat(*size)))));
            let end = fails.then(|| Err(Error::new("the source broke")));
            let source = futures_util::stream::iter(chunks.chain(end).collect::<Vec<_>>());
            drop(client.remote::<Any>().call("take", (Value::Readable(ReadableStream::new(source)),)));
            deliver(&client, &server);
            let mut stream = taker.0.lock().expect("nothing panics here").take().expect("it was taken");
            let mut read = Vec::new();
            for step in steps {
                match step {
                    Step::Deliver => _ = deliver(&client, &server),
                    Step::Rest => tokio::task::yield_now().await,
                    Step::Read => _ = take(&mut stream, &mut read),
                }
            }
            // As often as it takes, each time until nothing moves.
            while !drops_early && read.len() < sizes.len() {
                settle(&client, &server).await;
                if !take(&mut stream, &mut read) {
                    break;
                }
            }
            let written: Vec<_> = sizes.iter().enumerate().map(|(index, size)| size + format!("{index} ").len()).collect();
            assert!(written.starts_with(&read), "{read:?} of {written:?}");
            if !drops_early && !fails {
                assert_eq!(read.len(), written.len());
            }
            drop(stream);
            settle(&client, &server).await;
            let rest = Stats { imports: 1, exports: 1, pending: 0 };
            assert_eq!((client.stats(), server.stats()), (rest, rest));
        });
    }
}
