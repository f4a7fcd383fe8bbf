//! Two npm peers that meet through a relay of ours.

use crate::relay_server;
use crate::support::node::run_suite;
use crate::support::serving::Serving;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn npm_peers_reach_each_other_through_our_relay() {
    let relay = Serving::start(relay_server::router()).await;
    let url = format!("http://{}", relay.address);
    run_suite(
        "relay.test.mjs",
        &[("RELAY_URL", &url), ("CAPNWEB_STRICT", "1")],
    )
    .await;
}
