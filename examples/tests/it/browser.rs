//! Headless Chromium, driven over its debugging protocol.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// A time limit that holds on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Flags that turn off first-run pages, updates and background traffic.
const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
    "about:blank",
];

/// A browser with one page. Dropping it ends the browser.
pub(crate) struct Browser {
    socket: WebSocketStream<TcpStream>,
    /// The id of the session with the page.
    session: String,
    calls: u64,
    _process: Child,
    _profile: TempDir,
}

impl Browser {
    pub(crate) async fn open(url: &str) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new(program());
        command
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(FLAGS)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let errors = BufReader::new(process.stderr.take().unwrap());
        let address = soon("the browser's address", address(errors)).await;
        let host = address.strip_prefix("ws://").unwrap();
        let host = host.split('/').next().unwrap();
        let stream = TcpStream::connect(host).await.unwrap();
        let (socket, _) = tokio_tungstenite::client_async(&address, stream)
            .await
            .unwrap();
        let mut browser = Self {
            socket,
            session: String::new(),
            calls: 0,
            _process: process,
            _profile: profile,
        };
        let target = browser
            .call("Target.createTarget", json!({ "url": url }))
            .await;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach).await;
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        browser
    }

    /// The value of an expression in the page.
    pub(crate) async fn evaluate(&mut self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let evaluated = self.call("Runtime.evaluate", parameters).await;
        assert!(
            evaluated["exceptionDetails"].is_null(),
            "{expression}: {evaluated}"
        );
        evaluated["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) async fn wait_for(&mut self, expression: &str) {
        let waiting = async {
            while self.evaluate(expression).await != json!(true) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        soon(expression, waiting).await;
    }

    async fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let text = message.to_string();
        self.socket.send(Message::text(text)).await.unwrap();
        let answered = async {
            loop {
                let message = self.socket.next().await.unwrap().unwrap();
                let Message::Text(text) = message else {
                    continue;
                };
                let mut answer: Value = serde_json::from_str(&text).unwrap();
                // Events have no id.
                if answer["id"] == json!(id) {
                    assert!(answer["error"].is_null(), "{method}: {answer}");
                    return answer["result"].take();
                }
            }
        };
        soon(method, answered).await
    }
}

/// Reads standard error until the browser prints its address, and after that so that its pipe does not fill up.
async fn address(errors: BufReader<tokio::process::ChildStderr>) -> String {
    let mut lines = errors.lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if let Some(address) = line.strip_prefix("DevTools listening on ") {
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return address.to_owned();
        }
    }
    panic!("the browser ended at once");
}

/// The path of an installed browser. The tests fail without one.
fn program() -> PathBuf {
    let named = std::env::var_os("MONAS_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| ["chromium", "chromium-browser"].map(|name| folder.join(name)))
        .find(|file| Path::is_file(file));
    named.or(found).expect(
        "there is no chromium: run `cargo xtask test`, which sets it up, or `apt-get install chromium`",
    )
}

/// The output of a future that must not take long.
pub(crate) async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("{what}: nothing after {PATIENCE:?}"),
    }
}
