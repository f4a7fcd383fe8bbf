//! `cargo xtask bench access`: what credentials, limits and the audit trail add to a call, in processor time of the server.
//!
//! First the check of credentials alone, by the bench `credentials` of the crate `access`: known ones and new ones of each kind,
//! beside the bare verification of the same signatures. Then whole calls.
//!
//! One server for each case, all of the same program: nothing, limits alone, the audit trail alone, both. They take turns in
//! rounds; in each, one caller with a bearer token makes calls of `ListTasks` on one connection. The median of the rounds
//! counts. The log is off in all of them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::document;
use super::flags::Flags;
use super::server::{Data, Server, free_port};
use super::usage::ProcessorTime;
use crate::error::{Doing, Error, Result};
use crate::process;

/// The credentials of the caller, and their hash in the configuration.
const SECRET: &str = "bench-secret";
const HASH: &str = "sha256:0159438a9235d6abde38e49fb98944660d067d6b9b03d8a8f4ee4e522feb62cb";

/// How many calls a server answers before it is measured.
const WARM: usize = 2_000;

/// What is on in a case: limits, the audit trail.
const CASES: [(&str, bool, bool); 4] = [
    ("neither", false, false),
    ("limits", true, false),
    ("audit trail", false, true),
    ("both", true, true),
];

struct Options {
    calls: usize,
    rounds: usize,
    write: bool,
    /// A server that is built already.
    program: Option<PathBuf>,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options {
            calls: 10_000,
            rounds: 5,
            write: false,
            program: None,
        };
        let mut flags = Flags::new(words);
        while let Some(flag) = flags.advance() {
            match flag {
                "--calls" => options.calls = flags.number()?,
                "--rounds" => options.rounds = flags.number()?,
                "--write" => options.write = true,
                "--program" => options.program = Some(PathBuf::from(flags.value()?)),
                _ => return Err(flags.unknown()),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let (program, built) = match &options.program {
        Some(program) => (program.clone(), "as given".to_owned()),
        None => {
            let built = format!("built with --profile {}", process::MEASURED_PROFILE);
            let program = process::build_measured(root, "monas", &["--bin"], "monas")?;
            (program, built)
        }
    };
    let credentials = credentials(root)?;
    println!("{credentials}");
    let mut servers = Vec::new();
    for (name, limits, audit) in CASES {
        let (server, port) = start(&program, limits, audit)?;
        let mut caller = connect(port)?;
        call(&mut caller, WARM)?;
        servers.push((name, server, caller, Vec::new()));
    }
    for round in 1..=options.rounds {
        eprintln!("round {round} of {}", options.rounds);
        for (_, server, caller, micros) in &mut servers {
            let before = ProcessorTime::read(server.pid())?;
            call(caller, options.calls)?;
            // The trail is written in the background, and belongs to the calls.
            std::thread::sleep(Duration::from_millis(600));
            let used = ProcessorTime::read(server.pid())?.since(&before);
            micros.push(used as f64 / 1e3 / options.calls as f64);
        }
    }
    let mut table =
        "| on | processor time of a call, us | more than without, us |\n|---|---|---|\n".to_owned();
    let mut without = None;
    for (name, _, _, micros) in &mut servers {
        micros.sort_by(f64::total_cmp);
        let median = micros.get(micros.len() / 2).copied().unwrap_or_default();
        let more = median - *without.get_or_insert(median);
        table.push_str(&format!("| {name} | {median:.1} | {more:.1} |\n"));
    }
    println!("{table}");
    if options.write {
        let section = format!(
            "Measured with `cargo xtask bench access`; monas {built}; {} calls of `ListTasks` in each of {} rounds.\n\n{table}\n{credentials}",
            options.calls, options.rounds
        );
        document::write(root, "access", &section)?;
    }
    Ok(())
}

/// The table of what the check of credentials costs, without a server.
fn credentials(root: &Path) -> Result<String> {
    let program = process::build_measured(root, "access", &["--bench"], "credentials")?;
    let printed = process::output(&mut Command::new(program))?;
    let mut table =
        "| credential | check, us | bare signature, us | times |\n|---|---|---|---|\n".to_owned();
    for line in printed.lines() {
        let mut parts = line.split('\t');
        let (Some(name), Some(check)) = (parts.next(), parts.next()) else {
            continue;
        };
        let bare = parts.next().unwrap_or_default();
        let times = match (check.parse::<f64>(), bare.parse::<f64>()) {
            (Ok(check), Ok(bare)) if bare > 0.0 => format!("{:.2}", check / bare),
            _ => String::new(),
        };
        table.push_str(&format!("| {name} | {check} | {bare} | {times} |\n"));
    }
    Ok(table)
}

fn start(program: &Path, limits: bool, audit: bool) -> Result<(Server, u16)> {
    let port = free_port()?;
    let data = Data::new(port)?;
    let config = data.path.join("monas.toml");
    let rate = if limits { "on" } else { "off" };
    // The limit is looked at, and never reached.
    let text = format!(
        "rate_limit = '{rate}'\n[limits]\nagent_rate = 100000000\n[audit]\nrecord = {audit}\n\
         [access.tokens]\ntype = 'bearer'\ncallers.ada = '{HASH}'\n"
    );
    std::fs::write(&config, text).doing(|| format!("write {}", config.display()))?;
    let mut command: Command = process::with_many_files(program);
    command.args(["serve", "--demo", "--log", "error", "--listen"]);
    command.arg(format!("127.0.0.1:{port}"));
    command.arg("--config").arg(&config);
    command.arg("--data").arg(data.path.join("data"));
    Ok((Server::start(command, port, "", Some(data))?, port))
}

fn connect(port: u16) -> Result<TcpStream> {
    let doing = || format!("connect to port {port}");
    let stream = TcpStream::connect(("127.0.0.1", port)).doing(doing)?;
    stream.set_nodelay(true).doing(doing)?;
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).doing(doing)?;
    Ok(stream)
}

/// Makes calls, one after the other.
fn call(stream: &mut TcpStream, count: usize) -> Result<()> {
    let request = format!(
        "GET /a2a/rest/tasks HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nAuthorization: Bearer {SECRET}\r\n\r\n"
    );
    let doing = || "call the server".to_owned();
    let mut buffer = vec![0; 16 << 10];
    for _ in 0..count {
        stream.write_all(request.as_bytes()).doing(doing)?;
        // The list is empty: the answer comes as a whole.
        let read = stream.read(&mut buffer).doing(doing)?;
        let answer = String::from_utf8_lossy(&buffer[..read]);
        if !answer.starts_with("HTTP/1.1 200") {
            return Err(Error::Answer(answer.into_owned()));
        }
    }
    Ok(())
}
