//! `monas capnweb tap` between a real client and a real server.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use axum::Router;
use capnweb::transport::websocket;
use capnweb::{Callback, Capability, Error, OriginPolicy, Result, Server, Stub, Tasks, target};
use futures_util::{SinkExt, StreamExt};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, ChildStdout, Command};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::support::program::{command, run};

struct Shop;

#[target(pub(crate))]
impl Shop {
    pub fn price(&self, item: String) -> Result<f64> {
        match item.as_str() {
            "tea" => Ok(2.5),
            _ => Err(Error::range_error(format!("no {item} here")).with_code("not_found")),
        }
    }

    pub async fn ask(&self, customer: Callback<(String,), String>) -> Result<String> {
        customer.call(("tea?".to_owned(),)).await
    }
}

/// A server of a [`Shop`], for as long as it is held.
struct Serving {
    address: SocketAddr,
    tasks: Tasks,
    listening: tokio::task::JoinHandle<()>,
}

impl Serving {
    async fn start() -> Self {
        let tasks = Tasks::new();
        let options = capnweb::Options::default().tasks(tasks.clone());
        let server = Server::new(|_headers| Shop)
            .options(options)
            .origins(OriginPolicy::Listed(vec!["http://good.example".to_owned()]));
        let router = Router::new().route("/rpc", server.route());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self {
            address: listener.local_addr().unwrap(),
            tasks,
            listening: tokio::spawn(async { axum::serve(listener, router).await.unwrap() }),
        }
    }

    fn url(&self) -> String {
        format!("ws://{}/rpc", self.address)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// A running tap; killed when dropped.
struct Tapping {
    process: Child,
    url: String,
    lines: Lines<BufReader<ChildStdout>>,
    _home: TempDir,
}

impl Tapping {
    async fn start(upstream: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = command(home.path());
        command.args(["capnweb", "tap", upstream, "--listen", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().unwrap();
        let prefix = format!("monas taps {upstream} on ");
        let url = line.strip_prefix(&prefix).unwrap().to_owned();
        Self {
            process,
            url,
            lines,
            _home: home,
        }
    }

    /// The next line, without its time.
    async fn line(&mut self) -> String {
        let waiting = tokio::time::timeout(Duration::from_secs(30), self.lines.next_line());
        let line = waiting.await.unwrap().unwrap().unwrap();
        let (session, rest) = line.split_once(' ').unwrap();
        let (seconds, rest) = rest.split_once("s ").unwrap();
        assert!(seconds.trim().parse::<f64>().unwrap() < 60.0, "{line}");
        let words: Vec<_> = rest.split_whitespace().collect();
        format!("{session} {}", words.join(" "))
    }

    /// Compares the lines up to the end of a session.
    async fn check(&mut self, expected: &[&str]) {
        let mut lines = Vec::new();
        while lines
            .last()
            .is_none_or(|line: &String| !line.ends_with(" over"))
        {
            lines.push(self.line().await);
        }
        // The two directions are as they were; how they interleave is not for us to say.
        let of = |lines: &[String], side: &str| -> Vec<String> {
            let of_side = lines.iter().filter(|line| line.contains(side));
            of_side.map(|line| unnumbered(line)).collect()
        };
        let expected: Vec<_> = expected.iter().map(|line| (*line).to_owned()).collect();
        for side in [" client ", " server "] {
            assert_eq!(of(&lines, side), of(&expected, side), "{lines:#?}");
        }
        let numbers: Vec<_> = lines.iter().filter_map(|line| number(line)).collect();
        assert!(
            numbers.iter().copied().eq(1..=numbers.len() as u64),
            "{lines:#?}"
        );
    }

    async fn stop(mut self, signal: &str) {
        let id = self.process.id().unwrap().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &id])
            .status();
        assert!(sent.await.unwrap().success());
        let ended = tokio::time::timeout(Duration::from_secs(30), self.process.wait()).await;
        assert_eq!(ended.unwrap().unwrap().code(), Some(0));
    }
}

/// The number of a line's frame, when it is one's.
fn number(line: &str) -> Option<u64> {
    line.split(' ').nth(1)?.parse().ok()
}

fn unnumbered(line: &str) -> String {
    let keep = |(index, word): (usize, &str)| {
        (index != 1 || word.parse::<u64>().is_err()).then(|| word.to_owned())
    };
    let words: Vec<_> = line.split(' ').enumerate().filter_map(keep).collect();
    words.join(" ")
}

#[tokio::test]
async fn a_session_is_shown_frame_by_frame_and_passed_on_unchanged() {
    let serving = Serving::start().await;
    let mut tapping = Tapping::start(&serving.url()).await;
    let options = capnweb::Options::default();
    let connection = websocket::connect(&tapping.url, Capability::nothing(), &options)
        .await
        .unwrap();
    assert_eq!(tapping.line().await, "1 connected");
    let shop: Stub<Shop> = connection.remote();
    assert_eq!(shop.price("tea").await.unwrap(), 2.5);
    let refused = shop.price("gold").await.unwrap_err();
    assert_eq!(refused.code(), Some("not_found"));
    let customer = Callback::new(|(question,): (String,)| async move { format!("{question} yes") });
    assert_eq!(shop.ask(customer).await.unwrap(), "tea? yes");
    drop((shop, connection));
    let closed = "the session was closed because its last stub was dropped";
    tapping
        .check(&[
            r#"1 client push c1: main.price("tea")"#,
            "1 client pull c1 (main.price)",
            "1 server resolve c1 (main.price): 2.5",
            "1 client release c1 (main.price)",
            r#"1 client push c2: main.price("gold")"#,
            "1 client pull c2 (main.price)",
            r#"1 server reject c2 (main.price): RangeError("no gold here") {code: "not_found"}"#,
            "1 client release c2 (main.price)",
            "1 client push c3: main.ask(stub c-1)",
            "1 client pull c3 (main.ask)",
            r#"1 server push s1: c-1("tea?")"#,
            "1 server pull s1 (c-1)",
            r#"1 client resolve s1 (c-1): "tea? yes""#,
            "1 server release s1 (c-1)",
            "1 server release c-1",
            r#"1 server resolve c3 (main.ask): "tea? yes""#,
            &format!("1 client closes: 3000 {closed:?}"),
            &format!("1 server closes: 3000 {closed:?}"),
        ])
        .await;
    serving.tasks.stop().await;
    tapping.stop("INT").await;
}

#[tokio::test]
async fn what_is_no_message_is_shown_and_so_is_what_the_server_makes_of_it() {
    let serving = Serving::start().await;
    let mut tapping = Tapping::start(&serving.url()).await;
    let mut socket = connect(&tapping.url, None).await;
    assert_eq!(tapping.line().await, "1 connected");
    socket.send(Message::text("hello\u{1b}[2J")).await.unwrap();
    let abort = socket.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(abort.as_str().starts_with(r#"["abort","#), "{abort}");
    let close = socket.next().await.unwrap().unwrap();
    assert!(
        matches!(&close, Message::Close(Some(frame)) if u16::from(frame.code) == 3000),
        "{close:?}"
    );
    let shown = tapping.line().await;
    assert!(
        shown.starts_with(r"1 1 client malformed invalid JSON"),
        "{shown}"
    );
    assert!(shown.ends_with(r"in hello\u{1b}[2J"), "{shown}");
    let shown = tapping.line().await;
    assert!(
        shown.starts_with("1 2 server abort SyntaxError("),
        "{shown}"
    );
    let shown = tapping.line().await;
    assert!(shown.starts_with("1 server closes: 3000 "), "{shown}");
    tapping.stop("TERM").await;
}

#[tokio::test]
async fn the_server_judges_the_page_that_comes_through_the_tap() {
    let serving = Serving::start().await;
    let mut tapping = Tapping::start(&serving.url()).await;
    let socket = connect(&tapping.url, Some("http://good.example")).await;
    assert_eq!(tapping.line().await, "1 connected");
    drop(socket);
    while tapping.line().await != "1 over" {}
    let mut socket = connect(&tapping.url, Some("http://bad.example")).await;
    let shown = tapping.line().await;
    assert!(
        shown.starts_with(&format!("2 could not connect to {}: ", serving.url())),
        "{shown}"
    );
    assert!(shown.contains("403"), "{shown}");
    let close = socket.next().await.unwrap().unwrap();
    assert!(
        matches!(&close, Message::Close(Some(frame)) if u16::from(frame.code) == 1011),
        "{close:?}"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_reported_and_the_tap_goes_on() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = free.local_addr().unwrap();
    drop(free);
    let mut tapping = Tapping::start(&format!("ws://{gone}/rpc")).await;
    for session in 1..=2 {
        let mut socket = connect(&tapping.url, None).await;
        let shown = tapping.line().await;
        let expected =
            format!("{session} could not connect to ws://{gone}/rpc: Connection refused");
        assert!(shown.starts_with(&expected), "{shown}");
        assert!(matches!(
            socket.next().await,
            Some(Ok(Message::Close(Some(_))))
        ));
    }
    // Someone who does not even want a WebSocket.
    let mut stream = TcpStream::connect(tapping.url.strip_prefix("ws://").unwrap())
        .await
        .unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .unwrap();
    let shown = tapping.line().await;
    assert!(shown.starts_with("3 not a WebSocket: "), "{shown}");
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
}

#[tokio::test]
async fn a_server_with_an_untrusted_certificate_is_refused() {
    let key = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let private =
        rustls::pki_types::PrivateKeyDer::try_from(key.signing_key.serialize_der()).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![key.cert.der().clone()], private)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        acceptor.accept(stream).await.is_err()
    });
    let mut tapping = Tapping::start(&format!("wss://localhost:{port}/rpc")).await;
    let _client = connect(&tapping.url, None).await;
    let shown = tapping.line().await;
    assert!(shown.contains("certificate"), "{shown}");
    assert!(server.await.unwrap());
}

#[tokio::test]
async fn says_what_is_wrong_with_what_the_user_wrote() {
    let home = tempfile::tempdir().unwrap();
    let help = run(command(home.path()).args(["capnweb", "tap", "--help"])).await;
    assert_eq!(help.status.code(), Some(0));
    for words in [
        "monas capnweb tap",
        "--listen <ADDRESS>",
        "ws://127.0.0.1:8080/rpc",
    ] {
        assert!(help.stdout.contains(words), "{}", help.stdout);
    }
    for (arguments, words) in [
        (&["capnweb", "tap"][..], "<URL>"),
        (
            &["capnweb", "tap", "http://a.example"],
            "begins with ws:// or wss://",
        ),
        (
            &["capnweb", "tap", "ws://a.example", "--listen", "0.0.0.0:0"],
            "monas: could not listen on 0.0.0.0:0: only loopback addresses are allowed",
        ),
    ] {
        let ended = run(command(home.path()).args(arguments)).await;
        assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}

type Socket = tokio_tungstenite::WebSocketStream<TcpStream>;

/// A WebSocket to the tap, from a page of this origin.
async fn connect(url: &str, origin: Option<&str>) -> Socket {
    let mut request = url.into_client_request().unwrap();
    if let Some(origin) = origin {
        request
            .headers_mut()
            .insert("origin", origin.parse().unwrap());
    }
    let stream = TcpStream::connect(url.strip_prefix("ws://").unwrap())
        .await
        .unwrap();
    let (socket, _) = tokio_tungstenite::client_async(request, stream)
        .await
        .unwrap();
    socket
}
