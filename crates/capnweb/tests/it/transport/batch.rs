//! Batches, well-formed and not, as a server reads them.

use std::time::{Duration, Instant};

use capnweb::transport::batch::server::Settings;
use serde_json::{Value as Json, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::eventually::PATIENCE;
use crate::support::http::{exchange, get, post, read_answer};
use crate::support::raw_socket::{CALL, assert_serves};
use crate::support::serving::InteropServer;

#[tokio::test]
async fn newlines_at_the_end_and_between_are_tolerated() {
    let server = InteropServer::start().await;
    for body in [
        CALL.to_owned(),
        format!("{CALL}\n"),
        format!("\n{}\n\n", CALL.replace('\n', "\r\n")),
    ] {
        let answer = post(server.address(), "", &body).await;
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"["resolve",1,144]"#),
            "{body:?}"
        );
    }
    let empty = post(server.address(), "", "").await;
    assert_eq!((empty.status, empty.body.as_str()), (200, ""));
}

#[tokio::test]
async fn a_malformed_line_is_answered_400_and_says_why() {
    let server = InteropServer::start().await;
    let lines = [
        "nope",
        "[]",
        "{}",
        r#"["frob"]"#,
        r#"["push",["frob"]]"#,
        r#"["pull",7]"#,
        r#"["release",0,2]"#,
    ];
    for line in lines {
        for body in [
            line.to_owned(),
            format!("{CALL}\n{line}"),
            format!("{line}\n{CALL}"),
        ] {
            let answer = post(server.address(), "", &body).await;
            assert_eq!(answer.status, 400, "{body:?}");
            assert!(
                !answer.body.is_empty(),
                "{body:?} is refused without a reason"
            );
        }
    }
    let head = format!(
        "POST /rpc HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
        server.address()
    );
    let not_text = [head.as_bytes(), b"Content-Length: 2\r\n\r\n\xff\xfe"].concat();
    assert_eq!(exchange(server.address(), &not_text).await.status, 400);
    assert_serves(server.address()).await;
}

#[tokio::test]
async fn other_methods_are_answered_405() {
    let server = InteropServer::start().await;
    let answer = get(server.address(), "/rpc", "").await;
    assert_eq!(answer.status, 405);
    assert!(
        answer.head.to_ascii_lowercase().contains("\r\nallow: post"),
        "{}",
        answer.head
    );
    for method in ["PUT", "DELETE", "PATCH"] {
        let request = format!(
            "{method} /rpc HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            server.address()
        );
        assert_eq!(
            exchange(server.address(), request.as_bytes()).await.status,
            405,
            "{method}"
        );
    }
    assert_serves(server.address()).await;
}

fn lines(body: &str) -> Vec<Json> {
    body.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn a_call_back_to_the_client_fails_at_once() {
    let server = InteropServer::start().await;
    let calls = [
        r#"["push",["pipeline",0,["callFunction"],[["export",-1],1]]]"#,
        r#"["pull",1]"#,
        r#"["push",["pipeline",0,["countTo"],[3]]]"#,
        r#"["pull",2]"#,
        r#"["push",["pipeline",0,["square"],[2]]]"#,
        r#"["pull",3]"#,
    ];
    let started = Instant::now();
    let answer = post(server.address(), "", &calls.join("\n")).await;
    assert!(
        started.elapsed() < PATIENCE,
        "it hung for {:?}",
        started.elapsed()
    );
    let answers = lines(&answer.body);
    let find = |id: i64| {
        answers
            .iter()
            .find(|answer| answer[1] == id && answer[0] != "release")
            .unwrap()
    };
    assert_eq!(find(1)[0], "reject");
    assert_eq!(find(2)[2][1], "TypeError", "a stream cannot be sent");
    assert_eq!(find(3), &json!(["resolve", 3, 4]));
}

#[tokio::test]
async fn a_promise_the_client_cannot_resolve_any_more_does_not_hold_the_batch() {
    let settings = Settings {
        answer_limit: Duration::from_millis(100),
        ..Settings::default()
    };
    let server = InteropServer::configured(|server| server.batch(settings)).await;
    let calls = [
        r#"["push",["pipeline",0,["square"],[["promise",-1]]]]"#,
        r#"["pull",1]"#,
        r#"["push",["pipeline",0,["hang"],[]]]"#,
        r#"["pull",2]"#,
        r#"["push",["pipeline",0,["square"],[3]]]"#,
        r#"["pull",3]"#,
    ];
    let answer = post(server.address(), "", &calls.join("\n")).await;
    let answers = lines(&answer.body);
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert!(answers.contains(&json!(["resolve", 3, 9])));
    for late in answers.iter().filter(|answer| answer[0] == "reject") {
        assert_eq!(late[2][4]["code"], "timeout", "{late}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let settings = Settings {
        read_limit: Duration::from_millis(100),
        ..Settings::default()
    };
    let server = InteropServer::configured(|server| server.batch(settings)).await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let head = format!(
        "POST /rpc HTTP/1.1\r\nHost: {}\r\nContent-Length: 100\r\n\r\n[",
        server.address()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(read_answer(&mut stream).await.status, 408);
    assert_serves(server.address()).await;
}
