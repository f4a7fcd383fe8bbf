//! Requests go through a proxy, with the names that only the proxy knows.

use bytes::Bytes;
use dial::{Error, Proxies, Redirects, Settings, Trust, certificates};
use http::Request;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{Authority, Proxy, Server, dialer, get, header, names, ok};

fn proxies(variables: &[(&str, String)]) -> Proxies {
    let lookup = |wanted: &str| {
        let found = variables.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| value.clone())
    };
    Proxies::from_variables(lookup).unwrap()
}

/// Settings in which no name resolves, so that only the proxy can reach a server.
fn through(variables: &[(&str, String)]) -> Settings {
    let mut settings = names(&[]);
    settings.proxies = proxies(variables);
    settings
}

#[tokio::test]
async fn https_goes_through_a_tunnel_and_the_certificate_is_still_checked() {
    let authority = Authority::new();
    let server = Server::encrypted(authority.acceptor("api.example"), |_| ok("hello")).await;
    let proxy = Proxy::to(server.address).await;
    let mut settings = through(&[("HTTPS_PROXY", format!("http://u:p%40@{}", proxy.address))]);

    let url = "https://api.example/x";
    let sent = dialer(&settings).http();
    let error = sent.send(get(url), Redirects::None).await.err().unwrap();
    assert!(error.to_string().contains("certificate"), "{error}");

    settings.trust = Trust::PublicAnd(certificates(authority.pem.as_bytes()).unwrap());
    let client = dialer(&settings).http();
    let response = client.send(get(url), Redirects::None).await.unwrap();
    assert_eq!(response.into_body().read(10).await.unwrap(), "hello");

    let tunnel = &proxy.heads()[1];
    assert!(
        tunnel.starts_with("CONNECT api.example:443 HTTP/1.1"),
        "{tunnel}"
    );
    assert_eq!(
        header(tunnel, "proxy-authorization"),
        Some("Basic dTpwQA==")
    );
    let request = &server.heads()[0];
    assert!(request.starts_with("GET /x HTTP/1.1"), "{request}");
    assert_eq!(header(request, "proxy-authorization"), None);
}

#[tokio::test]
async fn plain_http_is_sent_to_the_proxy_with_the_whole_address() {
    let proxy = Proxy::to(([127, 0, 0, 1], 9).into()).await;
    let settings = through(&[("HTTP_PROXY", format!("http://user:pass@{}", proxy.address))]);
    let client = dialer(&settings).http();
    let request = Request::get("http://api.example/x?y=1")
        .header("proxy-authorization", "someone else's")
        .body(Bytes::new());
    let response = client
        .send(request.unwrap(), Redirects::None)
        .await
        .unwrap();
    assert_eq!(
        response.into_body().read(20).await.unwrap(),
        "from the proxy"
    );
    let head = &proxy.heads()[0];
    assert!(
        head.starts_with("GET http://api.example/x?y=1 HTTP/1.1"),
        "{head}"
    );
    assert_eq!(header(head, "host"), Some("api.example"));
    assert_eq!(
        header(head, "proxy-authorization"),
        Some("Basic dXNlcjpwYXNz")
    );
}

#[tokio::test]
async fn a_proxy_can_be_encrypted_itself() {
    let authority = Authority::new();
    let answer = |_: &str| "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n".to_owned();
    let proxy = Server::encrypted(authority.acceptor("127.0.0.1"), answer).await;
    let mut settings = through(&[("ALL_PROXY", format!("https://{}", proxy.address))]);
    settings.trust = Trust::PublicAnd(certificates(authority.pem.as_bytes()).unwrap());
    let sent = dialer(&settings).http();
    let error = sent
        .send(get("https://api.example/"), Redirects::None)
        .await;
    let error = error.err().unwrap();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains("authorization"), "{error}");
    assert!(proxy.heads()[0].starts_with("CONNECT api.example:443 "));
}

#[tokio::test]
async fn hosts_of_no_proxy_and_plain_http_on_this_machine_are_reached_directly() {
    let server = Server::plain(|_| ok("direct")).await;
    let proxy = Proxy::to(([127, 0, 0, 1], 9).into()).await;
    let mut settings = names(&[("inside.example", server.address)]);
    settings.proxies = proxies(&[
        ("ALL_PROXY", format!("http://{}", proxy.address)),
        ("NO_PROXY", "inside.example".to_owned()),
    ]);
    let client = dialer(&settings).http();
    for url in [
        "http://inside.example/".to_owned(),
        format!("http://{}/", server.address),
    ] {
        let response = client.send(get(url), Redirects::None).await.unwrap();
        assert_eq!(response.into_body().read(10).await.unwrap(), "direct");
    }
    assert_eq!(proxy.heads().len(), 0);
}

#[tokio::test]
async fn a_bare_stream_gets_a_tunnel_also_without_encryption() {
    let server = Server::plain(|_| ok("hello")).await;
    let proxy = Proxy::to(server.address).await;
    let settings = through(&[("HTTP_PROXY", proxy.address.to_string())]);
    let mut stream = dialer(&settings)
        .open(&"ws://api.example/".parse().unwrap())
        .await
        .unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = [0; 15];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    assert!(proxy.heads()[0].starts_with("CONNECT api.example:80 "));
}

#[tokio::test]
async fn http2_gets_a_tunnel_too() {
    let server = Server::plain(|_| String::new()).await;
    let proxy = Proxy::to(server.address).await;
    let settings = through(&[("HTTP_PROXY", proxy.address.to_string())]);
    let pool = dialer(&settings).http2::<http_body_util::Empty<Bytes>>();
    let request = Request::get("http://api.example:81/").body(http_body_util::Empty::new());
    let sent = pool.request(request.unwrap());
    // The server speaks HTTP/1 and does not answer; that the tunnel was asked for is what counts.
    let _ = tokio::time::timeout(std::time::Duration::from_millis(200), sent).await;
    assert!(proxy.heads()[0].starts_with("CONNECT api.example:81 "));
}
