//! Addresses that a stranger chose do not lead into our network.

use std::net::SocketAddr;

use dial::{Error, Proxies, Reach, Redirects, Settings};

use crate::support::{Proxy, Server, dialer, get, names, ok};

fn public(mut settings: Settings) -> Settings {
    settings.reach = Reach::Public;
    settings
}

#[tokio::test]
async fn names_and_literals_of_private_addresses_are_not_dialed() {
    let server = Server::plain(|_| ok("private")).await;
    let port = server.address.port();
    let mapped: SocketAddr = format!("[::ffff:127.0.0.1]:{port}").parse().unwrap();
    let settings = public(names(&[
        ("inside.example", server.address),
        ("mapped.example", mapped),
        ("10.1.example", ([10, 0, 0, 1], port).into()),
        ("metadata.example", ([169, 254, 169, 254], port).into()),
        // How the system's resolver understands other ways to write an address.
        ("2130706433", server.address),
        ("127.1", server.address),
    ]));
    let client = dialer(&settings).http();
    for host in [
        "inside.example",
        "mapped.example",
        "10.1.example",
        "metadata.example",
        "2130706433",
        "127.1",
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[fe80::1]",
    ] {
        let url = format!("http://{host}:{port}/");
        let error = client.send(get(&url), Redirects::None).await.err();
        assert!(
            matches!(error, Some(Error::Forbidden(_))),
            "{url}: {error:?}"
        );
    }
    assert_eq!(server.heads().len(), 0);
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_unreachable_rather_than_forbidden() {
    let client = dialer(&public(names(&[]))).http();
    let error = client
        .send(get("http://nowhere.example/"), Redirects::None)
        .await;
    let error = error.err().unwrap();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_proxy_is_asked_for_the_checked_address_and_for_no_private_one() {
    let server = Server::plain(|_| ok("through")).await;
    let proxy = Proxy::to(server.address).await;
    let mut settings = public(names(&[
        ("hook.example", ([93, 184, 216, 34], 0).into()),
        ("inside.example", ([10, 0, 0, 1], 0).into()),
    ]));
    let address = proxy.address;
    let lookup = |name: &str| (name == "ALL_PROXY").then(|| format!("http://{address}"));
    settings.proxies = Proxies::from_variables(lookup).unwrap();
    let client = dialer(&settings).http();

    let response = client
        .send(get("http://hook.example/x"), Redirects::None)
        .await
        .unwrap();
    assert_eq!(response.into_body().read(10).await.unwrap(), "through");
    assert!(
        proxy.heads()[0].starts_with("CONNECT 93.184.216.34:80 "),
        "{:?}",
        proxy.heads()
    );
    assert!(
        server.heads()[0]
            .to_ascii_lowercase()
            .contains("host: hook.example")
    );

    for url in [
        "http://inside.example/",
        "https://inside.example/",
        "http://127.0.0.2/",
    ] {
        let error = client.send(get(url), Redirects::None).await.err();
        assert!(error.is_some(), "{url}");
    }
    assert_eq!(proxy.heads().len(), 1);
}
