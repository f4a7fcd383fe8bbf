//! Memory and processor time of pages, and the end of those that use too much.
//!
//! Pages of two sessions never share a process, so that a process that is ended takes no page of another session with it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::connection::Connection;
use crate::limits::Limits;
use crate::session::Session;

/// The part of a processor from which on a process counts as busy.
const BUSY: f64 = 0.9;

/// How long Chromium may take to notice that a process has ended.
const NOTICE: Duration = Duration::from_secs(5);

/// Processor time of processes and time in which they wanted a processor, as they were last looked at.
#[derive(Debug, Default)]
pub(crate) struct Usage(HashMap<i32, Used>);

#[derive(Debug)]
struct Used {
    seconds: f64,
    wanted: f64,
    at: Instant,
    busy_since: Option<Instant>,
}

/// Looks at all processes of pages once.
pub(crate) async fn look(
    usage: &mut Usage,
    connection: &Connection,
    limits: &Limits,
    sessions: &[Session],
) {
    let Ok(answer) = connection
        .call("", "SystemInfo.getProcessInfo", json!({}))
        .await
    else {
        return;
    };
    let mut seen = HashMap::new();
    for process in answer["processInfo"].as_array().into_iter().flatten() {
        let id = process["id"].as_i64().and_then(|it| i32::try_from(it).ok());
        let (Some(id), Some("renderer")) = (id, process["type"].as_str()) else {
            continue;
        };
        let seconds = process["cpuTime"].as_f64().unwrap_or_default();
        let wanted = wanted(id).unwrap_or_default();
        let now = Instant::now();
        let before = usage.0.remove(&id);
        let busy = before.as_ref().is_some_and(|it| {
            let wall = now.duration_since(it.at).as_secs_f64();
            (seconds - it.seconds).max(wanted - it.wanted) >= BUSY * wall
        });
        let since = before.and_then(|it| it.busy_since.or(Some(it.at)));
        let busy_since = since.filter(|_| busy);
        let why = if memory(id).is_some_and(|it| it > limits.page_bytes) {
            Some(format!(
                "it used more than {} MB of memory",
                limits.page_bytes >> 20
            ))
        } else if busy_since.is_some_and(|it| it.elapsed() >= limits.busy) {
            Some(format!(
                "it used a whole processor for {} seconds",
                limits.busy.as_secs()
            ))
        } else {
            None
        };
        match why {
            Some(why) => end(id, &why, sessions).await,
            None => {
                let used = Used {
                    seconds,
                    wanted,
                    at: now,
                    busy_since,
                };
                seen.insert(id, used);
            }
        }
    }
    usage.0 = seen;
}

/// Ends a process of pages and records why with the tabs that it takes along.
async fn end(id: i32, why: &str, sessions: &[Session]) {
    tracing::warn!(process = id, "browser: a page was ended: {why}");
    let tabs = sessions.iter().flat_map(Session::tabs);
    let well: Vec<_> = tabs.filter(|it| !it.has_crashed()).collect();
    #[cfg(unix)]
    if let Some(pid) = rustix::process::Pid::from_raw(id) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    let began = Instant::now();
    while began.elapsed() < NOTICE {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let mut ended = well.iter().filter(|it| it.has_crashed()).peekable();
        if ended.peek().is_some() {
            ended.for_each(|it| it.crash_because(why));
            return;
        }
    }
}

/// For how long the first thread of a process, which runs the scripts of a page, had a processor or waited for one, in
/// seconds: on a machine with much to do a script without an end gets but a part of a processor.
fn wanted(id: i32) -> Option<f64> {
    let times = std::fs::read_to_string(format!("/proc/{id}/schedstat")).ok()?;
    let mut nanoseconds = times.split_whitespace().map(str::parse::<u64>);
    let (had, waited) = (nanoseconds.next()?.ok()?, nanoseconds.next()?.ok()?);
    Some(Duration::from_nanos(had.saturating_add(waited)).as_secs_f64())
}

/// The memory of a process that is its own, in bytes.
fn memory(id: i32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|it| it.starts_with("RssAnon:"))?;
    let kilobytes = line.split_whitespace().nth(1)?.parse::<u64>().ok()?;
    Some(kilobytes << 10)
}
