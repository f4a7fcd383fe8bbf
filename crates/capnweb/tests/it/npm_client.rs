//! The npm client, raw frames and HTTP batches, against a server of ours.

use crate::support::node::run_suite;
use crate::support::serving::InteropServer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_npm_client_finds_in_our_server_all_it_expects() {
    let server = InteropServer::start().await;
    run_suite(
        "client.test.mjs",
        &[("CAPNWEB_URL", &server.url()), ("CAPNWEB_STRICT", "1")],
    )
    .await;
    server.tasks.stop().await;
}
