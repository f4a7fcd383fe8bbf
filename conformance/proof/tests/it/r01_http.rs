//! r1: calls go over HTTP, and over HTTPS to servers that the client trusts.

use a2a::client::Trust;
use a2a::types::TaskState;
use proof::{Wire, World};

use crate::support::{script, state, task};

on_every_binding!(speaks_http_and_https);

async fn speaks_http_and_https(wire: Wire) {
    let plain = World::start().await;
    let done = task(&plain.client(wire), script("done")).await;
    assert_eq!(state(&done), TaskState::Completed, "{wire}");

    let secure = World::secure().await;
    let client = secure.client(wire);
    let (scheme, _) = client.endpoint().url.split_once("://").unwrap();
    assert!(
        ["https", "wss", "grpcs"].contains(&scheme),
        "{wire}: {scheme}"
    );
    let done = task(&client, script("done")).await;
    assert_eq!(state(&done), TaskState::Completed, "{wire}");

    let mut sceptic = secure.settings(wire);
    sceptic.dial.trust = Trust::Public;
    let refused = secure
        .client_with(sceptic)
        .send_message(script("done"))
        .await;
    assert!(refused.is_err(), "{wire}: the certificate is not trusted");
}
