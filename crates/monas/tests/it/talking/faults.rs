//! Clients that are slow, dead or hostile, over real sockets: each is refused or left behind, and no other one waits.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::{SOON, Window, cursor, serve};
use crate::support::program::Monas;

/// How many hostile clients are there at once.
const CROWD: usize = 200;

/// A request that is answered at once: the service is up.
async fn is_served(server: &Monas, session: &str) {
    let mut window = Window::open(server).await;
    window
        .command(session, "remember that the sky is blue")
        .await;
    window.until("task_completed").await;
}

/// A connection of the chat as bytes.
async fn raw(server: &Monas) -> TcpStream {
    Window::open(server).await.socket.into_inner()
}

impl Window {
    /// A connection that holds little of what is not read.
    async fn open_small(server: &Monas) -> Self {
        let small = TcpSocket::new_v4().unwrap();
        small.set_recv_buffer_size(4 << 10).unwrap();
        let address = server.authority().parse().unwrap();
        let stream = small.connect(address).await.unwrap();
        let url = format!("ws://{}/ws/chat", server.authority());
        let opened = tokio_tungstenite::client_async(url, stream).await;
        Self {
            socket: opened.unwrap().0,
            packed: false,
            seen: Vec::new(),
        }
    }
}

/// The code that a connection is closed with. What a window shows before is passed over.
async fn closed(window: &mut Window) -> Option<CloseCode> {
    loop {
        let frame = timeout(SOON, window.socket.next()).await;
        match frame.expect("an end in time") {
            Some(Ok(Message::Close(close))) => return close.map(|it| it.code),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return None,
        }
    }
}

#[tokio::test]
async fn a_client_that_reads_nothing_delays_no_other_and_misses_nothing() {
    const TURNS: usize = 100;
    let home = tempfile::tempdir().unwrap();
    let files = home.path().join("files");
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(
        files.join("large.md"),
        "a line of a large file\n".repeat(2_700),
    )
    .unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    // Two windows on the session, of which one is not read, and one on another session that is not read, either.
    let mut slow = Window::open_small(&server).await;
    slow.restore("shared", None).await;
    slow.until("session_restored").await;
    let mut dead = Window::open(&server).await;
    dead.command("dead", "/file-read path=large.md").await;
    let mut reader = Window::open(&server).await;
    for _ in 0..TURNS {
        // More than the buffers of a connection hold, in all.
        reader.command("shared", "/file-read path=large.md").await;
        reader.until("task_completed").await;
    }
    is_served(&server, "other").await;
    let all = reader.recorded();
    let size: usize = all.iter().map(|it| it.to_string().len()).sum();
    assert!(size > 5_000_000, "{size}");
    // The slow one reads on; if it was let go meanwhile, it comes back with its cursor.
    let mut seen: Vec<Value> = Vec::new();
    while seen.len() < all.len() {
        match timeout(SOON, slow.socket.next())
            .await
            .expect("a message in time")
        {
            Some(Ok(Message::Text(text))) => {
                let message: Value = serde_json::from_str(&text).unwrap();
                slow.seen = vec![message];
                seen.extend(slow.recorded());
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            _ => {
                slow = Window::open(&server).await;
                slow.restore("shared", seen.last().map(cursor).as_deref())
                    .await;
            }
        }
    }
    assert_eq!(seen, all);
    drop(dead);
    server.stop().await;
}

#[tokio::test]
async fn half_handshakes_and_half_frames_hold_up_nobody() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let mut crowd = Vec::new();
    for number in 0..CROWD {
        let mut stream = match number % 2 {
            0 => TcpStream::connect(server.authority()).await.unwrap(),
            _ => raw(&server).await,
        };
        let half: &[u8] = match number % 4 {
            0 => b"GET /ws/chat HTTP/1.1\r\nHost: localhost\r\nConnection: Upgr",
            2 => b"GET /ws/chat HTTP/1.1\r\n",
            // A frame of 100 bytes with a mask, and one byte of it; half a header.
            1 => &[0x81, 0x80 | 100, 0, 0, 0, 0, b'{'],
            _ => &[0x81],
        };
        stream.write_all(half).await.unwrap();
        crowd.push(stream);
    }
    is_served(&server, "beside").await;
    // A frame that arrives byte by byte is taken when it is whole.
    let mut stream = raw(&server).await;
    let ping = json!({ "type": "ping" }).to_string();
    let mut frame = vec![0x81, 0x80 | u8::try_from(ping.len()).unwrap(), 0, 0, 0, 0];
    frame.extend_from_slice(ping.as_bytes());
    for byte in frame {
        stream.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    let mut answer = Vec::new();
    while !String::from_utf8_lossy(&answer).contains("pong") {
        let read = timeout(SOON, stream.read_buf(&mut answer)).await;
        assert_ne!(read.expect("an answer in time").unwrap(), 0);
    }
    is_served(&server, "after").await;
    drop(crowd);
    server.stop().await;
}

#[tokio::test]
async fn frames_that_are_too_long_or_wrong_end_their_own_connection() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let mut other = Window::open(&server).await;
    let mut lengths = Vec::new();
    // As long as an address space, and by a byte too long: nothing is taken in for it.
    for length in [u64::MAX >> 1, 1 << 40, (64 << 20) + 1] {
        let mut header = vec![0x81, 0x80 | 127];
        header.extend_from_slice(&length.to_be_bytes());
        header.extend_from_slice(&[0; 4]);
        lengths.push((header, Some(CloseCode::Size)));
    }
    let mut long_ping = vec![0x89, 0x80 | 126, 1, 0, 0, 0, 0, 0];
    long_ping.resize(long_ping.len() + 256, 0);
    let wrong = [
        // Not masked; a reserved bit; a reserved opcode; a long ping; text that is no UTF-8.
        vec![0x81, 2, b'{', b'}'],
        vec![0xf1, 0x80, 0, 0, 0, 0],
        vec![0x83, 0x80, 0, 0, 0, 0],
        long_ping,
        vec![0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe],
    ];
    let wrong = wrong.map(|bytes| (bytes, Some(CloseCode::Protocol)));
    for (bytes, code) in lengths.into_iter().chain(wrong) {
        let mut window = Window::open(&server).await;
        window.socket.get_mut().write_all(&bytes).await.unwrap();
        assert_eq!(closed(&mut window).await, code, "{bytes:x?}");
    }
    // A message in many frames is as long as all of them.
    let mut stream = raw(&server).await;
    let mut piece = vec![0x01, 0x80 | 127];
    piece.extend_from_slice(&(1_u64 << 20).to_be_bytes());
    piece.resize(piece.len() + 4 + (1 << 20), 0);
    let mut refused = false;
    for _ in 0..80 {
        refused |= stream.write_all(&piece).await.is_err();
        piece[0] = 0x00;
    }
    let mut rest = Vec::new();
    let read = timeout(SOON, stream.read_to_end(&mut rest)).await;
    let ended = read.expect("an end in time");
    assert!(
        refused || ended.is_err() || !rest.is_empty(),
        "it was taken"
    );
    other.send(&json!({ "type": "ping" })).await;
    other.until("pong").await;
    is_served(&server, "beside").await;
    server.stop().await;
}

#[tokio::test]
async fn messagepack_that_lies_or_is_deep_is_refused_and_the_connection_stays() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let mut window = Window::open_with(&server, Some("msgpack")).await;
    let lies: [&[u8]; 6] = [
        // Lists, maps, texts, bytes and extensions of four thousand million, of which nothing comes.
        &[0xdd, 0xff, 0xff, 0xff, 0xff],
        &[0xdf, 0xff, 0xff, 0xff, 0xff],
        &[0xdb, 0xff, 0xff, 0xff, 0xff, b'a'],
        &[0xc6, 0xff, 0xff, 0xff, 0xff, 0],
        &[0xc9, 0xff, 0xff, 0xff, 0xff, 1, 0],
        // A byte that has no meaning.
        &[0xc1],
    ];
    let deep = |depth: usize| {
        let mut bytes = vec![0x91; depth];
        bytes.push(0xc0);
        bytes
    };
    let mut crowded = vec![0xdd, 0x00, 0x20, 0x00, 0x00];
    crowded.resize(crowded.len() + (2 << 20), 0x80);
    let mut frames: Vec<Vec<u8>> = lies.iter().map(|it| it.to_vec()).collect();
    // Lists in lists, and a list of two million maps.
    frames.extend([deep(1_000), deep(1 << 20), crowded]);
    for frame in frames {
        let begin = frame[..frame.len().min(8)].to_vec();
        window
            .socket
            .send(Message::Binary(frame.into()))
            .await
            .unwrap();
        let error = window.until("error").await;
        let code = error["payload"]["data"]["code"].as_str().unwrap();
        assert!(
            ["not_msgpack", "too_large"].contains(&code),
            "{begin:x?}: {error}"
        );
        window.send(&json!({ "type": "ping" })).await;
        window.until("pong").await;
    }
    // The same in JSON.
    let mut window = Window::open(&server).await;
    let deep = "[".repeat(1 << 20);
    window.socket.send(Message::text(deep)).await.unwrap();
    let error = window.until("error").await;
    let code = error["payload"]["data"]["code"].as_str().unwrap();
    assert!(["not_json", "too_large"].contains(&code), "{error}");
    window.send(&json!({ "type": "ping" })).await;
    window.until("pong").await;
    is_served(&server, "beside").await;
    server.stop().await;
}

#[tokio::test]
async fn clients_that_come_and_go_leave_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let handles = || {
        let folder = format!("/proc/{}/fd", server.id());
        std::fs::read_dir(folder).unwrap().count()
    };
    is_served(&server, "first").await;
    let before = handles();
    for number in 0..CROWD {
        let mut window = Window::open(&server).await;
        window.restore("first", None).await;
        // Some are cut with unread messages, some in the middle of a message, some say farewell.
        match number % 3 {
            0 => window.until("session_restored").await,
            1 => {
                window.socket.get_mut().write_all(&[0x81]).await.unwrap();
                Value::Null
            }
            _ => {
                window.socket.close(None).await.unwrap();
                Value::Null
            }
        };
    }
    // The system tells the server of their ends in its own time.
    let gone = async {
        while handles() > before + 5 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(SOON, gone).await.expect("the connections end");
    is_served(&server, "first").await;
    server.stop().await;
}
