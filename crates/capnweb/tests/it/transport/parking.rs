//! Sessions over real sockets that have nothing to do.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use capnweb::observe::Metrics;
use capnweb::transport::websocket::{self, Settings};
use capnweb::{Any, Callback, Capability, Connection, Options, Server, Tasks, target};
use futures_util::future::join_all;
use serde_json::json;
use tokio::runtime::Handle;

use crate::support::eventually::{PATIENCE, assert_at_rest, eventually, soon};
use crate::support::raw_socket::{Frame, RawSocket, frame};
use crate::support::serving::Serving;

type Ringer = Callback<(u32,), u32>;

/// Keeps a callback, to call it when the test says so.
#[derive(Clone, Default)]
struct Bell {
    ringer: Arc<Mutex<Option<Ringer>>>,
}

#[target(pub(crate))]
impl Bell {
    pub fn square(&self, n: f64) -> f64 {
        n * n
    }

    pub fn keep(&self, ringer: Ringer) {
        *self.ringer.lock().unwrap() = Some(ringer);
    }
}

struct Parking {
    serving: Serving,
    bell: Bell,
    tasks: Tasks,
    metrics: Metrics,
}

impl Parking {
    async fn start(settings: Settings) -> Self {
        let (bell, tasks, metrics) = (Bell::default(), Tasks::new(), Metrics::new());
        let offered = bell.clone();
        let options = Options::default().tasks(tasks.clone()).metrics(&metrics);
        let server = Server::new(move |_headers| offered.clone())
            .options(options)
            .websocket(settings);
        Self {
            serving: Serving::start(Router::new().route("/rpc", server.route())).await,
            bell,
            tasks,
            metrics,
        }
    }

    async fn open(&self) -> RawSocket {
        RawSocket::open(self.serving.address).await
    }

    /// Our own client, and how many of its sessions are parked.
    async fn connect(&self) -> (Connection, Metrics) {
        let url = format!("ws://{}/rpc", self.serving.address);
        let metrics = Metrics::new();
        let options = Options::default().metrics(&metrics);
        let stream = tokio::net::TcpStream::connect(self.serving.address).await;
        let nothing = Capability::nothing();
        let opening = websocket::over(stream.unwrap(), &url, nothing, &options, soon_parked());
        (opening.await.unwrap(), metrics)
    }

    async fn parks(&self, sessions: usize) {
        all_parked(&self.metrics, sessions).await;
    }
}

async fn all_parked(metrics: &Metrics, sessions: usize) {
    let parked = async || metrics.snapshot().sessions_parked;
    eventually("parked sessions", sessions, parked).await;
}

fn soon_parked() -> Settings {
    Settings {
        park_after: Some(Duration::from_millis(10)),
        ..Settings::default()
    }
}

#[tokio::test]
async fn many_idle_sessions_are_one_task() {
    let server = Parking::start(soon_parked()).await;
    let mut sockets = vec![server.open().await];
    server.parks(1).await;
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let with_one = tasks();
    for _ in 1..300 {
        let mut socket = server.open().await;
        assert_eq!(socket.square(3).await, json!(["resolve", 1, 9]));
        sockets.push(socket);
    }
    server.parks(300).await;
    // The tasks of the connections they were before end a moment later.
    eventually("live tasks", with_one, async || tasks()).await;
    assert_eq!(server.tasks.len(), 300, "the parked are counted");
    let answers = sockets.iter_mut().enumerate();
    let answers = answers.map(|(at, socket)| socket.square_as(if at == 0 { 1 } else { 2 }, 4));
    for answer in join_all(answers).await {
        assert_eq!(answer[2], 16);
    }
    server.parks(300).await;
    drop(sockets);
    eventually("sessions", 0, async || server.tasks.len()).await;
}

#[tokio::test]
async fn both_ends_of_a_parked_session_can_call() {
    let server = Parking::start(soon_parked()).await;
    let (connection, client) = server.connect().await;
    let api = connection.remote::<Any>();
    let parked = async || {
        server.parks(1).await;
        all_parked(&client, 1).await;
    };
    parked().await;
    assert_eq!(api.call("square", (5,)).cast::<f64>().await.unwrap(), 25.0);
    let ringer = Ringer::new(|(n,): (u32,)| async move { n + 1 });
    api.call("keep", (ringer,)).await.unwrap();
    for n in 0..3 {
        parked().await;
        let ringer = server.bell.ringer.lock().unwrap().clone().unwrap();
        assert_eq!(soon("the bell", ringer.call((n,))).await.unwrap(), n + 1);
    }
    // A release is something to send as well.
    parked().await;
    server.bell.ringer.lock().unwrap().take();
    assert_at_rest(&connection).await;
    // And so is the good-bye of the last handle.
    parked().await;
    drop((connection, api));
    eventually("sessions", 0, async || server.tasks.len()).await;
}

#[tokio::test]
async fn a_parked_peer_is_pinged_and_then_given_up() {
    let settings = Settings {
        ping_after: Duration::from_millis(100),
        idle_limit: Duration::from_secs(1),
        ..soon_parked()
    };
    let server = Parking::start(settings).await;
    let mut socket = server.open().await;
    for _ in 0..15 {
        server.parks(1).await;
        assert_eq!(socket.next().await, Frame::Ping);
        socket.send_bytes(&frame(0x8a, b"")).await;
    }
    let mut last = socket.next().await;
    while last == Frame::Ping {
        last = socket.next().await;
    }
    let silent = "the peer was silent for too long".to_owned();
    assert_eq!(last, Frame::Close(3000, silent));
    eventually("sessions", 0, async || server.tasks.len()).await;
}

#[tokio::test]
async fn parked_sessions_are_told_when_the_server_stops() {
    let server = Parking::start(soon_parked()).await;
    let mut clients = Vec::new();
    for _ in 0..20 {
        clients.push(server.connect().await);
    }
    server.parks(20).await;
    assert_eq!(
        soon("the drain", server.tasks.drain(10 * PATIENCE)).await,
        0
    );
    for (connection, _) in &clients {
        let reason = soon("the end", connection.closed()).await;
        assert_eq!(reason.message(), "the server is shutting down");
    }
}

#[tokio::test]
async fn a_peer_that_dies_while_parked_is_noticed() {
    let server = Parking::start(soon_parked()).await;
    let (one, other) = (server.open().await, server.open().await);
    server.parks(2).await;
    // With a reset, and without.
    one.stream.set_zero_linger().unwrap();
    drop((one, other));
    eventually("sessions", 0, async || server.tasks.len()).await;
    assert_eq!(server.metrics.snapshot().sessions, 0);
}
