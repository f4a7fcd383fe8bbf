//! The commands that call an agent (`card`, `send`, `task`, `chat`, `config`): what they share, and what all commands that
//! ask a server have in common: `flags`, `failure` and `print`.
//!
//! Names of commands, flags, variables and exit codes are those that command lines of A2A have in common. Nothing is stored
//! between two runs.
//!
//! Layout:
//! - `arguments`: the request that a command line describes
//! - `flags`: the flags that all of them have: which server, credentials, time limits, output
//! - `files`: parts of a message from files, and files from parts
//! - `print`: replies as text and as JSON; `failure`: errors with hints and exit codes

use std::process::ExitCode;

pub(super) mod arguments;
pub(crate) mod failure;
pub(super) mod files;
#[cfg(test)]
#[path = "client/files_tests.rs"]
mod files_tests;
pub(super) mod flags;
pub(crate) mod print;

pub(crate) use arguments::{Action, Request};
pub(crate) use arguments::{commands, read};
pub(crate) use flags::{Options, Secret, Target};

use failure::Failure;
use print::Printer;

use crate::command::{card, chat, config, send, task};
use crate::signals::Signals;

/// Runs the command; gives the exit code.
pub(crate) async fn run(request: &Request, mut signals: Signals) -> ExitCode {
    let printer = request.options.printer();
    let doing = perform(request, &printer, &mut signals);
    match doing.await {
        Ok(()) if print::all_written() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(failure) => {
            printer.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

async fn perform(
    request: &Request,
    printer: &Printer,
    signals: &mut Signals,
) -> Result<(), Failure> {
    let options = &request.options;
    if let Action::Chat { context, mode } = &request.action {
        return chat::talk(options, context.clone(), mode.clone(), printer, signals).await;
    }
    let acting = async {
        match &request.action {
            Action::Card => card::get(options, printer).await,
            Action::Send(sending) => send::send(options, sending, printer).await,
            Action::Task(action) => task::perform(options, action, printer).await,
            Action::Config => {
                config::show(options, printer);
                Ok(())
            }
            Action::Chat { .. } => Ok(()),
        }
    };
    tokio::select! {
        done = acting => done,
        signal = signals.next() => Err(Failure::Signal(signal)),
    }
}
