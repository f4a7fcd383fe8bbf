//! When objects of the host are let go. It counts them for all sessions together, so these tests share
//! it with no others.

use capnweb::Value;
use futures_util::future::join_all;

use super::{Peer, with_lonely_peer};
use crate::support::eventually::eventually;

async fn live(peer: &Peer<'_>, expected: u32) {
    eventually("live objects", expected, async || {
        peer.api.live_tracked().await.unwrap()
    })
    .await;
}

#[tokio::test]
async fn an_object_lives_until_its_last_stub_is_dropped() {
    with_lonely_peer(async |peer| {
        let tracked = peer.api.make_tracked().await.unwrap();
        let clone = tracked.clone();
        drop(tracked);
        assert_eq!(clone.ping().await.unwrap(), "pong");
        assert_eq!(peer.api.live_tracked().await.unwrap(), 1);
        let again = clone.itself().await.unwrap();
        drop(clone);
        assert_eq!(again.call("ping", ()).await.unwrap().as_str(), Some("pong"));
        assert_eq!(peer.api.live_tracked().await.unwrap(), 1);
        drop(again);
        live(peer, 0).await;

        let pipelined = peer.api.make_tracked().pipeline();
        assert_eq!(pipelined.ping().await.unwrap(), "pong");
        drop(pipelined);
        live(peer, 0).await;

        let in_data = peer.api.call(
            "echo",
            (Value::Array(vec![peer.api.make_tracked().into()]),),
        );
        drop(in_data);
        live(peer, 0).await;

        for _ in 0..20 {
            drop(peer.api.make_tracked());
            drop(peer.api.make_tracked().into_future());
        }
        live(peer, 0).await;

        let all: Vec<_> = (0..100)
            .map(|_| peer.api.make_tracked().into_future())
            .collect();
        let all = join_all(all).await;
        assert_eq!(peer.api.live_tracked().await.unwrap(), 100);
        drop(all);
        live(peer, 0).await;
    })
    .await;
}

#[tokio::test]
async fn a_session_that_ends_releases_its_objects() {
    with_lonely_peer(async |peer| {
        let other = peer.another().await;
        let held = join_all((0..3).map(|_| other.api.make_tracked().into_future())).await;
        assert_eq!(peer.api.live_tracked().await.unwrap(), 3);
        // The last handle: the connection closes without a word.
        let Peer {
            connection, api, ..
        } = other;
        drop((connection, api));
        assert_eq!(
            peer.api.live_tracked().await.unwrap(),
            3,
            "stubs keep their session"
        );
        drop(held);
        live(peer, 0).await;

        let other = peer.another().await;
        let _held = other.api.make_tracked().await.unwrap();
        other.connection.abort(capnweb::Error::new("had enough"));
        live(peer, 0).await;
    })
    .await;
}
