//! The hosts that pages reach and do not reach, by all the ways that they may try.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use browser::{Browser, Condition, Resolver, WaitUntil};
use futures_core::future::BoxFuture;

use crate::site::Site;
use crate::support::{options, run, site};

/// Resolves every name to this machine, as a host that rebinds its name does.
#[derive(Debug)]
struct Rebinding;

impl Resolver for Rebinding {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) })
    }
}

#[test]
fn a_page_that_attacks_reaches_nothing_that_was_not_granted() {
    run(async {
        // A service of this machine that pages may not reach.
        let inner = Site::serve();
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path(), site());
        options.resolver = Arc::new(Rebinding);
        let browser = Browser::new(options);
        let session = browser.session("attack").await.unwrap();
        let turn = session.turn().await.unwrap();
        let url = site().url(&format!("/attack?target={}", inner.address));
        turn.navigate(&url, WaitUntil::Load, None).await.unwrap();
        for way in ["fetch", "image", "socket", "worker", "rebind", "file"] {
            let refused = Condition::Text(format!("{way} refused"));
            let waited = turn.wait(&refused, Duration::from_secs(10)).await;
            assert!(waited.is_ok(), "{way}: {waited:?}");
        }
        assert_eq!(
            turn.url().await.unwrap(),
            url,
            "the page did not leave for a file"
        );
        assert_eq!(inner.connections(), 0, "{:?}", inner.seen("/x"));
        let refused = turn.refused().join("\n");
        assert!(
            refused.contains("127.0.0.1 is an address of this machine"),
            "{refused}"
        );
        assert!(
            refused.contains("rebind.example resolves to 127.0.0.1"),
            "{refused}"
        );

        for (address, code) in [
            (inner.url("/"), "refused-address"),
            ("http://localhost:1/".to_owned(), "refused-address"),
            ("http://rebind.example/".to_owned(), "refused-address"),
            ("file:///etc/passwd".to_owned(), "invalid-address"),
            ("chrome://settings".to_owned(), "invalid-address"),
            ("data:text/html,x".to_owned(), "invalid-address"),
            (
                "view-source:http://example.org".to_owned(),
                "invalid-address",
            ),
            ("http://user:pw@example.org".to_owned(), "invalid-address"),
            ("javascript:alert(1)".to_owned(), "invalid-address"),
        ] {
            let error = turn
                .navigate(&address, WaitUntil::Load, None)
                .await
                .unwrap_err();
            assert_eq!(error.code(), code, "{address}: {error}");
        }
        assert_eq!(inner.connections(), 0);
        drop(turn);
        browser.close().await;
    });
}

#[test]
fn sessions_share_no_cookies_and_no_storage() {
    run(async {
        let one = crate::support::open("cookies-1", "/").await;
        one.turn
            .evaluate("document.cookie = 'a=1'; localStorage.b = 2")
            .await
            .unwrap();
        let two = crate::support::open("cookies-2", "/").await;
        let seen = two
            .turn
            .evaluate("document.cookie + localStorage.b")
            .await
            .unwrap();
        assert_eq!(seen, "undefined");
        one.end().await;
        two.end().await;
    });
}
