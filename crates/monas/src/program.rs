//! The process: reads the command line, runs the command, gives the exit code.

use std::io::Write as _;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::app::App;
use crate::command::client::failure::Failure;
use crate::command::client::{self, Options};
use crate::command::tap::{self, Tap};
use crate::command::{self, Command, Refused, completion};
use crate::config::{self, Config};
use crate::error::Error;
use crate::log;
use crate::serve::compose::{Serve, serve_stdio};
use crate::serve::demo;
use crate::signals::Signals;

/// Runs the command of the command line. Gives the exit code: 0 for success, 1 for a failure, 2 for an error in the command
/// line or the configuration.
pub(crate) fn main(app: App) -> ExitCode {
    #[cfg(target_os = "linux")]
    if std::env::args_os()
        .nth(1)
        .is_some_and(|it| it == crate::serve::tools::HELPER)
    {
        return ::tools::sandbox::helper(std::env::args_os().skip(2));
    }
    let app = app.helper(std::env::current_exe().ok());
    let command = match Command::read(std::env::args_os(), |name| std::env::var(name).ok()) {
        Ok(command) => command,
        Err(Refused::Usage(usage)) => {
            // Help goes to standard output; a closed pipe is not a failure.
            let _ = usage.print();
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
        }
        Err(Refused::Config(error)) => return complain(&error.into()),
    };
    match &command {
        Command::Completion(shell) => {
            let _ = std::io::stdout()
                .lock()
                .write_all(&completion::script(*shell));
            return ExitCode::SUCCESS;
        }
        Command::Ask(request) => log::start(&log::Filter::of_client(request.options.debug)),
        command => {
            if let Some((_, options)) = asking(command) {
                log::start(&log::Filter::of_client(options.debug));
            }
        }
    }
    if let Some(config) = command.config() {
        log::start_as(&config.log, config.log_format);
    }
    warn_of_misspelt_settings();
    in_runtime(run(&command, app))
}

/// Serves until a signal ends the process, as `monas serve` does; for a program with a server of its own. Gives the
/// exit code: 0 after a graceful stop, 1 or 2 if the server did not start.
pub fn serve_until_signal(config: &Config, serve: Serve) -> ExitCode {
    log::start_as(&config.log, config.log_format);
    warn_of_misspelt_settings();
    in_runtime(async {
        let signals = catch_signals()?;
        let server = serve.start(config).await?;
        Ok(command::serve::run(server, signals).await)
    })
}

fn warn_of_misspelt_settings() {
    for (name, _) in std::env::vars_os() {
        if let Some(meant) = name.to_str().and_then(config::misspelt) {
            let name = name.to_string_lossy();
            tracing::warn!("{name} is not a setting; did you mean {meant}?");
        }
    }
}

fn in_runtime(work: impl Future<Output = Result<ExitCode, Error>>) -> ExitCode {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(source) => {
            return complain(&Error::System {
                what: "start",
                source,
            });
        }
    };
    let ended = runtime.block_on(work);
    // After a second signal nothing that is left is waited for.
    runtime.shutdown_background();
    ended.unwrap_or_else(|error| complain(&error))
}

fn catch_signals() -> Result<Signals, Error> {
    Signals::catch().map_err(|source| Error::System {
        what: "catch signals",
        source,
    })
}

/// The app, or the demo if the configuration asks for it.
fn chosen(config: &Config, app: App) -> App {
    match config.demo {
        true => demo::app().helper(std::env::current_exe().ok()),
        false => app,
    }
}

async fn run(command: &Command, app: App) -> Result<ExitCode, Error> {
    let mut signals = catch_signals()?;
    if let Some((work, options)) = asking(command) {
        return Ok(ask(work, options, signals).await);
    }
    match command {
        Command::Serve(config) => {
            let server = Serve::new(chosen(config, app)).start(config).await?;
            return Ok(command::serve::run(server, signals).await);
        }
        Command::Mcp(asked) => {
            let stopped = async {
                let _ = signals.next().await;
            };
            serve_stdio(asked, chosen(&asked.config, app), stopped).await?;
        }
        Command::Tap(options) => return tap(options, signals).await,
        Command::Models(asked) => asked.perform(say).await?,
        Command::Version => {
            say(&format!("monas {}", env!("CARGO_PKG_VERSION")));
        }
        Command::Token(asked) => {
            say(&asked.perform()?);
        }
        Command::Key(asked) => {
            say(asked.perform()?.trim_end());
        }
        Command::Tls(asked) => {
            say(&asked.perform()?);
        }
        Command::Ask(request) => return Ok(client::run(request, signals).await),
        _ => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// What a command that asks a server or reads its data does, and its flags; none for other commands.
fn asking(command: &Command) -> Option<(Work<'_>, &Options)> {
    let print = say_escaped;
    Some(match command {
        Command::Webhook(it) => {
            let work = async move { Ok(it.perform(print).await?) };
            (Box::pin(work), &it.options)
        }
        Command::Memory(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::Board(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::Capability(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::User(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::ApiKey(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::Secret(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::Law(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::Audit(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::Why(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::Approvals(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::Backup(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::Database(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::Status(it) => (Box::pin(it.perform(print)), &it.options.asking),
        Command::Login(it) => (Box::pin(it.perform(print)), &it.options),
        _ => return None,
    })
}

type Work<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + 'a>>;

/// Runs a command that asks a server or reads its data; its errors and exit codes are those of all such commands.
async fn ask(work: Work<'_>, options: &Options, mut signals: Signals) -> ExitCode {
    let done = tokio::select! {
        done = work => done.map_err(Failure::from),
        signal = signals.next() => Err(Failure::Signal(signal)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            options.printer().failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Taps until a signal, or until standard output is closed.
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

/// Prints a line with words of callers in it: nothing in it controls the terminal.
fn say_escaped(line: &str) -> bool {
    line.split('\n')
        .all(|line| say(&client::print::escaped(line)))
}

/// Writes a line to standard output; false if it is closed.
pub(crate) fn say(line: &str) -> bool {
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
