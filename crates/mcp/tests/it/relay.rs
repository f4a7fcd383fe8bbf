//! Standard input and output that is passed on to a running server.

use dial::{Dialer, Settings};
use mcp::RelayTarget;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::Bench;
use crate::wire::{call, initialize};

const MAX: usize = 1 << 20;

/// A client of a relay to this address.
struct Host {
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    relaying: JoinHandle<()>,
}

impl Host {
    fn of(url: &str) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let dialer = Dialer::new(&Settings::default()).unwrap();
        let target = RelayTarget::new(url, dialer, MAX);
        let streams = tokio::io::split(theirs);
        let relaying = tokio::spawn(mcp::relay(target, streams, CancellationToken::new()));
        let (read, write) = tokio::io::split(ours);
        Self {
            read: BufReader::new(read).lines(),
            write,
            relaying,
        }
    }

    async fn write(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line = self.read.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.write(message).await;
        self.read().await
    }
}

#[tokio::test]
async fn a_host_speaks_with_the_running_server_in_a_session() {
    let bench = Bench::start().await;
    let mut host = Host::of(&bench.url);
    let mut open = initialize();
    open["params"]["capabilities"] = json!({ "elicitation": {} });
    let opened = host.ask(&open).await;
    assert_eq!(
        opened["result"]["serverInfo"]["name"], "test-agent",
        "{opened}"
    );
    host.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    let mut count = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "count", "arguments": {}, "_meta": { "progressToken": "p" } } });
    host.write(&count).await;
    for step in [1.0, 2.0, 3.0] {
        let told = host.read().await;
        assert_eq!(told["params"]["progress"], step, "{told}");
    }
    assert_eq!(host.read().await["result"]["isError"], false);
    // A question of the server is answered by the host.
    count["params"] = json!({ "name": "order", "arguments": { "what": "a lamp" } });
    let mut said = host.ask(&count).await;
    for _ in 0..2 {
        assert_eq!(said["method"], "elicitation/create", "{said}");
        let answer = json!({ "action": "accept", "content": { "approved": true } });
        let answer = json!({ "jsonrpc": "2.0", "id": said["id"], "result": answer });
        said = host.ask(&answer).await;
    }
    assert_eq!(
        said["result"]["structuredContent"]["text"],
        "a lamp: true, sure"
    );
    // The tasks are those of the server.
    assert_eq!(bench.all().await.len(), 2);
    drop((host.read, host.write));
    host.relaying.await.unwrap();
}

#[tokio::test]
async fn a_host_of_2026_needs_no_session_and_its_errors_bear_its_ids() {
    let bench = Bench::start().await;
    let mut host = Host::of(&bench.url);
    let called = host.ask(&call("greet")).await;
    assert_eq!(
        called["result"]["structuredContent"]["text"], "Hello, Ada!",
        "{called}"
    );
    let unknown = host.ask(&call("fly")).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert_eq!(unknown["id"], 1);
    // Without metadata and without a session the server refuses, and the host learns which request that was.
    let bare = json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/list" });
    let refused = host.ask(&bare).await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!("x"), &json!(-32600)),
        "{refused}"
    );
    let nonsense = host.ask(&json!([])).await;
    assert_eq!(nonsense["error"]["code"], -32600);
}

#[tokio::test]
async fn a_server_that_is_gone_is_named_with_its_address() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let mut host = Host::of(&url);
    let failed = host.ask(&call("greet")).await;
    assert_eq!(failed["id"], 1);
    let said = failed["error"]["message"].as_str().unwrap();
    assert!(
        said.contains(&url) && said.contains("start this program again"),
        "{said}"
    );
}
