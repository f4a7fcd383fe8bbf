//! The process: started, told to stop, ended.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::{Notify, oneshot};

use crate::app::App;
use crate::command::client;
use crate::command::tap::{self, Tap};
use crate::command::{Command, Refused, completion};
use crate::config::{self, Config};
use crate::error::Error;
use crate::log;
use crate::serve::compose::{Server, serve_stdio};
use crate::serve::demo;
use crate::signals::Signals;

/// Does what the command line asks for. What it returns is what the process ends with: 0 when it was
/// told to stop and did, 1 when it failed, 2 when what the user wrote makes no sense.
pub(crate) fn main(app: App) -> ExitCode {
    let command = match Command::read(std::env::args_os(), |name| std::env::var(name).ok()) {
        Ok(command) => command,
        Err(Refused::Usage(usage)) => {
            // Help goes to standard output, and a pipe that is closed is no failure.
            let _ = usage.print();
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
        }
        Err(Refused::Config(error)) => return complain(&error.into()),
    };
    match &command {
        Command::Completion(shell) => {
            let _ = std::io::stdout().lock().write_all(&completion(*shell));
            return ExitCode::SUCCESS;
        }
        Command::Ask(request) => log::start(&log::Filter::of_client(request.options.debug)),
        _ => {}
    }
    if let Some(config) = command.config() {
        log::start(&config.log);
    }
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
    let ended = runtime.block_on(run(&command, app));
    // Whoever asked twice does not wait for what is left.
    runtime.shutdown_background();
    ended.unwrap_or_else(|error| complain(&error))
}

/// The app, unless the small one is wanted.
fn chosen(config: &Config, app: App) -> App {
    match config.demo {
        true => demo::app(),
        false => app,
    }
}

/// Serves until a signal, then stops in good order; at a second signal in no order at all.
async fn run(command: &Command, app: App) -> Result<ExitCode, Error> {
    let mut signals = Signals::catch().map_err(|source| Error::System {
        what: "catch signals",
        source,
    })?;
    let server = match command {
        Command::Serve(config) => Server::start_app(config, chosen(config, app)).await?,
        Command::Sut(config, agent) => Server::start_sut(config, *agent).await?,
        Command::Mcp(config) => {
            let stopped = async {
                let _ = signals.next().await;
            };
            serve_stdio(config, chosen(config, app), stopped).await?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::SutClient(asked) => {
            asked
                .perform(|line| {
                    say(line);
                })
                .await?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Tap(options) => return tap(options, signals).await,
        Command::Webhook(asked) => {
            asked.perform(say).await?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Models(asked) => {
            asked.perform(say).await?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Memory(asked) => {
            asked.perform(say).await?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Life(asked) => {
            asked.perform(say).await?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Key(asked) => {
            say(asked.perform()?.trim_end());
            return Ok(ExitCode::SUCCESS);
        }
        Command::Ask(request) => return Ok(client::run(request, signals).await),
        Command::Completion(_) => return Ok(ExitCode::SUCCESS),
    };
    say(&format!("monas listens on {}", server.url()));

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

/// Taps until a signal, or until nobody reads what it prints.
async fn tap(options: &tap::Options, mut signals: Signals) -> Result<ExitCode, Error> {
    let tap = Tap::bind(options).await?;
    let upstream = &options.upstream;
    say(&format!("monas taps {upstream} on {}", tap.url()));
    let unread = Arc::new(Notify::new());
    let print = {
        let unread = unread.clone();
        move |line: &str| {
            if !say(line) {
                unread.notify_one();
            }
        }
    };
    let stop = async {
        tokio::select! {
            _ = signals.next() => {}
            () = unread.notified() => {}
        }
    };
    tap.run(print, stop).await;
    Ok(ExitCode::SUCCESS)
}

/// Writes a line to standard output, for the user or a script; false when nobody reads it.
fn say(line: &str) -> bool {
    writeln!(std::io::stdout().lock(), "{line}").is_ok()
}

#[expect(
    clippy::print_stderr,
    reason = "only the program itself talks to its user"
)]
fn complain(error: &Error) -> ExitCode {
    eprintln!("monas: could not {error}");
    ExitCode::from(error.exit_code())
}
