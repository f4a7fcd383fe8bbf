//! `cargo xtask bench floods`: what a well-behaved caller notices while others send as much as they can.
//!
//! One caller sends a message every 20 ms and waits for its answer. Beside it runs one flood after the other: strangers
//! and known callers who send large JSON of tiny values, large JSON within the limits, large frames of the chat, lists of
//! large tasks, silent connections. The caller's times and the server's memory are the figures; the target is a p99 below 250 ms. Tests
//! check the limits themselves, which do not depend on the machine.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::flags::Flags;
use super::server::{Data, Server, free_port};
use super::{document, usage};
use crate::error::{Doing, Error, Result};
use crate::process;

/// The slowest answer that the caller may get, of a hundred.
const TARGET: Duration = Duration::from_millis(250);

/// How long the caller waits between two messages.
const PAUSE: Duration = Duration::from_millis(20);

/// The credentials of all known callers, and their hash in the configuration.
const SECRET: &str = "bench-secret";
const HASH: &str = "sha256:0159438a9235d6abde38e49fb98944660d067d6b9b03d8a8f4ee4e522feb62cb";

/// The agent that the chat is held with: the agent of the demonstration only has skills.
const TALKING: &str = "talking";

/// How many connections say nothing at all.
const SILENT: usize = 9_900;

struct Options {
    seconds: u64,
    write: bool,
    /// A server that is built already.
    program: Option<PathBuf>,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options {
            seconds: 10,
            write: false,
            program: None,
        };
        let mut flags = Flags::new(words);
        while let Some(flag) = flags.advance() {
            match flag {
                "--seconds" => options.seconds = flags.number()?,
                "--write" => options.write = true,
                "--program" => options.program = Some(PathBuf::from(flags.value()?)),
                _ => return Err(flags.unknown()),
            }
        }
        Ok(options)
    }
}

/// What floods the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flood {
    Nothing,
    StrangersBatch,
    StrangersSocket,
    TinyValues,
    LargeJson,
    LargeCapnweb,
    Lists,
    BriefLists,
    Silent,
    ChatTinyValues,
    ChatPacked,
    BadTokens,
}

impl Flood {
    const ALL: [Flood; 12] = [
        Flood::Nothing,
        Flood::StrangersBatch,
        Flood::StrangersSocket,
        Flood::TinyValues,
        Flood::LargeJson,
        Flood::LargeCapnweb,
        Flood::ChatTinyValues,
        Flood::ChatPacked,
        // The large tasks that are listed are made here.
        Flood::Lists,
        Flood::BriefLists,
        Flood::Silent,
        Flood::BadTokens,
    ];

    fn title(self) -> &'static str {
        match self {
            Flood::Nothing => "nothing else",
            Flood::StrangersBatch => "3 strangers, Cap'n Web batches of 31 MB of `{}`",
            Flood::StrangersSocket => "3 strangers, Cap'n Web sockets with frames of 31 MB of `{}`",
            Flood::TinyValues => "3 callers, JSON-RPC with 15 MB of `{}`",
            Flood::LargeJson => "3 callers, JSON-RPC with 15 MB of rows within the limits",
            Flood::LargeCapnweb => {
                "3 callers, Cap'n Web batches with 15 MB of rows within the limits"
            }
            Flood::Lists => "4 callers, ListTasks of 30 tasks of 14 MB",
            Flood::BriefLists => "4 callers, the same with historyLength 0",
            Flood::Silent => "9,900 connections that say nothing, some Cap'n Web",
            Flood::ChatTinyValues => "3 callers, chat frames with 15 MB of `{}`",
            Flood::ChatPacked => "3 callers, chat frames with 15 MB of empty lists in MessagePack",
            Flood::BadTokens => "3 strangers, JSON-RPC with signed tokens that are forged",
        }
    }

    fn threads(self) -> usize {
        match self {
            Flood::Nothing => 0,
            Flood::Lists | Flood::BriefLists => 4,
            Flood::Silent => 1,
            _ => 3,
        }
    }
}

/// What the caller saw during one flood.
struct Seen {
    flood: Flood,
    times: Vec<Duration>,
    failed: usize,
    peak_mb: f64,
    sent: usize,
}

impl Seen {
    fn at(&self, part: f64) -> Duration {
        let place = (self.times.len() as f64 * part) as usize;
        let place = place.min(self.times.len().saturating_sub(1));
        self.times.get(place).copied().unwrap_or_default()
    }
}

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let (program, built) = match &options.program {
        Some(program) => (program.clone(), "as given".to_owned()),
        None => {
            let built = format!("built with --profile {}", process::MEASURED_PROFILE);
            (
                process::build_measured(root, "monas", &["--bin"], "monas")?,
                built,
            )
        }
    };
    let (server, port) = start(&program)?;
    let mut all = Vec::new();
    for flood in Flood::ALL {
        eprintln!("measuring {}", flood.title());
        if flood == Flood::Lists {
            make_tasks(port)?;
        }
        let seen = measure(flood, &server, port, Duration::from_secs(options.seconds))?;
        eprintln!("  p99 {:?}, peak {:.0} MB", seen.at(0.99), seen.peak_mb);
        all.push(seen);
    }
    let table = table(&all);
    let cores = thread::available_parallelism().map_or(0, usize::from);
    println!("{table}");
    if options.write {
        let section = format!(
            "Measured with `cargo xtask bench floods`; monas {built}; {cores} cores, which the floods share.\n\n{table}"
        );
        document::write(root, "floods", &section)?;
    }
    let late = all.iter().find(|seen| seen.at(0.99) > TARGET);
    match late {
        None => Ok(()),
        Some(seen) => Err(Error::Found(format!(
            "p99 was {:?} beside: {}",
            seen.at(0.99),
            seen.flood.title()
        ))),
    }
}

fn table(all: &[Seen]) -> String {
    let mut text = "| beside | answers | p50, ms | p99, ms | slowest, ms | failed | requests of the flood | peak, MB resident | p99 below 250 ms |\n|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for seen in all {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        text.push_str(&format!(
            "| {} | {} | {:.1} | {:.1} | {:.1} | {} | {} | {:.0} | {} |\n",
            seen.flood.title(),
            seen.times.len(),
            ms(seen.at(0.5)),
            ms(seen.at(0.99)),
            ms(seen.at(1.0)),
            seen.failed,
            seen.sent,
            seen.peak_mb,
            match seen.at(0.99) <= TARGET && seen.failed == 0 {
                true => "met",
                false => "missed",
            }
        ));
    }
    text
}

fn start(program: &Path) -> Result<(Server, u16)> {
    let port = free_port()?;
    let data = Data::new(port)?;
    let config = data.path.join("monas.toml");
    let text = format!("[access.tokens]\ntype = 'bearer'\ncallers.ada = '{HASH}'\n");
    std::fs::write(&config, text).doing(|| format!("write {}", config.display()))?;
    let agents = data.path.join("agents");
    let manifest = agents.join(format!("{TALKING}.toml"));
    std::fs::create_dir(&agents).doing(|| format!("create {}", agents.display()))?;
    let text = "name = 'Talking'\nobjectives = ['talk']\n";
    std::fs::write(&manifest, text).doing(|| format!("write {}", manifest.display()))?;
    let mut command: Command = process::with_many_files(program);
    command.args(["serve", "--demo", "--log", "error", "--listen"]);
    command.arg(format!("127.0.0.1:{port}"));
    command.arg("--config").arg(&config);
    command.arg("--agents").arg(&agents);
    command.arg("--data").arg(data.path.join("data"));
    Ok((Server::start(command, port, "", Some(data))?, port))
}

/// Runs a flood, and the caller beside it.
fn measure(flood: Flood, server: &Server, port: u16, time: Duration) -> Result<Seen> {
    let stop = Arc::new(AtomicBool::new(false));
    let floods: Vec<JoinHandle<usize>> = (0..flood.threads())
        .map(|_| {
            let stop = stop.clone();
            thread::spawn(move || pour(flood, port, &stop))
        })
        .collect();
    let watching = {
        let (stop, pid) = (stop.clone(), server.pid());
        thread::spawn(move || {
            let mut peak: f64 = 0.0;
            while !stop.load(Ordering::Relaxed) {
                peak = peak.max(usage::resident_kb(pid).unwrap_or(0.0) / 1e3);
                thread::sleep(Duration::from_millis(20));
            }
            peak
        })
    };
    // The flood is under way when the caller is measured.
    thread::sleep(Duration::from_secs(1));
    let (mut times, mut failed) = (Vec::new(), 0);
    let begun = Instant::now();
    let mut number = 0_u64;
    let mut connection = None;
    while begun.elapsed() < time {
        number += 1;
        let asked = Instant::now();
        match ask(&mut connection, port, &format!("{flood:?}-{number}")) {
            Ok(true) => times.push(asked.elapsed()),
            Ok(false) | Err(_) => {
                connection = None;
                failed += 1;
            }
        }
        thread::sleep(PAUSE);
    }
    stop.store(true, Ordering::Relaxed);
    let joined = floods.into_iter().map(|flood| flood.join().unwrap_or(0));
    let sent = joined.sum();
    let peak_mb = watching.join().unwrap_or(0.0);
    times.sort_unstable();
    Ok(Seen {
        flood,
        times,
        failed,
        peak_mb,
        sent,
    })
}

/// The caller that is measured: one message on a kept connection. Whether it was answered.
fn ask(connection: &mut Option<TcpStream>, port: u16, id: &str) -> std::io::Result<bool> {
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"{id}","role":"ROLE_USER","parts":[{{"text":"hello"}}]}}}}}}"#
    );
    let stream = match connection {
        Some(stream) => stream,
        None => connection.insert(connect(port)?),
    };
    post(stream, "/a2a/jsonrpc", Shown::Known, &[message.as_bytes()])?;
    Ok(read_answer(stream)?.contains("\"result\""))
}

fn connect(port: u16) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    stream.set_write_timeout(Some(Duration::from_secs(60)))?;
    Ok(stream)
}

/// What a request shows.
#[derive(Clone, Copy)]
enum Shown {
    Nothing,
    Known,
    Forged,
}

/// A token of the server's own form, signed with another secret, that is valid for long.
const FORGED: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ1c2VyX2lkIjoiYWRhIiwiaWF0IjoxNzAwMDAwMDAwLCJleHAiOjk5OTk5OTk5OTl9.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn post(stream: &mut TcpStream, path: &str, shown: Shown, body: &[&[u8]]) -> std::io::Result<()> {
    let length: usize = body.iter().map(|part| part.len()).sum();
    let credentials = match shown {
        Shown::Known => format!("Authorization: Bearer {SECRET}\r\n"),
        Shown::Forged => format!("Authorization: Bearer {FORGED}\r\n"),
        Shown::Nothing => String::new(),
    };
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\n{credentials}Content-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    body.iter().try_for_each(|part| stream.write_all(part))
}

/// Reads one answer with a known length; its body, or the beginning of a long one.
fn read_answer(stream: &mut TcpStream) -> std::io::Result<String> {
    let (mut text, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    let mut expected = usize::MAX;
    while text.len() < expected {
        let read = stream.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        text.extend_from_slice(&buffer[..read]);
        if expected == usize::MAX
            && let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n")
        {
            let head = String::from_utf8_lossy(&text[..end]).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.and_then(|it| it.trim().parse().ok()).unwrap_or(0);
            expected = end + 4 + length;
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Floods the server until it is told to stop; how many requests it made.
fn pour(flood: Flood, port: u16, stop: &AtomicBool) -> usize {
    let tiny = |bytes: usize| "{},".repeat(bytes / 3);
    let rows = r#"{"id":12345,"name":"a row of a table, with some text in it that a person could read","value":"another text of about the same length as the first one, no more"},"#;
    let rows = |bytes: usize| rows.repeat(bytes / rows.len());
    let message = |data: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"data":[{data}1]}}]}}}}}}"#
        )
    };
    let list = |history: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{{"pageSize":100{history}}}}}"#
        )
    };
    let (path, shown, body) = match flood {
        Flood::Nothing => return 0,
        Flood::Silent => return stay_silent(port, stop),
        Flood::StrangersSocket => {
            let frame = format!(r#"["push",[[{}1]]]"#, tiny(31 << 20));
            return send_frames(port, Socket::Capnweb, frame.as_bytes(), stop);
        }
        Flood::ChatTinyValues => {
            let frame = format!("[{}1]", tiny(15 << 20));
            return send_frames(port, Socket::Chat, frame.as_bytes(), stop);
        }
        Flood::ChatPacked => {
            let mut frame = vec![0xdd];
            frame.extend_from_slice(&(15_u32 << 20).to_be_bytes());
            frame.resize(frame.len() + (15 << 20), 0x90);
            return send_frames(port, Socket::ChatPacked, &frame, stop);
        }
        Flood::StrangersBatch => (
            "/a2a/capnweb",
            Shown::Nothing,
            format!(r#"["push",[[{}1]]]"#, tiny(31 << 20)),
        ),
        Flood::TinyValues => ("/a2a/jsonrpc", Shown::Known, message(&tiny(15 << 20))),
        Flood::LargeJson => ("/a2a/jsonrpc", Shown::Known, message(&rows(15 << 20))),
        Flood::LargeCapnweb => (
            "/a2a/capnweb",
            Shown::Known,
            format!(
                r#"["push",["pipeline",0,["getTask"],[{{"id":"x","rows":[[{}1]]}}]]]"#,
                rows(15 << 20)
            ),
        ),
        Flood::Lists => ("/a2a/jsonrpc", Shown::Known, list("")),
        Flood::BriefLists => ("/a2a/jsonrpc", Shown::Known, list(r#","historyLength":0"#)),
        Flood::BadTokens => ("/a2a/jsonrpc", Shown::Forged, list("")),
    };
    let mut sent = 0;
    while !stop.load(Ordering::Relaxed) {
        // A server that refuses early may close the connection while it is written to.
        let _ = connect(port).and_then(|mut stream| {
            let posted = post(&mut stream, path, shown, &[body.as_bytes()]);
            let answer = read_answer(&mut stream);
            posted.and(answer)
        });
        sent += 1;
    }
    sent
}

/// Opens WebSockets and sends a frame over each.
fn send_frames(port: u16, socket: Socket, frame: &[u8], stop: &AtomicBool) -> usize {
    let mut sent = 0;
    while !stop.load(Ordering::Relaxed) {
        let _ = open_socket(port, socket).and_then(|mut stream| {
            let mut header = vec![socket.opcode(), 0xff];
            header.extend_from_slice(&(frame.len() as u64).to_be_bytes());
            header.extend_from_slice(&[0; 4]);
            stream.write_all(&header)?;
            stream.write_all(frame)?;
            stream.read(&mut [0; 1024])
        });
        sent += 1;
    }
    sent
}

/// What a WebSocket is opened for.
#[derive(Clone, Copy)]
enum Socket {
    /// A Cap'n Web session without credentials.
    Capnweb,
    Chat,
    ChatPacked,
}

impl Socket {
    /// The path, and headers besides those of every WebSocket.
    fn asked(self) -> (String, String) {
        let known = format!("Authorization: Bearer {SECRET}\r\n");
        let chat = format!("/ws/chat?agent={TALKING}");
        match self {
            Socket::Capnweb => ("/a2a/capnweb".to_owned(), String::new()),
            Socket::Chat => (chat, known),
            Socket::ChatPacked => (chat, format!("{known}Sec-WebSocket-Protocol: msgpack\r\n")),
        }
    }

    /// The first byte of a frame: the last one of its message, with text or bytes.
    fn opcode(self) -> u8 {
        match self {
            Socket::Capnweb | Socket::Chat => 0x81,
            Socket::ChatPacked => 0x82,
        }
    }
}

fn open_socket(port: u16, socket: Socket) -> std::io::Result<TcpStream> {
    let mut stream = connect(port)?;
    let (path, headers) = socket.asked();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut head = [0; 1024];
    let read = stream.read(&mut head)?;
    match head[..read].starts_with(b"HTTP/1.1 101") {
        true => Ok(stream),
        false => Err(std::io::ErrorKind::ConnectionRefused.into()),
    }
}

/// Opens as many connections as it may and says nothing over them.
fn stay_silent(port: u16, stop: &AtomicBool) -> usize {
    let mut open = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        if open.len() >= SILENT {
            thread::sleep(Duration::from_millis(50));
            continue;
        }
        let opened = match open.len() % 10 {
            0 => open_socket(port, Socket::Capnweb),
            _ => connect(port),
        };
        match opened {
            Ok(stream) => open.push(stream),
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
    open.len()
}

/// 30 tasks with 14 MB in their history.
fn make_tasks(port: u16) -> Result<()> {
    let text = "x".repeat(14 << 20);
    for number in 0..30 {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"large-{number}","role":"ROLE_USER","parts":[{{"text":"task {text}"}}]}}}}}}"#
        );
        let made = connect(port).and_then(|mut stream| {
            post(
                &mut stream,
                "/a2a/jsonrpc",
                Shown::Known,
                &[body.as_bytes()],
            )?;
            read_answer(&mut stream)
        });
        made.doing(|| "make a large task".to_owned())?;
    }
    Ok(())
}
