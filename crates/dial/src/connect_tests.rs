//! The address that is checked is the address that is dialed.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::TcpListener;

use super::{Dialer, Shared};
use crate::resolve::{Resolve, Resolving};
use crate::{Error, Settings};

/// Answers the first question with one address and each further one with another, as a name does that is rebound.
#[derive(Debug)]
struct Rebinding {
    first: SocketAddr,
    then: SocketAddr,
    asked: AtomicUsize,
}

impl Resolve for Rebinding {
    fn resolve(&self, _: &str) -> Resolving {
        let answer = match self.asked.fetch_add(1, Ordering::SeqCst) {
            0 => self.first,
            _ => self.then,
        };
        Box::pin(std::future::ready(io::Result::Ok(vec![answer])))
    }
}

/// A dialer that may reach 127.0.0.1 alone, so that a forbidden address exists on loopback, too.
fn only_localhost(resolver: Arc<dyn Resolve>) -> Dialer {
    let settings = Settings {
        resolver: Some(resolver),
        ..Settings::default()
    };
    let mut dialer = Dialer::new(&settings).unwrap();
    let shared: &mut Shared = Arc::get_mut(&mut dialer.shared).unwrap();
    shared.allows = Some(|address| address == IpAddr::from([127, 0, 0, 1]));
    dialer
}

#[tokio::test]
async fn a_name_that_is_rebound_after_the_check_is_not_followed() {
    let allowed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let forbidden = TcpListener::bind("127.0.0.2:0").await.unwrap();
    let resolver = Arc::new(Rebinding {
        first: allowed.local_addr().unwrap(),
        then: forbidden.local_addr().unwrap(),
        asked: AtomicUsize::new(0),
    });
    let dialer = only_localhost(resolver.clone());

    let address = "http://rebound.example/".parse().unwrap();
    let _first = dialer.open(&address).await.unwrap();
    allowed.accept().await.unwrap();
    assert_eq!(resolver.asked.load(Ordering::SeqCst), 1, "resolved once");

    let second = dialer.open(&address).await.err();
    assert_eq!(second, Some(Error::Forbidden("rebound.example".to_owned())));
    let accepted = tokio::time::timeout(std::time::Duration::from_millis(50), forbidden.accept());
    assert!(accepted.await.is_err(), "the forbidden address was dialed");
}

#[tokio::test]
async fn of_several_addresses_only_allowed_ones_are_dialed() {
    #[derive(Debug)]
    struct Both(Vec<SocketAddr>);
    impl Resolve for Both {
        fn resolve(&self, _: &str) -> Resolving {
            Box::pin(std::future::ready(Ok(self.0.clone())))
        }
    }
    let allowed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let forbidden = TcpListener::bind("127.0.0.2:0").await.unwrap();
    let both = vec![
        forbidden.local_addr().unwrap(),
        allowed.local_addr().unwrap(),
    ];
    let dialer = only_localhost(Arc::new(Both(both)));
    let _stream = dialer
        .open(&"http://two.example/".parse().unwrap())
        .await
        .unwrap();
    allowed.accept().await.unwrap();
}
