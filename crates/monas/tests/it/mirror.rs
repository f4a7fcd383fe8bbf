//! The mirror of the graph in a database that speaks Bolt: ArcadeDB, read back with Neo4j's official driver.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use axum::body::Body;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::support::http::{Client, Version};
use crate::support::program::{Monas, living};

/// How long anything may take; the database starts a Java machine.
const SOON: Duration = Duration::from_secs(90);

/// The database, as a program of its own.
struct Database {
    _child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    port: u16,
}

impl Database {
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/bolt");
        let python = std::env::var_os("MONAS_BOLT_PYTHON").map(PathBuf::from);
        let python = python.unwrap_or_else(|| folder.join(".venv/bin/python"));
        // Free when it was asked for; nothing else here takes ports of its own choice.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut command = Command::new(python);
        command.arg("-B").arg(folder.join("peer.py"));
        command.arg(port.to_string()).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let mut child = command.spawn().unwrap_or_else(|error| {
            panic!("{error}: {command:?}; `cargo xtask test` sets up what it needs")
        });
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            _child: child,
            port,
        }
    }

    async fn ask(&mut self, words: &str) -> Value {
        let line = format!("{words}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
        let answer = timeout(SOON, self.output.next_line()).await;
        let answer = answer.expect("an answer in time").unwrap();
        serde_json::from_str(&answer.expect("the database runs")).unwrap()
    }

    /// Waits until a statement gives these rows.
    async fn has(&mut self, statement: &str, rows: Value) {
        let mut last = Value::Null;
        let wait = async {
            while last != rows {
                last = self.ask(statement).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let waited = timeout(SOON, wait).await.is_ok();
        assert!(waited, "{statement}: {last}, expected {rows}");
    }
}

async fn rest(monas: &Monas, method: &str, path: &str, body: &Value) -> Value {
    let mut client = Client::connect(monas.authority().parse().unwrap(), Version::One).await;
    let request = client.request(method, "localhost", path);
    let request = request
        .header("content-type", "application/json")
        .header("a2a-version", "1.0");
    let body = Body::from(body.to_string());
    let answer = client.send(request.body(body).unwrap()).await;
    serde_json::from_str(&answer.text).unwrap_or_else(|_| panic!("{answer:?}"))
}

async fn store(monas: &Monas, content: &str) -> String {
    let body = json!({ "type": "concept", "content": content });
    let stored = rest(monas, "POST", "/api/memory/store", &body).await;
    stored["node_id"]
        .as_str()
        .unwrap_or_else(|| panic!("{stored}"))
        .to_owned()
}

/// Has the agent read a file, by a direct call of the skill.
async fn read_file(monas: &Monas, path: &str) {
    let message = json!({ "messageId": uuid::Uuid::new_v4().to_string(), "role": "ROLE_USER",
        "metadata": { "urn:monas:a2a:ext:skill:1/skill": "file-read" },
        "parts": [{ "data": { "path": path } }] });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage",
        "params": { "message": message } });
    let answer = rest(monas, "POST", "/a2a/jsonrpc", &body).await;
    assert!(answer["result"].is_object(), "{answer}");
}

const RECORDS: &str =
    "MATCH (r:Record) WHERE r.type = 'concept' RETURN r.text AS text ORDER BY text";
const SYMBOLS: &str =
    "MATCH (f:File)-[:DEFINES]->(s:Symbol) RETURN f.path AS path, s.name AS name ORDER BY name";
const CALLS: &str = "MATCH (a:Symbol)-[:CALLS]->(b:Symbol) RETURN a.name AS from, b.name AS to";
const RELATIONS: &str = "MATCH (a:Entity)-[r]->(b:Entity) RETURN count(r) > 0 AS some";

#[tokio::test]
async fn the_graph_is_mirrored_also_what_changed_while_the_database_was_away() {
    let mut database = Database::new();
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let set = crate::secrets::set(home.path(), "graph", "playwithdata").await;
    assert!(set.status.success(), "{set:?}");
    let files = home.path().join("files");
    std::fs::create_dir(&files).unwrap();
    std::fs::write(
        files.join("a.rs"),
        "fn first() { second(); }\nfn second() {}\n",
    )
    .unwrap();
    let port = database.port;
    let serve = || {
        let mut command = living(home.path());
        command.arg("--data").arg(&data);
        command.arg("--workspace").arg(&files);
        let url = format!("bolt://127.0.0.1:{port}");
        command.env("MONAS_MIRROR_URL", url);
        command.env("MONAS_MIRROR_USER", "root");
        command.env("MONAS_MIRROR_SECRET", "graph");
        command.env("MONAS_MIRROR_DATABASE", "memory");
        command
    };
    // The database is not there yet.
    let monas = Monas::start(&mut serve()).await;
    let bridge = store(&monas, "Ada built the Bridge.").await;
    read_file(&monas, "a.rs").await;
    assert_eq!(database.ask("start").await, "started");
    database
        .has(RECORDS, json!([{ "text": "Ada built the Bridge." }]))
        .await;
    let symbols =
        json!([{ "path": "a.rs", "name": "first" }, { "path": "a.rs", "name": "second" }]);
    database.has(SYMBOLS, symbols).await;
    database
        .has(CALLS, json!([{ "from": "first", "to": "second" }]))
        .await;
    database.has(RELATIONS, json!([{ "some": true }])).await;

    // It goes away; what is written, changed and forgotten meanwhile is there after it came back.
    assert_eq!(database.ask("stop").await, "stopped");
    let tower = store(&monas, "Bob painted the Tower.").await;
    let forget = json!({ "id": bridge, "why": "a test" });
    let gone = rest(&monas, "POST", "/api/memory/forget", &forget).await;
    assert_eq!(gone["success"], true, "{gone}");
    std::fs::write(files.join("a.rs"), "fn third() {}\n").unwrap();
    read_file(&monas, "a.rs").await;
    assert_eq!(database.ask("start").await, "started");
    database
        .has(RECORDS, json!([{ "text": "Bob painted the Tower." }]))
        .await;
    database
        .has(SYMBOLS, json!([{ "path": "a.rs", "name": "third" }]))
        .await;
    database.has(CALLS, json!([])).await;

    // The program goes away, too, with something that was not sent.
    assert_eq!(database.ask("stop").await, "stopped");
    let forget = json!({ "id": tower, "why": "a test" });
    rest(&monas, "POST", "/api/memory/forget", &forget).await;
    monas.signal("KILL").await;
    monas.ended().await;
    assert_eq!(database.ask("start").await, "started");
    let monas = Monas::start(&mut serve()).await;
    store(&monas, "Cleo measured the Harbour.").await;
    database
        .has(RECORDS, json!([{ "text": "Cleo measured the Harbour." }]))
        .await;
    let towers = "MATCH (e:Entity {name: 'Tower'}) RETURN count(e) AS count";
    database.has(towers, json!([{ "count": 0 }])).await;
    monas.stop().await;
}
