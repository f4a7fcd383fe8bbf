//! The common part of the load generators of servers: how they are started, and what each is told.

use std::future::Future;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tokio::runtime;

use super::address::Address;
use super::server::Server;
use crate::error::{Doing, Error, Result};

/// How long a server works before it is measured; node compiles its hot code in this time.
pub(crate) const WARM_UP: Duration = Duration::from_secs(1);

/// This program again, as the load generator of a bench for `server`.
pub(crate) fn command(
    program: &Path,
    bench: &str,
    scenario: &str,
    server: &Server,
    seconds: f64,
) -> Command {
    let mut command = Command::new(program);
    tell(&mut command, bench, scenario, server, seconds);
    command
}

/// Gives a load generator the arguments that all of them take.
pub(crate) fn tell(
    command: &mut Command,
    bench: &str,
    scenario: &str,
    server: &Server,
    seconds: f64,
) {
    command.args(["bench-load", bench, scenario, &server.url]);
    command.args(["--pid", &server.pid().to_string()]);
    command.args(["--seconds", &seconds.to_string()]);
}

/// The server that a load generator works on.
#[derive(Debug)]
pub(crate) struct BenchTarget {
    pub(crate) address: Address,
    pub(crate) pid: u32,
}

impl BenchTarget {
    pub(crate) fn new(url: &str, pid: Option<u32>) -> Result<BenchTarget> {
        let pid = pid.ok_or_else(|| Error::Usage("bench-load needs --pid".to_owned()))?;
        let address = Address::parse(url)?;
        Ok(BenchTarget { address, pid })
    }
}

/// Runs a load generator with all its clients on one thread, and prints its figures as one line of JSON.
pub(crate) fn print(figures: impl Future<Output = Result<Value>>) -> Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.doing(|| "start a runtime".to_owned())?;
    let figures = runtime.block_on(figures)?;
    println!("{figures}");
    Ok(())
}

/// The error for the name of a scenario that does not exist.
pub(crate) fn unknown(scenario: &str) -> Error {
    Error::Usage(format!("{scenario} is not a scenario"))
}
