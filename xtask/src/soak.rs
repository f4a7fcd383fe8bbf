//! `cargo xtask soak`: mixed traffic on our server for as long as wanted, and what it holds meanwhile.
//!
//! - [`sample`]: memory, files, threads and sessions of the server at one moment;
//! - [`judge`]: whether they stay as they are after the warm-up.
//!
//! The server is `sut` with SQLite data, built with the profile `dist`. It keeps few finished tasks, so that what
//! is stored does not grow with the time; the traffic is that of `load soak`, which looks at every answer.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bench::document;
use crate::bench::flags::Flags;
use crate::bench::server::{Data, Server, free_port};
use crate::bench::transports::Programs;
use crate::error::{Doing, Error, Result};
use crate::process;
use judge::Verdict;
use sample::Sample;

mod judge;
mod sample;

/// How often the server is looked at.
const STEP: Duration = Duration::from_secs(1);

/// How often what was seen is printed.
const TELL: Duration = Duration::from_secs(10);

/// How many finished tasks the server keeps. The oldest others go once in a minute.
const KEPT: &str = "1000";

/// How long the traffic may take to end when its time is over.
const END: Duration = Duration::from_secs(60);

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let (mut minutes, mut write) = (1.0, false);
    let mut flags = Flags::new(words);
    while let Some(flag) = flags.advance() {
        match flag {
            "--minutes" => minutes = flags.number()?,
            "--write" => write = true,
            _ => return Err(flags.unknown()),
        }
    }
    let time = Duration::try_from_secs_f64(minutes * 60.0);
    let time = time.map_err(|_| Error::Usage(format!("--minutes {minutes}: not a time")))?;
    let programs = Programs::build(root)?;
    let (server, port) = start(&programs.server)?;
    let mut traffic = Traffic::start(&programs.load, port, time)?;
    let samples = watch(&server, port, &mut traffic, time)?;
    let last = traffic.end()?;
    let verdict = Verdict::of(&samples, &last);
    let text = verdict.markdown();
    println!("\n{text}");
    if write {
        let section = format!(
            "Measured with `cargo xtask soak {}`.\n\n{text}",
            words.join(" ")
        );
        document::write(root, "soak", &section)?;
    }
    match verdict.is_good() {
        true => Ok(()),
        false => Err(Error::Found("the server did not stay as it was".to_owned())),
    }
}

fn start(program: &Path) -> Result<(Server, u16)> {
    let port = free_port()?;
    let data = Data::new(port)?;
    let mut command = process::with_many_files(program);
    command.args(["--listen", &format!("127.0.0.1:{port}")]);
    command.arg("--store").arg(&data.path);
    command.args(["--durability", "normal", "--keep-count", KEPT]);
    Ok((Server::start(command, port, "", Some(data))?, port))
}

/// Looks at the server until the traffic's time is over.
fn watch(server: &Server, port: u16, traffic: &mut Traffic, time: Duration) -> Result<Vec<Sample>> {
    let (started, mut told, mut samples) = (Instant::now(), Duration::ZERO, Vec::new());
    while started.elapsed() < time {
        thread::sleep(STEP);
        traffic.is_alive()?;
        let sample = Sample::take(server.pid(), port, started.elapsed())?;
        if sample.at >= told + TELL {
            told = sample.at;
            println!("{sample}; {}", traffic.told());
        }
        samples.push(sample);
    }
    Ok(samples)
}

/// The traffic, a process of its own.
struct Traffic {
    child: Child,
    /// What it said last.
    last: Arc<Mutex<String>>,
    reading: Option<thread::JoinHandle<()>>,
}

impl Traffic {
    fn start(program: &Path, port: u16, time: Duration) -> Result<Traffic> {
        let mut command = process::with_many_files(program);
        let seconds = time.as_secs_f64().to_string();
        command.args(["soak", &format!("http://127.0.0.1:{port}"), &seconds]);
        let spawned = command.stdout(Stdio::piped()).spawn();
        let mut child = spawned.doing(|| "start the traffic".to_owned())?;
        let stdout = child.stdout.take().expect("stdout is piped");
        let last = Arc::<Mutex<String>>::default();
        let said = last.clone();
        let reading = thread::spawn(move || {
            for line in BufReader::new(stdout)
                .lines()
                .map_while(std::io::Result::ok)
            {
                *said.lock().unwrap_or_else(PoisonError::into_inner) = line;
            }
        });
        Ok(Traffic {
            child,
            last,
            reading: Some(reading),
        })
    }

    fn is_alive(&mut self) -> Result<()> {
        match self
            .child
            .try_wait()
            .doing(|| "look after the traffic".to_owned())?
        {
            Some(status) if !status.success() => {
                Err(Error::Answer(format!("the traffic ended with {status}")))
            }
            _ => Ok(()),
        }
    }

    fn told(&self) -> String {
        let told: Value = serde_json::from_str(&self.said()).unwrap_or_default();
        let jobs = told["jobs"].as_object().into_iter().flatten();
        let jobs: u64 = jobs.filter_map(|(_, count)| count.as_u64()).sum();
        format!("{jobs} done, {} failed", told["failed"])
    }

    fn said(&self) -> String {
        self.last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What it has done in the end.
    fn end(&mut self) -> Result<Value> {
        let deadline = Instant::now() + END;
        while self
            .child
            .try_wait()
            .doing(|| "look after the traffic".to_owned())?
            .is_none()
        {
            if Instant::now() > deadline {
                return Err(Error::Answer("the traffic does not end".to_owned()));
            }
            thread::sleep(Duration::from_millis(100));
        }
        if let Some(reading) = self.reading.take() {
            reading
                .join()
                .map_err(|_| Error::Answer("what the traffic said is lost".to_owned()))?;
        }
        serde_json::from_str(&self.said())
            .map_err(|_| Error::Answer(format!("the traffic said {:?}", self.said())))
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing left to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
