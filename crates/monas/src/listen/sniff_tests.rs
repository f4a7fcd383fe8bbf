//! What is found out about the protocol, and that nothing is lost in doing so.

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use super::{PREFACE, Protocol, sniff};

/// Sends `pieces` one after the other, each read before the next is sent, and says what came of it.
async fn check(pieces: &[&[u8]], expected: Protocol) {
    // A capacity of one byte at a time would not let the reader see pieces; the largest piece does.
    let capacity = pieces.iter().map(|piece| piece.len()).max().unwrap();
    let (mut client, server) = duplex(capacity);
    let sent: Vec<u8> = pieces.concat();
    let send = async {
        for piece in pieces {
            client.write_all(piece).await.unwrap();
        }
        client.shutdown().await.unwrap();
    };
    let receive = async {
        let (protocol, mut stream) = sniff(server).await.unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).await.unwrap();
        (protocol, received)
    };
    let ((), (protocol, received)) = tokio::join!(send, receive);
    assert_eq!(protocol, expected);
    assert_eq!(received, sent, "nothing is lost or doubled");
}

#[tokio::test]
async fn tells_the_two_versions_apart_however_the_bytes_arrive() {
    check(&[b"GET / HTTP/1.1\r\n\r\n"], Protocol::Http1).await;
    check(&[b"G", b"ET / HTTP/1.1\r\n\r\n"], Protocol::Http1).await;
    check(&[&PREFACE], Protocol::Http2).await;
    check(&[&PREFACE, b"and frames"], Protocol::Http2).await;
    let single: Vec<&[u8]> = PREFACE.chunks(1).collect();
    check(&single, Protocol::Http2).await;
}

#[tokio::test]
async fn takes_what_only_begins_like_the_preface_for_version_one() {
    check(
        &[b"PRI * HTTP/1.1\r\nHost: localhost\r\n\r\n"],
        Protocol::Http1,
    )
    .await;
    check(&[b"P", b"OST / HTTP/1.1\r\n\r\n"], Protocol::Http1).await;
    check(&[b"PR", b"OPFIND / HTTP/1.1\r\n\r\n"], Protocol::Http1).await;
}

#[tokio::test]
async fn fails_when_the_client_leaves_before_it_is_clear() {
    let (mut client, server) = duplex(64);
    client.write_all(b"PRI * HT").await.unwrap();
    drop(client);
    assert_eq!(
        sniff(server).await.unwrap_err().kind(),
        std::io::ErrorKind::UnexpectedEof
    );
}
