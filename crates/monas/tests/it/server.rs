//! The server inside the test's own process.

use std::net::SocketAddr;
use std::time::Duration;

use capnweb::transport::websocket;
use capnweb::{Capability, Options};
use monas::{Config, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A running server, and the way to stop it.
struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

impl Running {
    async fn start(config: Config) -> Self {
        let server = Server::bind(&config).await.unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(server.run(async { drop(stopped.await) }));
        Self {
            address,
            stop,
            ended,
        }
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.ended.await.unwrap();
    }

    /// The first line of the answer to a raw request.
    async fn status(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = vec![0; 4096];
        let length = stream.read(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer[..length])
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    }
}

fn any_port() -> Config {
    Config {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        ..Config::default()
    }
}

fn post(host: &str, origin: &str) -> String {
    format!(
        "POST /rpc HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

#[tokio::test]
async fn answers_to_loopback_names_only() {
    let server = Running::start(any_port()).await;
    for host in ["localhost", "127.0.0.1:8080", "[::1]:8080"] {
        assert_eq!(
            server.status(&post(host, "")).await,
            "HTTP/1.1 200 OK",
            "{host}"
        );
    }
    for host in ["evil.example", "localhost.evil.example", "10.0.0.1", ""] {
        assert_eq!(
            server.status(&post(host, "")).await,
            "HTTP/1.1 421 Misdirected Request",
            "{host}"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn lets_in_pages_of_its_own_and_of_listed_origins() {
    let config = Config {
        allow_origins: vec!["https://listed.example".to_owned()],
        ..any_port()
    };
    let server = Running::start(config).await;
    let own = format!("Origin: http://{}\r\n", server.address);
    let host = server.address.to_string();
    assert_eq!(server.status(&post(&host, &own)).await, "HTTP/1.1 200 OK");
    assert_eq!(
        server
            .status(&post(&host, "Origin: https://listed.example\r\n"))
            .await,
        "HTTP/1.1 200 OK"
    );
    assert_eq!(
        server
            .status(&post(&host, "Origin: https://evil.example\r\n"))
            .await,
        "HTTP/1.1 403 Forbidden"
    );
    assert_eq!(
        server.status(&post(&host, "Origin: null\r\n")).await,
        "HTTP/1.1 403 Forbidden"
    );
    server.stop().await;
}

#[tokio::test]
async fn two_servers_run_in_one_process() {
    let (one, other) = (
        Running::start(any_port()).await,
        Running::start(any_port()).await,
    );
    for server in [&one, &other] {
        let url = format!("ws://{}/rpc", server.address);
        let connection = websocket::connect(&url, Capability::nothing(), &Options::default())
            .await
            .unwrap();
        let squared = connection
            .remote::<capnweb::Any>()
            .call("square", (3,))
            .await
            .unwrap();
        assert_eq!(squared.as_f64(), Some(9.0));
    }
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_connection_beyond_the_limit_waits_for_a_place() {
    let server = Running::start(Config {
        max_connections: 1,
        ..any_port()
    })
    .await;
    let url = format!("ws://{}/rpc", server.address);
    let first = websocket::connect(&url, Capability::nothing(), &Options::default())
        .await
        .unwrap();
    first
        .remote::<capnweb::Any>()
        .call("square", (3,))
        .await
        .unwrap();

    let options = Options::default();
    let second = websocket::connect(&url, Capability::nothing(), &options);
    tokio::pin!(second);
    let early = tokio::time::timeout(Duration::from_millis(200), &mut second).await;
    assert!(early.is_err(), "there was no place yet");
    drop(first);
    second.await.unwrap();
    server.stop().await;
}
