//! Answers that gather because the peer has many others to read: none is held back for good.

use serde_json::{Value as Json, json};

use crate::support::raw_socket::RawSocket;
use crate::support::serving::InteropServer;

/// More than the answers after which further ones gather.
const CALLS: u32 = 200;

#[tokio::test]
async fn a_peer_that_releases_nothing_gets_every_answer_without_asking_for_another() {
    let server = InteropServer::start().await;
    let mut socket = RawSocket::open(server.address()).await;
    for id in 1..=CALLS {
        assert_eq!(socket.square_as(id, id).await, resolve(id));
    }
}

#[tokio::test]
async fn calls_that_come_frame_by_frame_are_answered_in_their_order() {
    let server = InteropServer::start().await;
    let mut socket = RawSocket::open(server.address()).await;
    let mut answered = 0;
    for id in 1..=CALLS {
        let call = format!(r#"["push",["pipeline",0,["square"],[{id}]]]"#);
        socket.send(&[&call]).await;
        socket.send(&[&format!(r#"["pull",{id}]"#)]).await;
        // So many are in flight all the time.
        if id > 64 {
            answered += 1;
            assert_eq!(socket.message().await, resolve(answered));
            let release = format!(r#"["release",{answered},1]"#);
            socket.send(&[&release]).await;
        }
    }
    while answered < CALLS {
        answered += 1;
        assert_eq!(socket.message().await, resolve(answered));
    }
}

#[tokio::test]
async fn the_last_answers_are_sent_before_a_session_ends() {
    let server = InteropServer::start().await;
    let mut socket = RawSocket::open(server.address()).await;
    for id in 1..=CALLS {
        assert_eq!(socket.square_as(id, id).await, resolve(id));
    }
    let last = CALLS + 1;
    let call = format!(r#"["push",["pipeline",0,["square"],[{last}]]]"#);
    let pull = format!(r#"["pull",{last}]"#);
    socket.send(&[&call, &pull, "no message"]).await;
    assert_eq!(socket.message().await, resolve(last));
    socket.assert_aborted("invalid JSON").await;
}

fn resolve(id: u32) -> Json {
    json!(["resolve", id, id * id])
}
