//! Shares of addresses, and places for known callers.

use std::net::IpAddr;

use super::{ConnectionPermit, Places};
use crate::listen::Limits;

fn places(connections: usize, kept: usize, per_address: usize) -> Places {
    Places::new(&Limits {
        connections,
        kept,
        per_address,
        ..Limits::default()
    })
}

async fn connect(places: &Places, from: &str) -> Option<ConnectionPermit> {
    let address: IpAddr = from.parse().unwrap();
    places.take(places.vacancy().await, address)
}

#[tokio::test]
async fn an_address_has_its_share_and_gets_it_back() {
    let places = places(100, 0, 2);
    let first = connect(&places, "192.0.2.1").await;
    let _second = connect(&places, "::ffff:192.0.2.1").await.unwrap();
    assert!(connect(&places, "192.0.2.1").await.is_none());
    let _other = connect(&places, "192.0.2.2").await.unwrap();
    drop(first);
    let _again = connect(&places, "192.0.2.1").await.unwrap();
    // Addresses of one network of IPv6 are one.
    let _one = connect(&places, "2001:db8::1").await.unwrap();
    let _two = connect(&places, "2001:db8::2").await.unwrap();
    assert!(connect(&places, "2001:db8::ffff:3").await.is_none());
    let _next = connect(&places, "2001:db8:0:1::1").await.unwrap();
    // A refused connection keeps no place.
    let mut local = Vec::new();
    for _ in 0..94 {
        local.push(connect(&places, "127.0.0.1").await.unwrap());
    }
    assert!(
        tokio::time::timeout(std::time::Duration::from_millis(20), places.vacancy())
            .await
            .is_err()
    );
}

#[tokio::test]
async fn the_last_places_are_kept_for_known_callers() {
    let places = places(3, 1, 100);
    let first = connect(&places, "127.0.0.1").await.unwrap();
    let second = connect(&places, "127.0.0.1").await.unwrap();
    let third = connect(&places, "127.0.0.1").await.unwrap();
    assert_eq!([first.kept, second.kept, third.kept], [false, false, true]);
    drop(first);
    assert!(!connect(&places, "127.0.0.1").await.unwrap().kept);
}
