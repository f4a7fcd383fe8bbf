//! Servers that stop while sessions are open.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use capnweb::transport::websocket;
use capnweb::{Any, Capability, Connection, Options, Server, Tasks, target};
use tokio::sync::Notify;

use crate::support::eventually::{PATIENCE, eventually, soon, steady};
use crate::support::raw_socket::{RawSocket, frame};
use crate::support::serving::Serving;

/// An object with a call that ends when the test says so, and one that gives much.
#[derive(Clone, Default)]
struct Slow {
    begun: Arc<Notify>,
    gate: Arc<Notify>,
    pages: Arc<AtomicUsize>,
}

#[target(pub(crate))]
impl Slow {
    pub async fn wait(&self) -> u32 {
        self.begun.notify_one();
        self.gate.notified().await;
        7
    }

    pub fn page(&self) -> String {
        self.pages.fetch_add(1, Ordering::SeqCst);
        "x".repeat(64 << 10)
    }
}

struct SlowServer {
    serving: Serving,
    tasks: Tasks,
    object: Slow,
}

impl SlowServer {
    async fn start() -> Self {
        let (tasks, object) = (Tasks::new(), Slow::default());
        let offered = object.clone();
        let server = Server::new(move |_headers| offered.clone())
            .options(Options::default().tasks(tasks.clone()));
        Self {
            serving: Serving::start(Router::new().route("/rpc", server.route())).await,
            tasks,
            object,
        }
    }

    async fn connect(&self) -> Connection {
        let url = format!("ws://{}/rpc", self.serving.address);
        websocket::connect(&url, Capability::nothing(), &Options::default())
            .await
            .unwrap()
    }
}

async fn assert_told_why(session: &Connection) {
    let reason = soon("the end", session.closed()).await;
    assert_eq!(reason.message(), "the server is shutting down");
}

#[tokio::test]
async fn idle_sessions_end_at_once_and_are_told_why() {
    let server = SlowServer::start().await;
    let mut sessions = Vec::new();
    for _ in 0..20 {
        let session = server.connect().await;
        session.remote::<Any>().call("page", ()).await.unwrap();
        sessions.push(session);
    }
    let draining = server.tasks.drain(10 * PATIENCE);
    assert_eq!(soon("the drain", draining).await, 0);
    for session in &sessions {
        assert_told_why(session).await;
    }
}

#[tokio::test]
async fn a_call_under_way_is_answered_before_its_session_ends() {
    let server = SlowServer::start().await;
    let (busy, idle) = (server.connect().await, server.connect().await);
    let answer = busy.remote::<Any>().call("wait", ()).cast::<u32>();
    let answer = tokio::spawn(answer.into_future());
    soon("the call", server.object.begun.notified()).await;
    let tasks = server.tasks.clone();
    let draining = tokio::spawn(async move { tasks.drain(10 * PATIENCE).await });
    // That one is gone, so the drain has begun.
    assert_told_why(&idle).await;
    assert!(!answer.is_finished());
    // What an operator sees: the session, and the call in it.
    eventually("what is left", 2, async || server.tasks.len()).await;
    server.object.gate.notify_one();
    assert_eq!(soon("the answer", answer).await.unwrap().unwrap(), 7);
    assert_eq!(soon("the drain", draining).await.unwrap(), 0);
    assert_told_why(&busy).await;
}

#[tokio::test]
async fn a_call_that_does_not_end_is_stopped_when_time_is_over() {
    let server = SlowServer::start().await;
    let session = server.connect().await;
    let answer = tokio::spawn(session.remote::<Any>().call("wait", ()).into_future());
    soon("the call", server.object.begun.notified()).await;
    let draining = server.tasks.drain(Duration::from_millis(50));
    assert_eq!(soon("the drain", draining).await, 2);
    assert_told_why(&session).await;
    assert!(soon("the answer", answer).await.unwrap().is_err());
    assert!(server.tasks.is_empty());
}

#[tokio::test]
async fn a_peer_that_takes_nothing_does_not_hold_up_the_stop() {
    let server = SlowServer::start().await;
    let mut socket = RawSocket::open(server.serving.address).await;
    for id in 1..=500 {
        let push = frame(0x81, br#"["push",["pipeline",0,["page"],[]]]"#);
        let pull = frame(0x81, format!(r#"["pull",{id}]"#).as_bytes());
        socket.send_bytes(&[push, pull].concat()).await;
    }
    // It makes no more, since what it has made is not taken.
    steady(async || server.object.pages.load(Ordering::SeqCst)).await;
    soon("the stop", server.tasks.stop()).await;
}
