//! The server at one moment.

use std::fmt;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::bench::usage::resident_kb;
use crate::error::{Doing, Error, Result};

#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// Since the traffic began.
    pub(super) at: Duration,
    pub(super) resident_mb: f64,
    pub(super) files: f64,
    pub(super) threads: f64,
    /// Open sessions of Cap'n Web, and what is in their tables.
    pub(super) sessions: f64,
    pub(super) entries: f64,
}

impl Sample {
    pub(super) fn take(pid: u32, port: u16, at: Duration) -> Result<Sample> {
        let metrics = metrics(port)?;
        Ok(Sample {
            at,
            resident_mb: resident_kb(pid)? / 1024.0,
            files: count(&format!("/proc/{pid}/fd"))?,
            threads: count(&format!("/proc/{pid}/task"))?,
            sessions: sum(&metrics, "capnweb_sessions "),
            entries: sum(&metrics, "capnweb_table_entries{"),
        })
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sample {
            at,
            resident_mb,
            files,
            threads,
            sessions,
            entries,
        } = self;
        let seconds = at.as_secs();
        write!(
            f,
            "{seconds:>5} s: {resident_mb:.1} MB, {files} files, {threads} threads, {sessions} sessions, {entries} entries"
        )
    }
}

fn count(folder: &str) -> Result<f64> {
    let entries = fs::read_dir(folder).doing(|| format!("list {folder}"))?;
    Ok(entries.count() as f64)
}

/// What the server says of itself.
fn metrics(port: u16) -> Result<String> {
    let exchange = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = exchange().doing(|| "read /metrics".to_owned())?;
    match answer.starts_with("HTTP/1.1 200") {
        true => Ok(answer),
        false => Err(Error::Answer(format!("/metrics: {answer}"))),
    }
}

/// The sum of the lines that begin so.
fn sum(metrics: &str, beginning: &str) -> f64 {
    let lines = metrics.lines().filter(|line| line.starts_with(beginning));
    let numbers = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    numbers.sum()
}

#[cfg(test)]
#[path = "sample_tests.rs"]
mod tests;
