//! The process: started, told to stop, ended.

use std::process::ExitCode;

use tokio::sync::oneshot;

use crate::command::{Command, Refused};
use crate::compose::Server;
use crate::config;
use crate::error::Error;
use crate::log;
use crate::signals::Signals;

/// Does what the command line asks for. What it returns is what the process ends with: 0 when it was
/// told to stop and did, 1 when it failed, 2 when what the user wrote makes no sense.
pub fn main() -> ExitCode {
    let command = match Command::read(std::env::args_os(), |name| std::env::var(name).ok()) {
        Ok(command) => command,
        Err(Refused::Usage(usage)) => {
            // Help goes to standard output, and a pipe that is closed is no failure.
            let _ = usage.print();
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
        }
        Err(Refused::Config(error)) => return complain(&error.into()),
    };
    log::start(&command.config().log);
    for (name, _) in std::env::vars_os() {
        if let Some(meant) = name.to_str().and_then(config::misspelt) {
            let name = name.to_string_lossy();
            tracing::warn!("{name} is not a setting; did you mean {meant}?");
        }
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(source) => {
            return complain(&Error::System {
                what: "start",
                source,
            });
        }
    };
    let ended = runtime.block_on(run(&command));
    // Whoever asked twice does not wait for what is left.
    runtime.shutdown_background();
    ended.unwrap_or_else(|error| complain(&error))
}

/// Serves until a signal, then stops in good order; at a second signal in no order at all.
async fn run(command: &Command) -> Result<ExitCode, Error> {
    let mut signals = Signals::catch().map_err(|source| Error::System {
        what: "catch signals",
        source,
    })?;
    let server = match command {
        Command::Serve(config) => Server::start(config).await?,
        Command::Sut(config, agent) => Server::start_sut(config, *agent).await?,
    };
    greet(&server);

    let (stop, stopped) = oneshot::channel::<()>();
    let running = server.run(async { drop(stopped.await) });
    tokio::pin!(running);
    tokio::select! {
        () = &mut running => {}
        signal = signals.next() => tracing::info!(?signal, "stopping; a second signal ends it at once"),
    }
    drop(stop);
    tokio::select! {
        () = &mut running => {
            tracing::info!("stopped");
            Ok(ExitCode::SUCCESS)
        }
        signal = signals.next() => {
            tracing::warn!(?signal, "ended without waiting");
            Ok(ExitCode::from(signal.exit_code()))
        }
    }
}

/// Says where it listens: on standard output, for a script that let it choose the port.
#[expect(
    clippy::print_stdout,
    reason = "only the program itself talks to its user"
)]
fn greet(server: &Server) {
    println!("monas listens on {}", server.url());
}

#[expect(
    clippy::print_stderr,
    reason = "only the program itself talks to its user"
)]
fn complain(error: &Error) -> ExitCode {
    eprintln!("monas: could not {error}");
    ExitCode::from(error.exit_code())
}
