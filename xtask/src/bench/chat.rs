//! `cargo xtask bench chat`: many sessions of the chat at once, with the agent active in some, and a plain WebSocket echo on
//! axum in the same run as the floor.
//!
//! - [`load`]: the load generator, a process of its own; `socket`: a WebSocket as it needs one
//!
//! Every session has a connection and a window. In the active ones a command is sent, its messages are read until the request
//! has ended, and after a pause the next one is sent. An event counts from the moment that its message names (`timestamp`,
//! when the agent perceived it, before it was committed) to its arrival. Of the echo, a frame of the same length counts from
//! its sending to its return.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::flags::Flags;
use super::server::{Data, Server, free_port};
use super::{document, ours};
use crate::error::{Error, Result};
use crate::process;

pub(crate) mod load;
mod socket;

/// The p99 of an event, in milliseconds.
const TARGET: f64 = 100.0;

/// Options of a measurement.
#[derive(Debug)]
pub(crate) struct Options {
    seconds: f64,
    sessions: usize,
    active: usize,
    /// Milliseconds between the end of a request and the next command.
    pause: u64,
    write: bool,
    /// Programs that are built already: the server, and the echo.
    program: Option<PathBuf>,
    floor: Option<PathBuf>,
    pid: Option<u32>,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options {
            seconds: 10.0,
            sessions: 1_000,
            active: 50,
            pause: 500,
            write: false,
            program: None,
            floor: None,
            pid: None,
        };
        let mut flags = Flags::new(words);
        while let Some(flag) = flags.advance() {
            match flag {
                "--seconds" => options.seconds = flags.number()?,
                "--sessions" => options.sessions = flags.number()?,
                "--active" => options.active = flags.number()?,
                "--pause" => options.pause = flags.number()?,
                "--write" => options.write = true,
                "--program" => options.program = Some(PathBuf::from(flags.value()?)),
                "--floor" => options.floor = Some(PathBuf::from(flags.value()?)),
                "--pid" => options.pid = Some(flags.number()?),
                _ => return Err(flags.unknown()),
            }
        }
        match options.active <= options.sessions {
            true => Ok(options),
            false => Err(Error::Usage(format!(
                "--active {} is more than --sessions {}",
                options.active, options.sessions
            ))),
        }
    }
}

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let built = |given: &Option<PathBuf>, name: &str| match given {
        Some(program) => Ok(program.clone()),
        None => process::build_measured(root, name, &["--bin"], name),
    };
    let program = built(&options.program, "monas")?;
    let floor = built(&options.floor, "echo")?;
    let generator = ours::build_load(root)?;
    let measure = |scenario: &str, server: &Server| {
        eprintln!("measuring {scenario}");
        let figures = process::output(&mut command(&generator, scenario, server, &options))?;
        eprint!("  {figures}");
        let figures: Option<Value> = serde_json::from_str(&figures).ok();
        figures.ok_or_else(|| Error::Answer(format!("{scenario}: no figures")))
    };
    let echo = measure("echo", &start_floor(&floor)?)?;
    let chat = measure("chat", &start(&program)?)?;
    let table = table(&options, &echo, &chat);
    println!("{table}");
    if options.write {
        let profile = match options.program {
            Some(_) => "a program that was built before".to_owned(),
            None => format!("built with --profile {}", process::MEASURED_PROFILE),
        };
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let section = format!(
            "Measured with `cargo xtask bench chat {}`; {profile}; {cores} cores, which the load generator shares.\n\n{table}",
            words.join(" ")
        );
        document::write(root, "chat", &section)?;
    }
    let p99 = number(&chat, "event_p99_ms");
    match p99 < TARGET {
        true => Ok(()),
        false => Err(Error::Found(format!("the p99 of an event was {p99} ms"))),
    }
}

/// The server: the agent answers by rules, what it does is stored as users have it, and nothing is refused for its rate.
fn start(program: &Path) -> Result<Server> {
    let port = free_port()?;
    let data = Data::new(port)?;
    let mut command = process::with_many_files(program);
    command.args(["serve", "--open", "--rate-limit", "off", "--log", "error"]);
    command.args(["--listen", &format!("127.0.0.1:{port}")]);
    command.arg("--data").arg(data.path.join("data"));
    command.arg("--workspace").arg(data.path.join("files"));
    Server::start(command, port, "/ws/chat", Some(data))
}

fn start_floor(program: &Path) -> Result<Server> {
    Server::start_announced(process::with_many_files(program))
}

fn command(generator: &Path, scenario: &str, server: &Server, options: &Options) -> Command {
    let mut command = process::with_many_files(generator);
    super::load::tell(&mut command, "chat", scenario, server, options.seconds);
    command.args(["--sessions", &options.sessions.to_string()]);
    command.args(["--active", &options.active.to_string()]);
    command.args(["--pause", &options.pause.to_string()]);
    command
}

fn number(figures: &Value, field: &str) -> f64 {
    figures[field].as_f64().unwrap_or(f64::NAN)
}

fn table(options: &Options, echo: &Value, chat: &Value) -> String {
    let (sessions, active) = (options.sessions, options.active);
    let mut text =
        "| measured | unit | axum echo | the chat | target | verdict |\n|---|---|---:|---:|---|---|\n"
            .to_owned();
    let rows = [
        (
            format!("memory of a session, {sessions} of them idle"),
            "KB resident",
            "session_kb",
        ),
        (
            format!("an event, {active} of {sessions} sessions active, p50"),
            "ms",
            "event_p50_ms",
        ),
        ("the same, p99".to_owned(), "ms", "event_p99_ms"),
        ("the same, slowest".to_owned(), "ms", "event_max_ms"),
        (
            "from a command to its first event, p50".to_owned(),
            "ms",
            "first_p50_ms",
        ),
        ("the same, p99".to_owned(), "ms", "first_p99_ms"),
        (
            "from a command to the end of the request, p50".to_owned(),
            "ms",
            "request_p50_ms",
        ),
        ("the same, p99".to_owned(), "ms", "request_p99_ms"),
        (
            "processor time of the server for an event".to_owned(),
            "us",
            "event_cpu_us",
        ),
        ("events".to_owned(), "a second", "events_per_second"),
    ];
    for (title, unit, field) in rows {
        let figure = |figures: &Value| match figures[field].as_f64() {
            Some(figure) if figure >= 100.0 => format!("{figure:.0}"),
            Some(figure) => format!("{figure:.2}"),
            None => String::new(),
        };
        let (target, verdict) = match field {
            "event_p99_ms" if number(chat, field) < TARGET => ("below 100", "met"),
            "event_p99_ms" => ("below 100", "missed"),
            _ => ("", ""),
        };
        text.push_str(&format!(
            "| {title} | {unit} | {} | {} | {target} | {verdict} |\n",
            figure(echo),
            figure(chat)
        ));
    }
    text
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
