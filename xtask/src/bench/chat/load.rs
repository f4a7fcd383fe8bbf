//! The load generator: all sessions on one thread, in a process of its own.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout_at};

use super::Options;
use super::socket::Socket;
use crate::bench::address::Address;
use crate::bench::load::{self, BenchTarget, WARM_UP};
use crate::bench::rounds::round;
use crate::bench::usage::{self, ProcessorTime};
use crate::error::{Error, Result};

/// How long memory is given to settle after the last session was opened.
const SETTLE: Duration = Duration::from_secs(1);

/// A kind of conversation over the sockets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speech {
    Chat,
    Echo,
}

/// The measurements of an active session.
#[derive(Default)]
struct Times {
    /// Each event, each command until its first event, each request until its end.
    events: Vec<Duration>,
    first: Vec<Duration>,
    requests: Vec<Duration>,
}

/// Runs one scenario and prints its figures as one line of JSON.
pub(crate) fn run(scenario: &str, url: &str, words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let target = BenchTarget::new(url, options.pid)?;
    let speech = match scenario {
        "chat" => Speech::Chat,
        "echo" => Speech::Echo,
        other => return Err(load::unknown(other)),
    };
    load::print(measure(speech, target, options))
}

async fn measure(speech: Speech, target: BenchTarget, options: Options) -> Result<Value> {
    let BenchTarget { address, pid } = target;
    // The first connection makes a server take memory that it keeps.
    drop(open(speech, &address, usize::MAX).await?);
    sleep(SETTLE).await;
    let before = usage::resident_kb(pid)?;
    let mut sockets = Vec::with_capacity(options.sessions);
    for session in 0..options.sessions {
        sockets.push(open(speech, &address, session).await?);
    }
    sleep(SETTLE).await;
    let session_kb = (usage::resident_kb(pid)? - before) / options.sessions as f64;

    let begin = Instant::now() + WARM_UP;
    let end = begin + Duration::from_secs_f64(options.seconds);
    let (mut idle, mut active) = (JoinSet::new(), JoinSet::new());
    let every = options.sessions / options.active.max(1);
    for (session, socket) in sockets.into_iter().enumerate() {
        let chosen = session % every.max(1) == 0 && session / every.max(1) < options.active;
        match chosen {
            true => drop(active.spawn(talk(speech, socket, session, options.pause, (begin, end)))),
            false => drop(idle.spawn(listen(socket))),
        }
    }
    sleep(WARM_UP).await;
    let used = ProcessorTime::read(pid)?;
    sleep(end.saturating_duration_since(Instant::now())).await;
    let used = ProcessorTime::read(pid)?.since(&used);
    let mut all = Times::default();
    while let Some(times) = active.join_next().await {
        let times = times.map_err(|error| Error::Answer(error.to_string()))??;
        all.events.extend(times.events);
        all.first.extend(times.first);
        all.requests.extend(times.requests);
    }
    // A session that was to be idle and was cut is an error, too.
    if let Some(ended) = idle.try_join_next() {
        return Err(Error::Answer(format!("an idle session ended: {ended:?}")));
    }
    let events = all.events.len();
    Ok(json!({
        "session_kb": round(session_kb),
        "events": events,
        "events_per_second": round(events as f64 / options.seconds),
        "event_cpu_us": round(used as f64 / 1e3 / events.max(1) as f64),
        "event_p50_ms": at(&mut all.events, 0.5),
        "event_p99_ms": at(&mut all.events, 0.99),
        "event_max_ms": at(&mut all.events, 1.0),
        "first_p50_ms": at(&mut all.first, 0.5),
        "first_p99_ms": at(&mut all.first, 0.99),
        "request_p50_ms": at(&mut all.requests, 0.5),
        "request_p99_ms": at(&mut all.requests, 0.99),
    }))
}

/// A connection whose session is shown.
async fn open(speech: Speech, address: &Address, session: usize) -> Result<Socket> {
    let mut socket = Socket::open(address).await?;
    if speech == Speech::Chat {
        let payload = json!({ "session_id": name(session) });
        let restore = json!({ "type": "restore_session", "payload": payload });
        socket.send(&restore.to_string()).await?;
        while !socket.next().await?.contains("\"session_restored\"") {}
    }
    Ok(socket)
}

fn name(session: usize) -> String {
    format!("bench-{session}")
}

/// Reads and answers pings, as a client that looks on.
async fn listen(mut socket: Socket) -> Result<()> {
    loop {
        socket.next().await?;
    }
}

/// Sends one command after the other. What is measured is what comes from `begin` to `end`.
async fn talk(
    speech: Speech,
    mut socket: Socket,
    session: usize,
    pause: u64,
    (begin, end): (Instant, Instant),
) -> Result<Times> {
    let mut times = Times::default();
    let pause = Duration::from_millis(pause);
    // Not all in the same moment.
    sleep(pause.mul_f64(session as f64 % 50.0 / 50.0)).await;
    let mut number = 0_usize;
    while Instant::now() < end {
        number += 1;
        let id = format!("{session:08x}-0000-4000-8000-{number:012x}");
        let command = json!({
            "id": id, "type": "user_command", "source": "user",
            "payload": { "command": format!("remember that number {number} of {session} is {number}") },
            "metadata": { "session_id": name(session) },
        });
        let sent = Instant::now();
        socket.send(&command.to_string()).await?;
        let mut first = true;
        loop {
            let read = timeout_at((end + Duration::from_secs(30)).into(), socket.next()).await;
            let text = read.map_err(|_| Error::Answer("no answer in 30 seconds".to_owned()))??;
            let counts = sent >= begin && Instant::now() <= end;
            let (age, over) = match speech {
                Speech::Echo => (sent.elapsed(), true),
                Speech::Chat => judge(&text)?,
            };
            if counts {
                times.events.push(age);
            }
            if counts && std::mem::take(&mut first) {
                times.first.push(sent.elapsed());
            }
            if over {
                if counts {
                    times.requests.push(sent.elapsed());
                }
                break;
            }
        }
        sleep(pause).await;
    }
    Ok(times)
}

/// How old a message is, and whether a request has ended with it.
fn judge(text: &str) -> Result<(Duration, bool)> {
    let wrong = || Error::Answer(text.to_owned());
    let message: Value = serde_json::from_str(text).map_err(|_| wrong())?;
    let event = message["payload"]["event"].as_str().unwrap_or_default();
    if matches!(
        event,
        "error" | "task_failed" | "task_rejected" | "task_canceled"
    ) {
        return Err(wrong());
    }
    let written = message["timestamp"].as_str().and_then(milliseconds);
    let written = Duration::from_millis(written.ok_or_else(wrong)?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let age = now.unwrap_or_default().saturating_sub(written);
    Ok((age, event == "task_completed"))
}

/// The milliseconds since 1970 of a time such as `2025-10-26T03:45:00.000Z`.
fn milliseconds(time: &str) -> Option<u64> {
    let part = |from: usize, to: usize| time.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    // Years that begin in March have their leap day at the end.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let seconds = ((days - 719_468) * 24 + hour) * 3_600 + minute * 60 + second;
    Some(seconds * 1_000 + part(20, 23)?)
}

/// The time below which this part of all lies, in milliseconds; none if nothing was measured.
fn at(times: &mut [Duration], part: f64) -> Option<f64> {
    times.sort_unstable();
    let place = (times.len() as f64 * part) as usize;
    let time = times.get(place.min(times.len().checked_sub(1)?))?;
    Some(round(time.as_secs_f64() * 1e3))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{at, milliseconds};

    #[test]
    fn a_time_is_read_to_the_millisecond() {
        assert_eq!(milliseconds("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(
            milliseconds("2000-02-29T12:00:00.001Z"),
            Some(951_825_600_001)
        );
        assert_eq!(
            milliseconds("2025-10-26T03:45:00.123Z"),
            Some(1_761_450_300_123)
        );
        assert_eq!(milliseconds("yesterday"), None);
    }

    #[test]
    fn the_p99_is_the_time_that_one_of_a_hundred_is_above() {
        let mut times: Vec<_> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(at(&mut times, 0.5), Some(51.0));
        assert_eq!(at(&mut times, 0.99), Some(100.0));
        assert_eq!(at(&mut [], 0.5), None);
    }
}
