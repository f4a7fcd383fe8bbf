//! Tests of parking, on a clock that stands still unless all wait.

use std::time::Duration;

use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_tungstenite::tungstenite::protocol::Role;

use super::super::{Served, Settings};
use crate::connection::{Connection, Options};
use crate::demo::Demo;
use crate::error::Error;

const PARK_AFTER: Duration = Duration::from_millis(10);

fn settings() -> Settings {
    Settings {
        park_after: Some(PARK_AFTER),
        ..Settings::default()
    }
}

/// A server's session, and the wire to it.
struct Session {
    connection: Connection,
    wire: DuplexStream,
}

impl Session {
    fn open(options: &Options, settings: Settings) -> Self {
        let connection = Connection::new(Demo, options);
        let (wire, stream) = tokio::io::duplex(1 << 20);
        let (stream, session) = (Box::new(stream), connection.shared());
        Served::new(
            stream,
            Vec::new(),
            session,
            None,
            settings.into(),
            Role::Server,
        )
        .spawn();
        Self { connection, wire }
    }

    fn is_parked(&self) -> bool {
        self.connection.shared().is_parked()
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.wire.write_all(bytes).await.expect("it is read");
    }

    /// The next frame: its first byte and its content.
    async fn next(&mut self) -> (u8, String) {
        let first = self.wire.read_u8().await.expect("a frame");
        let length = self.wire.read_u8().await.expect("a frame");
        assert!(length < 126, "a short frame");
        let mut content = vec![0; length.into()];
        self.wire.read_exact(&mut content).await.expect("a frame");
        if first == 0x88 {
            // The code, before the reason.
            content.drain(..2);
        }
        (first, String::from_utf8(content).expect("text"))
    }
}

/// A frame of the client's: masked, with zeroes.
fn frame(first: u8, content: &str) -> Vec<u8> {
    let mut frame = vec![first, 0x80 | content.len() as u8, 0, 0, 0, 0];
    frame.extend_from_slice(content.as_bytes());
    frame
}

/// A text in two frames.
fn halved(content: &str) -> Vec<u8> {
    let (one, other) = content.split_at(content.len() / 2);
    [frame(0x01, one), frame(0x80, other)].concat()
}

fn call(id: usize, halves: bool) -> Vec<u8> {
    let push = format!(r#"["push",["pipeline",0,["square"],[{id}]]]"#);
    let push = if halves {
        halved(&push)
    } else {
        frame(0x81, &push)
    };
    let pull = frame(0x81, &format!(r#"["pull",{id}]"#));
    let release = frame(0x81, &format!(r#"["release",{id},1]"#));
    [push, pull, release].concat()
}

/// Longer than it takes to park, and no multiple of it.
async fn a_while() {
    tokio::time::sleep(5 * PARK_AFTER / 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_is_parked_while_nothing_moves() {
    let mut session = Session::open(&Options::default(), settings());
    for id in 1..4 {
        tokio::time::sleep(PARK_AFTER / 2).await;
        assert!(!session.is_parked());
        a_while().await;
        assert!(session.is_parked());
        session.send(&call(id, false)).await;
        assert_eq!(
            session.next().await,
            (0x81, format!(r#"["resolve",{id},{}]"#, id * id))
        );
        assert!(!session.is_parked());
    }
    a_while().await;
    assert!(session.is_parked());
    assert_eq!(session.connection.stats(), crate::testing::REST);
    session.connection.end(Error::new("enough"));
    assert_eq!(session.next().await.0, 0x88);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_parked_that_is_half_read() {
    let mut session = Session::open(&Options::default(), settings());
    let messages = [
        halved(r#"["push",["pipeline",0,["square"],[1]]]"#),
        frame(0x81, r#"["pull",1]"#),
    ];
    for message in messages {
        let (last, begun) = message.split_last().expect("a frame has bytes");
        for byte in begun {
            session.send(&[*byte]).await;
            a_while().await;
            assert!(!session.is_parked());
        }
        session.send(&[*last]).await;
        a_while().await;
        assert!(session.is_parked());
    }
    assert_eq!(session.next().await.1, r#"["resolve",1,1]"#);
    session.connection.end(Error::new("enough"));
}

#[tokio::test(start_paused = true)]
async fn what_is_to_be_sent_ends_the_parking() {
    let mut session = Session::open(&Options::default(), settings());
    a_while().await;
    assert!(session.is_parked());
    let asked = session.connection.remote::<crate::Any>().call("greet", ());
    assert_eq!(
        session.next().await.1,
        r#"["push",["pipeline",0,["greet"],[]]]"#
    );
    a_while().await;
    assert!(session.is_parked(), "although a call is under way");
    let answer = tokio::spawn(asked.into_future());
    assert_eq!(session.next().await.1, r#"["pull",1]"#);
    a_while().await;
    session.send(&frame(0x81, r#"["resolve",1,"hello"]"#)).await;
    let answer = answer.await.expect("no panic").expect("an answer");
    assert_eq!(answer.as_str(), Some("hello"));
    session.connection.end(Error::new("enough"));
}

#[tokio::test(start_paused = true)]
async fn a_parked_session_is_pinged_stays_parked_and_is_given_up() {
    let settings = settings();
    let begun = tokio::time::Instant::now();
    let mut session = Session::open(&Options::default(), settings.clone());
    // One that answers lives on.
    for _ in 0..10 {
        assert_eq!(session.next().await.0, 0x89);
        a_while().await;
        assert!(session.is_parked());
        session.send(&frame(0x8a, "")).await;
        a_while().await;
        assert!(session.is_parked());
    }
    assert!(begun.elapsed() > 2 * settings.idle_limit);
    let silent_since = tokio::time::Instant::now();
    assert_eq!(session.next().await.0, 0x89);
    assert_eq!(session.next().await.0, 0x89);
    let (first, reason) = session.next().await;
    assert_eq!(
        (first, reason.as_str()),
        (0x88, "the peer was silent for too long")
    );
    let waited = silent_since.elapsed();
    assert!(
        waited < settings.idle_limit + settings.ping_after / 8,
        "{waited:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn pings_of_many_are_sent_together() {
    let options = Options::default();
    let mut sessions = Vec::new();
    for _ in 0..100 {
        sessions.push(Session::open(&options, settings()));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut moments = Vec::new();
    for session in &mut sessions {
        assert_eq!(session.next().await.0, 0x89);
        moments.push(tokio::time::Instant::now());
    }
    moments.dedup();
    assert_eq!(
        moments.len(),
        1,
        "they came within an eighth of the time between pings"
    );
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_disconnects_while_parked_is_noticed() {
    let session = Session::open(&Options::default(), settings());
    a_while().await;
    assert!(session.is_parked());
    drop(session.wire);
    let reason = session.connection.closed().await;
    assert_eq!(reason.message(), "the connection was lost");
}

#[tokio::test(start_paused = true)]
async fn a_parked_session_is_told_that_the_server_stops() {
    let options = Options::default();
    let mut sessions: Vec<_> = (0..20)
        .map(|_| Session::open(&options, settings()))
        .collect();
    a_while().await;
    // Some are on their way in or out.
    for session in &mut sessions[..5] {
        session.send(&call(1, false)).await;
    }
    assert_eq!(
        options.tasks.len(),
        20,
        "the parked count among what is running"
    );
    let tasks = options.tasks.clone();
    let draining = tokio::spawn(async move { tasks.drain(Duration::from_secs(60)).await });
    for session in &mut sessions {
        let (mut first, mut reason) = session.next().await;
        if first == 0x81 {
            assert_eq!(reason, r#"["resolve",1,1]"#);
            (first, reason) = session.next().await;
        }
        assert_eq!(
            (first, reason.as_str()),
            (0x88, "the server is shutting down")
        );
    }
    drop(sessions);
    assert_eq!(draining.await.expect("no panic"), 0);
}

#[tokio::test(start_paused = true)]
async fn the_lot_has_one_task_however_many_are_parked() {
    let alive = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let (options, before) = (Options::default(), alive());
    let mut sessions: Vec<_> = (0..500)
        .map(|_| Session::open(&options, settings()))
        .collect();
    assert_eq!(alive() - before, 500);
    a_while().await;
    assert!(sessions.iter().all(Session::is_parked));
    assert_eq!(alive() - before, 1);
    sessions[7].send(&call(1, false)).await;
    sessions[7].next().await;
    assert_eq!(alive() - before, 2);
    drop(sessions);
    a_while().await;
    assert_eq!((alive() - before, options.tasks.len()), (0, 0));
}

/// Everything of a frame but its whole, at moments between which a session may be parked.
#[derive(Clone, Debug)]
struct Piece {
    share: prop::sample::Index,
    pause: u64,
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let piece = (any::<prop::sample::Index>(), 0..30u64);
    let piece = piece.prop_map(|(share, pause)| Piece { share, pause });
    prop::collection::vec(piece, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn parking_at_random_moments_loses_no_frame(
        calls in prop::collection::vec((any::<bool>(), any::<bool>()), 1..12),
        pieces in pieces(),
    ) {
        let mut bytes = Vec::new();
        let mut expected = Vec::new();
        for (at, (halves, pings)) in calls.into_iter().enumerate() {
            let id = at + 1;
            bytes.extend(call(id, halves));
            expected.push((0x81, format!(r#"["resolve",{id},{}]"#, id * id)));
            if pings {
                bytes.extend(frame(0x89, "still there?"));
                expected.push((0x8a, "still there?".to_owned()));
            }
        }
        let mut cuts: Vec<_> = pieces
            .iter()
            .map(|piece| (piece.share.index(bytes.len()), piece.pause))
            .collect();
        cuts.push((bytes.len(), 0));
        cuts.sort_unstable();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let (answers, rest) = runtime.block_on(async {
            let mut session = Session::open(&Options::default(), settings());
            let mut at = 0;
            for (cut, pause) in cuts {
                session.send(&bytes[at..cut]).await;
                at = cut;
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            let mut answers = Vec::new();
            for _ in 0..expected.len() {
                answers.push(session.next().await);
            }
            a_while().await;
            let rest = (session.is_parked(), session.connection.stats());
            session.connection.end(Error::new("enough"));
            (answers, rest)
        });
        // Answers may overtake a pong or come after it, but keep their order among themselves.
        let sorted = |mut frames: Vec<(u8, String)>| { frames.sort_by_key(|(first, _)| *first); frames };
        prop_assert_eq!(sorted(answers), sorted(expected));
        prop_assert_eq!(rest, (true, crate::testing::REST));
    }
}
