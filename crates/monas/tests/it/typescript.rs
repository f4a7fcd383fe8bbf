//! The client of `clients/typescript`, compiled and driven against the program: in node and in a page.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;

use crate::support::cutting::{Cutting, seed};
use crate::support::program::{Monas, closed, command, living};
use crate::support::sut::Sut;

/// The browser that the examples use.
#[path = "../../../../examples/tests/it/browser.rs"]
pub(crate) mod browser;

use browser::Browser;

/// The folder of the client, its packages installed.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/typescript");
    let folder = folder.canonicalize().unwrap();
    assert!(
        folder.join("node_modules/typescript").is_dir(),
        "the npm packages are missing: run `cargo xtask test`, or `npm ci --prefix {}`",
        folder.display()
    );
    folder
}

/// Runs a script in that folder to its end, which must be a good one, and gives what it printed.
async fn node(arguments: &[&str]) -> String {
    let node = std::env::var_os("MONAS_NODE").unwrap_or_else(|| "node".into());
    let mut command = Command::new(node);
    command
        .args(arguments)
        .current_dir(folder())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let running = browser::soon("the script", command.output());
    let output = running.await.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {printed}{wrong}");
    printed
}

/// Compiles the client and the programs that test it, once.
async fn compiled() {
    static COMPILED: OnceCell<()> = OnceCell::const_new();
    let compile = async || {
        for project in ["tsconfig.json", "tests/tsconfig.json"] {
            node(&["node_modules/typescript/bin/tsc", "--project", project]).await;
        }
    };
    COMPILED.get_or_init(compile).await;
}

#[tokio::test]
async fn the_client_reaches_an_agent_from_node() {
    compiled().await;
    let sut = Sut::start().await;
    let url = format!("http://{}", sut.address);
    let guarded = Guarded::start().await;
    let said = node(&["tests/dist/a2a.js", &url, &guarded.monas.url]).await;
    assert!(said.trim_end().ends_with("all passed"), "{said}");
    guarded.monas.stop().await;
}

#[tokio::test]
async fn the_chat_goes_on_over_cut_connections_from_node() {
    compiled().await;
    let (home, seed) = (tempfile::tempdir().unwrap(), seed());
    let server = Monas::start(&mut living(home.path())).await;
    let proxy = Cutting::start(server.authority(), seed, (400, 6_000), 40).await;
    let cut = format!("ws://{}/ws/chat", proxy.address);
    let whole = format!("ws://{}/ws/chat", server.authority());
    let said = node(&["tests/dist/chat.js", &cut, &whole, "30"]).await;
    assert!(said.contains("each once"), "seed {seed}: {said}");
    assert!(proxy.ended() >= 15, "seed {seed}: {}", proxy.ended());
    server.stop().await;
}

/// A server on which every call needs the token of `ada` or of `bob`.
struct Guarded {
    monas: Monas,
    _home: tempfile::TempDir,
}

impl Guarded {
    async fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("monas.toml");
        let hash = |token: &str| access::Hash::of(token).to_string();
        let config = format!(
            "[access.tokens]\ntype = \"bearer\"\ncallers = {{ ada = \"{}\", bob = \"{}\" }}\n",
            hash("token-of-ada"),
            hash("token-of-bob"),
        );
        std::fs::write(&file, config).unwrap();
        let mut serve = closed(home.path());
        serve.args(["serve", "--config"]).arg(&file);
        let monas = Monas::start(&mut serve).await;
        Self { monas, _home: home }
    }
}

/// A server of the test page, at an origin that is not the agent's.
struct PageServer {
    origin: String,
    serving: JoinHandle<()>,
}

impl PageServer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(file);
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { origin, serving }
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The page, the client as it was compiled, and the package it stands on.
async fn file(uri: Uri) -> Response {
    let (path, kind) = match uri.path() {
        "/" => ("tests/page/index.html".to_owned(), "text/html"),
        "/capnweb/index.js" => (
            "node_modules/capnweb/dist/index.js".to_owned(),
            "text/javascript",
        ),
        path => match path.strip_prefix("/client/") {
            Some(rest) => (format!("dist/{rest}"), "text/javascript"),
            None => return StatusCode::NOT_FOUND.into_response(),
        },
    };
    match std::fs::read(folder().join(path)) {
        Ok(bytes) => ([(CONTENT_TYPE, kind)], bytes).into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_reaches_an_agent_from_a_page_and_again_after_its_restart() {
    compiled().await;
    let (pages, home) = (PageServer::start().await, tempfile::tempdir().unwrap());
    let serve = || {
        let mut serve = command(home.path());
        serve.args(["serve", "--allow-origin", &pages.origin]);
        serve
    };
    let monas = Monas::start(&mut serve()).await;
    let mut page = Browser::open(&format!("{}/?agent={}", pages.origin, monas.url)).await;
    page.wait_for("window.send !== undefined").await;

    let sent = page.evaluate("send('task hello')").await;
    assert_eq!(sent, json!("TASK_STATE_COMPLETED"));

    page.evaluate("cancel('burst 1000 20ms')").await;
    let state = page.evaluate("state.textContent").await;
    assert_eq!(state, json!("TASK_STATE_CANCELED"));

    let missed = page.evaluate("miss()").await;
    assert_eq!(missed, json!([true, -32001, "TASK_NOT_FOUND"]));

    // The agent goes on with its task after a restart, and the page with its stream.
    page.evaluate("window.streamed = stream('burst 40 20ms'); undefined")
        .await;
    page.wait_for("document.querySelectorAll('#events li').length > 10")
        .await;
    let address = monas.authority().to_owned();
    monas.signal("KILL").await;
    monas.ended().await;
    let monas = Monas::start_at(&address, &mut serve()).await;
    page.evaluate("streamed").await;
    let shown = "[...document.querySelectorAll('#events li')].map(li => li.textContent)";
    let pieces = (0..40).map(|piece| format!("c{piece} "));
    let events: Vec<_> = ["task", "TASK_STATE_WORKING"]
        .map(str::to_owned)
        .into_iter()
        .chain(pieces)
        .chain(["TASK_STATE_COMPLETED".to_owned()])
        .collect();
    assert_eq!(page.evaluate(shown).await, json!(events));
    monas.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_was_not_let_in_reaches_no_agent() {
    compiled().await;
    let (pages, home) = (PageServer::start().await, tempfile::tempdir().unwrap());
    let monas = Monas::start(&mut command(home.path())).await;
    let mut page = Browser::open(&format!("{}/?agent={}", pages.origin, monas.url)).await;
    // Pages of all origins may read the card, and no more of a server that asks for no credentials.
    page.wait_for("window.send !== undefined").await;
    let post = format!(
        "fetch('{}/a2a/capnweb', {{ method: 'POST', body: '' }}).then(() => 'answered', () => 'refused')",
        monas.url
    );
    assert_eq!(page.evaluate(&post).await, json!("refused"));
    let socket = format!(
        "new Promise((tell) => {{ const socket = new WebSocket('ws://{}/a2a/capnweb'); \
         socket.onopen = () => tell('open'); socket.onerror = () => tell('refused'); }})",
        monas.authority()
    );
    assert_eq!(page.evaluate(&socket).await, json!("refused"));
    monas.stop().await;
}
