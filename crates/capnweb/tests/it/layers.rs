//! What stands between caller and object, seen by the npm client.

use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use capnweb::{Answer, Call, Error, Layer, Next, Options, Result, Server, Tasks, target};

use crate::support::node::run_suite;
use crate::support::serving::{InteropServer, Serving};

/// Lets every call pass.
struct Passing;

impl Layer for Passing {
    async fn call(&self, _call: &Call, next: Next<'_>) -> Result<Answer> {
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
    async fn call(&self, call: &Call, next: Next<'_>) -> Result<Answer> {
        if call.member() == Some("forbidden") {
            return Err(Error::type_error("not for you").with_code("forbidden"));
        }
        next.run().await
    }
}

/// Counts the calls that reach it.
#[derive(Default)]
struct Guarded {
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
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_npm_client_is_told_why_a_layer_refused() {
    let tasks = Tasks::new();
    let options = Options::default().tasks(tasks.clone()).layer(Refusing);
    let server = Server::new(|_headers| Guarded::default()).options(options);
    let serving = Serving::start(Router::new().route("/rpc", server.route())).await;
    let url = format!("ws://{}/rpc", serving.address);
    run_suite("layers.test.mjs", &[("CAPNWEB_URL", &url)]).await;
    tasks.stop().await;
}
