//! Replies are read within limits, and connections are used again.

use std::time::Duration;

use bytes::Bytes;
use dial::{Error, Redirects, Settings};
use tokio::net::TcpListener;

use crate::support::{Server, dialer, get, header, ok};

#[tokio::test]
async fn a_body_is_read_whole_and_one_above_the_limit_is_refused() {
    let server = Server::plain(|_| ok("0123456789")).await;
    let client = dialer(&Settings::default()).http();
    let url = format!("http://{}/", server.address);
    for (limit, expected) in [
        (10, Ok(Bytes::from_static(b"0123456789"))),
        (9, Err(Error::TooLarge(9))),
    ] {
        let response = client.send(get(&url), Redirects::None).await.unwrap();
        assert_eq!(response.into_body().read(limit).await, expected);
    }
    let head = &server.heads()[0];
    assert_eq!(header(head, "accept-encoding"), Some("identity"));
}

#[tokio::test]
async fn a_chunked_body_above_the_limit_is_refused_before_its_end() {
    let server = Server::plain(|_| {
        // The last chunk never comes.
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n01234\r\n5\r\n56789\r\n"
            .to_owned()
    })
    .await;
    let client = dialer(&Settings::default()).http();
    let url = format!("http://{}/", server.address);
    let response = client.send(get(url), Redirects::None).await.unwrap();
    assert_eq!(response.into_body().read(9).await, Err(Error::TooLarge(9)));
}

#[tokio::test]
async fn a_body_that_is_cut_off_is_an_error_and_not_a_short_body() {
    let server = Server::plain(|_| {
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 100\r\n\r\nshort".to_owned()
    })
    .await;
    let client = dialer(&Settings::default()).http();
    let url = format!("http://{}/", server.address);
    let response = client.send(get(url), Redirects::None).await.unwrap();
    let mut body = response.into_body();
    assert_eq!(body.chunk().await, Some(Ok(Bytes::from_static(b"short"))));
    assert!(matches!(
        body.chunk().await,
        Some(Err(Error::Interrupted(_)))
    ));
}

#[tokio::test]
async fn a_connection_is_used_for_the_next_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (mut stream, _) = listener.accept().await.unwrap();
        for _ in 0..2 {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            stream.write_all(ok("again").as_bytes()).await.unwrap();
        }
    });
    let client = dialer(&Settings::default()).http();
    for _ in 0..2 {
        let response = client
            .clone()
            .send(get(&url), Redirects::None)
            .await
            .unwrap();
        assert_eq!(response.into_body().read(10).await.unwrap(), "again");
        // The pool takes the connection back in a task of its own.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    serving.await.unwrap();
}

#[tokio::test]
async fn a_port_that_is_closed_is_unreachable_and_nothing_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = dialer(&Settings::default()).http();
    let sent = client.send(get(format!("http://{address}/")), Redirects::None);
    let error = sent.await.err().unwrap();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    assert!(error.is_unsent());
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn a_server_that_never_finishes_the_handshake_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let mut settings = Settings::default();
    settings.connect_time = Duration::from_millis(50);
    let sent = dialer(&settings).http();
    let error = sent.send(get(url), Redirects::None).await.err().unwrap();
    assert!(matches!(error, Error::Late { .. }), "{error:?}");
}

#[tokio::test]
async fn a_request_without_a_whole_address_is_refused() {
    let client = dialer(&Settings::default()).http();
    for address in ["/path", "ftp://example.com/"] {
        let error = client.send(get(address), Redirects::None).await.err();
        assert_eq!(error, Some(Error::Address(address.to_owned())));
    }
}
