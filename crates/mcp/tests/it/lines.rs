//! One client on a pair of streams, with one message on each line.

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::Bench;
use crate::wire::initialize;

/// The limit on the length of a line, in bytes.
const MAX: usize = 2000;

/// A client that writes raw bytes.
struct Peer {
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    serving: JoinHandle<()>,
}

impl Peer {
    fn of(bench: &Bench) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let streams = tokio::io::split(theirs);
        let handler = bench.handler.clone();
        let serving = tokio::spawn(mcp::lines(handler, streams, MAX, CancellationToken::new()));
        let (read, write) = tokio::io::split(ours);
        Self {
            read: BufReader::new(read).lines(),
            write,
            serving,
        }
    }

    async fn write(&mut self, line: impl AsRef<[u8]>) {
        self.write.write_all(line.as_ref()).await.unwrap();
        self.write.write_all(b"\n").await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line = self.read.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn ask(&mut self, line: impl AsRef<[u8]>) -> Value {
        self.write(line).await;
        self.read().await
    }

    async fn open(&mut self) {
        let opened = self.ask(initialize().to_string()).await;
        assert_eq!(opened["result"]["protocolVersion"], "2025-11-25");
        self.write(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string())
            .await;
    }
}

fn call(id: u32, tool: &str) -> String {
    let params = json!({ "name": tool, "arguments": { "who": "Ada" } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// Regression: these lines were dropped without a reply.
#[tokio::test]
async fn what_is_no_message_is_answered_and_the_next_one_is_served() {
    let bench = Bench::start().await;
    let mut peer = Peer::of(&bench);
    // Also before `initialize`.
    for open in [false, true] {
        if open {
            peer.open().await;
        }
        let long = call(1, &"x".repeat(MAX));
        let longest = " ".repeat(5 * MAX);
        for (line, code, id) in [
            (&b"{"[..], -32700, Value::Null),
            (b"nonsense", -32700, Value::Null),
            (b"\"\xff\"", -32700, Value::Null),
            (long.as_bytes(), -32600, Value::Null),
            (longest.as_bytes(), -32600, Value::Null),
            (b"[]", -32600, Value::Null),
            (b"7", -32600, Value::Null),
            (br#"{"jsonrpc":"2.0","id":9}"#, -32600, json!(9)),
        ] {
            let refused = peer.ask(line).await;
            let line = String::from_utf8_lossy(line);
            assert_eq!(refused["error"]["code"], code, "{line}: {refused}");
            assert_eq!(refused["jsonrpc"], "2.0", "{line}: {refused}");
            assert_eq!(refused.get("id"), Some(&id), "{line}: {refused}");
        }
        // Notifications get no reply.
        for line in ["", " \r", r#"{"jsonrpc":"2.0","method":7}"#] {
            peer.write(line).await;
        }
    }
    let called = peer.ask(call(2, "greet")).await;
    assert_eq!(called["id"], 2, "{called}");
    assert_eq!(called["result"]["structuredContent"]["text"], "Hello, Ada!");
    drop((peer.read, peer.write));
    peer.serving.await.unwrap();
}

#[tokio::test]
async fn a_line_may_have_as_many_bytes_as_are_allowed() {
    let bench = Bench::start().await;
    let mut peer = Peer::of(&bench);
    peer.open().await;
    let call = call(2, "greet");
    let padded = |length: usize| format!("{call}{}", " ".repeat(length - call.len()));
    assert_eq!(peer.ask(padded(MAX)).await["id"], 2);
    let refused = peer.ask(padded(MAX + 1)).await;
    assert_eq!(
        refused["error"]["message"],
        format!("message larger than {MAX} bytes")
    );
}

#[tokio::test]
async fn an_id_is_one_request_and_a_session_is_initialized_once() {
    let bench = Bench::start().await;
    let mut peer = Peer::of(&bench);
    peer.open().await;
    let again = peer.ask(initialize().to_string()).await;
    assert_eq!(again["error"]["code"], -32600, "{again}");
    peer.write(call(5, "wait")).await;
    let task = bench.first().await;
    let second = peer.ask(call(5, "greet")).await;
    assert_eq!(second["error"]["code"], -32600, "{second}");
    assert_eq!(second["id"], 5);
    bench.cancel(&task.id).await.unwrap();
    let first = peer.read().await;
    assert_eq!(
        (&first["id"], &first["result"]["isError"]),
        (&json!(5), &json!(true))
    );
    let third = peer.ask(call(5, "greet")).await;
    assert_eq!(third["result"]["isError"], false, "{third}");
}
