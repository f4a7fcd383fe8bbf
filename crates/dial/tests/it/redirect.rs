//! Redirects are followed as far as the caller says, without credentials to another origin.

use bytes::Bytes;
use dial::{Error, Redirects, Settings};
use http::header::{AUTHORIZATION, HeaderValue};
use http::{Request, StatusCode};

use crate::support::{Authority, Server, dialer, get, header, names, ok};

fn redirect(status: u16, to: &str) -> String {
    format!("HTTP/1.1 {status} Moved\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
}

/// A request with credentials of two kinds and a header that is none.
fn with_credentials(method: &str, url: &str) -> Request<Bytes> {
    let mut key = HeaderValue::from_static("key");
    key.set_sensitive(true);
    let request = Request::builder()
        .method(method)
        .uri(url)
        .header(AUTHORIZATION, "Bearer secret")
        .header("cookie", "a=b")
        .header("x-api-key", key)
        .header("range", "bytes=5-");
    request.body(Bytes::from_static(b"body")).unwrap()
}

#[tokio::test]
async fn redirects_at_the_same_origin_keep_credentials() {
    let server = Server::plain(|head| match head {
        head if head.starts_with("GET /a/b ") => redirect(302, "c?d"),
        head if head.starts_with("GET /a/c?d ") => redirect(307, "/last?to=http://x#part"),
        _ => ok("there"),
    })
    .await;
    let url = format!("http://{}/a/b", server.address);
    let client = dialer(&Settings::default()).http();

    let response = client.send(get(&url), Redirects::None).await.unwrap();
    assert_eq!(response.status(), StatusCode::FOUND);
    for redirects in [Redirects::SameOrigin, Redirects::Any] {
        let response = client
            .send(with_credentials("GET", &url), redirects)
            .await
            .unwrap();
        assert_eq!(response.into_body().read(10).await.unwrap(), "there");
        let heads = server.heads();
        let last = heads.last().unwrap();
        assert!(last.starts_with("GET /last?to=http://x HTTP/1.1"), "{last}");
        assert_eq!(header(last, "authorization"), Some("Bearer secret"));
        assert_eq!(header(last, "x-api-key"), Some("key"));
    }
}

#[tokio::test]
async fn another_origin_gets_no_credentials() {
    let other = Server::plain(|_| ok("there")).await;
    let to = format!("http://{}/x", other.address);
    let server = Server::plain(move |_| redirect(307, &to)).await;
    let url = format!("http://{}/", server.address);
    let client = dialer(&Settings::default()).http();

    let response = client
        .send(with_credentials("GET", &url), Redirects::SameOrigin)
        .await;
    assert_eq!(response.unwrap().status(), StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(other.heads().len(), 0);

    let response = client
        .send(with_credentials("POST", &url), Redirects::Any)
        .await;
    assert_eq!(
        response.unwrap().into_body().read(10).await.unwrap(),
        "there"
    );
    let head = &other.heads()[0];
    assert!(head.starts_with("POST /x "), "{head}");
    assert_eq!(
        header(head, "content-length"),
        Some("4"),
        "307 keeps the body"
    );
    assert_eq!(header(head, "range"), Some("bytes=5-"));
    for secret in ["authorization", "cookie", "x-api-key"] {
        assert_eq!(header(head, secret), None, "{secret}");
    }
}

#[tokio::test]
async fn a_post_does_not_become_a_get() {
    let server = Server::plain(|_| redirect(302, "/elsewhere")).await;
    let url = format!("http://{}/", server.address);
    let client = dialer(&Settings::default()).http();
    let response = client
        .send(with_credentials("POST", &url), Redirects::Any)
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::FOUND);
    assert_eq!(server.heads().len(), 1);
}

#[tokio::test]
async fn a_redirect_that_never_ends_is_given_up() {
    let server = Server::plain(|_| redirect(302, "/again")).await;
    let url = format!("http://{}/", server.address);
    let client = dialer(&Settings::default()).http();
    let error = client.send(get(url), Redirects::Any).await.err().unwrap();
    assert_eq!(
        error,
        Error::Redirect("more than 5 redirects in a row".to_owned())
    );
    assert_eq!(server.heads().len(), 6);
}

#[tokio::test]
async fn https_does_not_lead_to_http_and_nothing_leads_to_another_scheme() {
    let authority = Authority::new();
    for to in [
        "http://localhost/",
        "ftp://localhost/",
        "file:///etc/passwd",
    ] {
        let server = Server::encrypted(authority.acceptor("localhost"), move |_| redirect(302, to));
        let server = server.await;
        let mut settings = names(&[("localhost", server.address)]);
        settings.trust = dial::Trust::Unchecked;
        let url = format!("https://localhost:{}/", server.address.port());
        let client = dialer(&settings).http();
        let error = client.send(get(url), Redirects::Any).await.err();
        assert!(matches!(error, Some(Error::Redirect(_))), "{to}: {error:?}");
    }
}
