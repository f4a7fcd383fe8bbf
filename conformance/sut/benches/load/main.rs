//! Load on a server, over any of its wires; `cargo xtask bench transports` and `cargo xtask soak` run it. By hand it is
//! `cargo bench -p sut --bench load -- calls URL BINDING CONNECTIONS SECONDS`.
//!
//! ```text
//! load calls URL BINDING CONNECTIONS SECONDS   one call after the other on each connection
//! load shared URL BINDING CALLERS SECONDS      the same, all of them with one client
//! load wire URL BINDING                        bytes and round trips of calls, counted between client and server
//! load fan-out URL BINDING CLIENTS EVENTS      events that all of them get
//! load cut URL BINDING CLIENTS CUTS            the same, cut off in mid-stream; every event is counted
//! load soak URL SECONDS                        mixed traffic over all wires, in both versions
//! load certificate FOLDER                      cert.pem and key.pem for a server on this machine
//! ```
//!
//! A line `measuring` says when what is measured begins; the last line holds the figures as JSON. An error
//! ends the program. All clients live on one thread: one for each would have to be woken for each answer.
//!
//! - `agent`: clients of one agent, over one wire
//! - `relay`: what stands between a client and the server, counts bytes and cuts connections
//! - `calls`, `wire`, `crowd`: the measurements
//! - `traffic`, `hook`: what the mixed traffic does, and where its webhooks are told

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to its user by printing"
)]

use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

use agent::Agent;

mod agent;
mod calls;
mod crowd;
mod hook;
mod relay;
mod traffic;
mod wire;

/// Anything that goes wrong is for the reader of the figures.
type Error = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    // `cargo bench` adds a flag of its own.
    let words = std::env::args().skip(1).filter(|word| word != "--bench");
    let arguments: Vec<String> = words.collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let figures = match runtime {
        Ok(runtime) => runtime.block_on(run(&words)),
        Err(error) => Err(error.into()),
    };
    match figures {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("load {}: {error}", words.join(" "));
            ExitCode::FAILURE
        }
    }
}

async fn run(words: &[&str]) -> Result<Value, Error> {
    match words {
        ["calls", url, binding, connections, seconds] => {
            let agent = Agent::find(url, binding).await?;
            let clients = (0..connections.parse()?).map(|_| agent.client());
            calls::measure(clients.collect::<Result<_, _>>()?, seconds.parse()?).await
        }
        ["shared", url, binding, callers, seconds] => {
            let client = Agent::find(url, binding).await?.client()?;
            calls::measure(vec![client; callers.parse()?], seconds.parse()?).await
        }
        ["wire", url, binding] => wire::measure(&Agent::find(url, binding).await?).await,
        ["fan-out", url, binding, clients, events] => {
            let agent = Agent::find(url, binding).await?;
            crowd::fan_out(&agent, clients.parse()?, events.parse()?).await
        }
        ["cut", url, binding, clients, cuts] => {
            let agent = Agent::find(url, binding).await?;
            crowd::cut(&agent, clients.parse()?, cuts.parse()?).await
        }
        ["soak", url, seconds] => traffic::run(url, seconds.parse()?).await,
        ["certificate", folder] => certificate(Path::new(folder)),
        _ => Err("not a command".into()),
    }
}

/// Says that what is measured begins.
fn measuring() {
    println!("measuring");
}

fn certificate(folder: &Path) -> Result<Value, Error> {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names)?;
    std::fs::write(folder.join("cert.pem"), made.cert.pem())?;
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem())?;
    Ok(Value::Null)
}
