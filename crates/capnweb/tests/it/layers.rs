//! Membranes between caller and object, seen by the npm client.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::HeaderMap;
use capnweb::{
    Call, CallResult, Error, Layer, Limits, Next, Options, Result, Server, Tasks, target,
};
use tokio::sync::Notify;

use crate::support::node::run_suite;
use crate::support::serving::{InteropServer, Serving};

/// Lets every call pass.
struct Passing;

impl Layer for Passing {
    async fn call(&self, _call: &Call, next: Next<'_>) -> Result<CallResult> {
        next.run().await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_npm_client_notices_no_layer_that_lets_calls_pass() {
    let options = Options::default().layer(Passing).layer(Passing);
    let server = InteropServer::with_options(options, |server| server).await;
    run_suite(
        "client.test.mjs",
        &[("CAPNWEB_URL", &server.url()), ("CAPNWEB_STRICT", "1")],
    )
    .await;
    server.tasks.stop().await;
}

/// Refuses one method.
struct Refusing;

impl Layer for Refusing {
    async fn call(&self, call: &Call, next: Next<'_>) -> Result<CallResult> {
        if call.member() == Some("forbidden") {
            return Err(Error::type_error("not for you").with_code("forbidden"));
        }
        next.run().await
    }
}

/// What all sessions share.
#[derive(Default)]
struct World {
    /// How many calls tick, and how often they did.
    ticking: AtomicU32,
    ticks: AtomicU32,
    stop: Notify,
}

impl World {
    async fn tick(&self) {
        struct Ticking<'a>(&'a AtomicU32);

        impl Drop for Ticking<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }

        self.ticking.fetch_add(1, Ordering::SeqCst);
        let _ticking = Ticking(&self.ticking);
        let tick = async {
            loop {
                self.ticks.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            () = tick => {}
            () = self.stop.notified() => {}
        }
    }
}

struct Guarded {
    world: Arc<World>,
    /// Calls that reached this object.
    calls: AtomicU32,
}

#[target(pub(crate))]
impl Guarded {
    pub fn allowed(&self) -> &'static str {
        self.calls.fetch_add(1, Ordering::SeqCst);
        "yes"
    }

    pub fn forbidden(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
    }

    #[getter]
    pub fn count(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Ticks until nobody wants its result.
    #[method(cancel)]
    pub async fn tick(&self) {
        self.world.tick().await;
    }

    /// Ticks until `stop`.
    pub async fn tick_on(&self) {
        self.world.tick().await;
    }

    pub fn stop(&self) {
        self.world.stop.notify_waiters();
    }

    #[getter]
    pub fn ticking(&self) -> u32 {
        self.world.ticking.load(Ordering::SeqCst)
    }

    #[getter]
    pub fn ticks(&self) -> u32 {
        self.world.ticks.load(Ordering::SeqCst)
    }
}

/// Serves a [`Guarded`] at `/rpc`.
async fn serve(options: Options) -> Serving {
    let world = Arc::new(World::default());
    let guarded = move |_headers: &HeaderMap| Guarded {
        world: world.clone(),
        calls: AtomicU32::new(0),
    };
    let server = Server::new(guarded).options(options);
    Serving::start(Router::new().route("/rpc", server.route())).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_npm_client_sees_calls_refused_stopped_and_timed_out() {
    let tasks = Tasks::new();
    let options = Options::default().tasks(tasks.clone()).layer(Refusing);
    let hasty = options.clone().limits(Limits {
        max_call_time: Some(Duration::from_millis(100)),
        ..Limits::default()
    });
    let (serving, hasty) = (serve(options).await, serve(hasty).await);
    let url = |serving: &Serving| format!("ws://{}/rpc", serving.address);
    run_suite(
        "layers.test.mjs",
        &[
            ("CAPNWEB_URL", &url(&serving)),
            ("CAPNWEB_HASTY_URL", &url(&hasty)),
        ],
    )
    .await;
    tasks.stop().await;
}
